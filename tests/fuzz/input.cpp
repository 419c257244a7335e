#include "tests/fuzz/input.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace foretrace::fuzz {

File::File(std::string_view contents) : descriptor_(memfd_create("input", 0)) {
  if (descriptor_ < 0) std::abort();
  while (!contents.empty()) {
    const ssize_t written = write(descriptor_, contents.data(), contents.size());
    if (written <= 0) std::abort();
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  path_ = "/proc/self/fd/" + std::to_string(descriptor_);
}
File::~File() { close(descriptor_); }

void check_refusal(const InputError& error) {
  if (*error.what() == '\0') std::abort();
}

}  // namespace foretrace::fuzz
