#include "sim/runtime/device/library.h"

#include "sim/runtime/device/state.h"

namespace foretrace::runtime {

Library& load_library(State& s, const void* image, std::vector<std::byte> bytes, std::string where,
                      std::vector<std::string> ptxas) {
  auto library = std::make_unique<Library>();
  library->bytes = std::move(bytes);
  library->module =
      std::make_unique<Module>(s.module_context(), library->bytes.empty() ? image : library->bytes.data(),
                               std::move(where), std::move(ptxas));
  library->module->load();
  s.libraries.push_back(std::move(library));
  return *s.libraries.back();
}

Library* library_of(State& s, const void* handle) {
  for (const auto& library : s.libraries) {
    if (library.get() == handle) return library.get();
  }
  return nullptr;
}

void unload_library(State& s, Library& library) {
  for (Kernel* kernel : library.module->kernels()) s.handles.erase(kernel);
  std::erase_if(s.libraries, [&](const auto& held) { return held.get() == &library; });
}

Kernel* give_handle(State& s, Kernel* kernel) {
  s.handles[kernel] = kernel;
  return kernel;
}

}  // namespace foretrace::runtime
