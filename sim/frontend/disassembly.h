// nvdisasm's text, section by section, and its marriage with the cubin's bytes.
//
// Models:  the output of `nvdisasm -c -hex -gi` (or -g): instructions with both 64-bit halves, labels, source lines. An
//          instruction that comes from a toolkit header belongs to the line of the user's that called into it.
// Ignores: directives.
// Source:  our own corpus, nvdisasm of CUDA 13.0 and 13.2; docs/facts.md.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/isa/program.h"
#include "sim/frontend/cubin.h"

namespace foretrace::frontend {

/// Decodes `image`'s instructions from the disassembly of its cubin: fills Program::code and Program::files.
/// Every word is compared with the section's bytes, so a text of another cubin is refused.
/// Throws InputError naming kernel, offset and text; `where` names the disassembly.
isa::Program decode_kernel(const KernelImage& image, std::string_view disassembly, const std::string& where);

/// The program as a table, for people: offset, control bits, pipe, instruction, source line. The control columns are
/// W: scoreboard set on write, R: set on read of the sources, WM: scoreboards waited for (5 to 0), S: stall cycles,
/// Y: yield. `pipe_of` names an instruction's pipe; an empty function leaves the column out.
std::string format_program(const isa::Program& program,
                           const std::function<std::string(const isa::Instruction&)>& pipe_of);

}  // namespace foretrace::frontend
