#include "model/sm/joined_program.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/units/error.h"

namespace foretrace::sm {

namespace {

void check(const StaticProgram& kernel) {
  const auto refuse = [&](const char* why) {
    throw InputError(fmt::format("kernel {}: {}; it cannot be simulated beside other kernels",
                                 kernel.program->kernel, why));
  };
  if (!kernel.shapes.loops.empty()) refuse("its warps wait for each other in memory");
  if (!kernel.shapes.retries.empty()) refuse("its warps try compare-and-swaps again");
  if (std::any_of(kernel.code.begin(), kernel.code.end(),
                  [](const StaticInstruction& in) { return in.action == Action::registers; }))
    refuse("its warps pass registers on (setmaxnreg)");
}

void append(StaticProgram& all, const StaticProgram& kernel, std::uint32_t number) {
  std::vector<std::uint8_t> classes;
  for (const IssueClass& issue_class : kernel.classes) {
    const auto found = std::find(all.classes.begin(), all.classes.end(), issue_class);
    classes.push_back(static_cast<std::uint8_t>(found - all.classes.begin()));
    if (found == all.classes.end()) all.classes.push_back(issue_class);
  }
  FORETRACE_ASSERT(all.classes.size() <= kMaxClasses,
                   "an instruction set has few ways out of the issue stage");
  for (StaticInstruction instruction : kernel.code) {
    instruction.issue_class = classes[instruction.issue_class];
    if (instruction.constant) instruction.constant_address += number * kConstantsApart;
    all.code.push_back(instruction);
  }
  for (work::Shape shape : kernel.shapes.of) {
    const std::uint32_t before = shape.transfers ? all.shapes.transfers : all.shapes.slots;
    shape.slot = static_cast<std::uint16_t>(shape.slot + before);
    all.shapes.of.push_back(shape);
  }
  all.shapes.slots += kernel.shapes.slots;
  all.shapes.transfers += kernel.shapes.transfers;
}

StaticProgram joined(const std::vector<const StaticProgram*>& kernels) {
  FORETRACE_ASSERT(!kernels.empty(), "somebody is on the chip");
  StaticProgram all = *kernels.front();
  auto program = std::make_shared<isa::Program>(*all.program);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    check(*kernels[i]);
    if (i == 0) continue;
    append(all, *kernels[i], static_cast<std::uint32_t>(i));
    const isa::Program& other = *kernels[i]->program;
    program->kernel += " + " + other.kernel;
    program->code.insert(program->code.end(), other.code.begin(), other.code.end());
    program->registers = std::max(program->registers, other.registers);
  }
  all.program = std::move(program);
  return all;
}

}  // namespace

JoinedProgram::JoinedProgram(const std::vector<const StaticProgram*>& kernels) : program(joined(kernels)) {
  std::uint32_t at = 0;
  for (const StaticProgram* kernel : kernels) {
    first.push_back(at);
    at += static_cast<std::uint32_t>(kernel->code.size());
  }
}

}  // namespace foretrace::sm
