// foretrace disassemble: the decoded program with its control bits and pipes.

#include <iostream>

#include "model/config/load.h"
#include "sim/app/kernel_options.h"
#include "sim/app/options.h"
#include "sim/frontend/disassembly.h"
#include "sim/frontend/load.h"

namespace foretrace::app {

int disassemble(const Words& words) {
  ChipOptions chosen;
  KernelOptions kernel;
  options::options_description known("options");
  chosen.add_chips_to(known);
  kernel.add_to(known);
  options::variables_map values;
  if (!parse(words, "disassemble FILE.cu|FILE.cubin [--kernel NAME] --arch CHIP", known, "file", values))
    return 0;
  const std::string file = one_file(values, "a .cu or .cubin file");
  const frontend::Toolchain toolchain = frontend::find_toolchain();
  for (const Variant& variant : variants(chosen)) {
    const spec::GpuSpec& chip = variant.chip.spec;
    const auto pipe_of = [&](const isa::Instruction& instruction) {
      std::string opcode(isa::name_of(instruction.opcode));
      for (const std::string& modifier : instruction.modifiers) opcode += "." + modifier;
      const spec::OpcodeSpec* row = config::find_opcode(chip, opcode);
      return std::string(row ? spec::name_of(row->pipes[0]) : "?");
    };
    for (const frontend::LoadedKernel& loaded :
         frontend::load_kernels(kernel.request(file, chip.sm_number), toolchain)) {
      std::cout << frontend::format_program(loaded.program, pipe_of) << "\n";
    }
  }
  return 0;
}

}  // namespace foretrace::app
