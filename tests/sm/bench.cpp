#include "tests/sm/bench.h"

#include <algorithm>

#include "model/config/load.h"

namespace foretrace::sm_tests {

spec::GpuSpec bench_chip() {
  static const spec::GpuSpec chip = [] {
    spec::GpuSpec spec = config::load_gpu("h100-sxm").spec;
    spec.fetch.prefetch_lines = 64;
    spec.fetch.first_latency = 0;
    spec.launch.warp_interval = 0;
    return spec;
  }();
  return chip;
}

std::shared_ptr<isa::Program> program_of(const std::vector<Line>& lines) {
  auto program = std::make_shared<isa::Program>();
  program->sm = 90;
  program->kernel = "bench";
  program->registers = 64;
  std::uint32_t offset = 0;
  for (const Line& line : lines) {
    isa::Instruction instruction =
        isa::parse_text((line.executed == ~0u ? "" : "@P0 ") + line.text, offset, {{"first", 0}}, "bench");
    instruction.offset = offset;
    instruction.control.stall = line.stall;
    instruction.control.write_barrier = line.write;
    instruction.control.read_barrier = line.read;
    instruction.control.wait_mask = line.wait;
    instruction.control.yield = false;
    program->code.push_back(instruction);
    offset += kInstructionBytes;
  }
  return program;
}

Ran run_warps(const spec::GpuSpec& chip, const std::vector<std::vector<Line>>& warps, Cycle memory_latency,
              std::uint64_t l1_bytes, std::uint64_t block_shared) {
  std::vector<std::vector<Line>> all = warps;
  for (auto& lines : all) lines.push_back({"EXIT", 5});
  const sm::StaticProgram program(program_of(all[0]), chip);
  auto record = std::make_shared<work::BlockRecord>();
  record->warps.resize(all.size());
  for (std::size_t w = 0; w < all.size(); ++w) {
    work::WarpRecorder recorder(program.shapes, record->warps[w]);
    for (std::uint32_t i = 0; i < all[w].size(); ++i) {
      if (all[w][i].skipped) continue;
      std::array<work::LaneAddresses, 2> addresses{};
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        for (auto& set : addresses)
          set[lane] = all[w][i].base + static_cast<std::uint64_t>(all[w][i].stride * lane);
      }
      if (program.code[i].form.access == isa::Access::async_copy && all[w][i].operand != 0) {
        for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) addresses[0][lane] = all[w][i].operand * lane;
      }
      if (program.code[i].barrier_use != isa::BarrierUse::none) addresses[1].fill(all[w][i].operand);
      recorder.record(i, ~0u, all[w][i].executed, std::span(addresses.data(), program.shapes.of[i].addresses),
                      all[w][i].value != 0 ? all[w][i].value : all[w][i].executed, {}, &all[w][i].transfer);
    }
    recorder.finish();
  }
  sm::Sm sm(chip, 0, program, l1_bytes ? l1_bytes : chip.l1.unified_bytes - chip.l1.carveouts.back(),
            block_shared);
  sm.place({0, record, 0, 0, {}});
  Ran ran;
  struct Due {
    memory::Reply reply;
    bool done = false;  // no more than the word that a store is done
  };
  std::multimap<Cycle, Due> replies;
  while (sm.next_event() != kNever || !replies.empty()) {
    Cycle until = std::min(sm.next_event(), replies.empty() ? kNever : replies.begin()->first) + 1;
    while (!replies.empty() && replies.begin()->first < until) {
      const Due& due = replies.begin()->second;
      if (due.done) {
        sm.acknowledge({due.reply});
      } else {
        sm.deliver(due.reply);
      }
      replies.erase(replies.begin());
    }
    sm.advance(until);
    for (const memory::Request& request : sm.outbox) {
      const Cycle when = request.time + memory_latency;
      const bool done =
          request.kind == memory::RequestKind::write || request.kind == memory::RequestKind::reduction;
      replies.insert({when, {{when, 0, request.id}, done}});
      ran.requests.push_back(request);
    }
    sm.outbox.clear();
    for (const memory::CodeRequest& request : sm.code_outbox) {
      if (request.use != memory::CodeUse::code) ran.constants.push_back(request);
      const Cycle when = request.time + (request.use == memory::CodeUse::load      ? chip.constant.l1_miss
                                         : request.use == memory::CodeUse::operand ? chip.constant.l0_miss
                                                                                   : 1);
      replies.insert({when, {{when, 0, request.id}}});
    }
    sm.code_outbox.clear();
    for (const sm::WarpEnd& end : sm.ended) {
      ran.end = std::max(ran.end, end.time);
      ran.announced += end.announces;
    }
    sm.ended.clear();
  }
  sm.finish(ran.end);
  ran.counters = sm.counters;
  return ran;
}

Ran run(const spec::GpuSpec& chip, const std::vector<Line>& lines, int warps, Cycle memory_latency) {
  return run_warps(chip, std::vector<std::vector<Line>>(static_cast<std::size_t>(warps), lines),
                   memory_latency);
}

}  // namespace foretrace::sm_tests
