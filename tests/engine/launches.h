// Small launches on the A100's code that say what a survey and a fast run should find.
#pragma once

#include <string>
#include <vector>

#include "model/config/load.h"
#include "sim/engine/machine.h"
#include "tests/emulate/assembled.h"

namespace foretrace::engine_tests {

/// out[i] = 2 * in[i] for i < n: in, out, n. A block of 128 threads.
inline const char* const kDouble = R"(
  S2R R0, SR_CTAID.X
  S2R R1, SR_TID.X
  IMAD R0, R0, 0x80, R1
  ISETP.GE.AND P0, PT, R0, c[0x0][0x170], PT
  @P0 EXIT
  MOV R9, 0x4
  IMAD.WIDE R2, R0, R9, c[0x0][0x160]
  IMAD.WIDE R4, R0, R9, c[0x0][0x168]
  LDG.E R6, [R2.64]
  FADD R6, R6, R6
  STG.E [R4.64], R6
  EXIT
)";

/// Each block counts down from the word that `in` holds for it, then writes it: in, out.
inline const char* const kCountDown = R"(
  S2R R0, SR_CTAID.X
  MOV R9, 0x4
  IMAD.WIDE R2, R0, R9, c[0x0][0x160]
  IMAD.WIDE R4, R0, R9, c[0x0][0x168]
  LDG.E R6, [R2.64]
  L:
  IADD3 R6, R6, -0x1, RZ
  ISETP.GT.AND P0, PT, R6, RZ, PT
  @P0 BRA `(L)
  STG.E [R4.64], R6
  EXIT
)";

struct Launch {
  emulate::Assembled assembled;
  std::uint64_t in = 0, out = 0;
  std::shared_ptr<const spec::GpuSpec> chip =
      std::make_shared<spec::GpuSpec>(config::load_gpu("a100-sxm-40gb").spec);

  Launch(const char* text, std::uint32_t blocks, std::uint32_t threads, std::vector<std::uint32_t> input,
         std::size_t words_out)
      : assembled(text, threads, 5) {
    in = assembled.buffer(0, std::move(input), "in");
    out = assembled.buffer(2, std::vector<std::uint32_t>(words_out), "out");
    assembled.context.grid = {blocks, 1, 1};
    for (isa::Instruction& instruction :
         assembled.program.code) {  // each instruction after the one before, loads awaited
      instruction.control.stall = 5;
      instruction.control.wait_mask = 1;
      if (instruction.opcode == isa::Opcode::LDG) instruction.control.write_barrier = 0;
    }
    assembled.program.registers = 32;
  }
  void set_word(std::uint32_t word, std::uint32_t value) {
    std::memcpy(assembled.context.parameters.data() + std::size_t{4} * word, &value, 4);
  }
  engine::Launch shape() const {
    return {{assembled.context.grid, assembled.context.block, {}, 0},
            std::make_shared<isa::Program>(assembled.program)};
  }
};

}  // namespace foretrace::engine_tests
