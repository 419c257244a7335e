// libcupti.so: what profilers inside programs ask of NVIDIA's driver (PyTorch's, JAX's). Nothing of it is provided, and every function says so.
//
// NVIDIA's own library finds no driver of its kind here, and asks again until the stack is full. Programs go on without its part when they are
// answered: torch.profiler has the CPU's side then.
// Source: cuPTI's headers for names and codes.
#include <cstdint>
#include <cstdio>

#define CUPTI_API extern "C" __attribute__((visibility("default")))

namespace {

enum Code : int { kSuccess = 0, kInvalidParameter = 1, kNotSupported = 27 };

constexpr std::uint32_t kVersion = 130000;  // CUPTI_API_VERSION of CUDA 13.0

int not_supported() {
  static const bool said = [] {
    std::fputs(
        "foretrace: cuPTI is not provided: a profiler sees the CPU's part alone; foretrace run --perfetto "
        "FILE has the GPU's\n",
        stderr);
    return true;
  }();
  static_cast<void>(said);
  return kNotSupported;
}

}  // namespace

CUPTI_API int cuptiGetVersion(std::uint32_t* version) {
  if (version == nullptr) return kInvalidParameter;
  *version = kVersion;
  return kSuccess;
}

CUPTI_API int cuptiGetResultString(int result, const char** text) {
  if (text == nullptr) return kInvalidParameter;
  *text = result == kSuccess        ? "CUPTI_SUCCESS"
          : result == kNotSupported ? "CUPTI_ERROR_NOT_SUPPORTED"
                                    : "an error";
  return kSuccess;
}

#define FORETRACE_NOT_SUPPORTED(name) \
  CUPTI_API int name() { return not_supported(); }
#include "sim/runtime/profiling/names.def"
#undef FORETRACE_NOT_SUPPORTED
