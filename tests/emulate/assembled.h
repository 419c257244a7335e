// Small programs written as text, and a launch of one: what the emulator's own tests are made of.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/emulate/emulator.h"
#include "tests/isa/assemble.h"

namespace foretrace::emulate {

/// One instruction per line; "NAME:" labels the next one. Parameters are `parameter_words` words at c[0x0][0x160] (sm_80),
/// [0x210] (sm_90) or [0x380] (sm_120).
inline isa::Program assemble(const std::string& text, std::uint32_t parameter_words = 0, int sm = 80) {
  isa::Program program = isa::assemble(text, sm);
  program.parameter_base = sm == 80 ? 0x160 : sm == 90 ? 0x210 : 0x380;
  program.parameter_bytes = parameter_words * 4;
  return program;
}

/// A launch of an assembled program with its memory.
struct Assembled {
  isa::Program program;
  std::unique_ptr<GlobalMemory> memory = std::make_unique<GlobalMemory>();
  LaunchContext context;

  Assembled(const std::string& text, std::uint32_t threads, std::uint32_t parameter_words = 0, int sm = 80)
      : program(assemble(text, parameter_words, sm)) {
    context.program = &program;
    context.memory = memory.get();
    context.block = {threads, 1, 1};
    context.shared_unit = 128;
    context.shared_reserved = 1024;
    context.parameters.resize(parameter_words * 4);
  }
  Assembled(const Assembled&) = delete;
  Assembled& operator=(const Assembled&) = delete;

  /// A buffer whose address is the 64-bit parameter at word `word`.
  std::uint64_t buffer(std::uint32_t word, const std::vector<std::uint32_t>& contents,
                       const std::string& name) {
    const std::uint64_t address = memory->allocate(contents.size() * 4, name);
    memory->write(address, std::as_bytes(std::span(contents)));
    std::memcpy(context.parameters.data() + 4 * word, &address, 8);
    return address;
  }
  std::vector<std::uint32_t> read(std::uint64_t address, std::size_t words) {
    std::vector<std::uint32_t> out(words);
    memory->read(address, std::as_writable_bytes(std::span(out)));
    return out;
  }
  BlockCount run(work::BlockRecord* record = nullptr, std::uint64_t block = 0) {
    const Emulator emulator(context);
    return emulator.run_block(block, record);
  }
  /// The steps of one warp, as recorded.
  std::vector<work::Step> steps(std::size_t warp = 0) {
    work::BlockRecord record;
    run(&record);
    const work::Shapes shapes(program);
    work::WarpCursor cursor(shapes, record.warps.at(warp));
    std::vector<work::Step> all;
    for (work::Step step; cursor.next(step);) all.push_back(step);
    return all;
  }
};

/// Puts the address of word `thread` of the buffer in parameter word 0 into R2:R3, the thread's number into R0.
inline const char* const kThreadAddress = R"(
    S2R R0, SR_TID.X
    MOV R2, c[0x0][0x160]
    MOV R3, c[0x0][0x164]
    IMAD.WIDE.U32 R2, R0, 0x4, R2
)";

/// One instruction (or several lines) on inputs in R4, R5, R6 ..., one vector of 32 per register; gives R8 and on.
inline std::vector<std::vector<std::uint32_t>> compute(const std::string& lines,
                                                       const std::vector<std::vector<std::uint32_t>>& inputs,
                                                       std::size_t results = 1) {
  std::string text = kThreadAddress;
  std::vector<std::uint32_t> data;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::ostringstream load;
    load << "LDG.E R" << 4 + i << ", [R2.64+0x" << std::hex << i * 128 << "]\n";
    text += load.str();
    data.insert(data.end(), inputs[i].begin(), inputs[i].end());
  }
  text += lines + "\n";
  for (std::size_t i = 0; i < results; ++i) {
    std::ostringstream store;
    store << "STG.E [R2.64+0x" << std::hex << (inputs.size() + i) * 128 << "], R" << std::dec << 8 + i
          << "\n";
    text += store.str();
  }
  text += "EXIT\n";
  Assembled a(text, 32, 2);
  data.resize((inputs.size() + results) * 32);
  const std::uint64_t address = a.buffer(0, data, "data");
  a.run();
  std::vector<std::vector<std::uint32_t>> out;
  for (std::size_t i = 0; i < results; ++i) out.push_back(a.read(address + (inputs.size() + i) * 128, 32));
  return out;
}

/// The fault that body() ends with.
template <class Body>
KernelFault fault_of(Body body) {
  try {
    body();
  } catch (const KernelFault& fault) { return fault; }
  ADD_FAILURE() << "no fault";
  return KernelFault(FaultKind::trap, "none", 0, 0);
}

}  // namespace foretrace::emulate
