# foldstep_simulated.so: the very sources of the CUDA backend, kernels included, against the simulated device of
# test/simulated, and that device's own tests. Never shipped.
file(GLOB simulation_sources CONFIGURE_DEPENDS test/simulated/*.cpp)
add_library(simulated_device STATIC ${simulation_sources})
target_include_directories(simulated_device PUBLIC test/simulated/include test/simulated)
target_compile_definitions(simulated_device PUBLIC FOLDSTEP_SIMULATED)
target_link_libraries(simulated_device PUBLIC foldstep_runtime MPI::MPI_C rt)
target_compile_definitions(simulated_device PUBLIC OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

file(GLOB_RECURSE host_sources CONFIGURE_DEPENDS native/cuda/*.cpp)
list(FILTER host_sources EXCLUDE REGEX "/comm/nccl_absent.cpp$")
file(GLOB kernel_sources CONFIGURE_DEPENDS native/cuda/kernels/*.cu)
set_source_files_properties(${kernel_sources} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++")
add_library(foldstep_simulated MODULE ${host_sources} ${kernel_sources})
set_target_properties(foldstep_simulated PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${FOLDSTEP_OUTPUT_DIR})
target_compile_definitions(foldstep_simulated PRIVATE "FOLDSTEP_CUDA_ARCHITECTURE_LIST=\"simulated\"")
target_link_libraries(foldstep_simulated PRIVATE simulated_device)
target_link_options(foldstep_simulated PRIVATE -Wl,-z,nodelete)

file(GLOB simulated_tests CONFIGURE_DEPENDS test/native-simulated/*.cpp)
foreach(source ${simulated_tests})
  get_filename_component(name ${source} NAME_WE)
  add_executable(native-simulated-${name} ${source})
  set_target_properties(native-simulated-${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${FOLDSTEP_OUTPUT_DIR}/tests/native-simulated)
  target_include_directories(native-simulated-${name} PRIVATE test)
  target_link_libraries(native-simulated-${name} PRIVATE simulated_device)
endforeach()
