#include "sim/engine/module_images.h"

#include <cstring>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/emulate/execute/device_runtime.h"
#include "sim/emulate/execute/driver_functions.h"

namespace foretrace::engine {

using frontend::Image;
using frontend::TargetKind;

std::uint64_t ModulePlace::address(TargetKind target, std::uint64_t value, const std::string& symbol) const {
  switch (target) {
    case TargetKind::global: return global(value);
    case TargetKind::constant3: return constant3 + value;
    case TargetKind::code: break;  // code addresses are offsets in the kernel's section
    case TargetKind::external: return emulate::driver_function_address(symbol);
    case TargetKind::kernel: return emulate::kernel_handle(value);
  }
  return value;
}

ModuleImages module_images(const frontend::Module& module, const ModulePlace& place,
                           const std::string& what) {
  ModuleImages images{module.globals, module.constant3, module.constant4};
  for (const frontend::Pointer& pointer : module.pointers) {
    const std::uint64_t value = place.address(pointer.target, pointer.value, pointer.symbol);
    std::vector<std::byte>& image = pointer.image == Image::constant3   ? images.constant3
                                    : pointer.image == Image::constant4 ? images.constant4
                                                                        : images.globals;
    if (pointer.offset + sizeof value > image.size())
      throw InputError(fmt::format("{}: a pointer lies outside its section", what));
    std::memcpy(image.data() + pointer.offset, &value, sizeof value);
  }
  return images;
}

}  // namespace foretrace::engine
