// Several pieces of relocatable code become one cubin, by ptxas and nvlink, as the driver's own linker does it when a program is loaded.
//
// Models:  what CUDA calls just-in-time linking: of a program that was compiled with -rdc=true for other chips than this one, each
//          object's machine code, or else its PTX, is linked again.
// Cache:   by the pieces, the chip and ptxas's version (cache.h).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sim/frontend/toolchain.h"

namespace foretrace::frontend {

struct LinkPiece {
  std::vector<std::byte> code;  ///< a relocatable cubin, a host object or library with device code
  std::string suffix;           ///< of its kind: "cubin", "o", "a"
};

/// The executable cubin. Throws InputError without ptxas (nvlink stands beside it), ToolError with nvlink's message when it fails.
std::vector<std::byte> link_objects(const std::vector<LinkPiece>& pieces, int sm, const Toolchain& toolchain);

/// The same of fat binaries of relocatable code: of each the machine code for the chip or, without it, its PTX. Throws InputError where
/// one has neither.
std::vector<std::byte> link_fat_binaries(std::span<const void* const> containers, int sm,
                                         const std::vector<std::string>& ptxas, const Toolchain& toolchain,
                                         const std::string& where);

}  // namespace foretrace::frontend
