// More than 2^32 elements, on memory of which only a few pages are ever there.
#include <sys/mman.h>

#include <new>
#include <string>

#include "check.hpp"
#include "support.hpp"

using namespace support;

namespace {

constexpr std::size_t count = (std::size_t{1} << 32) + 5;

/// Pages that are there once they have been written.
class SparseMemory final : public Memory {
 public:
  explicit SparseMemory(std::size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~SparseMemory() override { munmap(data_, bytes_); }
  std::byte* data() const override { return static_cast<std::byte*>(data_); }
  std::size_t bytes() const override { return bytes_; }

 private:
  void* data_;
  std::size_t bytes_;
};

void check_norm() {
  Device device(2);
  const auto memory = std::make_shared<SparseMemory>((count + 1) * sizeof(float));
  float* const elements = reinterpret_cast<float*>(memory->data());
  elements[0] = 100;
  elements[count - 2] = 3;
  elements[count - 1] = 4;
  elements[count] = 1000;  // behind the end
  const auto plan = std::make_shared<NormPlan>();
  plan->segments = {{.offset = count - 5, .length = 5, .counted = true}};
  const Span partials = span_of(std::vector<double>(2));
  device.kernels.norm_partials(device.stream, plan, NormKind::Two, 2, {memory, 0}, {}, partials);
  device.synchronize();
  CHECK(values_of<double>(partials) == std::vector<double>({25, 0}));
}

/// A copy and a clearing of bytes beyond 2^32.
void check_bytes() {
  Device device(2);
  const auto memory = std::make_shared<SparseMemory>(2 * count);
  std::byte* const last = memory->data() + 2 * count - 1;
  std::byte* const first = memory->data();
  *last = std::byte{7};
  device.kernels.copy(device.stream, {memory, 2 * count - 3}, {memory, 1}, 3);
  device.kernels.zero(device.stream, {memory, 2 * count - 3}, 3);
  device.synchronize();
  CHECK(first[3] == std::byte{7} && *last == std::byte{0});
  CHECK(first[0] == std::byte{0} && first[4] == std::byte{0});
}

/// A cast and an update whose elements lie beyond 2^32.
void check_offsets() {
  Device device(2);
  const auto wide = std::make_shared<SparseMemory>(count * sizeof(float));
  const auto narrow = std::make_shared<SparseMemory>(count * sizeof(std::uint16_t));
  const std::size_t at = count - 5;
  float* const accumulator = reinterpret_cast<float*>(wide->data()) + at;
  std::uint16_t* const weight = reinterpret_cast<std::uint16_t*>(narrow->data()) + at;
  for (int i = 0; i < 5; ++i) accumulator[i] = static_cast<float>(i + 1);
  device.kernels.cast(device.stream, {wide, at * sizeof(float)}, DType::F32,
                      {narrow, at * sizeof(std::uint16_t)}, DType::BF16, 5);
  device.synchronize();
  for (int i = 0; i < 5; ++i) CHECK(weight[i] == bf16(static_cast<float>(i + 1)));

  const auto master = std::make_shared<SparseMemory>(count * sizeof(float));
  const auto plan = std::make_shared<UpdatePlan>();
  plan->segments = {{.master = at, .accumulator = at, .weight = at, .length = 5}};
  const NormScalars scalars_at{1};
  std::vector<double> scalars(scalars_at.length());
  scalars[scalars_at.coefficient(0)] = 1;
  const UpdateArenas arenas{
      .master = {master, 0}, .accumulator = {wide, 0}, .weight = {narrow, 0}, .moment1 = {}, .moment2 = {}};
  device.kernels.update(device.stream, plan, {.learning_rate = 2}, arenas, span_of(scalars));
  device.synchronize();
  const float* const updated = reinterpret_cast<float*>(master->data()) + at;
  for (int i = 0; i < 5; ++i) {
    const float want = -2.0F * static_cast<float>(i + 1);
    CHECK(updated[i] == want && weight[i] == bf16(want) && accumulator[i] == 0);
  }
}

}  // namespace

int main() {
  Tests test;
  test("a norm beyond element 2^32", check_norm);
  test("a cast and an update beyond element 2^32", check_offsets);
  test("a copy and a clearing beyond byte 2^32", check_bytes);
  return test.finish();
}
