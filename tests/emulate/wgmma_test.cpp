// Warpgroup products on whole programs: where operands come from, what the modifiers do, every type, against sums worked out in
// exact_sum.h and addresses worked out element by element.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <random>

#include "tests/emulate/assembled.h"
#include "tests/emulate/exact_sum.h"

namespace foretrace::emulate {
namespace {

constexpr std::uint32_t kSharedBytes = 0x10000;
constexpr std::uint32_t kPairs[] = {0x4, 0x8, 0xc,
                                    0x9, 0xd, 0xe};  ///< metadata: two ascending columns of four

/// A descriptor and the map that it stands for.
struct Descriptor {
  std::uint32_t start = 0, leading = 0, stride = 0, base = 0;
  int swizzle = 0;
  std::uint64_t bits() const {
    return start / 16 | std::uint64_t{leading / 16} << 16 | std::uint64_t{stride / 16} << 32 |
           std::uint64_t{base} << 49 | static_cast<std::uint64_t>(swizzle) << 62;
  }
  /// Byte address of the byte `byte` of element (r, k) of `bytes` bytes.
  std::uint32_t address(bool transposed, std::uint32_t r, std::uint32_t k, std::uint32_t bytes) const {
    const std::uint32_t s = swizzle == 1 ? 128 : swizzle == 2 ? 64 : swizzle == 3 ? 32 : 16;
    std::uint32_t at = start;
    if (!transposed) {
      const std::uint32_t kb = k * bytes;
      at += r % 8 * s + r / 8 * stride;
      at += swizzle == 0 ? kb / 16 * leading + kb % 16 : kb;
    } else {
      const std::uint32_t mb = r * bytes;
      at += k % 8 * s + mb % s;
      at += swizzle == 0 ? mb / s * stride + k / 8 * leading : mb / s * leading + k / 8 * stride;
    }
    const std::uint32_t rows = (at >> 7) - base;
    const std::uint32_t mask = swizzle == 1 ? 7 : swizzle == 2 ? 3 : swizzle == 3 ? 1 : 0;
    return at ^ (rows & mask) << 4;
  }
};

struct Form {
  std::string mnemonic;   // "HGMMA.64x64x16.F32"
  std::string modifiers;  // of gdesc
  std::string tail;       // after the accumulator: ", UP0", ", !UPT, gsb0"
  int columns = 64;
  bool registers_a = false;
  bool half = false;
  bool zero = false;
  int meta_selector = -1;
  std::string sign_a{};      // "-" before the register
  std::uint32_t c_from = 0;  // accumulators from here on; 0: floats
};

/// One product of a warpgroup on random memory.
struct Product {
  std::vector<std::uint32_t> shared = std::vector<std::uint32_t>(kSharedBytes / 4);
  std::vector<std::uint32_t> a, meta, c, d;  // by register and thread

