// Mbarriers, the copy engine, registers that change hands: to the cycle, from the chip's configuration.

#include <map>

#include <gtest/gtest.h>

#include "tests/sm/products.h"

namespace foretrace::sm_tests {
namespace {

using work::Transfer;
using work::TransferKind;

// --- mbarriers ------------------------------------------------------------------------------------------------------

constexpr std::uint64_t kBarrier = 0x400;
constexpr std::uint32_t kOne = 0x1;  // lane

Line begin_barrier(std::uint64_t arrivals) {
  return {"SYNCS.EXCH.64 URZ, [UR4], UR6", 1, 1, 7, 0, kOne, kBarrier, 0, arrivals};
}
Line arrive(std::uint64_t bytes = 0) {
  return {bytes ? "SYNCS.ARRIVE.TRANS64 RZ, [UR4], R2" : "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR4], RZ",
          1,
          7,
          7,
          2,
          kOne,
          kBarrier,
          0,
          bytes};
}
Line check(bool parity, bool ended = true) {
  return {"SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR4], R2",
          2,
          0,
          7,
          2,
          kOne,
          kBarrier,
          0,
          (parity ? work::kAskedParity : 0) | (ended ? work::kPhaseEnded : 0)};
}
Line skipped(Line line) {
  line.executed = 0;
  return line;
}
Line waits_for_it() { return {"NOP", 1, 7, 7, 1}; }

TEST(Mbarriers, AnEndedPhaseIsAnsweredAfterTheLatency) {
  const spec::GpuSpec chip = bench_chip();
  const Line gap{"NOP", 15};
  const auto end = [&](std::uint8_t wait) {
    return run(chip, {begin_barrier(1), arrive(), gap, gap, gap, gap, check(false), {"NOP", 1, 7, 7, wait}})
        .end;
  };
  EXPECT_EQ(end(1) - end(0), chip.mbarrier.latency - 2);
}

TEST(Mbarriers, LanesOfAWarpAskAndArriveAsOne) {
  const spec::GpuSpec chip = bench_chip();
  const auto end = [&](Line line, std::uint32_t lanes) {
    line.executed = lanes;
    std::vector<Line> lines{begin_barrier(std::uint64_t{32} * 20)};
    for (int i = 0; i < 10; ++i) lines.push_back(line);
    lines.push_back({"LDS R0, [R2]", 2, 0});
    lines.push_back(waits_for_it());
    return run(chip, lines).end;
  };
  EXPECT_EQ(end(check(true), ~kOne), end(check(true), kOne));
  EXPECT_EQ(end(arrive(), ~kOne), end(arrive(), kOne));
}

TEST(Mbarriers, ATestTakesNothingOfTheDataStage) {
  const spec::GpuSpec chip = bench_chip();
  const Ran ran = run(chip, {begin_barrier(1), check(true), check(true), waits_for_it()});
  EXPECT_EQ(ran.counters.l1_data_wavefronts, 1u) << "the barrier's begin";
  EXPECT_EQ(ran.counters.pipe_inst[static_cast<std::size_t>(spec::Pipe::adu)], 3u)
      << "as ncu counts all of SYNCS";
  EXPECT_EQ(ran.counters.pipe_inst[static_cast<std::size_t>(spec::Pipe::lsu)], 0u);
}

TEST(Mbarriers, ATestDoesNotWaitForProducts) {
  const spec::GpuSpec chip = bench_chip();
  std::vector<std::vector<Line>> alone, beside;
  for (int w = 0; w < 5; ++w) {
    std::vector<Line> lines = group("64x64x16", 60);
    for (Line& line : lines) line.executed = w < 4 ? ~1u : 0u;
    lines.insert(lines.begin(), w == 4 ? begin_barrier(1) : skipped(begin_barrier(1)));
    for (int i = 0; i < 20; ++i) {
      lines.push_back(w == 4 ? check(true) : skipped(check(true)));
      lines.push_back(waits_for_it());
    }
    beside.push_back(lines);
    for (Line& line : lines) {
      if (line.text.starts_with("HGMMA")) line.executed = 0;
    }
    alone.push_back(lines);
  }
  const auto waited = [&](const std::vector<std::vector<Line>>& warps) {
    const Ran ran =
        run_warps(chip, warps);  // a dispatch that waits for the products' registers is no wait for them
    return state(ran, stats::WarpState::long_scoreboard) + state(ran, stats::WarpState::dispatch_stall);
  };
  EXPECT_NEAR(static_cast<double>(waited(beside)), static_cast<double>(waited(alone)), 2);
  EXPECT_GT(waited(alone), 0u);
}

/// Warp 0 begins the barrier and arrives `gaps` times 15 cycles later; warp 1 asks at once. When warp 1 ends.
Ran ask_early(const spec::GpuSpec& chip, int gaps, bool suspended, bool arrives = true) {
  std::vector<Line> first{begin_barrier(1)}, second{skipped(begin_barrier(1))};
  const auto both = [&](const Line& a, const Line& b) {
    first.push_back(a);
    second.push_back(b);
  };
  both({"BAR.SYNC.DEFER_BLOCKING 0x0", 1, 7, 7, 2}, {"BAR.SYNC.DEFER_BLOCKING 0x0", 1, 7, 7, 2});
  both(skipped(check(false)), check(false));
  if (suspended)
    both(skipped({"NANOSLEEP.SYNCS 0x100", 5, 7, 7, 1, 0}),
         skipped({"NANOSLEEP.SYNCS 0x100", 5, 7, 7, 1, 0}));
  both(waits_for_it(), waits_for_it());
  for (int i = 0; i < gaps; ++i) both({"NOP", 15}, {"NOP", 1});
  both(arrives ? arrive() : skipped(arrive()), skipped(arrive()));
  return run_warps(chip, {first, second});
}

TEST(Mbarriers, AWaitThatIsSuspendedEndsWithThePhase) {
  const spec::GpuSpec chip = bench_chip();
  const Cycle ten = ask_early(chip, 10, true).end;
  for (int gaps = 11; gaps < 20;
       ++gaps) {  // each NOP comes before the arrival, and in the other warp behind the wait
    EXPECT_EQ(ask_early(chip, gaps, true).end - ten, 30u * static_cast<Cycle>(gaps - 10)) << gaps;
  }
}

TEST(Mbarriers, AWaitInALoopEndsWithARoundOfIt) {
  const spec::GpuSpec chip = bench_chip();
  const Cycle round = chip.mbarrier.latency + chip.fetch.branch_latency;
  const Cycle first = ask_early(chip, 20, false).end;
  Cycle last = first;
  for (int gaps = 21; gaps < 60; ++gaps) {
    const Cycle end = ask_early(chip, gaps, false).end - 15u * static_cast<Cycle>(gaps - 20);
    EXPECT_EQ((end - first) % round, 0u) << gaps;
    EXPECT_LE(end - last, round) << gaps;
    last = end;
  }
  EXPECT_NEAR(static_cast<double>(last - first), 39 * 15, static_cast<double>(round));
}

TEST(Mbarriers, APhaseEndsWithItsBytesToo) {
  const spec::GpuSpec chip = bench_chip();
  // An arrival that expects bytes which never come: the wait does not end by itself.
  std::vector<Line> lines{begin_barrier(1), arrive(128), check(false), waits_for_it()};
  const auto program = std::make_shared<sm::StaticProgram>(program_of(lines), chip);
  EXPECT_EQ(program->code[1].barrier_use, isa::BarrierUse::arrive);
  EXPECT_EQ(run(chip, lines).end, 0u) << "its warp has not ended";
}

TEST(Mbarriers, WhoDropsOutIsMissingInLaterPhases) {
  const spec::GpuSpec chip = bench_chip();
  // Three arrivals of four at once, which drop out, and one; one alone ends the next phase.
  const Line drops{"SYNCS.ARRIVE.TRANS64.OPTOUT.ART0 RZ, [UR4], R2", 1, 7, 7, 2, kOne, kBarrier, 0, 3};
  const std::vector<Line> first{begin_barrier(4), drops, arrive(), check(false), waits_for_it()};
  std::vector<Line> second = first;
  for (const Line& line : {arrive(), check(true), waits_for_it()}) second.push_back(line);
  EXPECT_GT(run(chip, first).end, 0u);
  EXPECT_GT(run(chip, second).end, 0u);
}

// --- copies ---------------------------------------------------------------------------------------------------------

Transfer moves(TransferKind kind, std::uint32_t rows, std::uint32_t row_bytes, std::uint64_t stride,
               std::uint64_t phase = 0) {
  Transfer t;
  t.begin(kind, rows * row_bytes, rows);
  t.shared = 0x800;
  t.barrier = kind == TransferKind::load ? static_cast<std::uint32_t>(kBarrier) : Transfer::kNoBarrier;
  for (std::uint32_t i = 0; i < rows; ++i) t.piece((1 << 20) + phase + i * stride, row_bytes);
  return t;
}

Line copy(const Transfer& transfer) {
  return {transfer.kind == TransferKind::load ? "UTMALDG.2D [UR8], [UR12]" : "UTMASTG.2D [UR8], [UR12]",
          1,
          7,
          2,
          0,
          kOne,
          0,
          0,
          0,
          transfer};
}

/// When a warp goes on that waits for a load.
Ran load(const spec::GpuSpec& chip, const Transfer& transfer, Cycle latency = 300) {
  return run(chip,
             {begin_barrier(1),
              arrive(transfer.bytes),
              copy(transfer),
              check(false),
              {"NANOSLEEP.SYNCS 0x100", 5, 7, 7, 1, 0}},
             1, latency);
}

TEST(CopyEngine, ALoadEndsWhenItsLastBytesHaveCome) {
  const spec::GpuSpec chip = bench_chip();
  const Ran small = load(chip, moves(TransferKind::load, 1, 16, 128));
  ASSERT_EQ(small.requests.size(), 1u);
  EXPECT_EQ(small.requests[0].sectors, 1u);
  EXPECT_EQ(load(chip, moves(TransferKind::load, 1, 16, 128), 301).end - small.end, 1u);
  EXPECT_EQ(load(chip, moves(TransferKind::load, 1, 16, 128), 400).end - small.end, 100u);
}

TEST(CopyEngine, AWaitForItsBytesIsSuspended) {
  // No wait for a copy goes round on an H100 (instructions of wgmma_product); with test_wait the loop does.
  const spec::GpuSpec chip = bench_chip();
  const Transfer transfer = moves(TransferKind::load, 1, 16, 128);
  const auto end = [&](bool tries, Cycle latency) {
    Line asks = check(false);
    if (!tries) asks.text = "SYNCS.PHASECHK.TRANS64 P1, [UR4], R2";
    const Ran ran = run(
        chip, {begin_barrier(1), arrive(transfer.bytes), copy(transfer), asks, waits_for_it()}, 1, latency);
    EXPECT_GT(state(ran, stats::WarpState::long_scoreboard), 200u);
    EXPECT_LT(state(ran, stats::WarpState::short_scoreboard), 50u) << "of the barrier that begins";
    return ran.end;
  };
  const Cycle round = chip.mbarrier.latency + chip.fetch.branch_latency;
  for (const Cycle later : {1u, 17u, 100u}) {
    EXPECT_EQ(end(true, 300 + later) - end(true, 300), later);
    EXPECT_EQ((end(false, 300 + later) - end(false, 300)) % round, 0u) << later;
  }
}

TEST(CopyEngine, AsksForARowACycle) {
  const spec::GpuSpec chip = bench_chip();
  const Ran ran = load(chip, moves(TransferKind::load, 256, 32, 4096));
  ASSERT_EQ(ran.requests.size(), 256u);
  for (std::size_t i = 1; i < ran.requests.size(); ++i)
    ASSERT_EQ(ran.requests[i].time - ran.requests[i - 1].time, 1u);
  // Rows of more than a line are asked for line by line.
  const Ran wide = load(chip, moves(TransferKind::load, 8, 256, 4096));
  ASSERT_EQ(wide.requests.size(), 16u);
  EXPECT_EQ(wide.requests.back().time - wide.requests.front().time, 15u);
}

TEST(CopyEngine, AsksForPartsOfSectorsByThemselves) {
  const spec::GpuSpec chip = bench_chip();
  // Requests of a row of 128 bytes by where it begins in a line (box_rows, H200).
  const std::map<std::uint64_t, std::size_t> requests{{0, 1},  {16, 3}, {32, 2}, {48, 4},
                                                      {64, 2}, {80, 4}, {96, 2}, {112, 3}};
  for (const auto& [phase, expected] : requests) {
    const auto asked = [&, phase = phase](TransferKind kind) {
      const Transfer row = moves(kind, 1, 128, 4096, phase);
      if (kind == TransferKind::load) return load(chip, row).requests.size();
      return run(chip, {copy(row)}).requests.size();
    };
    EXPECT_EQ(asked(TransferKind::load), expected) << phase;
    EXPECT_EQ(asked(TransferKind::store), phase == 0 ? 1u : 2u) << phase << ": a store's lines";
  }
  // Of 16 bytes that lie in one sector: a single one.
  EXPECT_EQ(load(chip, moves(TransferKind::load, 1, 16, 4096, 16)).requests.size(), 1u);
}

TEST(CopyEngine, RowsOutsideOfTheTensorTakeTheirTurn) {
  const spec::GpuSpec chip = bench_chip();
  Transfer cut = moves(TransferKind::load, 8, 128, 4096);
  cut.rows = 64;
  cut.bytes = 64 * 128;
  std::vector<Line> lines{begin_barrier(1), arrive(cut.bytes + 16),
                          copy(cut),        copy(moves(TransferKind::load, 1, 16, 128)),
                          check(false),     {"NANOSLEEP.SYNCS 0x100", 5, 7, 7, 1, 0}};
  const Ran ran = run(chip, lines);
  ASSERT_EQ(ran.requests.size(), 9u);
  EXPECT_EQ(ran.requests[8].time - ran.requests[0].time, 64u);
}

TEST(CopyEngine, BringsSoManyBytesACycle) {
  const spec::GpuSpec chip = bench_chip();
  const auto end = [&](std::uint32_t rows) {
    return static_cast<double>(load(chip, moves(TransferKind::load, rows, 128, 128)).end);
  };
  EXPECT_NEAR(end(256) - end(128), 128 * 128 / chip.tma.load_bytes, 1.0);
}

TEST(CopyEngine, StoresAreReadAt32BytesACycle) {
  const spec::GpuSpec chip = bench_chip();
  const auto end = [&](TransferKind kind, std::uint32_t rows) {
    return run(chip,
               {copy(moves(kind, rows, 128, 4096)), {"UTMACMDFLUSH", 1, 7, 0}, {"DEPBAR.LE SB0, 0x0", 4}})
        .end;
  };
  EXPECT_EQ(end(TransferKind::store, 64) - end(TransferKind::store, 32), 32u * 4);
  EXPECT_EQ(end(TransferKind::reduce, 64) - end(TransferKind::reduce, 32), 32u * 5) << "25.6 bytes per cycle";
  // Without the wait the warp does not stay.
  const Cycle not_waited = run(chip, {copy(moves(TransferKind::store, 64, 128, 4096)),
                                      {"UTMACMDFLUSH", 1, 7, 0},
                                      {"DEPBAR.LE SB0, 0x1", 4}})
                               .end;
  EXPECT_LT(not_waited, 64u);
}

TEST(CopyEngine, GivesItsRegistersBackAfterALatency) {
  // Lanes that copy one after the other wait for it at the branch behind each copy (lone_copies).
  const auto end = [](std::uint32_t latency, std::size_t copies) {
    spec::GpuSpec chip = bench_chip();
    chip.tma.source_latency = latency;
    std::vector<Line> lines;
    for (std::size_t i = 0; i < copies; ++i) {
      lines.push_back(copy(moves(TransferKind::store, 1, 16, 128)));
      lines.push_back({"NOP", 1, 7, 7, 1u << 2});
    }
    return run(chip, lines).end;
  };
  const std::uint32_t latency = bench_chip().tma.source_latency;
  EXPECT_EQ(end(latency, 9) - end(latency, 8), latency + 1);
  EXPECT_EQ(end(latency + 7, 8) - end(latency, 8), 8u * 7);
}

TEST(CopyEngine, CountsItsInstructions) {
  const spec::GpuSpec chip = bench_chip();
  const Ran ran = load(chip, moves(TransferKind::load, 4, 128, 128));
  EXPECT_EQ(ran.counters.pipe_inst[static_cast<std::size_t>(spec::Pipe::tma)], 1u);
}

// --- registers ------------------------------------------------------------------------------------------------------

TEST(Registers, AreTakenWhenOthersHaveGivenThemBack) {
  const spec::GpuSpec chip = bench_chip();
  const auto end = [&](int gaps, const std::string& wanted) {  // warp 0 gives 40 of 64, warp 1 wants more
    std::vector<Line> gives, takes;
    const auto both = [&](const Line& line, std::uint32_t first, std::uint32_t second) {
      gives.push_back(line);
      gives.back().executed = first;
      takes.push_back(line);
      takes.back().executed = second;
    };
    both({"USETMAXREG.TRY_ALLOC.CTAPOOL UP0, " + wanted, 1}, 0, ~1u);
    for (int i = 0; i < gaps; ++i) both({"NOP", 15}, ~0u, ~0u);
    both({"USETMAXREG.DEALLOC.CTAPOOL 0x18", 1}, ~1u, 0);
    return run_warps(chip, {gives, takes}).end;
  };
  EXPECT_EQ(end(11, "0x60") - end(10, "0x60"), 30u);
  EXPECT_GT(end(10, "0x60"), 300u + chip.wgmma.registers_latency);
  EXPECT_LT(end(10, "0xe8"), 300u) << "more than there are: it waits for ever";
}

}  // namespace
}  // namespace foretrace::sm_tests
