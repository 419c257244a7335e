// Kernels whose threads work together (conformance/cooperation.cu), compiled by nvcc for sm_80, sm_90 and sm_120 and executed:
// each result is compared with a plain computation of it here. Needs nvcc and nvdisasm.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "sim/emulate/emulator.h"
#include "sim/engine/device.h"
#include "sim/frontend/load.h"
#include "tests/emulate/loaded.h"

namespace foretrace {
namespace {

using u32 = std::uint32_t;
using Words = std::vector<u32>;

class Cooperation : public testing::TestWithParam<int> {
 protected:
  static const emulate::Kernels& kernels(int sm) { return emulate::kernels_of("cooperation.cu", sm); }

  struct Run {
    Words in, out;
  };
  /// Executes with `grid` blocks of `block` threads; `in` has four words per thread, `out` as many.
  Run run(const std::string& name, u32 grid, u32 block, const std::string& more = "", u32 shared = 0) {
    const auto found = kernels(GetParam()).find(name);
    if (found == kernels(GetParam()).end()) throw InputError("no kernel " + name);
    const std::string count = std::to_string(grid * block * 4);
    frontend::LaunchDescription launch;
    launch.name = name;
    launch.kernel = name;
    launch.grid = {grid, 1, 1};
    launch.block = {block, 1, 1};
    launch.dynamic_shared = shared;
    launch.arguments.push_back(frontend::parse_argument("buf:u32:" + count + ":uniform:name=in", 0));
    launch.arguments.push_back(frontend::parse_argument("buf:u32:" + count + ":name=out", 1));
    if (!more.empty()) launch.arguments.push_back(frontend::parse_argument(more, 2));
    engine::Device device;
    emulate::LaunchContext context = device.bind(launch, found->second);
    context.shared_unit = 128;
    context.shared_reserved = 1024;
    const emulate::Emulator emulator(context);
    emulate::BlockSequence blocks(emulator, 16, true);
    std::uint64_t number = 0;
    for (auto record = blocks.next(); record != nullptr; record = blocks.next()) {
      EXPECT_EQ(record->block, number++);
      check_record(found->second.program, *record);
    }
    EXPECT_EQ(number, grid);
    return {words(device.read("in")), words(device.read("out"))};
  }

  static Words words(const std::vector<std::byte>& bytes) {
    Words w(bytes.size() / 4);
    std::memcpy(w.data(), bytes.data(), bytes.size());
    return w;
  }

  /// The record reads back as many instructions as were executed.
  static void check_record(const isa::Program& program, const work::BlockRecord& record) {
    const work::Shapes shapes(program);
    for (const work::WarpRecord& warp : record.warps) {
      work::WarpCursor cursor(shapes, warp);
      work::Step step;
      std::uint64_t steps = 0;
      while (cursor.next(step)) {
        ++steps;
        ASSERT_LT(step.index, program.code.size());
        ASSERT_EQ(step.executed & ~step.active, 0u);
      }
      ASSERT_EQ(steps, warp.instructions);
    }
  }

