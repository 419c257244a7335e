// Many requests: bandwidth at each narrow place, capacity, write-back, determinism over windows, and that
// nothing gets lost.

#include <bit>
#include <map>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "model/memory/memory_system.h"
#include "tests/memory/driver.h"
#include "tests/memory/specs.h"

namespace foretrace::memory_tests {
namespace {

using memory::MemorySystem;
using memory::Reply;
using memory::Request;
using memory::RequestKind;
using spec::GpuSpec;

/// Every SM asks for a whole line each `pace` cycles; the lines of all SMs together are [0, lines),
/// `rounds` times over.
std::vector<Request> stream(const GpuSpec& chip, std::uint64_t lines, int rounds, RequestKind kind,
                            Cycle from = 0, Cycle pace = 1) {
  std::vector<Request> requests;
  std::uint64_t n = 0;
  for (int round = 0; round < rounds; ++round) {
    for (std::uint64_t line = 0; line < lines; ++line, ++n) {
      const auto sm = static_cast<std::uint32_t>(n % chip.sm.count);
      Request request =
          read_request(from + n / chip.sm.count * pace, sm, line, 0b1111, static_cast<std::uint32_t>(n));
      request.kind = kind;
      if (kind == RequestKind::write) request.bytes.fill(~0u);
      requests.push_back(request);
    }
  }
  return requests;
}

/// Cycles from the first request to the last reply.
Cycle cycles_of(MemorySystem& memory, const std::vector<Request>& requests) {
  const std::vector<Reply> replies = play(memory, requests, requests.front().time);
  EXPECT_EQ(replies.size(), requests.size());
  return replies.empty() ? 0 : replies.back().time - requests.front().time;
}

// One partition, so that every byte passes one slice once.
GpuSpec plain_chip() {
  GpuSpec chip = small_chip();
  chip.l2.partitions = 1;
  return chip;
}

TEST(Bandwidth, DramStreamComesCloseToThePeakAndNeverAbove) {
  const GpuSpec chip = plain_chip();
  MemorySystem memory(chip);
  constexpr std::uint64_t kLines = 32768;
  const Cycle cycles = cycles_of(memory, stream(chip, kLines, 1, RequestKind::read));
  const Cycle peak = kLines * 128 / (4 * 16);
  EXPECT_GE(cycles, peak);
  EXPECT_LE(cycles, peak * 106 / 100);
  EXPECT_EQ(memory.counters().dram_busy, 4 * peak);
}

TEST(Bandwidth, HitsComeAtTheSlicesPace) {
  GpuSpec chip = plain_chip();
  chip.network.gpc_reply_bytes = 4096;
  chip.network.cpc_request_bytes = chip.network.partition_request_bytes = 2048;
  chip.network.reply_bytes = 4096;
  chip.network.request_bytes = 4096;
  MemorySystem memory(chip);
  constexpr std::uint64_t kLines = 4096;
  cycles_of(memory, stream(chip, kLines, 1, RequestKind::read));
  const std::uint64_t missed = memory.counters().tex_sectors_miss;
  const Cycle cycles = cycles_of(memory, stream(chip, kLines, 8, RequestKind::read, 100'000));
  EXPECT_EQ(memory.counters().tex_sectors_miss, missed);
  const Cycle peak = 8 * kLines * 128 / (8 * 64);
  EXPECT_GE(cycles, peak);
  EXPECT_LE(cycles, peak * 104 / 100 + 200);
}

TEST(Bandwidth, HitsComeAtTheGpcPortsPace) {
  GpuSpec chip = plain_chip();
  chip.network.gpc_reply_bytes = 48;
  chip.network.cpc_request_bytes = 24;
  MemorySystem memory(chip);
  constexpr std::uint64_t kLines = 4096;
  cycles_of(memory, stream(chip, kLines, 1, RequestKind::read));
  const Cycle cycles = cycles_of(memory, stream(chip, kLines, 4, RequestKind::read, 100'000));
  const Cycle peak = 4 * kLines * 128 / (4 * 48);
  EXPECT_GE(cycles, peak);
  EXPECT_LE(cycles, peak * 102 / 100 + 200);
}

TEST(Bandwidth, HitsOfOneSmComeAtItsPortsPace) {
  const GpuSpec chip = plain_chip();
  MemorySystem memory(chip);
  std::vector<Request> requests;
  for (std::uint32_t i = 0; i < 2048; ++i) requests.push_back(read_request(i, 3, i, 0b1111, i));
  cycles_of(memory, requests);
  for (Request& request : requests) request.time += 100'000;
  const Cycle cycles = cycles_of(memory, requests);
  const Cycle peak = 2048 * 128 / 64;
  EXPECT_GE(cycles, peak);
  EXPECT_LE(cycles, peak + 200);
}

TEST(Bandwidth, WritesLeaveAnSmAtItsPortsPace) {
  GpuSpec chip = plain_chip();
  chip.network.request_bytes = 16;
  MemorySystem memory(chip);
  std::vector<Request> requests;
  for (std::uint32_t i = 0; i < 1024; ++i) requests.push_back(write_request(i, 3, i, 0b1111, ~0u, i));
  const Cycle cycles = cycles_of(memory, requests);
  const Cycle peak = 1024 * 128 / 16;
  EXPECT_GE(cycles, peak);
  EXPECT_LE(cycles, peak + 200);
}

TEST(Bandwidth, FarHitsComeAtTheLinksPace) {
  GpuSpec chip = small_chip();
  chip.network.partition_bytes = 24;
  MemorySystem memory(chip);
  std::vector<Request> requests;
  std::uint64_t line = 0;
  for (std::uint32_t i = 0; i < 1024; ++i) {
    line = line_at_home(chip, 1, line);
    requests.push_back(read_request(2 * i, 4 + i % 4, line++, 0b1111, i));  // SMs beside partition 1
  }
  cycles_of(memory, requests);
  for (Request& request : requests) {
    request.time += 100'000;
    request.sm -= 4;  // SMs beside partition 0
  }
  const Cycle cycles = cycles_of(memory, requests);
  const Cycle peak = 1024 * 128 / 24;
  EXPECT_GE(cycles, peak);
  EXPECT_LE(cycles, peak * 102 / 100 + 300);
  EXPECT_EQ(memory.counters().partition_sectors, 4096u);
}

TEST(Bandwidth, LoadsAndStoresShareTheLink) {
  GpuSpec chip = small_chip();
  chip.network.partition_bytes = 24;
  MemorySystem memory(chip);
  // SMs beside partition 1 have its lines brought in and store to the other one's; then SMs beside partition 0 load
  // the former, whose data cross the same way as the others' stores.
  std::vector<Request> loads, both;
  std::uint64_t line = 0, other = 0;
  for (std::uint32_t i = 0; i < 512; ++i) {
    line = line_at_home(chip, 1, line);
    loads.push_back(read_request(2 * i, 4 + i % 4, line++, 0b1111, i));
  }
  cycles_of(memory, loads);
  for (std::uint32_t i = 0; i < 512; ++i) {
    other = line_at_home(chip, 0, other);
    both.push_back(read_request(100'000 + 4 * i, i % 4, loads[i].line, 0b1111, i));
    both.push_back(write_request(100'000 + 4 * i, 4 + i % 4, other++, 0b1111, ~0u, 512 + i));
  }
  const Cycle cycles = cycles_of(memory, both);
  const Cycle peak = 1024 * 128 / 24;
  EXPECT_GE(cycles, peak);
  EXPECT_LE(cycles, peak * 102 / 100 + 300);
}

TEST(Bandwidth, HitsInCopiesComeAtTheSlicesPaceToo) {
  GpuSpec chip = small_chip();
  chip.network.gpc_reply_bytes = 4096;
  chip.network.cpc_request_bytes = chip.network.partition_request_bytes = 2048;
  chip.network.reply_bytes = 4096;
  chip.network.request_bytes = 4096;
  MemorySystem memory(chip);
  const auto requests_at = [&chip](Cycle from) {
    std::vector<Request> requests;
    std::uint64_t line = 0;
    for (std::uint32_t i = 0; i < 2048; ++i) {
      line = line_at_home(chip, 1, line);
      requests.push_back(read_request(from + i / 4, i % 4, line++, 0b1111, i));  // SMs beside partition 0
    }
    return requests;
  };
  cycles_of(memory, requests_at(0));
  const std::uint64_t crossed = memory.counters().partition_sectors;
  const Cycle cycles = cycles_of(memory, requests_at(100'000));
  EXPECT_EQ(memory.counters().partition_sectors, crossed);
  const Cycle peak = 2048 * 128 / (4 * 64);
  EXPECT_GE(cycles, peak);
  EXPECT_LE(cycles, peak * 104 / 100 + 200);
}

TEST(LinesLeftBehind, GoToDramWhereALaunchNeedsTheirPlaces) {
  GpuSpec chip = plain_chip();
  const std::uint64_t lines = chip.l2.bytes / 128;
  chip.l2.launch_dirty_lines = static_cast<std::uint32_t>(lines / 32);
  const auto written = [&](std::uint64_t reads, bool warm) {
    MemorySystem memory(chip);
    memory.begin_launch(warm);
    cycles_of(memory, stream(chip, reads, 1, RequestKind::read));
    EXPECT_EQ(memory.counters().dirty_sectors_left, 0u) << "the launch itself wrote nothing";
    return memory.counters().dram_bytes_write;
  };
  EXPECT_EQ(written(lines / 4, false), 0u);  // room for both
  EXPECT_EQ(written(lines * 8, true), 0u);   // a warm launch finds what the one before it left
  // All of them, within the unevenness of an eighth's sets.
  EXPECT_NEAR(static_cast<double>(written(lines * 8, false)), static_cast<double>(lines / 32 * 128),
              static_cast<double>(lines / 32 * 128) / 20);
}

TEST(Bandwidth, WritesAreHeldBackByDram) {
  const GpuSpec chip = plain_chip();
  MemorySystem memory(chip);
  constexpr std::uint64_t kLines = 65536;
  const Cycle cycles = cycles_of(memory, stream(chip, kLines, 1, RequestKind::write));
  const std::uint64_t kept = memory.counters().dirty_sectors_left * 32;
  EXPECT_GE(cycles, (kLines * 128 - chip.l2.bytes) / (4 * 16));
  EXPECT_LE(cycles, kLines * 128 * 108 / 100 / (4 * 16));
  // A quarter of L2 may be dirty; all else was written back, and nothing was read for it.
  EXPECT_EQ(kept, chip.l2.bytes / 4);
  EXPECT_EQ(memory.counters().dram_bytes_write + kept, kLines * 128);
  EXPECT_EQ(memory.counters().dram_bytes_read, 0u);
}

TEST(Capacity, SetThatFitsStaysSetThatDoesNotGoes) {
  const GpuSpec chip = plain_chip();
  const std::uint64_t capacity = chip.l2.bytes / 128;
  const auto hit_rate_of_last_round = [&chip](std::uint64_t lines) {
    MemorySystem memory(chip);
    constexpr Cycle kPace = 32;  // slower than DRAM: nothing queues, lines come and go in order
    cycles_of(memory, stream(chip, lines, 2, RequestKind::read, 0, kPace));
    const std::uint64_t before = memory.counters().tex_sectors_hit;
    cycles_of(memory, stream(chip, lines, 1, RequestKind::read, 1'000'000, kPace));
    return static_cast<double>(memory.counters().tex_sectors_hit - before) / static_cast<double>(4 * lines);
  };
  EXPECT_EQ(hit_rate_of_last_round(capacity * 9 / 10), 1);
  EXPECT_GT(hit_rate_of_last_round(capacity), 0.98);
  const double slope = hit_rate_of_last_round(capacity * 115 / 100);
  EXPECT_GT(slope, 0.1);
  EXPECT_LT(slope, 0.7);
  EXPECT_LT(hit_rate_of_last_round(capacity * 2), 0.02);
}

TEST(Capacity, CopiesHalveItForSharedData) {
  const GpuSpec chip = small_chip();
  const std::uint64_t capacity = chip.l2.bytes / 128;
  // SMs of both sides read everything: what is homed on the other side takes up room as a copy.
  const auto far_share = [&chip](std::uint64_t lines) {
    MemorySystem memory(chip);
    std::vector<Request> requests;
    std::uint64_t n = 0;
    for (int round = 0; round < 3; ++round) {
      for (std::uint64_t line = 0; line < lines; ++line, n += 2) {
        requests.push_back(read_request(4 * n, 0, line, 0b1111));
        requests.push_back(read_request(4 * n, 4, line, 0b1111));
      }
    }
    const std::size_t last_round = requests.size() / 3 * 2;
    play(memory, {requests.begin(), requests.begin() + static_cast<std::ptrdiff_t>(last_round)});
    const std::uint64_t before = memory.counters().tex_sectors_hit;
    for (Request& request : requests) request.time += 100'000;
    play(memory, {requests.begin() + static_cast<std::ptrdiff_t>(last_round), requests.end()},
         requests[last_round].time);
    return static_cast<double>(memory.counters().tex_sectors_hit - before) /
           static_cast<double>(4 * requests.size() / 3);
  };
  EXPECT_GT(far_share(capacity * 45 / 100), 0.99);
  EXPECT_LT(far_share(capacity * 80 / 100), 0.5);
}

TEST(WriteBack, SmallResultStaysLargeOneGoesExceptTheDirtyShare) {
  const GpuSpec chip = large_chip();  // 50 MiB, a fifth of it may be dirty
  MemorySystem memory(chip);
  cycles_of(memory, stream(chip, (4u << 20) / 128, 1, RequestKind::write));
  EXPECT_EQ(memory.counters().dram_bytes_write, 0u);
  EXPECT_EQ(memory.counters().dirty_sectors_left, (4u << 20) / 32);
  memory.begin_launch(false);
  cycles_of(memory, stream(chip, (64u << 20) / 128, 1, RequestKind::write, 0, 12));  // just slower than DRAM
  EXPECT_NEAR(static_cast<double>(memory.counters().dram_bytes_write), 57e6, 1e6);
}

TEST(WriteBack, PartlyWrittenSectorsAreFilledWhenTheyGo) {
  const GpuSpec chip = plain_chip();
  MemorySystem memory(chip);
  std::vector<Request> requests;
  constexpr std::uint32_t kLines = 16384;  // 2 MiB of lines; L2 has 1 MiB
  for (std::uint32_t i = 0; i < kLines; ++i)
    requests.push_back(write_request(4 * i, i % 8, i, 0b0001, 0x0000'000f, i));
  cycles_of(memory, requests);
  const stats::MemoryCounters& counters = memory.counters();
  EXPECT_EQ(counters.fill_sectors + counters.dirty_sectors_left, kLines);
  EXPECT_EQ(counters.dirty_sectors_left,
            chip.l2.bytes / 128 / 8);  // fewer lines may be partly written than dirty
  EXPECT_EQ(counters.dram_bytes_read, counters.fill_sectors * 32);
  EXPECT_EQ(counters.dram_bytes_write, counters.fill_sectors * 32);
}

TEST(WriteBack, ASetHoldsSoManyPartlyWrittenLines) {
  const GpuSpec chip = plain_chip();  // 16 ways, an eighth of them: two
  const memory::AddressMap map(chip);
  const auto fills = [&](std::uint32_t lines) {  // of one set
    MemorySystem memory(chip);
    const memory::Place place = map.place(0);
    std::vector<Request> requests;
    for (std::uint64_t line = 0; requests.size() < lines; ++line) {
      const memory::Place other = map.place(line);
      if (other.home != place.home || other.index != place.index || other.set != place.set) continue;
      const std::uint32_t id = static_cast<std::uint32_t>(requests.size());
      requests.push_back(write_request(4 * id, 0, line, 0b0001, 0x0000'000f, id));
    }
    cycles_of(memory, requests);
    return memory.counters().fill_sectors;
  };
  EXPECT_EQ(fills(2), 0u);
  EXPECT_EQ(fills(3), 1u);
  EXPECT_EQ(fills(5), 3u);
}

TEST(Counters, StreamingCopyIsLookedUpOneAndAHalfTimes) {
  const GpuSpec chip = large_chip();
  MemorySystem memory(chip);
  std::vector<Request> requests = stream(chip, 131'072, 1, RequestKind::read);
  for (std::size_t i = 1; i < requests.size(); i += 2) {
    requests[i].kind = RequestKind::write;
    requests[i].bytes.fill(~0u);
    requests[i].line = requests[i - 1].line + (1u << 24);
  }
  cycles_of(memory, requests);
  const stats::MemoryCounters& counters = memory.counters();
  EXPECT_EQ(counters.tex_sectors_read + counters.tex_sectors_write, 4 * requests.size());
  EXPECT_NEAR(static_cast<double>(counters.lts_sectors_read) / static_cast<double>(counters.tex_sectors_read),
              1.5, 0.02);
  EXPECT_NEAR(
      static_cast<double>(counters.lts_sectors_write) / static_cast<double>(counters.tex_sectors_write), 1.5,
      0.02);
  EXPECT_NEAR(static_cast<double>(counters.lts_sectors_hit) / static_cast<double>(counters.lts_sectors), 0.5,
              0.02);
  EXPECT_EQ(counters.dram_bytes_read, requests.size() / 2 * 128);
}

/// A mix of everything over a few megabytes, with bursts and pauses.
std::vector<Request> mixture(const GpuSpec& chip, unsigned seed, std::size_t count) {
  std::mt19937 random(seed);
  std::vector<Request> requests;
  Cycle time = 0;
  while (requests.size() < count) {
    time += random() % 16 == 0 ? random() % 800 : random() % 3;
    for (std::uint32_t sm = 0; sm < chip.sm.count; ++sm) {
      if (random() % 4 != 0) continue;
      const std::uint64_t span = random() % 3 == 0 ? 64 : 32768;
      Request request = read_request(time, sm, random() % span, static_cast<std::uint8_t>(1 + random() % 15),
                                     static_cast<std::uint32_t>(requests.size()));
      const std::uint64_t packets = 1 + random() % 8;
      const unsigned kind = random() % 16;
      if (kind < 6) {
        request.kind = RequestKind::write;
        request.wants_reply = random() % 2 == 0;
        for (std::uint32_t& bytes : request.bytes)
          bytes = random() % 2 ? ~0u : static_cast<std::uint32_t>(random());
      } else if (kind == 6) {
        request.kind = RequestKind::atomic;
        request.packets = static_cast<std::uint8_t>(packets);
        request.visits =
            static_cast<std::uint8_t>(static_cast<unsigned>(std::popcount(request.sectors)) + packets - 1);
      } else if (kind == 7) {
        request.kind = RequestKind::reduction;
        request.wants_reply = random() % 2 == 0;
      } else if (kind == 8) {
        request.kind = RequestKind::instruction;
      }
      requests.push_back(request);
    }
  }
  return requests;
}

std::vector<GpuSpec> tight_chips() {
  GpuSpec chip = small_chip();
  chip.clock = {1'980'000'000, 1'710'000'000, 2'619'000'000};
  chip.dram.refresh_interval = 4000;
  chip.dram.refresh_cycles = 350;
  GpuSpec scarce = chip;  // everything scarce: stalls everywhere
  scarce.l2.bytes = 8 * 4 * 2 * 128;
  scarce.l2.ways = 2;
  scarce.l2.misses = 1;
  scarce.dram.queue = 1;
  scarce.dram.banks = 1;
  scarce.l2.dirty_fraction = 0.01;
  scarce.l2.partly_fraction = 0.01;
  GpuSpec single = chip;
  single.l2.partitions = 1;
  single.dram.channels = 16;
  return {chip, scarce, single};
}

using Answer = std::tuple<Cycle, std::uint32_t, std::uint32_t>;

TEST(Determinism, WindowsOfAnyLengthGiveTheSameReplies) {
  for (const GpuSpec& chip : tight_chips()) {
    const std::vector<Request> requests = mixture(chip, 7, 8000);
    std::vector<std::vector<Answer>> answers;
    std::vector<stats::MemoryCounters> counters;
    const Cycle full = MemorySystem(chip).lookahead();
    for (const Cycle window : {full, full / 2, full / 3, Cycle{1}}) {
      MemorySystem memory(chip);
      std::vector<Answer> each;
      for (const Reply& reply : play(memory, requests, 0, window))
        each.push_back({reply.time, reply.sm, reply.id});
      answers.push_back(each);
      counters.push_back(memory.counters());
    }
    for (std::size_t i = 1; i < answers.size(); ++i) {
      EXPECT_EQ(answers[i], answers[0]);
      EXPECT_EQ(counters[i].dram_bytes_write, counters[0].dram_bytes_write);
      EXPECT_EQ(counters[i].dram_row_hits, counters[0].dram_row_hits);
      EXPECT_EQ(counters[i].segment_l2, counters[0].segment_l2);
    }
  }
}

TEST(Determinism, SecondLaunchOfAColdSystemRepeatsTheFirst) {
  const GpuSpec chip = tight_chips()[0];
  const std::vector<Request> requests = mixture(chip, 3, 4000);
  MemorySystem memory(chip);
  const std::vector<Reply> first = play(memory, requests);
  memory.begin_launch(false);
  const std::vector<Reply> second = play(memory, requests);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(first[i].id, second[i].id);
    ASSERT_EQ(first[i].time, second[i].time);
  }
}

TEST(Conservation, EveryRequestIsAnsweredOnceInOrderAndNotTooEarly) {
  for (const GpuSpec& chip : tight_chips()) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const std::vector<Request> requests = mixture(chip, seed, 6000);
      MemorySystem memory(chip);
      const std::vector<Reply> replies = play(memory, requests);
      std::map<std::uint32_t, int> answered;
      for (std::size_t i = 0; i < replies.size(); ++i) {
        const Reply& reply = replies[i];
        ++answered[reply.id];
        EXPECT_EQ(reply.sm, requests[reply.id].sm);
        EXPECT_GE(reply.time, requests[reply.id].time + memory.lookahead());
        if (i > 0) {
          EXPECT_LE(std::tie(replies[i - 1].time, replies[i - 1].sm), std::tie(reply.time, reply.sm));
        }
      }
      std::uint64_t reads = 0;
      for (std::size_t i = 0; i < requests.size(); ++i) {
        const Request& request = requests[i];
        const bool posted = request.kind == RequestKind::write || request.kind == RequestKind::reduction;
        EXPECT_EQ(answered[static_cast<std::uint32_t>(i)], posted && !request.wants_reply ? 0 : 1);
        reads += request.kind == RequestKind::read;
      }
      const stats::MemoryCounters& counters = memory.counters();
      EXPECT_EQ(counters.read_requests, reads);
      EXPECT_EQ(counters.segment_network + counters.segment_l2 + counters.segment_partition +
                    counters.segment_dram_queue + counters.segment_dram,
                counters.read_latency);
      EXPECT_GE(counters.tex_sectors_hit + counters.tex_sectors_miss,  // misses count what they bring
                counters.tex_sectors_read + counters.tex_sectors_write + counters.tex_sectors_atomic +
                    counters.tex_sectors_reduction);
      EXPECT_TRUE(memory.idle());
    }
  }
}

}  // namespace
}  // namespace foretrace::memory_tests
