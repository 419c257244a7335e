// A kernel as machine code: what the front end reads from a cubin and its disassembly, and all that the emulator and
// the cycle model need to know of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/isa/instruction.h"

namespace foretrace::isa {

/// One kernel parameter, as in the cubin's KPARAM_INFO.
struct Parameter {
  std::uint32_t offset = 0;  ///< bytes from the first parameter in constant bank 0
  std::uint32_t size = 0;    ///< bytes
};

/// A line of a source file.
struct SourcePlace {
  std::string file;
  std::uint32_t line = 0;
  bool operator==(const SourcePlace&) const = default;
};
using CallChain = std::vector<SourcePlace>;

/// The kernel's code. `code` covers the kernel's whole section, device functions called by it included, in address order
/// without gaps: instruction i stands at offset 16 * i.
struct Program {
  int sm = 0;          ///< 80, 90, 120
  std::string kernel;  ///< as written in the source (demangled, without parameter list): "transpose_tile<33>"
  std::string mangled;
  std::string code_sha256;  ///< of the section's bytes
  std::string toolkit;      ///< version of the compiler, "13.0.88"; empty: unknown
  std::vector<Instruction> code;
  std::vector<std::string> files;  ///< source files of -lineinfo, Instruction::file - 1 indexes it
  /// Of inlined code by instruction: where its function was called, the innermost call first; null: not inlined, or not known. May be
  /// shorter than the code. Traces do not hold it.
  std::vector<std::shared_ptr<const CallChain>> inlined;
  std::uint32_t registers = 0;  ///< a thread, as launched (floor of 16 not applied)
  std::uint32_t barriers = 0;   ///< named barriers used
  std::uint32_t static_shared =
      0;  ///< bytes per block of the section .nv.shared, without the 1 KiB that sm_90+ reserves in it
  std::uint32_t shared_base =
      0;  ///< shared-memory offset where static variables start (0x400 on sm_90+, else 0)
  std::uint32_t local_bytes =
      0;  ///< stack frame per thread that the cubin states (may be too small for recursion)
  std::uint32_t max_threads = 0;                  ///< __launch_bounds__, 0: not given
  std::uint32_t required_threads[3] = {0, 0, 0};  ///< reqntid, 0: not given
  std::uint32_t cluster[3] = {0, 0, 0};           ///< compile-time cluster size, 0: not given
  std::uint32_t parameter_base = 0;               ///< offset of the first parameter in constant bank 0
  std::uint32_t parameter_bytes = 0;
  std::vector<Parameter> parameters;  ///< by ordinal
};

}  // namespace foretrace::isa
