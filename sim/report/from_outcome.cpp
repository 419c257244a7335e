#include "sim/report/from_outcome.h"

#include <algorithm>

#include "model/isa/work_counters.h"

namespace foretrace::report {

namespace {

/// Code that reads a clock, polls or shares work out by counts executes a number of instructions that depends on time.
bool depends_on_time(const isa::Program& program) {
  if (!isa::work_counters(program).empty()) return true;
  return std::any_of(program.code.begin(), program.code.end(), [](const isa::Instruction& instruction) {
    if (instruction.opcode == isa::Opcode::YIELD || instruction.opcode == isa::Opcode::NANOSLEEP) return true;
    if (instruction.opcode != isa::Opcode::CS2R && instruction.opcode != isa::Opcode::S2R &&
        instruction.opcode != isa::Opcode::S2UR) {
      return false;
    }
    return instruction.text.find("CLOCK") != std::string::npos ||
           instruction.text.find("TIMER") != std::string::npos;
  });
}

}  // namespace

Prediction prediction_of(const config::Loaded& chip, const std::vector<std::string>& overrides,
                         std::shared_ptr<const isa::Program> program, const LaunchIdentity& launch,
                         engine::Outcome outcome) {
  Prediction prediction;
  prediction.time_dependent = depends_on_time(*program);
  prediction.gpu = std::move(outcome.chip);
  prediction.program = std::move(program);
  prediction.config_sha256 = chip.sha256;
  prediction.assumed_values = static_cast<std::uint32_t>(chip.assumed);
  prediction.transferred_values = static_cast<std::uint32_t>(chip.transferred);
  prediction.overrides = overrides;
  prediction.identity() = launch;
  const rules::Occupancy& occupancy = outcome.occupancy;
  // ncu states no limit above the block slots for barriers (measured: validate/measurements/h100-sxm.json).
  prediction.occupancy = {occupancy.limit_registers,
                          occupancy.limit_shared_configured,
                          occupancy.limit_warps,
                          occupancy.limit_blocks,
                          std::min(occupancy.limit_barriers, occupancy.limit_blocks),
                          occupancy.blocks,
                          occupancy.warps,
                          occupancy.shared_config,
                          outcome.next_step};
  prediction.estimate = std::move(outcome.estimate);
  prediction.counters = std::move(outcome.counters);
  return prediction;
}

}  // namespace foretrace::report