  Product(const Form& form, std::uint64_t a_bits, std::uint64_t b_bits, unsigned seed,
          std::uint32_t keep = ~0u) {
    std::mt19937 random(seed);
    const int registers = form.columns / (form.half ? 4 : 2);
    const auto fill = [&](std::vector<std::uint32_t>& v) {
      for (auto& x : v) x = static_cast<std::uint32_t>(random()) & keep;
    };
    fill(shared);
    a.resize(4 * 128);
    c.resize(static_cast<std::size_t>(registers) * 128);
    fill(a);
    for (auto& x : c) {
      x = static_cast<std::uint32_t>(random());
      if (form.c_from != 0) {
        x = form.c_from + x % 0x20000;
        continue;
      }
      x = form.half ? x & 0xbfffbfff : (x & 0x807fffff) | (118 + x % 16) << 23;
    }
    for (int t = 0; t < 128; ++t) {  // two ascending columns of four
      std::uint32_t word = 0;
      for (int i = 0; i < 8; ++i) word |= kPairs[random() % 6] << 4 * i;
      meta.push_back(word);
    }
    std::string text = R"(
      S2R R0, SR_TID.X
      MOV R2, c[0x0][0x210]
      MOV R3, c[0x0][0x214]
      IMAD.WIDE.U32 R2, R0, 0x4, R2
      ULDC.64 UR8, c[0x0][0x218]
      ULDC.64 UR10, c[0x0][0x220]
      SHF.L.U32 R1, R0, 0x2, RZ
      UISETP.EQ.U32.AND UP0, UPT, URZ, URZ, UPT
    )";
    const auto line = [&](const std::string& s) { text += s + "\n"; };
    int at = 0;
    const auto next = [&] { return 512 * at++; };
    for (std::uint32_t i = 0; i < kSharedBytes; i += 512) {
      line(fmt::format("LDG.E R4, [R2.64+{:#x}]", next()));
      line(fmt::format("STS [R1+{:#x}], R4", i));
    }
    for (int i = 0; i < 4; ++i) line(fmt::format("LDG.E R{}, [R2.64+{:#x}]", 8 + i, next()));
    line(fmt::format("LDG.E R12, [R2.64+{:#x}]", next()));
    for (int i = 0; i < registers; ++i) line(fmt::format("LDG.E R{}, [R2.64+{:#x}]", 24 + i, next()));
    line("BAR.SYNC 0x0");
    line("WARPGROUP.ARRIVE");
    std::string operands = form.registers_a ? form.sign_a + "R8, gdesc[UR8]" : "gdesc[UR8]";
    operands += form.modifiers;
    std::string meta_text;
    if (form.meta_selector >= 0)
      meta_text = ", R12" + (form.meta_selector < 2 ? fmt::format(", {:#x}", form.meta_selector) : "");
    line(fmt::format("{} R24, {}, {}{}{}, gsb0", form.mnemonic, operands, form.zero ? "RZ" : "R24", form.tail,
                     meta_text));
    line("WARPGROUP.DEPBAR.LE gsb0, 0x0");
    const int out = at;
    for (int i = 0; i < registers; ++i) line(fmt::format("STG.E [R2.64+{:#x}], R{}", next(), 24 + i));
    line("EXIT");
    Assembled program(text, 128, 6, 90);
    program.program.static_shared = kSharedBytes;
    std::vector<std::uint32_t> data = shared;
    for (const auto* v : {&a, &meta, &c}) data.insert(data.end(), v->begin(), v->end());
    data.resize(static_cast<std::size_t>(at) * 128);
    const std::uint64_t address = program.buffer(0, data, "data");
    std::memcpy(program.context.parameters.data() + 8, &a_bits, 8);
    std::memcpy(program.context.parameters.data() + 16, &b_bits, 8);
    program.run();
    d = program.read(address + static_cast<std::uint64_t>(out) * 512, c.size());
  }

