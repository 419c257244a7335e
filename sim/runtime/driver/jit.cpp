#include "sim/runtime/driver/jit.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "sim/frontend/cubin.h"

namespace foretrace::runtime::driver {

JitOptions::JitOptions(unsigned count, const CUjit_option* options, void** values) {
  if (options == nullptr || values == nullptr) return;
  for (unsigned i = 0; i < count; ++i) {
    const auto number = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[i]));
    switch (options[i]) {
      case CU_JIT_MAX_REGISTERS:
        if (number != 0) ptxas_.push_back(fmt::format("-maxrregcount={}", number));
        break;
      case CU_JIT_OPTIMIZATION_LEVEL: ptxas_.push_back(fmt::format("-O{}", std::min(number, 3u))); break;
      case CU_JIT_GENERATE_DEBUG_INFO:
        if (number != 0) ptxas_.emplace_back("-g");
        break;
      case CU_JIT_ERROR_LOG_BUFFER: errors_ = static_cast<char*>(values[i]); break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        errors_room_ = number;
        errors_size_ = &values[i];
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: info_size_ = &values[i]; break;
      default: break;
    }
  }
  if (info_size_ != nullptr) *info_size_ = nullptr;
  if (errors_ != nullptr && errors_room_ != 0) errors_[0] = '\0';
  if (errors_size_ != nullptr) *errors_size_ = nullptr;
}

void JitOptions::write_errors(const std::string& text) {
  if (errors_ == nullptr || errors_room_ == 0) return;
  const std::size_t size = std::min(text.size(), errors_room_ - 1);
  std::memcpy(errors_, text.data(), size);
  errors_[size] = '\0';
  if (errors_size_ != nullptr) *errors_size_ = reinterpret_cast<void*>(static_cast<std::uintptr_t>(size));
}

CUresult load(State& s, Library** library, const void* image, std::vector<std::byte> bytes,
              const std::string& where, JitOptions options) {
  try {
    *library = &load_library(s, image, std::move(bytes), where, options.ptxas());
    return CUDA_SUCCESS;
  } catch (const LoadFailure& failure) {
    if (!s.settings.quiet)
      std::fprintf(stderr, "foretrace: %s\n%s", failure.what(), failure.output().c_str());
    options.write_errors(failure.output().empty() ? failure.what() : failure.output());
    return result_of(failure.code());
  }
}

std::vector<std::byte> file_bytes(const char* path) {
  try {
    std::vector<std::byte> bytes = frontend::read_file(path);
    if (!bytes.empty()) bytes.push_back(std::byte{0});
    return bytes;
  } catch (const InputError&) { return {}; }
}

}  // namespace foretrace::runtime::driver
