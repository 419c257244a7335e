// The memory pipe: latencies end to end, conflicts, the queue, coalescing into requests, L1.

#include <gtest/gtest.h>

#include <bit>

#include "model/sm/data_array.h"
#include "model/work/address_space.h"
#include "tests/sm/bench.h"

namespace foretrace::sm_tests {
namespace {

/// Cycles from the issue of `access` (which sets scoreboard 0) to the issue of an instruction that waits for it.
Cycle latency(const spec::GpuSpec& chip, const Line& access, Cycle memory_latency = 300,
              const std::vector<Line>& before = {}) {
  std::vector<Line> lines = before;
  lines.push_back(access);
  lines.push_back({"NOP", 1, 7, 7, 1});
  std::vector<Line> without = lines;
  without.back().wait = 0;
  return run(chip, lines, 1, memory_latency).end - run(chip, without, 1, memory_latency).end + access.stall;
}

Line lds(std::string width, std::int64_t stride) {
  return {"LDS" + width + " R0, [R2]", 2, 0, 7, 0, ~0u, 0, stride};
}

TEST(SharedMemory, LatencyGrowsByWidthAndByConflictAsMeasured) {
  const spec::GpuSpec chip = bench_chip();
  EXPECT_EQ(latency(chip, lds("", 4)), chip.shared.latency);
  EXPECT_EQ(latency(chip, lds(".64", 8)), chip.shared.latency + chip.lsu.width_latency);
  EXPECT_EQ(latency(chip, lds(".128", 16)), chip.shared.latency + 3 * chip.lsu.width_latency);
  for (const int ways : {2, 4, 8, 32}) {
    EXPECT_EQ(latency(chip, lds("", 4 * ways)),
              chip.shared.latency + chip.shared.conflict_latency * static_cast<unsigned>(ways - 1));
  }
}

TEST(SharedMemory, AGenericAccessGoesWhereItsAddressSays) {
  const spec::GpuSpec chip = bench_chip();
  const auto load = [](std::uint64_t base, std::int64_t stride) {
    return Line{"LD.E R0, desc[UR4][R2.64]", 2, 0, 7, 0, ~0u, base, stride};
  };
  const std::uint64_t shared = work::kSharedWindow;
  EXPECT_EQ(latency(chip, load(shared, 4)), chip.shared.generic_latency);
  EXPECT_EQ(latency(chip, load(shared, 8)), chip.shared.generic_latency + chip.shared.conflict_latency);
  const Ran last = run(chip, {load(shared + work::kWindowBytes - 128, 4)});
  EXPECT_TRUE(last.requests.empty());
  EXPECT_EQ(last.counters.shared_wavefronts_ld, 1u);
  EXPECT_EQ(last.counters.l1_requests_global_ld, 0u);
  const Ran before = run(chip, {load(shared - 128, 4)});
  EXPECT_EQ(before.requests.size(), 1u);
  EXPECT_EQ(before.counters.shared_wavefronts_ld, 0u);
  EXPECT_EQ(before.counters.l1_requests_global_ld, 1u);
  // Nsight Compute counts a generic load neither as one of global nor as one of shared memory.
  EXPECT_EQ(before.counters.inst_global_ld + before.counters.inst_shared_ld, 0u);
  const Ran store = run(chip, {Line{"ST.E desc[UR4][R2.64], R0", 2, 7, 0, 0, ~0u, shared, 8}});
  EXPECT_TRUE(store.requests.empty());
  EXPECT_EQ(store.counters.shared_wavefronts_st, 2u);
}

TEST(SharedMemory, StoresGoAgainBesideFillsOfTheirHalfAndLoadsBesideStoresThatLeaveIt) {
  const spec::GpuSpec chip = bench_chip();
  const std::uint64_t half = chip.l1.unified_bytes / 2, l1 = chip.l1.unified_bytes - 16 * 1024;
  // One warp moves `bytes` through L1, nine lines at a time, each word in a bank of its own, while three access shared memory.
  const auto extra = [&](const char* moves, const char* accesses_shared, std::uint64_t bytes,
                         std::uint64_t block_shared) {
    std::vector<Line> moving, accessing;
    std::uint64_t count = 0;
    for (std::uint64_t at = 0; at < bytes; at += 9 * 128) {
      const std::uint64_t base = (std::uint64_t{1} << 30) + at;
      moving.push_back({moves, 2, 7, 7, 0, ~0u >> 1, base, 36});
      accessing.push_back({"", 2, 7, 7, 0, 0, base, 36});
      for (int i = 0; i < 20; ++i) {
        moving.push_back({accesses_shared, 2, 7, 7, 0, 0, 0, 4});
        accessing.push_back({accesses_shared, 2, 7, 7, 0, ~0u, 0, 4});
        count += 3;
      }
    }
    const stats::LaunchCounters c =
        run_warps(chip, {moving, accessing, accessing, accessing}, 300, l1, block_shared).counters;
    EXPECT_EQ(c.shared_wavefronts_st + c.shared_wavefronts_ld, count) << "by the rule they are what they are";
    return std::pair{c.shared_contention_ld, c.shared_contention_st};
  };
  const char *load = "LDG.E R4, desc[UR4][R2.64]", *store = "STG.E desc[UR4][R2.64], R4";
  const char *shared_load = "LDS R4, [R2]", *shared_store = "STS [R2], R4";
  const std::uint64_t small = half - 64 * 1024, large = l1;
  EXPECT_EQ(extra(load, shared_store, small, 4096).second, 0u)
      << "lines of the lower half, shared memory in the upper";
  EXPECT_GT(extra(load, shared_store, large, 4096).second, 0u);
  EXPECT_GT(extra(load, shared_store, small, chip.l1.unified_bytes).second, 0u)
      << "shared memory down to the lower half";
  EXPECT_EQ(extra(load, shared_load, large, 4096).first, 0u) << "a fill writes, a load reads";
  EXPECT_EQ(extra(store, shared_load, small, 4096).first, 0u);
  EXPECT_GT(extra(store, shared_load, large, 4096).first, 0u);
  EXPECT_EQ(extra(store, shared_store, large, 4096).second, 0u);
}

TEST(DataArray, AShortUseCostsAnAccessItsPassAndNoMore) {
  sm::DataArray array(256 * 1024, 16 * 1024, 0.6667);
  using Way = sm::DataArray::Way;
  EXPECT_EQ(array.half_of_line(128 * 1024 - 128), 0u);
  EXPECT_EQ(array.half_of_line(128 * 1024), 1u);
  EXPECT_EQ(array.half_of_shared(7, 0), 1u);
  EXPECT_EQ(array.half_of_shared(8, 16 * 1024 - 4), 0u) << "from the top down";
  array.take(Way::write, 1, 100, 4);  // until 102, and two thirds of a cycle are left
  EXPECT_EQ(array.access(Way::write, 0, 100, 1), 0u);
  EXPECT_EQ(array.access(Way::read, 1, 100, 1), 0u);
  EXPECT_EQ(array.access(Way::write, 1, 102, 1), 0u);
  EXPECT_EQ(array.access(Way::write, 1, 101, 1), 1u);
  EXPECT_EQ(array.access(Way::write, 1, 200, 4), 0u);
  EXPECT_EQ(array.take(Way::write, 1, 203, 1), 1u) << "its last pass";
  EXPECT_EQ(array.take(Way::write, 1, 210, 1), 0u);
  array.start_warp(300);
  array.start_warp(303);
  EXPECT_EQ(array.access(Way::write, 1, 300, 4), 0u);
  EXPECT_EQ(array.access(Way::read, 1, 300, 3), 1u);
  EXPECT_EQ(array.access(Way::read, 1, 303, 1), 1u);
}

TEST(SharedMemory, ManyWarpsGetOneWavefrontACycle) {
  const spec::GpuSpec chip = bench_chip();
  const auto cycles = [&](int count, std::int64_t stride) {
    std::vector<Line> lines(static_cast<std::size_t>(count), lds("", stride));
    for (Line& line : lines) line.write = 7;
    return run(chip, lines, 32).end;
  };
  EXPECT_NEAR(static_cast<double>(cycles(200, 4) - cycles(100, 4)), 100.0 * 32, 40);
  EXPECT_NEAR(static_cast<double>(cycles(200, 16) - cycles(100, 16)), 100.0 * 32 * 4,
              160);  // four-way conflicts
}

TEST(SharedMemory, AtomicsTakeAPassALaneOfAWordButIncrementsCountThem) {
  const spec::GpuSpec chip = bench_chip();
  // Measured on H100 (shared_atomics), 32 warps, all lanes on one word: 1 cycle per increment, 32 per addition, 64 per
  // compare-and-swap; on words of their own 1, 1 and 2.
  const auto cycles = [&](const char* text, int count, std::int64_t stride) {
    return run(chip, std::vector<Line>(static_cast<std::size_t>(count), {text, 2, 7, 7, 0, ~0u, 0, stride}),
               32)
        .end;
  };
  const auto each = [&](const char* text, std::int64_t stride) {
    return static_cast<double>(cycles(text, 40, stride) - cycles(text, 20, stride)) / (20 * 32);
  };
  EXPECT_NEAR(each("ATOMS.POPC.INC.32 RZ, [R2]", 0), 1, 0.1);
  EXPECT_NEAR(each("ATOMS.ADD RZ, [R2], R4", 0), 32, 0.5);
  EXPECT_NEAR(each("ATOMS.CAS R0, [R2], R4, R5", 0), 64, 1);
  EXPECT_NEAR(each("ATOMS.POPC.INC.32 RZ, [R2]", 4), 1, 0.1);
  EXPECT_NEAR(each("ATOMS.ADD RZ, [R2], R4", 4), 1, 0.1);
  EXPECT_NEAR(each("ATOMS.CAS R0, [R2], R4, R5", 4), 2, 0.1);
  EXPECT_NEAR(each("ATOMS.POPC.INC.32 RZ, [R2]", 16), 4, 0.1);
}

TEST(GlobalMemory, AHitCostsTheHitLatencyAndAMissTheWayToL2) {
  const spec::GpuSpec chip = bench_chip();
  const Line load{"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 0, ~0u, 4096};
  const Line first{"LDG.E R1, desc[UR4][R2.64]", 2, 1, 7, 0, ~0u, 4096};
  const std::vector<Line> warm{first, {"NOP", 1, 7, 7, 2}};
  EXPECT_EQ(latency(chip, load, 300, warm), chip.l1.hit_latency);
  const Cycle fill = 4 * kSectorBytes / chip.l1.fill_bytes;
  EXPECT_EQ(latency(chip, load, 300), 300 + chip.l1.miss_latency + fill - 1);
  EXPECT_EQ(latency(chip, load, 700) - latency(chip, load, 300), 400u);
}

TEST(MemoryInstructions, WhoseLanesAreAllOffGoTheWayAllTheSame) {
  const spec::GpuSpec chip = bench_chip();
  // H100, predicated_off: a load of shared or global memory without lanes is a cycle faster than one from shared memory.
  EXPECT_EQ(latency(chip, {"LDS R0, [R2]", 2, 0, 7, 0, 0, 0}, 300), chip.shared.latency - 1);
  EXPECT_EQ(latency(chip, {"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 0, 0, 4096}, 300), chip.shared.latency - 1);
}

TEST(GlobalMemory, ReductionsLeaveAPieceACycle) {
  const spec::GpuSpec chip = bench_chip();
  const auto requests = [&](std::int64_t stride) {  // of two sub-cores
    const Line red{"REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R4", 2, 7, 7, 0, ~0u, 4096, stride};
    std::vector<memory::Request> data;
    for (const memory::Request& request : run(chip, {red}, 2).requests) {
      if (request.kind == memory::RequestKind::reduction) data.push_back(request);
    }
    return data;
  };
  const std::vector<memory::Request> one_word = requests(0), neighbours = requests(4);
  ASSERT_EQ(one_word.size(), 2u);
  EXPECT_EQ(one_word[0].visits, 32);
  EXPECT_EQ(one_word[1].time - one_word[0].time, 32u);  // a lone word travels with its address
  ASSERT_EQ(neighbours.size(), 2u);
  EXPECT_EQ(neighbours[0].packets, 1);
  EXPECT_EQ(neighbours[0].visits, 4);
  EXPECT_EQ(neighbours[1].time - neighbours[0].time, 5u);  // the address, and four sectors
}

TEST(GlobalMemory, AWarpEndsWhenItsStoresHaveLeft) {
  const spec::GpuSpec chip = bench_chip();
  const auto cycles = [&](int count, std::int64_t stride, const char* width = "") {
    std::vector<Line> stores;  // to lines of their own
    for (int i = 0; i < count; ++i)
      stores.push_back({std::string("STG.E") + width + " desc[UR4][R2.64], R4", 2, 7, 7, 0, ~0u,
                        4096u * static_cast<unsigned>(i), stride});
    return run(chip, stores, 1).end;
  };
  // Lone words of 32 sectors: eight lines of four sectors, and which bytes; of 32 lines: two flits each; whole lines: four.
  // A store of one line alone waits longer for its registers: an address of two, and one.
  EXPECT_EQ(cycles(19, 32) - cycles(18, 32), 40u);
  EXPECT_EQ(cycles(19, 128) - cycles(18, 128), 64u);
  EXPECT_EQ(cycles(19, 16, ".128") - cycles(18, 16, ".128"), 16u);
  EXPECT_EQ(cycles(19, 4) - cycles(18, 4), 6u);
}

TEST(GlobalMemory, AWarpEndsWhenTheWayHasRoomForItsReductions) {
  const spec::GpuSpec chip = bench_chip();
  const auto end = [&](int count, std::int64_t stride) {
    const Line red{"REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R4", 2, 7, 7, 0, ~0u, 4096, stride};
    return run(chip, std::vector<Line>(static_cast<std::size_t>(count), red), 1, 50'000).end;
  };
  EXPECT_LT(end(9, 0), 2000u) << "eight of 32 lanes on one word are 256 flits of 266, and one more goes";
  EXPECT_GT(end(10, 0), 50'000u) << "after the first has been done";
  EXPECT_LT(end(40, 4), 2000u) << "neighbours: five flits each";
}

TEST(GlobalMemory, SoManyReductionsWaitForTheWayThenTheQueueFills) {
  const spec::GpuSpec chip = bench_chip();
  // With the queue full the next one issues when the first has been done: that is seen in the warp's throttle.
  const auto throttled = [&](int count) {
    const Line red{"REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R4", 2, 7, 7, 0, ~0u, 4096, 0};
    std::uint64_t cycles = 0;
    for (const auto& instruction :
         run(chip, std::vector<Line>(static_cast<std::size_t>(count), red), 1, 50'000).counters.instructions)
      cycles += instruction.stalled[static_cast<std::size_t>(stats::WarpState::lg_throttle)];
    return cycles;
  };
  const int most = 9 + static_cast<int>(chip.l1.way_instructions) + static_cast<int>(chip.lsu.queue);
  EXPECT_LT(throttled(most), 2000u);
  EXPECT_GT(throttled(most + 1), 40'000u);
}

TEST(GlobalMemory, AWarpEndsWhenItsAtomicsAreAnswered) {
  const spec::GpuSpec chip = bench_chip();
  const Line swap{"ATOMG.E.EXCH.STRONG.GPU PT, RZ, desc[UR4][R2.64], R5", 2, 7, 7, 0, ~0u, 4096, 0};
  EXPECT_GT(run(chip, {swap}, 1, 50'000).end, 50'000u) << "though nobody waits for what was there";
}

TEST(GlobalMemory, AHitPassesTheMissesOfItsWarp) {
  const spec::GpuSpec chip = bench_chip();
  const Line first{"LDG.E R1, desc[UR4][R2.64]", 2, 1, 7, 0, ~0u, 4096};
  const Line miss{"LDG.E R6, desc[UR4][R2.64]", 2, 7, 7, 2, ~0u, 1 << 20};
  const Line hit{"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 2, ~0u, 4096};
  const Line wait{"NOP", 1, 7, 7, 1};
  const Cycle alone = run(chip, {first, hit, wait}, 1, 700).end;
  // Two cycles for the issue of the miss, two more in its queue.
  EXPECT_LE(run(chip, {first, miss, hit, wait}, 1, 700).end, alone + 4);
}

TEST(GlobalMemory, ALoadPassesOtherWarpsThatWait) {
  const spec::GpuSpec chip = bench_chip();
  const auto lines = [](std::uint64_t second) {
    return std::vector<Line>{{"LDG.E R1, desc[UR4][R2.64]", 2, 1, 7, 0, ~0u, 4096},
                             {"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 2, ~0u, second},
                             {"NOP", 1, 7, 7, 1}};
  };
  const auto cycles = [&](std::uint64_t one, std::uint64_t other) {
    return run_warps(chip, {lines(one), lines(other)}, 700).counters.warp_cycles;
  };
  constexpr std::uint64_t kHit = 4096, kMiss = 1 << 20, kOtherMiss = 1 << 21;
  const std::uint64_t both = cycles(kMiss, kOtherMiss);
  EXPECT_LE(cycles(kMiss, kHit) + 650, both);
  EXPECT_LE(cycles(kHit, kMiss) + 650, both);
}

TEST(GlobalMemory, RequestsAreLinesWithTheirSectors) {
  const spec::GpuSpec chip = bench_chip();
  const auto requests = [&](std::int64_t stride, std::uint32_t executed) {
    Ran ran =
        run(chip, {{"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 0, executed, 4096, stride}, {"NOP", 1, 7, 7, 1}});
    std::erase_if(ran.requests, [](const memory::Request& r) { return r.kind != memory::RequestKind::read; });
    return ran.requests;
  };
  const auto sectors = [](const std::vector<memory::Request>& all) {
    int count = 0;
    for (const auto& request : all) count += std::popcount(request.sectors);
    return count;
  };
  EXPECT_EQ(requests(4, ~0u).size(), 1u);
  EXPECT_EQ(sectors(requests(4, ~0u)), 4);
  EXPECT_EQ(requests(8, ~0u).size(), 2u);
  EXPECT_EQ(sectors(requests(8, ~0u)), 8);
  EXPECT_EQ(requests(128, ~0u).size(), 32u);
  EXPECT_EQ(sectors(requests(128, ~0u)), 32);
  EXPECT_EQ(sectors(requests(4, 0xff)), 1);
  EXPECT_TRUE(requests(4, 0).empty());
}

TEST(GlobalMemory, SectorsOnTheirWayAreNotAskedForTwice) {
  const spec::GpuSpec chip = bench_chip();
  const Line load{"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 0, ~0u, 4096};
  Ran ran = run(chip, {load, load, load, {"NOP", 1, 7, 7, 1}});
  EXPECT_EQ(std::count_if(ran.requests.begin(), ran.requests.end(),
                          [](const memory::Request& r) { return r.kind == memory::RequestKind::read; }),
            1);
  EXPECT_EQ(ran.counters.l1_hits_global_ld, 8u);
  EXPECT_EQ(ran.counters.l1_sectors_global_ld, 12u);
  EXPECT_EQ(ran.counters.l1_requests_global_ld, 3u);
}

TEST(GlobalMemory, StoresGoOnToL2AndLaterLoadsOfWholeSectorsHit) {
  const spec::GpuSpec chip = bench_chip();
  const Line store{"STG.E desc[UR4][R2.64], R0", 2, 7, 0, 0, ~0u, 4096};
  const Line other{"STG.E desc[UR4][R2.64], R0", 2, 7, 0, 0, ~0u, 8192};
  const Line load{"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 1, ~0u, 4096};
  const Ran ran = run(chip, {store, other, store, load, {"NOP", 1, 7, 7, 1}});
  EXPECT_EQ(std::count_if(ran.requests.begin(), ran.requests.end(),
                          [](const memory::Request& r) { return r.kind == memory::RequestKind::write; }),
            3);
  EXPECT_EQ(ran.counters.l1_hits_global_st, 0u) << "the first one is on its way";
  EXPECT_EQ(ran.counters.l1_hits_global_ld, 4u);
  const std::vector<Line> pause(12, {"NOP", 15});
  std::vector<Line> later = {store, other};
  later.insert(later.end(), pause.begin(), pause.end());
  later.push_back(store);
  EXPECT_EQ(run(chip, later).counters.l1_hits_global_st, 4u);
  EXPECT_EQ(run(chip, {store, store}).counters.l1_hits_global_st, 4u) << "they leave as one";
  const Line sector{"STG.E desc[UR4][R2.64], R0", 2, 7, 0, 0, 0xffu, 4096},
      next{sector.text, 2, 7, 0, 0, 0xffu, 4128};
  EXPECT_EQ(run(chip, {sector, other, next}).counters.l1_hits_global_st, 1u) << "the line is here";
}

TEST(GlobalMemory, ALoadFindsWordsThatStoresLeft) {
  const spec::GpuSpec chip = bench_chip();
  const auto hits = [&](std::uint64_t stored, std::uint64_t loaded, std::int64_t stride) {
    return run(chip, {{"STG.E desc[UR4][R2.64], R0", 2, 7, 0, 0, ~0u, stored, stride},
                      {"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 1, ~0u, loaded, stride},
                      {"NOP", 1, 7, 7, 1}})
        .counters.l1_hits_global_ld;
  };
  EXPECT_EQ(hits(4096, 4096, 32), 32u);
  EXPECT_EQ(hits(4096, 4096, 8), 8u);
  EXPECT_EQ(hits(4096, 4100, 32), 0u) << "another word of the sector";
}

TEST(GlobalMemory, AStoreBehindAnotherThatIsOnItsWayLeavesOnlyItsOwnWords) {
  const spec::GpuSpec chip = bench_chip();
  const auto store = [](std::uint64_t base, std::int64_t stride) {
    return Line{"STG.E desc[UR4][R2.64], R0", 2, 7, 0, 0, ~0u, base, stride};
  };
  const auto load = [](std::uint64_t base, std::int64_t stride) {
    return Line{"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 1, ~0u, base, stride};
  };
  const Line wait{"NOP", 1, 7, 7, 1};
  const auto hits = [&](const std::vector<Line>& lines) {
    return run(chip, lines).counters.l1_hits_global_ld;
  };
  // 32 lines leave at once: the second store finds the first on its way. Eight lines wait for it, and what was loaded stays.
  EXPECT_EQ(hits({load(4096, 128), wait, store(4096, 128), load(4104, 128), wait}), 32u);
  EXPECT_EQ(hits({load(4096, 128), wait, store(4096, 128), store(4100, 128), load(4104, 128), wait}), 0u);
  EXPECT_EQ(hits({load(4096, 128), wait, store(4096, 128), store(4100, 128), load(4100, 128), wait}), 32u);
  EXPECT_EQ(hits({load(4096, 32), wait, store(4096, 32), store(4100, 32), load(4104, 32), wait}), 32u);
}

TEST(DataStage, WhatConflictsAddGoesToASubCoreAtHalfTheRate) {
  const spec::GpuSpec chip = bench_chip();
  // Rows of one line in L1: each load takes 32 passes of the stage, and its sub-core takes one in two cycles.
  const auto cycles = [&](int loads, int warps) {
    std::vector<Line> lines = {{"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 0, ~0u, 4096, 128},
                               {"NOP", 1, 7, 7, 1}};
    for (int i = 0; i < loads; ++i)
      lines.push_back({"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 0, ~0u, 4100, 128});
    lines.push_back({"NOP", 1, 7, 7, 1});
    return run(chip, lines, warps).end;
  };
  EXPECT_EQ(cycles(9, 1) - cycles(8, 1), 1u + 2u * 31u);
  EXPECT_EQ(cycles(9, 4) - cycles(8, 4), 4u * 32u) << "four sub-cores in turn";
}

TEST(DataStage, AWideGlobalLoadPassesItOncePerGroupOfLanesAlsoWhereTheyShareTheWord) {
  // Sixteen lanes per pass for 8 bytes, eight for 16, as loads_of_one_word on H100; a load from shared memory of one word takes 1 and 2.
  const spec::GpuSpec chip = bench_chip();
  const auto passes = [&](const std::string& text, std::uint32_t executed) {
    return run(chip, {{text, 2, 0, 7, 0, executed, 4096, 0}, {"NOP", 1, 7, 7, 1}})
        .counters.l1_data_wavefronts;
  };
  const std::string address = "desc[UR4][R2.64]";
  EXPECT_EQ(passes("LDG.E R0, " + address, ~0u), 1u);
  EXPECT_EQ(passes("LDG.E.64 R0, " + address, ~0u), 2u);
  EXPECT_EQ(passes("LDG.E.128 R0, " + address, ~0u), 4u);
  EXPECT_EQ(passes("LDG.E.64 R0, " + address, 0xffff), 1u);
  EXPECT_EQ(passes("LDG.E.128 R0, " + address, 0xffff), 2u);
  EXPECT_EQ(passes("LDS.128 R0, [R2]", ~0u), 2u);
}

TEST(DataStage, CopiesPassItForWhatTheyReadFromL1AndOnceAndWriteBesideIt) {
  const spec::GpuSpec chip = bench_chip();
  const auto copies = [&](const std::string& text, std::int64_t stride, int count) {
    std::vector<Line> lines(static_cast<std::size_t>(count), {text, 2, 7, 7, 0, ~0u, 1 << 20, stride});
    lines.push_back({"LDGDEPBAR", 1, 0});
    lines.push_back({"DEPBAR.LE SB0, 0x0", 4});
    return run(chip, lines);
  };
  const std::string bypass = "LDGSTS.E.BYPASS.128 [R0], desc[UR4][R2.64]",
                    through = "LDGSTS.E.128 [R0], desc[UR4][R2.64]";
  EXPECT_EQ(copies(bypass, 16, 1).counters.l1_data_wavefronts, 1u);
  EXPECT_EQ(copies(through, 16, 1).counters.l1_data_wavefronts, 5u);
  // Each lane writes the same 16 bytes: 32 passes of the write, two per cycle; the line is asked for once.
  EXPECT_EQ(copies(bypass, 0, 9).end - copies(bypass, 0, 8).end, 16u);
}

TEST(GlobalMemory, CopiesPastL1AskForEachLineWhateverIsHereOrOnItsWay) {
  const Line bypass{"LDGSTS.E.BYPASS.128 [R0], desc[UR4][R2.64]", 2, 7, 7, 0, ~0u, 1 << 20, 16};
  const Line through{"LDGSTS.E.128 [R0], desc[UR4][R2.64]", 2, 7, 7, 0, ~0u, 1 << 20, 16};
  const Line load{"LDG.E.128 R4, desc[UR4][R2.64]", 2, 0, 7, 0, ~0u, 1 << 20, 16};
  const auto sectors = [](std::vector<Line> lines) {
    lines.push_back({"LDGDEPBAR", 1, 1});
    lines.push_back({"DEPBAR.LE SB1, 0x0", 4});
    std::uint32_t sum = 0;
    for (const memory::Request& request : run(bench_chip(), lines).requests)
      sum += memory::sector_count(request.sectors);
    return sum;
  };
  EXPECT_EQ(sectors({through, through}), 16u) << "the second waits for what the first asked for";
  EXPECT_EQ(sectors({bypass, bypass}), 32u);
  EXPECT_EQ(sectors({load, {"NOP", 4, 7, 7, 1}, bypass}), 32u) << "the load's lines are in L1";
  EXPECT_EQ(sectors({load, {"NOP", 4, 7, 7, 1}, through}), 16u);
}

// H100, copy_passes: sectors and requests of L2, and what l1tex counts.
TEST(GlobalMemory, ACopyPastL1HasARequestPerLineThatLiesInSharedMemoryAsInGlobal) {
  struct Asked {
    std::size_t requests;
    std::uint32_t sectors;
    std::uint64_t counted;
    bool operator==(const Asked&) const = default;
  };
  const auto copy = [](const char* text, std::int64_t from_apart, std::uint64_t to_apart) {
    const Line line{text, 2, 7, 7, 0, ~0u, 1 << 20, from_apart, to_apart};
    const Ran ran = run(bench_chip(), {line, {"LDGDEPBAR", 1, 1}, {"DEPBAR.LE SB1, 0x0", 4}});
    Asked asked{ran.requests.size(), 0, ran.counters.instructions[0].sectors};
    for (const memory::Request& request : ran.requests)
      asked.sectors += memory::sector_count(request.sectors);
    return asked;
  };
  const char* const past = "LDGSTS.E.BYPASS.128 [R0], desc[UR4][R2.64]";
  EXPECT_EQ(copy(past, 16, 16), (Asked{4, 16, 16}));
  EXPECT_EQ(copy(past, 32, 32), (Asked{8, 32, 32}));
  EXPECT_EQ(copy(past, 16, 32), (Asked{32, 32, 32})) << "half a sector each";
  EXPECT_EQ(copy(past, 32, 16), (Asked{32, 32, 16}));
  EXPECT_EQ(copy(past, 64, 16), (Asked{32, 32, 16}));
  EXPECT_EQ(copy(past, 16, 144), (Asked{32, 32, 32})) << "a line of shared memory each";
  EXPECT_EQ(copy("LDGSTS.E.128 [R0], desc[UR4][R2.64]", 16, 144), (Asked{4, 16, 16})) << "through L1";
}

TEST(GlobalMemory, ACopyOfZerosAloneAsksForNothing) {
  const auto copy = [](std::uint64_t from) {
    const Line line{"LDGSTS.E.BYPASS.128 [R0], desc[UR4][R2.64]", 2, 7, 7, 0, ~0u, from, 0};
    return run(bench_chip(), {line, {"LDGDEPBAR", 1, 1}, {"DEPBAR.LE SB1, 0x0", 4}}, 1, 5000);
  };
  const Ran zeros = copy(work::kNoAddress), reads = copy(1 << 20);
  EXPECT_TRUE(zeros.requests.empty());
  EXPECT_EQ(reads.requests.size(), 1u);
  EXPECT_LT(zeros.end, 1000u);
  EXPECT_GT(reads.end, 5000u);
  EXPECT_EQ(zeros.counters.instructions[0].requests, 0u);
  EXPECT_EQ(reads.counters.instructions[0].requests, 1u);
}

TEST(GlobalMemory, APartlyWrittenSectorIsNoHitForALoad) {
  const spec::GpuSpec chip = bench_chip();
  const Line store{"STG.E desc[UR4][R2.64], R0", 2, 7, 0, 0, 0x7f, 4096};  // 28 of 32 bytes
  const Line load{"LDG.E R0, desc[UR4][R2.64]", 2, 0, 7, 1, 0xff, 4096};
  const Ran ran = run(chip, {store, load, {"NOP", 1, 7, 7, 1}});
  EXPECT_EQ(ran.counters.l1_hits_global_ld, 0u);
}

TEST(MemoryQueue, HoldsAsManyAsConfiguredThenTheAddressGeneratorsPaceDecides) {
  spec::GpuSpec chip = bench_chip();
  chip.lsu.sm_interval = 1;
  const auto ends = [&](int count) {
    std::vector<Line> lines;
    for (int i = 0; i < count; ++i) {
      lines.push_back({"LDG.E R0, desc[UR4][R2.64]", 1, 7, 7, 0, ~0u, 4096});
    }
    return run(chip, lines).counters.instructions;
  };
  const auto throttled = [&](int count) {
    std::uint64_t cycles = 0;
    for (const auto& instruction : ends(count)) {
      cycles += instruction.stalled[static_cast<std::size_t>(stats::WarpState::lg_throttle)];
    }
    return cycles;
  };
  const int queue = static_cast<int>(chip.lsu.queue);
  EXPECT_EQ(throttled(queue), 0u);
  EXPECT_GT(throttled(queue + 1), 0u);
  EXPECT_EQ(throttled(queue + 12) - throttled(queue + 11),
            chip.lsu.address_interval - 1);  // each further one: an interval, less its issue
}

}  // namespace
}  // namespace foretrace::sm_tests