  /// One word per thread: expected(in, thread index in the grid).
  void each(const std::string& name, const std::function<u32(const Words& in, u32 i)>& expected,
            u32 block = 256, const std::string& more = "", u32 shared = 0) {
    SCOPED_TRACE(name);
    const u32 grid = 3;
    Run r;
    ASSERT_NO_THROW(r = run(name, grid, block, more, shared));
    for (u32 i = 0; i < grid * block; ++i) {
      ASSERT_EQ(r.out[i], expected(r.in, i)) << "thread " << i % block << " of block " << i / block;
    }
  }
};

TEST_P(Cooperation, Shuffles) {
  each("shuffle_sum", [](const Words& in, u32 i) {
    u32 sum = 0;
    for (u32 l = 0; l < 32; ++l) sum += in[i / 32 * 32 + l];
    return sum + in[i ^ 5];
  });
  each("shuffle_scan", [](const Words& in, u32 i) {
    u32 sum = 0;
    for (u32 l = i / 8 * 8; l <= i; ++l) sum += in[l];
    return sum;
  });
}

TEST_P(Cooperation, VotesAndMatches) {
  each("votes", [](const Words& in, u32 i) {
    const u32* w = &in[i / 32 * 32];
    u32 odd = 0, second = 0, fourth = 0;
    bool all = true;
    for (u32 l = 0; l < 32; ++l) {
      odd |= (w[l] & 1) << l;
      second |= (w[l] >> 1 & 1) << l;
      fourth |= (w[l] >> 2 & 1) << l;
      all = all && w[l] > 5;
    }
    u32 r = odd;
    if (in[i] & 2) {
      r ^= second;
      if (second & fourth) r += 3;
    } else {
      r += static_cast<u32>(std::popcount(~second));
    }
    return r + (all ? 7 : 0);
  });
  each("matches", [](const Words& in, u32 i) {
    u32 same = 0;
    for (u32 l = 0; l < 32; ++l) same |= u32{(in[i / 32 * 32 + l] & 3) == (in[i] & 3)} << l;
    return same ^ (0xffffffffu + 1);
  });
}

TEST_P(Cooperation, WarpReductions) {
  each("warp_reductions", [](const Words& in, u32 i) {
    const u32* w = &in[i / 32 * 32];
    u32 sum = 0, least = ~0u, all = ~0u, any = 0, odd = 0;
    std::int32_t most = INT32_MIN;
    for (u32 l = 0; l < 32; ++l) {
      sum += w[l];
      least = std::min(least, w[l]);
      most = std::max(most, static_cast<std::int32_t>(w[l]));
      all &= w[l] | 0xf;
      any |= w[l] & 0xff;
      odd ^= w[l];
    }
    return sum ^ least ^ static_cast<u32>(most) ^ all ^ any ^ odd;
  });
}

TEST_P(Cooperation, Histograms) {
  for (const char* name : {"histogram", "histogram_float"}) {
    SCOPED_TRACE(name);
    Run r;
    ASSERT_NO_THROW(r = run(name, 3, 256));
    Words count(64);
    for (u32 i = 0; i < 3 * 256; ++i) ++count[r.in[i] & 63];
    for (u32 i = 0; i < 64; ++i) {
      const u32 got =
          name == std::string("histogram") ? r.out[i] : static_cast<u32>(std::bit_cast<float>(r.out[i]));
      EXPECT_EQ(got, count[i]) << i;
    }
  }
}

TEST_P(Cooperation, GlobalAtomics) {
  Run r;
  ASSERT_NO_THROW(r = run("atomics", 2, 128));
  Words e(16);
  std::uint64_t wide = 0;
  for (u32 i = 0; i < 256; ++i) {
    const u32 v = r.in[i];
    e[0] += v;
    e[2] = std::max(e[2], v);
    e[4] |= v & 0xf0f;
    e[5] ^= v;
    e[6] = static_cast<u32>(std::max(static_cast<std::int32_t>(e[6]), static_cast<std::int32_t>(v)));
    e[7] += 2;
    wide += std::uint64_t{v} << 8;
    e[12] = e[12] >= 99 ? 0 : e[12] + 1;
  }
  const auto sum = std::bit_cast<std::uint64_t>(0.5 * 256);
  e[8] = static_cast<u32>(sum);
  e[9] = static_cast<u32>(sum >> 32);
  e[10] = static_cast<u32>(wide);
  e[11] = static_cast<u32>(wide >> 32);
  e[13] = 5;
  e[14] = 256;
  for (u32 i = 0; i < 15; ++i) EXPECT_EQ(r.out[i], e[i]) << i;
  for (u32 i = 0; i < 256; ++i) EXPECT_EQ(r.out[16 + i], 1u) << "ticket " << i;
}

TEST_P(Cooperation, BlockBarriers) {
  each("block_scan", [](const Words& in, u32 i) {
    u32 sum = 0;
    for (u32 k = i / 256 * 256; k <= i; ++k) sum += in[k];
    return sum;
  });
  each(
      "counted_barriers",
      [](const Words& in, u32 i) {
        u32 count = 0;
        bool all = true, any = false;
        for (u32 k = i / 96 * 96; k < i / 96 * 96 + 96; ++k) {
          count += in[k] & 1;
          all = all && in[k] != 0;
          any = any || in[k] == 12345;
        }
        return count * 4 + u32{all} * 2 + u32{any};
      },
      96);
  each(
      "numbered_barriers", [](const Words& in, u32 i) { return i % 128 < 64 ? 1u : in[i - 64] * 3; }, 128);
  each(
      "barrier_object",
      [](const Words& in, u32 i) {
        const u32 first = i / 64 * 64, t = i % 64;
        const auto at = [&](u32 k) { return in[first + (t + k) % 64]; };
        return at(0) + 3 * at(1) + 3 * at(2) + at(3);
      },
      64);
  each(
      "dynamic_shared", [](const Words& in, u32 i) { return in[i / 64 * 64 + 63 - i % 64]; }, 64, "", 64 * 4);
}

TEST_P(Cooperation, SystemSharedMemory) {
  each(
      "large_tiles",
      [](const Words& in, u32 i) {
        u32 sum = in[i / 64 * 64 + 40] + in[i / 128 * 128 + i % 32];
        for (u32 k = i / 64 * 64; k < i / 64 * 64 + 64; ++k) sum += in[k];
        return sum;
      },
      128);
  // 400 bytes and the launch's 68 in units of 128 bytes; 1,024 bytes are the system's.
  each(
      "shared_sizes",
      [](const Words& in, u32 i) { return in[i / 64 * 64 + (i + 1) % 64] ^ (512u << 16 | 68u) ^ 1024u << 8; },
      64, "", 68);
}

TEST_P(Cooperation, BlocksThatWaitForEachOther) {
  each(
      "grid_barrier", [](const Words& in, u32 i) { return in[(i + 64) % (3 * 64)] * 2; }, 64);
}

TEST_P(Cooperation, CallsAndJumps) {
  each("recursion", [](const Words& in, u32 i) {
    const u32 f[] = {0, 1, 1, 2, 3, 5, 8, 13};
    return f[in[i] & 7];
  });
  each("function_pointers", [](const Words& in, u32 i) {
    const u32 v = in[i];
    return v % 3 == 0 ? v * 2 : v % 3 == 1 ? v * v : 0u - v;
  });
  each("jump_table", [](const Words& in, u32 i) {
    u32 v = in[i];
    switch (v % 11) {
      case 0: return v + 3;
      case 1: return v * 5;
      case 2: return v ^ v >> 7;
      case 3: return u32{9};
      case 4: return static_cast<u32>(std::popcount(v));
      case 5: return v % 1000;
      case 6: return ~v;
      case 7: return (v << 3) - 77;
      case 8: return v - 77;
      case 9: {
        u32 r = 0;
        for (u32 k = 0; k < 32; ++k) r |= (v >> k & 1) << (31 - k);
        return r;
      }
      default: return u32{42};
    }
  });
}

TEST_P(Cooperation, AddressSpaces) {
  each("local_array", [](const Words& in, u32 i) {
    u32 stack[24], sum = 0;
    for (u32 k = 0; k < 24; ++k) stack[k] = in[i] >> (k & 15);
    for (u32 k = 0; k < 24; ++k) stack[(stack[k] + k) % 24] += stack[23 - k];
    for (const u32 v : stack) sum = sum * 3 + v;
    return sum;
  });
  each("generic_addresses", [](const Words& in, u32 i) {
    return in[i] % 3 == 0 ? in[i] + 1 + (in[i] & 1) : in[i] % 3 == 1 ? in[i] + 3 : in[i];
  });
  each("variables", [](const Words& in, u32 i) {
    const u32 table[] = {1, 1, 2, 3, 5, 8, 13, 21};
    return table[in[i] & 7] + 1000;
  });
  each("constant_by_pointer", [](const Words& in, u32 i) {
    const u32 words[] = {3, 1, 4, 1, 5, 9, 2, 6}, k = in[i] >> 1 & 7;
    return in[i] & 1 ? words[k] + 1000 : in[k];
  });
  std::string bytes = "bytes:";
  for (u32 k = 0; k < 64; ++k) {
    const char* digits = "0123456789abcdef";
    bytes += digits[k / 16];
    bytes += digits[k % 16];
    bytes += "010000";
  }
  each(
      "large_parameter", [](const Words& in, u32 i) { return ((in[i] & 63) + 256) * 2; }, 256, bytes);
}

TEST_P(Cooperation, DivergedLanesMakeProgress) {
  Run r;
  ASSERT_NO_THROW(r = run("spin_locks", 2, 64));
  EXPECT_EQ(r.out[0], 128u);
  EXPECT_EQ(r.out[1], 128u);
  each("sync_on_both_sides", [](const Words& in, u32 i) { return i & 1 ? in[i ^ 1] + 11 : in[i ^ 1] * 7; });
  each("nested_loops", [](const Words& in, u32 i) {
    const u32 v = in[i];
    u32 sum = 0;
    for (u32 k = 0; k < (v & 15); ++k) {
      if (k == (v >> 4 & 7)) continue;
      for (u32 j = k; j < 20; ++j) {
        if (j * k > (v >> 8 & 63)) break;
        if ((v ^ j) == 0x1234) return u32{0};
        sum += j * 3 + k;
      }
      if (sum > (v >> 16 & 255)) break;
    }
    return sum;
  });
  each("tiles", [](const Words& in, u32 i) {
    u32 ballot = 0, some = 0;
    for (u32 l = 0; l < 8; ++l) ballot |= (in[i / 8 * 8 + l] & 1) << l;
    // Each lane starts with the ballot; a sum over the tile's lanes.
    for (u32 l = 0; l < 32; ++l) some += in[i / 32 * 32 + l] >> 1 & 1;
    return ballot * 8 + (in[i] & 2 ? some * 256 : 0);
  });
}

TEST_P(Cooperation, LastBlockSeesAll) {
  Run r;
  ASSERT_NO_THROW(r = run("last_block", 5, 64));
  u32 total = 0;
  for (u32 i = 0; i < 5 * 64; ++i) total += r.in[i];
  EXPECT_EQ(r.out[5], total);
}

TEST_P(Cooperation, AsynchronousCopies) {
  each(
      "copy_to_one_place", [](const Words& in, u32 i) { return in[i / 64 * 4 + i % 4]; }, 64);
  Run r;
  ASSERT_NO_THROW(r = run("asynchronous_copy", 2, 256));
  for (u32 i = 0; i < 512; ++i) {
    const u32 t = i % 256, copied = t % 3 == 0 ? 0 : t % 5 == 0 ? 2 : 4;
    for (u32 k = 0; k < 4; ++k)
      ASSERT_EQ(r.out[i * 4 + k], k < copied ? r.in[i * 4 + k] : 0) << i << " word " << k;
  }
}

TEST_P(Cooperation, Matrices) {
  Run r;
  ASSERT_NO_THROW(r = run("matrix_half", 1, 64));  // two warps compute the same
  for (u32 i = 0; i < 256; ++i) {
    float sum = 1;
    for (u32 k = 0; k < 16; ++k) {
      sum += (static_cast<float>(r.in[i / 16 * 16 + k] & 15) - 7) *
             (static_cast<float>(r.in[k * 16 + i % 16] >> 4 & 15) - 8);
    }
    ASSERT_EQ(std::bit_cast<float>(r.out[i]), sum) << i;
  }
  ASSERT_NO_THROW(r = run("matrix_bytes", 2, 32));
  std::vector<std::int8_t> bytes(512);
  std::memcpy(bytes.data(), r.in.data(), 512);
  for (u32 i = 0; i < 256; ++i) {
    int sum = 3;
    for (u32 k = 0; k < 16; ++k) sum += bytes[i / 16 * 16 + k] * bytes[256 + i % 16 * 16 + k];
    ASSERT_EQ(static_cast<int>(r.out[i]), sum) << i;
  }
  ASSERT_NO_THROW(r = run("matrix_double", 1, 32));
  for (u32 i = 0; i < 64; ++i) {
    double sum = 0.5, got;
    for (u32 k = 0; k < 4; ++k)
      sum += (r.in[i / 8 * 4 + k] & 255) * static_cast<double>(r.in[i % 8 * 4 + k] >> 8 & 255);
    std::memcpy(&got, &r.out[i * 2], 8);
    ASSERT_EQ(got, sum) << i;
  }
}

TEST_P(Cooperation, HalvesAndNarrowWords) {
  each("halves", [](const Words& in, u32 i) {
    const int x = static_cast<int>(in[i] & 63), y = static_cast<int>(in[i] >> 6 & 63);
    // Twice (x/2 + x*x + 1/2), and -2y + y*y - 2: whole numbers that halves hold up to 2048, then rounded to 2s.
    const auto half = [](float v) { return v; };
    const float low = half(static_cast<float>(x * x) + 0.5f), high = static_cast<float>(y * y) - 2.0f;
    const auto rounded = [](float v) {
      const float step = std::abs(v) >= 2048   ? 2.0f
                         : std::abs(v) >= 1024 ? 1.0f
                         : std::abs(v) >= 512  ? 0.5f
                                               : 0.25f;
      const float n = v / step, f = std::floor(n), d = n - f;
      return step * (d > 0.5f || (d == 0.5f && static_cast<int>(f) % 2 != 0) ? f + 1 : f);
    };
    const float a = rounded(static_cast<float>(x) * 0.5f + rounded(low));
    const float b = rounded(static_cast<float>(y) * -2.0f + rounded(high));
    return static_cast<u32>(static_cast<int>(a * 2.0f) * 65536 + static_cast<int>(b));
  });
  Run r;
  ASSERT_NO_THROW(r = run("narrow_accesses", 1, 128));
  for (u32 i = 0; i < 128; ++i) {
    const auto byte = static_cast<std::uint8_t>(r.in[i / 4] >> (8 * (i % 4)));
    const int expected = static_cast<std::int8_t>(byte) * 5 - byte;
    EXPECT_EQ(static_cast<std::int16_t>(r.out[i / 2] >> (16 * (i % 2))), static_cast<std::int16_t>(expected))
        << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, Cooperation, testing::Values(80, 90, 120));

}  // namespace
}  // namespace foretrace
