// Looking up the driver's functions.
//
// Source: cudaTypedefs.h and cudaProfilerTypedefs.h for names and versions; cuda.h for what a look-up answers.
#include "sim/runtime/driver/entry_points.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>

#include <fmt/format.h>

#include "sim/runtime/driver/driver.h"

// Names only: their forms do not matter here, and several of them are declared in no header.
#define FORETRACE_ENTRY(name, version, per_thread, symbol) \
  extern "C" int foretrace_entry_##symbol() __asm__(#symbol);
#include "sim/runtime/driver/names.def"
#undef FORETRACE_ENTRY

// The stubs of what is not provided stand in a section of their own (stubs.cpp).
extern "C" const char __start_foretrace_stubs[] __attribute__((visibility("hidden")));
extern "C" const char __stop_foretrace_stubs[] __attribute__((visibility("hidden")));

namespace foretrace::runtime::driver {

namespace {

struct Entry {
  const char* name;
  int version;
  bool per_thread;
  int (*function)();
};
const Entry kEntries[] = {
#define FORETRACE_ENTRY(name, version, per_thread, symbol) \
  {#name, version, per_thread != 0, foretrace_entry_##symbol},
#include "sim/runtime/driver/names.def"
#undef FORETRACE_ENTRY
};

bool is_provided(const Entry& entry) {
  const auto at = reinterpret_cast<std::uintptr_t>(entry.function);
  return at < reinterpret_cast<std::uintptr_t>(__start_foretrace_stubs) ||
         at >= reinterpret_cast<std::uintptr_t>(__stop_foretrace_stubs);
}

}  // namespace

Lookup find_entry(const char* name, int version, bool per_thread, void*& function) {
  const Entry* best = nullptr;
  bool known = false;
  for (const Entry& entry : kEntries) {
    if (std::strcmp(entry.name, name) != 0 || (entry.per_thread && !per_thread) || !is_provided(entry))
      continue;
    known = true;
    if (entry.version > version) continue;
    // The same version's variant for threads before the common one.
    if (best == nullptr || entry.version > best->version ||
        (entry.version == best->version && entry.per_thread))
      best = &entry;
  }
  function = best == nullptr ? nullptr : reinterpret_cast<void*>(best->function);
  return best != nullptr ? Lookup::found : known ? Lookup::version_too_low : Lookup::no_such_name;
}

}  // namespace foretrace::runtime::driver

using namespace foretrace;
using namespace foretrace::runtime;
using namespace foretrace::runtime::driver;

namespace {

bool torch_is_loaded() {
  void* library = dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

/// Once for each library that has NVIDIA's runtime inside: its name, what that means, and what can be done.
void say_what_asks(const void* caller) {
  if (state().settings.quiet) return;
  Dl_info where{};
  const bool known = dladdr(caller, &where) != 0 && where.dli_fname != nullptr;
  const std::string file = known ? std::filesystem::path(where.dli_fname).filename().string() : "the program";
  // Ask, too, but do all their work without the table.
  if (file.starts_with("libnvrtc") || file.starts_with("libnvJitLink")) return;
  static std::mutex mutex;
  static auto* said = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (!said->insert(file).second) return;
  const std::string place = known ? where.dli_fname : "";
  const auto lies_in = [&place](const char* part) { return place.find(part) != std::string::npos; };
  const bool library = file.find(".so") != std::string::npos;
  std::fputs(
      fmt::format(
          "foretrace: {} has NVIDIA's CUDA runtime inside, which runs on NVIDIA's driver alone: {}\n", file,
          !library ? "build it with -cudart shared, or in the environment of `eval $(foretrace env)`"
          : lies_in("/cuda/bindings/") || lies_in("/nvidia_cutlass_dsl/")
              ? "what needs it fails here (cuda.bindings.runtime and CuTe DSL: import foretrace_cuda)"
          : torch_is_loaded()
              ? "what needs it fails here (PyTorch's products and convolutions: import foretrace_torch)"
              : "what needs it fails here")
          .c_str(),
      stderr);
}

}  // namespace

FORETRACE_API CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                                           CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t kKnown =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (name == nullptr || function == nullptr || version > kVersion || (flags & ~kKnown) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const Lookup result = find_entry(name, version, per_thread, *function);
  if (status != nullptr) {
    *status = result == Lookup::found          ? CU_GET_PROC_ADDRESS_SUCCESS
              : result == Lookup::no_such_name ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
                                               : CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  }
  return CUDA_SUCCESS;
}

FORETRACE_API CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags) {
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult result = cuGetProcAddress_v2(name, function, version, flags, &status);
  return result == CUDA_SUCCESS && status != CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_ERROR_NOT_FOUND : result;
}

FORETRACE_API CUresult cuGetExportTable(const void** table, const CUuuid*) {
  if (table != nullptr) *table = nullptr;
  say_what_asks(__builtin_return_address(0));
  return CUDA_ERROR_NOT_FOUND;
}
