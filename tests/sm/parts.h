// Parts of an SM wired as sm.h wires them, with no SM around them: a test places warps before single instructions, calls one part, and
// sees at which cycle it lets them go.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "model/sm/cluster_port.h"
#include "model/sm/constant_path.h"
#include "tests/sm/bench.h"

namespace foretrace::sm {

class Parts {
 public:
  /// The program that the lines print; blocks of slots 0 to `resident` - 1 have `warps` warps each.
  explicit Parts(const std::vector<sm_tests::Line>& lines, const spec::GpuSpec& with = sm_tests::bench_chip(),
                 std::uint32_t warps = 4, std::uint32_t resident = 2)
      : chip(with), program(sm_tests::program_of(lines), chip), context{chip, 0, program, events, counters},
        blocks(resident), table(context), memory(chip, 0, 1 << 16, 0, program, events, counters, requests),
        barriers(context, blocks, messages), copies(context, table, blocks, memory, barriers),
        held(context, table, blocks, memory), cluster(context, blocks, barriers, copies, held, messages),
        constants(context, table, adu, code) {
    counters.instructions.resize(lines.size());
    auto record = std::make_shared<work::BlockRecord>();
    record->warps.resize(warps);
    for (std::uint32_t slot = 0; slot < resident; ++slot) {
      blocks[slot].record = record;
      blocks[slot].used = true;
      blocks[slot].live_warps = warps;
      blocks[slot].serial = slot + 1;
      blocks[slot].cluster = slot;
    }
  }

  /// Warp `id`, which is warp `in_block` of a block, stands before instruction `index`; its lanes execute it as `how` says.
  Warp& stand(std::uint16_t id, std::uint32_t index, const sm_tests::Line& how = {}, std::uint32_t block = 0,
              std::uint32_t in_block = 0) {
    return begin(id, {{index, how}}, block, in_block);
  }
  /// One instruction that a warp executes, how it does, and what a load in a spin loop waits for.
  struct Executed {
    std::uint32_t index = 0;
    sm_tests::Line how = {};
    std::vector<work::Awaited> awaited = {};
  };
  /// Warp `id`, which is warp `in_block` of a block, stands before the first of what it executes.
  Warp& begin(std::uint16_t id, const std::vector<Executed>& all, std::uint32_t block = 0,
              std::uint32_t in_block = 0) {
    work::WarpRecord& record = records_.emplace_back();
    work::WarpRecorder recorder(program.shapes, record);
    for (const auto& [index, how, awaited] : all) {
      std::array<work::LaneAddresses, 2> addresses{};
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        addresses[0][lane] = how.base + static_cast<std::uint64_t>(how.stride * lane);
      }
      addresses[1].fill(how.operand);
      const std::uint32_t lanes =
          how.executed ? how.executed : ~0u;  // a group that none executes is on its way, too
      recorder.record(index, lanes, lanes, std::span(addresses.data(), program.shapes.of[index].addresses),
                      lanes, awaited);
    }
    recorder.finish();
    Warp& warp = table.warps[id];
    warp = Warp{};
    warp.cursor = work::WarpCursor(program.shapes, record);
    warp.cursor.next(warp.step);
    warp.instruction = &program.code[warp.step.index];
    warp.block = block;
    warp.in_block = in_block;
    warp.age = id + 1u;
    warp.phase = Phase::timed;
    return warp;
  }

  /// Lets everything happen that is due before `until`. What the parts tell each other by events is done; scoreboards that are released
  /// go to `released`.
  void run(Cycle until) {
    while (events.next() < until) {
      const Cycle now = events.next();
      events.run(now, [&](const Event& event) {
        if (event.kind == Event::Kind::release) released.push_back({now, event.warp});
        if (event.kind == Event::Kind::barrier) barriers.execute(event.id, now, now);
        if (event.kind == Event::Kind::message) cluster.take(event.id, now);
        if (event.kind == Event::Kind::constant_pass) constants.advance(event.id, now);
        if (event.kind == Event::Kind::product) held.begin_products(now);
      });
    }
  }
  /// The memory pipe takes what it can, up to and with cycle `last`.
  void tick_memory(Cycle last) {
    while (memory.next_tick() <= last) memory.tick(memory.next_tick());
  }
  /// When the warp's scoreboard is released, after all that is due has happened; kNever: it was not.
  Cycle released_at(std::uint16_t id) {
    run(kNever);
    const auto of_warp = [id](const auto& each) { return each.second == id; };
    const auto found = std::find_if(released.begin(), released.end(), of_warp);
    return found == released.end() ? kNever : found->first;
  }

  spec::GpuSpec chip;
  StaticProgram program;
  Events events;
  stats::LaunchCounters counters;
  SmContext context;
  Blocks blocks;
  WarpTable table;
  std::vector<ClusterMessage> messages;  ///< to other SMs
  std::vector<memory::CodeRequest> code;
  std::vector<memory::Request> requests;
  std::vector<std::pair<Cycle, std::uint16_t>> released;  ///< when, of which warp
  MemoryPipe memory;
  Adu adu;
  BarrierUnit barriers;
  BulkCopies copies;
  HeldWarps held;
  ClusterPort cluster;
  ConstantPath constants;

 private:
  std::deque<work::WarpRecord> records_;
};

}  // namespace foretrace::sm
