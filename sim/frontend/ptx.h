// PTX to machine code, as the driver's own compiler does it when a program is loaded: by ptxas, in a process of its own.
//
// Models:  which chips take the PTX (its .target: any chip of the same or a higher revision; "a" that one chip, "f" its family).
// Cache:   by the text, the chip and ptxas's version (cache.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/units/error.h"
#include "sim/frontend/toolchain.h"

namespace foretrace::frontend {

/// What PTX says of itself.
struct PtxHead {
  int sm = 0;                ///< of .target
  std::string suffix;        ///< "", "a" or "f"
  bool has_version = false;  ///< there is a .version: it is PTX
};
PtxHead ptx_head(std::string_view text);

/// Whether the text may be PTX: a .version directive stands before anything but comments.
bool is_ptx(std::string_view text);

/// Whether a chip of `sm` can run what is compiled from it.
bool ptx_runs_on(const PtxHead& head, int sm);

struct PtxRequest {
  std::string text;
  int sm = 0;                        ///< the chip: 80, 90, 120
  std::vector<std::string> options;  ///< further ones of ptxas
  bool relocatable = false;          ///< for the linker: -c
};

/// No ptxas that was found knows the .version of the PTX; ptxas's own message as its output.
class PtxVersionError : public ToolError {
 public:
  using ToolError::ToolError;
};

/// The cubin, by the toolchain's ptxas or, where that does not know the PTX's .version, by a newer one (newer_ptxas). Throws InputError without
/// ptxas, PtxVersionError when the PTX is newer than all of them, ToolError with ptxas's own message when it fails otherwise.
std::vector<std::byte> compile_ptx(const PtxRequest& request, const Toolchain& toolchain);

}  // namespace foretrace::frontend
