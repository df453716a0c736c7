#include "launch/streams.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace foldstep::launch {

namespace {

Descriptor copy_of(int number) {
  return Descriptor(fcntl(number, F_DUPFD_CLOEXEC, 3));
}

}  // namespace

Streams::Streams() {
  struct stat output {
  }, errors{};
  fstat(1, &output);
  fstat(2, &errors);
  output_is_terminal_ = isatty(1) == 1;
  errors_are_terminal_ = isatty(2) == 1;
  same_ = output.st_dev == errors.st_dev && output.st_ino == errors.st_ino;
}

Streams::Outputs Streams::add_rank() {
  Outputs outputs;
  outputs.output = output_is_terminal_ ? copy_of(1) : output_.add_writer();
  if (errors_are_terminal_) {
    outputs.error = copy_of(2);
  } else {
    outputs.error = same_ ? copy_of(outputs.output.number()) : errors_.add_writer();
  }
  return outputs;
}

void Streams::wait_for(std::vector<pollfd>& waiting, Deadline& wake) const {
  output_.wait_for(waiting, wake);
  errors_.wait_for(waiting, wake);
}

void Streams::move() {
  output_.move();
  errors_.move();
}

void Streams::finish() {
  output_.finish();
  errors_.finish();
}

}  // namespace foldstep::launch