  std::uint32_t byte_at(std::uint32_t address) const {
    return shared[address / 4] >> (address % 4 * 8) & 0xff;
  }
  std::uint32_t element(const Descriptor& m, bool transposed, int r, int k, int bytes) const {
    std::uint32_t v = 0;
    const std::uint32_t from = m.address(transposed, static_cast<std::uint32_t>(r),
                                         static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(bytes));
    for (int i = 0; i < bytes; ++i) v |= byte_at(from + static_cast<std::uint32_t>(i)) << 8 * i;
    return bytes == 4 ? v >> 13 : v;
  }
  /// Element (row, k) of A in registers.
  std::uint32_t register_element(int row, int k, int bytes) const {
    const int at = k * bytes;
    const int thread = row / 16 * 32 + row % 8 * 4 + at % 16 / 4;
    const int reg = row % 16 / 8 + at / 16 * 2;
    const std::uint32_t word = a[static_cast<std::size_t>(reg * 128 + thread)];
    return bytes == 4 ? word >> 13 : word >> (at % 4 * 8) & ((1u << 8 * bytes) - 1);
  }
  std::size_t place(bool half, int row, int column) const {
    const int thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
    const int reg = half ? column / 8 * 2 + row % 16 / 8 : column / 8 * 4 + row % 16 / 8 * 2 + column % 2;
    return static_cast<std::size_t>(reg * 128 + thread);
  }
  std::uint32_t of(const std::vector<std::uint32_t>& v, bool half, int row, int column) const {
    const std::uint32_t word = v[place(half, row, column)];
    return half ? word >> (16 * (column % 2)) & 0xffff : word;
  }
};

struct Floats {
  Form form;
  exact::Format fa, fb;
  Descriptor a, b;
  exact::Rule rule{};
  std::uint32_t keep = ~0u;  // of random memory: exponents that stay in bounds
};

void check(const Floats& f, unsigned seed) {
  const Product p(f.form, f.a.bits(), f.b.bits(), seed, f.keep);
  const auto has = [&](const char* m) { return f.form.modifiers.find(m) != std::string::npos; };
  const int bytes = f.fa.bits() == 19 ? 4 : f.fa.bits() / 8, k_of = 32 / bytes;
  const bool sparse = f.form.meta_selector >= 0;
  const auto flipped = [&](const exact::Format& format, std::uint32_t v, bool flip) {
    return flip ? v ^ 1u << (format.bits() - 1) : v;
  };
  for (int row = 0; row < 64; ++row) {
    std::vector<std::uint32_t> a;
    std::vector<int> columns;
    for (int k = 0; k < k_of; ++k) {
      const std::uint32_t v = f.form.registers_a ? p.register_element(row, k, bytes)
                                                 : p.element(f.a, has(".tnspA"), row, k, bytes);
      a.push_back(flipped(f.fa, v, has(".negA") || f.form.sign_a == "-"));
      int column = k;
      if (sparse) {
        const int piece = bytes == 4 ? k : k / 2;
        const int half = row % 16 / 8;
        const int lane =
            row % 8 * 4 + (bytes == 1 ? half + piece / 8 * 2 : piece / 4 + 2 * f.form.meta_selector);
        const int shift = bytes == 1 ? piece % 8 * 4 : half * 16 + piece % 4 * 4;
        const std::uint32_t four = p.meta[static_cast<std::size_t>(row / 16 * 32 + lane)] >> shift & 15;
        column = bytes == 4 ? 2 * piece + static_cast<int>(four >> 1 & 1)
                            : 4 * piece + static_cast<int>(k % 2 == 0 ? four & 3 : four >> 2);
      }
      columns.push_back(column);
    }
    for (int n = 0; n < f.form.columns; ++n) {
      std::vector<std::uint32_t> b;
      for (const int k : columns)
        b.push_back(flipped(f.fb, p.element(f.b, has(".tnspB"), n, k, bytes), has(".negB")));
      const std::uint32_t c =
          f.form.zero || f.form.tail.find("!UP") != std::string::npos ? 0 : p.of(p.c, f.form.half, row, n);
      exact::Rule rule = f.rule;
      rule.half = f.form.half;
      ASSERT_EQ(p.of(p.d, f.form.half, row, n), exact::sum(f.fa, f.fb, a, b, c, rule))
          << f.form.mnemonic << f.form.modifiers << " row " << row << " column " << n;
    }
  }
}

const Descriptor kFlatA{0x400, 0x80, 0x100, 0, 0}, kFlatB{0x4000, 0x80, 0x100, 0, 0};
constexpr std::uint32_t kTameHalves = 0xbfffbfff, kTameBytes = 0xbfbfbfbf, kTameWords = 0xbfffffff;

TEST(Wgmma, TakesOperandsByDescriptorOrFromRegisters) {
  check({{"HGMMA.64x64x16.F32", "", ""}, exact::kF16, exact::kF16, kFlatA, kFlatB, {}, kTameHalves}, 1);
  check({{"HGMMA.64x8x16.F32.BF16", "", ", UP0", 8}, exact::kBf16, exact::kBf16, kFlatA, kFlatB}, 2);
  check({{"HGMMA.64x256x16.F32", "", ", !UPT", 256, true, false, true},
         exact::kF16,
         exact::kF16,
         kFlatA,
         kFlatB},
        3);
  check({{"HGMMA.64x72x16.F32.BF16", "", "", 72, true}, exact::kBf16, exact::kBf16, kFlatA, kFlatB}, 4);
}

TEST(Wgmma, LeavesTheAccumulatorOutWhereThePredicateIsFalse) {
  check({{"HGMMA.64x32x16.F32", "", ", !UP0", 32}, exact::kF16, exact::kF16, kFlatA, kFlatB}, 5);
}

TEST(Wgmma, NegatesAndTransposes) {
  for (const char* modifiers : {".negA", ".negB", ".negA.negB.tnspA.tnspB", ".tnspB"}) {
    check({{"HGMMA.64x64x16.F32", modifiers, ""}, exact::kF16, exact::kF16, kFlatA, kFlatB, {}, kTameHalves},
          6);
  }
  Form form{"HGMMA.64x64x16.F32.BF16", ".negB.tnspB", "", 64, true};
  form.sign_a = "-";
  check({form, exact::kBf16, exact::kBf16, kFlatA, kFlatB}, 7);
}

TEST(Wgmma, ReadsSwizzledMemoryFromAnyStart) {
  for (int swizzle = 0; swizzle < 4; ++swizzle) {
    for (const char* modifiers : {"", ".tnspA.tnspB"}) {
      for (const std::uint32_t start : {0x400u, 0x420u, 0x490u}) {
        const Descriptor a{start, 0x800, 0x1000, swizzle == 1 ? 3u : 1u, swizzle},
            b{0x8000 + start, 0xc00, 0x400, 0, swizzle};
        check({{"HGMMA.64x32x16.F32", modifiers, "", 32}, exact::kF16, exact::kF16, a, b, {}, kTameHalves},
              start);
      }
    }
  }
}

TEST(Wgmma, EveryFloatTypeHasItsSum) {
  const exact::Rule narrow{13, 13};
  check({{"HGMMA.64x48x8.F32.TF32", "", "", 48}, exact::kTf32, exact::kTf32, kFlatA, kFlatB, {}, kTameWords},
        8);
  check({{"HGMMA.64x48x8.F32.TF32", ".negA", "", 48},
         exact::kTf32,
         exact::kTf32,
         kFlatA,
         kFlatB,
         {},
         kTameWords},
        9);
  check({{"HGMMA.64x64x16.F16", ".tnspB", "", 64, false, true},
         exact::kF16,
         exact::kF16,
         kFlatA,
         kFlatB,
         {},
         kTameHalves},
        10);
  check({{"QGMMA.64x64x32.F32.E4M3.E4M3", "", ""}, exact::kE4m3, exact::kE4m3, kFlatA, kFlatB, narrow}, 11);
  check({{"QGMMA.64x32x32.F32.E4M3.E5M2", ".negB", "", 32},
         exact::kE4m3,
         exact::kE5m2,
         kFlatA,
         kFlatB,
         narrow,
         kTameBytes},
        12);
  check({{"QGMMA.64x32x32.F32.E5M2.E4M3", "", "", 32, true},
         exact::kE5m2,
         exact::kE4m3,
         kFlatA,
         kFlatB,
         narrow},
        13);
  check({{"QGMMA.64x64x32.F16.E4M3.E4M3", "", "", 64, false, true},
         exact::kE4m3,
         exact::kE4m3,
         kFlatA,
         kFlatB,
         narrow},
        14);
}

TEST(Wgmma, SparseRowsMeetTheColumnsThatTheirMetadataNames) {
  const exact::Rule narrow{13, 13};
  const auto form = [](const char* mnemonic, int selector, bool registers = false) {
    Form f{mnemonic, "", "", 32, registers};
    f.meta_selector = selector;
    return f;
  };
  const Descriptor b{0x4000, 0x80, 0x200, 0, 0};
  check({form("HGMMA.SP.64x32x32.F32", 0), exact::kF16, exact::kF16, kFlatA, b, {}, kTameHalves}, 15);
  check({form("HGMMA.SP.64x32x32.F32.BF16", 1, true), exact::kBf16, exact::kBf16, kFlatA, b}, 16);
  check({form("QGMMA.SP.64x32x64.F32.E4M3.E4M3", 2), exact::kE4m3, exact::kE4m3, kFlatA, b, narrow}, 17);
  check({form("HGMMA.SP.64x32x16.F32.TF32", 1), exact::kTf32, exact::kTf32, kFlatA, b, {}, kTameWords}, 18);
}

std::int64_t integer(std::uint32_t byte, bool is_signed) {
  return is_signed ? static_cast<std::int8_t>(byte) : static_cast<std::int64_t>(byte);
}

TEST(Wgmma, IntegersWrapOrSaturate) {
  struct Case {
    const char* mnemonic;
    bool signed_a, signed_b, saturates, registers;
    std::uint32_t c;
  };
  for (const Case& t : {Case{"IGMMA.64x32x32.S8.U8", true, false, false, false, 5},
                        Case{"IGMMA.64x32x32.U8.U8.SAT", false, false, true, true, 0x7ff80000},
                        Case{"IGMMA.64x32x32.U8.U8", false, false, false, false, 0x7ff80000},
                        Case{"IGMMA.64x32x32.S8.S8.SAT", true, true, true, false, 0x80000001}}) {
    Form form{t.mnemonic, "", "", 32, t.registers};
    form.c_from = t.c;
    const Product p(form, kFlatA.bits(), kFlatB.bits(), 20);
    int clamped = 0;
    for (int row = 0; row < 64; ++row) {
      for (int n = 0; n < 32; ++n) {
        std::int64_t sum = static_cast<std::int32_t>(p.of(p.c, false, row, n));
        for (int k = 0; k < 32; ++k) {
          const std::uint32_t a =
              t.registers ? p.register_element(row, k, 1) : p.element(kFlatA, false, row, k, 1);
          sum += integer(a, t.signed_a) * integer(p.element(kFlatB, false, n, k, 1), t.signed_b);
        }
        if (t.saturates && (sum > 0x7fffffff || sum < -std::int64_t{0x80000000})) {
          sum = sum > 0 ? 0x7fffffff : -std::int64_t{0x80000000};
          ++clamped;
        }
        ASSERT_EQ(p.of(p.d, false, row, n), static_cast<std::uint32_t>(sum)) << t.mnemonic << row << ' ' << n;
      }
    }
    EXPECT_EQ(clamped > 100, t.saturates) << t.mnemonic;
  }
}

TEST(Wgmma, BitsThatAreSetInBothAreCounted) {
  const Product p(Form{"BGMMA.64x24x256.AND.POPC", "", "", 24}, kFlatA.bits(), kFlatB.bits(), 21);
  for (int row = 0; row < 64; ++row) {
    for (int n = 0; n < 24; ++n) {
      std::uint32_t sum = p.of(p.c, false, row, n);
      for (int k = 0; k < 32; ++k)
        sum += static_cast<std::uint32_t>(
            std::popcount(p.element(kFlatA, false, row, k, 1) & p.element(kFlatB, false, n, k, 1)));
      ASSERT_EQ(p.of(p.d, false, row, n), sum) << row << ' ' << n;
    }
  }
}

TEST(Wgmma, AnEmptyGroupTouchesNothing) {
  Assembled a("HGMMA.64x8x16.F16 RZ, gdesc[URZ], RZ, !UPT, gsb0\nWARPGROUP.DEPBAR.LE gsb0, 0x0\nEXIT\n", 128,
              0, 90);
  // Three warps come to the wait before the last one has come to the product, and execute it twice.
  EXPECT_EQ(a.run().instructions, 12u + 3u);
}

// The four warps multiply together: what comes behind the wait may overwrite the operands of all of them.
TEST(Wgmma, TheWaitIsForTheWholeWarpgroup) {
  Assembled a(R"(
    S2R R0, SR_TID.X
    MOV R2, c[0x0][0x210]
    MOV R3, c[0x0][0x214]
    IMAD.WIDE.U32 R2, R0, 0x4, R2
    LOP3.LUT R4, R0, 0x1f, RZ, 0xc0, !PT
    SHF.L.U32 R4, R4, 0x2, RZ
    MOV R5, 0x3c003c00
    STS [R4], R5
    BAR.SYNC 0x0
    UMOV UR8, 0x0
    UMOV UR9, 0x0
    UMOV UR10, 0x0
    UMOV UR11, 0x0
    WARPGROUP.ARRIVE
    HGMMA.64x8x16.F32 R24, gdesc[UR8], RZ, !UPT, gsb0
    WARPGROUP.DEPBAR.LE gsb0, 0x0
    STS [R4], RZ
    STG.E [R2.64], R24
    EXIT
  )",
              128, 2, 90);
  a.program.static_shared = 0x1000;
  const std::uint64_t address = a.buffer(0, std::vector<std::uint32_t>(128), "out");
  a.run();
  EXPECT_EQ(a.read(address, 128), std::vector<std::uint32_t>(128, std::bit_cast<std::uint32_t>(16.0f)));
}

TEST(Wgmma, FaultsOutsideTheBlocksSharedMemory) {
  Assembled a("UMOV UR8, 0x3fff\nUMOV UR9, 0x0\nHGMMA.64x8x16.F32 R24, gdesc[UR8], RZ, !UPT\nEXIT\n", 128, 0,
              90);
  a.program.static_shared = 0x1000;
  try {
    a.run();
    FAIL();
  } catch (const KernelFault& fault) { EXPECT_EQ(fault.kind(), FaultKind::out_of_bounds); }
}

TEST(SetMaxReg, GivesWhatIsAskedForAtOnce) {
  Assembled a(R"(
    USETMAXREG.DEALLOC.CTAPOOL 0x28
    USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xe8
    MOV R2, c[0x0][0x210]
    MOV R3, c[0x0][0x214]
    MOV R4, 0x7
    PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0
    @P0 STG.E [R2.64], R4
    EXIT
  )",
              32, 2, 90);
  const std::uint64_t address = a.buffer(0, {0}, "out");
  a.run();
  EXPECT_EQ(a.read(address, 1)[0], 7u);
}

}  // namespace
}  // namespace foretrace::emulate
