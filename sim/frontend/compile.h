// From CUDA source to a cubin and its disassembly, by NVIDIA's own tools.
//
// Models:  `nvcc -cubin -lineinfo` for one architecture, a template instance made on demand, and a cache of results.
// Cache:   ${XDG_CACHE_HOME:-~/.cache}/foretrace. An entry's name is a hash of the tools' versions, the options, the
//          source's path, every file that the compiler read (their contents, the toolkit's headers included) and the
//          names in the directories where an #include is looked up; files appear whole, by renaming.
//          A cache that cannot be read or written is passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/frontend/toolchain.h"

namespace foretrace::frontend {

struct CompileRequest {
  std::string source;                ///< path of a .cu file
  int sm = 0;                        ///< 80, 90, 120
  std::vector<std::string> defines;  ///< "NAME" or "NAME=VALUE"
  std::vector<std::string>
      options;           ///< further nvcc options; one that names an architecture replaces -arch=sm_<sm>
  std::string instance;  ///< a template instance to be made, "transpose_tile<33>"; "": none
};

struct Compiled {
  std::vector<std::byte> cubin;
  std::string disassembly;  ///< nvdisasm -c -hex -gi
};

/// Throws InputError when the tools or the source are missing, ToolError with the compiler's own output when it fails.
Compiled compile(const CompileRequest& request, const Toolchain& toolchain);

/// The disassembly of a cubin's bytes: of the functions whose symbols have these indices (KernelImage::symbols), or of all where none
/// is given. Throws InputError without nvdisasm, ToolError when it fails.
std::string disassemble(const std::vector<std::byte>& cubin, const Toolchain& toolchain,
                        std::span<const std::uint32_t> symbols = {});

/// Splits options as a shell would: blanks separate, quotes and backslashes protect. Throws InputError on an open quote.
std::vector<std::string> split_options(std::string_view text);

}  // namespace foretrace::frontend
