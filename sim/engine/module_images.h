// A module as memory holds it: its images with the addresses that are known once they have been placed. For predict and run alike.
//
// Models:  pointers to variables, constants, code, kernels and the driver's functions.
// Ignores: where an image is placed, which is its user's to say.
// Source:  our own cubins (docs/facts.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/frontend/module.h"

namespace foretrace::engine {

/// Where a module's images are.
struct ModulePlace {
  std::function<std::uint64_t(std::uint64_t)> global;  ///< the address of a byte of Module::globals
  std::uint64_t constant3 = 0;                         ///< address of Module::constant3 in global memory

  /// The address that a pointer, or an instruction that is relocated, stands for; `value` and `symbol` as in frontend::Pointer.
  std::uint64_t address(frontend::TargetKind target, std::uint64_t value, const std::string& symbol) const;
};

/// The contents of a module's images, pointers filled in.
struct ModuleImages {
  std::vector<std::byte> globals, constant3, constant4;
};

/// Throws InputError that names `what` where a pointer lies outside its image.
ModuleImages module_images(const frontend::Module& module, const ModulePlace& place, const std::string& what);

}  // namespace foretrace::engine
