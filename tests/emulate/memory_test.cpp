// Where buffers are placed, when their pages are made, and what is said of an access that is wrong.
#include <gtest/gtest.h>

#include <thread>

#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

TEST(GlobalMemory, PlacesAsADeviceDoes) {
  GlobalMemory memory;
  const std::uint64_t a = memory.allocate(4, "a"), b = memory.allocate(512, "b"),
                      c = memory.allocate(3 << 20, "c"), d = memory.allocate(1, "d");
  EXPECT_EQ(a, kGlobalBase);
  EXPECT_EQ(b % 512, 0u);
  EXPECT_GE(b, a + 4 + 508);
  EXPECT_EQ(c % kPlacementBytes, 0u);
  EXPECT_EQ(d, b + 1024);  // in the first page for small ones, not behind c
  EXPECT_GE(memory.allocate(2 << 20, "e"), c + (3 << 20) + 512);  // what runs over the end of c is not in e
  EXPECT_EQ(memory.find(a + 3)->name, "a");
  EXPECT_EQ(memory.find(a + 4), nullptr);
  EXPECT_EQ(memory.find(b - 1), nullptr);
  EXPECT_EQ(memory.nearest(b - 1)->name, "b");
  EXPECT_EQ(memory.nearest(a + 5)->name, "a");
  GlobalMemory again;
  EXPECT_EQ(again.allocate(77, "x"), a);
  EXPECT_THROW(again.allocate(std::uint64_t{1} << 41, "huge"), InputError);
}

TEST(GlobalMemory, SmallBuffersLieSideBySideWhileSomeBytesBehindThemAreFree) {
  GlobalMemory memory;
  const std::uint64_t first = memory.allocate(448, "first"), second = memory.allocate(449, "second"),
                      third = memory.allocate(8, "third");
  EXPECT_EQ(second, first + 512);
  EXPECT_EQ(third, second + 1024);
}

TEST(GlobalMemory, ASmallBufferGoesToTheFirstPageThatHasRoom) {
  GlobalMemory memory;
  const std::uint64_t large = memory.allocate(100 << 20, "large"), first = memory.allocate(1 << 20, "first"),
                      no_room = memory.allocate((1 << 20) - 1023, "half a page and 512 bytes behind it"),
                      room = memory.allocate((1 << 20) - 1024, "what is left"),
                      own = memory.allocate((2 << 20) - 511, "2 MiB with the bytes behind it"),
                      whole = memory.allocate((2 << 20) - 512, "just less"),
                      tiny = memory.allocate(4, "tiny");
  EXPECT_EQ(large % kPlacementBytes, 0u);
  EXPECT_EQ(first % kPlacementBytes, 0u);
  EXPECT_GE(first, large + (100 << 20) + 512);
  EXPECT_EQ(no_room, first + kPlacementBytes);
  EXPECT_EQ(room, first + (1 << 20) + 512);
  EXPECT_EQ(own, no_room + kPlacementBytes);
  EXPECT_EQ(whole, own + 2 * kPlacementBytes);
  EXPECT_EQ(tiny, no_room + (1 << 20));  // no room in the first page any more
}

std::byte mark(std::uint64_t offset) { return static_cast<std::byte>(offset / 1000 % 251); }

TEST(GlobalMemory, MakesPagesWhenTheyAreTouched) {
  GlobalMemory memory;
  std::vector<std::uint64_t> filled;
  const std::uint64_t size = 3 * kPageBytes + 100;
  const std::uint64_t a = memory.allocate(size, "a", [&](std::uint64_t offset, std::span<std::byte> bytes) {
    filled.push_back(offset);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = mark(offset + i);
  });
  EXPECT_EQ(memory.resident(), 0u);
  std::byte byte;
  memory.read(a + kPageBytes + 5, {&byte, 1});
  EXPECT_EQ(byte, mark(kPageBytes + 5));
  EXPECT_EQ(memory.resident(), kPageBytes);
  EXPECT_EQ(filled, std::vector<std::uint64_t>{kPageBytes});
  std::vector<std::byte> across(200);
  memory.read(a + 3 * kPageBytes - 100, across);
  for (std::size_t i = 0; i < 200; ++i) { ASSERT_EQ(across[i], mark(3 * kPageBytes - 100 + i)) << i; }
  EXPECT_EQ(filled, (std::vector<std::uint64_t>{kPageBytes, 2 * kPageBytes, 3 * kPageBytes}));
  EXPECT_THROW(memory.read(a + size - 1, std::span(across).first(2)), InputError);
}

TEST(GlobalMemory, AForkServesSeveralThreads) {
  constexpr std::uint64_t kBytes = 64 << 20;
  GlobalMemory memory;
  const std::uint64_t a = memory.allocate(kBytes, "a");
  const auto fork = memory.fork();
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&fork, a, t] {
      for (std::uint64_t at = t; at < kBytes; at += 4096) *fork->at(a + at) = static_cast<std::byte>(t + 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  bool all = true;
  for (std::uint64_t at = 0; at < kBytes; at += 4096) {
    for (unsigned t = 0; t < 4; ++t) all = all && *fork->at(a + at + t) == static_cast<std::byte>(t + 1);
  }
  EXPECT_TRUE(all);
  EXPECT_EQ(*memory.at(a), std::byte{0});
}

TEST(GlobalMemory, FillsABufferThatJoinsATouchedPage) {
  GlobalMemory memory;
  const std::uint64_t a = memory.allocate(8, "a");
  const std::byte one{1};
  memory.write(a, {&one, 1});
  const std::uint64_t b = memory.allocate(8, "b", [](std::uint64_t, std::span<std::byte> bytes) {
    for (std::byte& x : bytes) x = std::byte{7};
  });
  std::byte got{};
  memory.read(b + 7, {&got, 1});
  EXPECT_EQ(got, std::byte{7});
}

/// Runs and returns what is said; "" when nothing is wrong.
std::string said(Assembled& a, FaultKind expected) {
  try {
    a.run();
  } catch (const KernelFault& fault) {
    EXPECT_EQ(fault.kind(), expected) << fault.what();
    return fault.what();
  }
  return "";
}

/// One global access of lane 0 at the buffer's start plus `offset`.
std::string global_access(const std::string& instruction, std::uint32_t bytes, const std::string& offset,
                          FaultKind kind) {
  Assembled a(
      "MOV R2, c[0x0][0x160]\nMOV R3, c[0x0][0x164]\n" + instruction + ", [R2.64+" + offset + "]\nEXIT\n", 1,
      2);
  a.memory->allocate(1, "before");
  a.buffer(0, std::vector<std::uint32_t>(bytes / 4), "data");
  return said(a, kind);
}

TEST(Bounds, OfABufferAreExact) {
  EXPECT_EQ(global_access("LDG.E R4", 400, "0x18c", FaultKind::out_of_bounds), "");
  const std::string after = global_access("LDG.E R4", 400, "0x190", FaultKind::out_of_bounds);
  EXPECT_NE(
      after.find(
          "out-of-bounds global access of 4 bytes at 0x7f0000000390, 0 bytes after the end of buffer data"),
      std::string::npos)
      << after;
  EXPECT_NE(after.find("thread (0,0,0), offset 0x20 'LDG.E R4, [R2.64+0x190]'"), std::string::npos) << after;
  const std::string across = global_access("LDG.E.64 R4", 396, "0x188", FaultKind::out_of_bounds);
  EXPECT_NE(across.find("392 bytes into buffer data"), std::string::npos) << across;
  EXPECT_EQ(global_access("LDG.E.128 R4", 400, "0x180", FaultKind::out_of_bounds), "");
  EXPECT_NE(
      global_access("LDG.E R4", 400, "-0x4", FaultKind::out_of_bounds).find("4 bytes before buffer data"),
      std::string::npos);
}

TEST(Alignment, IsThatOfTheAccess) {
  EXPECT_EQ(global_access("LDG.E.U16 R4", 400, "0x2", FaultKind::misaligned), "");
  EXPECT_NE(global_access("LDG.E.U16 R4", 400, "0x1", FaultKind::misaligned)
                .find("misaligned global access of 2 bytes"),
            std::string::npos);
  EXPECT_NE(global_access("LDG.E.128 R4", 400, "0x8", FaultKind::misaligned).find("misaligned"),
            std::string::npos);
  EXPECT_EQ(global_access("LDG.E.64 R4", 400, "0x8", FaultKind::misaligned), "");
}

TEST(Bounds, OfAnAsynchronousCopyAreItsOwn) {
  const auto copy = [](const std::string& offset) {
    Assembled a("MOV R2, c[0x0][0x160]\nMOV R3, c[0x0][0x164]\nLDGSTS.E.BYPASS.128 [RZ], [R2.64+" + offset +
                    "]\nEXIT\n",
                1, 2);
    a.program.static_shared = 16;
    a.buffer(0, std::vector<std::uint32_t>(100), "data");
    return said(a, FaultKind::out_of_bounds);
  };
  EXPECT_EQ(copy("0x180"), "");
  EXPECT_NE(copy("0x190").find("out-of-bounds global access of 16 bytes at 0x7f0000000190"),
            std::string::npos)
      << copy("0x190");
}

TEST(Bounds, NameTheThreadThatErred) {
  // Word `thread` of a buffer of 70 words: thread 70 is the first to miss.
  Assembled a(std::string(kThreadAddress) + "LDG.E R4, [R2.64]\nEXIT\n", 96, 2);
  a.buffer(0, std::vector<std::uint32_t>(70), "data");
  EXPECT_NE(said(a, FaultKind::out_of_bounds).find("thread (70,0,0)"), std::string::npos);
}

TEST(Bounds, OfSharedMemory) {
  const auto access = [](const std::string& address, std::uint32_t dynamic) {
    Assembled a("LDS R4, [" + address + "]\nEXIT\n", 1);
    a.program.static_shared = 64;
    a.context.dynamic_shared = dynamic;
    return said(a, FaultKind::out_of_bounds);
  };
  EXPECT_EQ(access("RZ+0x3c", 0), "");
  EXPECT_NE(
      access("RZ+0x40", 0).find("out-of-bounds shared access of 4 bytes at 0x40; the block has 64 bytes"),
      std::string::npos);
  EXPECT_EQ(access("RZ+0x40", 4), "");
}

TEST(Bounds, SharedMemoryIsGivenOutInUnitsOf128Bytes) {
  std::string reported;
  const auto access = [&](const std::string& address, bool bounds) {
    Assembled a("MOV R4, 0x7\nSTS [" + address + "], R4\nLDS R5, [" + address + "]\nEXIT\n", 1);
    a.program.static_shared = 72;
    a.context.checks.bounds = bounds;
    reported.clear();
    a.context.report = [&](std::string_view text) { reported += text; };
    return said(a, FaultKind::out_of_bounds);
  };
  EXPECT_EQ(access("RZ+0x7c", false), "");
  EXPECT_NE(reported.find("warning: out-of-bounds shared access of 4 bytes at 0x7c; the block has 72 bytes; "
                          "a GPU gives it out in "
                          "units of 128 bytes and does not fault"),
            std::string::npos)
      << reported;
  EXPECT_EQ(reported.find("warning", reported.find("warning") + 1), std::string::npos)
      << "the first alone is reported";
  EXPECT_NE(access("RZ+0x80", false), "");
  EXPECT_NE(access("RZ+0x48", true), "");
  EXPECT_EQ(access("RZ+0x44", true), "");
  EXPECT_EQ(reported, "");
}

// nvcc reads a struct of 12 bytes by a load of 16: of the last one in shared memory, a word beyond it.
TEST(Bounds, WordsOfAWideLoadOfSharedMemoryThatNothingReadsMayLieBeyond) {
  std::string reported;
  const auto access = [&](const std::string& load, const std::string& after, bool bounds = true,
                          std::uint32_t shared = 76) {
    Assembled a(load + "\n" + after + "\nEXIT\n", 1);
    a.program.static_shared = shared;
    a.context.checks.bounds = bounds;
    reported.clear();
    a.context.report = [&](std::string_view text) { reported += text; };
    return said(a, FaultKind::out_of_bounds);
  };
  for (const bool bounds : {true, false}) {
    EXPECT_EQ(access("LDS.128 R4, [RZ+0x40]", "IADD3 R8, R4, R6, RZ", bounds), "");
    EXPECT_EQ(reported, "");
  }
  EXPECT_NE(access("LDS.128 R4, [RZ+0x40]", "IADD3 R8, R4, R7, RZ"), "") << "it is read";
  const std::string guarded = "@!P0 MOV R7, RZ\n@P0 IADD3 R8, R4, R7, RZ";
  EXPECT_EQ(access("LDS.128 R4, [RZ+0x40]", guarded), "") << "it is read by no lane";
  EXPECT_NE(access("LDS.128 R4, [RZ+0x40]", "@P0 MOV R7, RZ\n@!P0 IADD3 R8, R4, R7, RZ"), "");
  EXPECT_EQ(access("LDS.128 R4, [RZ+0x40]", "IADD3 R8, R4, R7, RZ", false), "");
  EXPECT_NE(reported, "");
  EXPECT_NE(access("LDS.128 R4, [RZ+0x40]", "IADD3 R8, R4, R5, RZ", true, 70), "")
      << "half of R5 lies beyond";
  EXPECT_NE(access("LDS.128 R4, [RZ+0x50]", ""), "") << "all of it lies beyond";
  EXPECT_NE(access("LDS R4, [RZ+0x4c]", ""), "") << "all of it lies beyond";
  EXPECT_NE(access("STS.128 [RZ+0x40], R4", ""), "") << "a store";
}

TEST(Bounds, OfLocalMemory) {
  const auto access = [](const std::string& address) {
    Assembled a("MOV R1, c[0x0][0x28]\nSTL [" + address + "], R4\nEXIT\n", 1);
    return said(a, FaultKind::out_of_bounds);
  };
  EXPECT_EQ(access("R1+-0x4"), "");
  EXPECT_NE(access("R1").find("local access of 4 bytes"), std::string::npos);
}

TEST(Bounds, OfConstants) {
  Assembled a("MOV R4, 0x10\nLDC R5, c[0x3][R4]\nEXIT\n", 1);
  a.context.banks[3].resize(16);
  EXPECT_NE(said(a, FaultKind::out_of_bounds).find("c[0x3][0x10]; the bank has 16 bytes"), std::string::npos);
  a.context.banks[3].resize(20);
  EXPECT_EQ(said(a, FaultKind::out_of_bounds), "");
}

TEST(LocalMemory, IsEachThreadsOwn) {
  Assembled a(std::string(kThreadAddress) + R"(
    MOV R1, c[0x0][0x28]
    STL [R1+-0x8], R0
    LDL R5, [R1+-0x8]
    STG.E [R2.64], R5
    EXIT
  )",
              64, 2);
  const std::uint64_t out = a.buffer(0, std::vector<std::uint32_t>(64), "out");
  a.run();
  const auto got = a.read(out, 64);
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(got[t], t);
}

/// What the instructions of an opcode did, in the first warp's order: the lanes that executed each, and the addresses of one of its sets.
struct Accessed {
  std::uint32_t executed = 0;
  work::LaneAddresses at{};
};
std::vector<Accessed> accesses_of(Assembled& a, isa::Opcode opcode, int set) {
  work::BlockRecord record;
  a.run(&record);
  const work::Shapes shapes(a.program);
  work::WarpCursor cursor(shapes, record.warps.at(0));
  std::vector<Accessed> all;
  for (work::Step step; cursor.next(step);) {
    if (a.program.code[step.index].opcode != opcode) continue;
    all.push_back({step.executed, {}});
    cursor.addresses(set, all.back().at);
  }
  return all;
}

TEST(Records, HoldTheAddressesThatWereUsed) {
  Assembled a(std::string(kThreadAddress) + R"(
    ISETP.LT.AND P0, PT, R0, 0x5, PT
    @P0 LDG.E R4, [R2.64+0x8]
    EXIT
  )",
              32, 2);
  const std::uint64_t data = a.buffer(0, std::vector<std::uint32_t>(40), "data");
  const auto loads = accesses_of(a, isa::Opcode::LDG, 0);
  ASSERT_EQ(loads.size(), 1u);
  EXPECT_EQ(loads[0].executed, 0x1fu);
  for (std::uint32_t l = 0; l < 5; ++l) EXPECT_EQ(loads[0].at[l], data + 8 + 4 * l);
}

TEST(Records, CopiesOfZerosReadNowhere) {
  Assembled a(std::string(kThreadAddress) + R"(
    ISETP.LT.AND P0, PT, R0, 0x5, PT
    IMAD.SHL.U32 R1, R0, 0x4, RZ
    LDGSTS.E [R1], [R2.64], P0
    EXIT
  )",
              32, 2);
  a.program.static_shared = 128;
  const std::uint64_t data = a.buffer(0, std::vector<std::uint32_t>(32), "data");
  const auto copies = accesses_of(a, isa::Opcode::LDGSTS, 1);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].executed, ~0u) << "they write";
  for (std::uint32_t l = 0; l < 32; ++l)
    EXPECT_EQ(copies[0].at[l], l < 5 ? data + 4 * l : work::kNoAddress) << l;
}

TEST(Records, CopiesToARegisterAndAUniformOne) {
  Assembled a(std::string(kThreadAddress) + R"(
    IMAD.SHL.U32 R1, R0, 0x4, RZ
    UMOV UR4, 0x40
    LDGSTS.E [R1+UR4+0x10], [R2.64]
    LDGSTS.E [UR4], [R2.64]
    EXIT
  )",
              32, 2);
  a.program.static_shared = 256;
  a.buffer(0, std::vector<std::uint32_t>(32), "data");
  const auto copies = accesses_of(a, isa::Opcode::LDGSTS, 0);
  ASSERT_EQ(copies.size(), 2u);
  for (std::uint32_t l = 0; l < 32; ++l) {
    EXPECT_EQ(copies[0].at[l], 0x50 + 4 * l) << l;
    EXPECT_EQ(copies[1].at[l], 0x40u) << l;
  }
}

TEST(Accesses, OfAllWidths) {
  Assembled a(std::string(kThreadAddress) + R"(
    LDG.E.U8 R4, [R2.64+0x1]
    LDG.E.S8 R5, [R2.64+0x1]
    LDG.E.U16 R6, [R2.64+0x2]
    LDG.E.S16 R7, [R2.64+0x2]
    LDG.E.128 R8, [R2.64+0x10]
    STG.E.128 [R2.64+0x20], R4
    STG.E.64 [R2.64+0x30], R10
    STG.E.U8 [R2.64+0x38], R8
    STG.E.U16 [R2.64+0x3a], R9
    EXIT
  )",
              1, 2);
  const std::uint64_t data = a.buffer(
      0, {0x8765c321, 0, 0, 0, 0x11111122, 0x22223344, 0x33335566, 0x44447788, 0, 0, 0, 0, 0, 0, 0, 0},
      "data");
  a.run();
  EXPECT_EQ(a.read(data + 0x20, 8), (std::vector<std::uint32_t>{0xc3, 0xffffffc3, 0x8765, 0xffff8765,
                                                                0x33335566, 0x44447788, 0x33440022, 0}));
}

TEST(Generic, AddressesFindTheirMemory) {
  // The shared window's high word from the driver area; a store through a generic address, a load through a shared one.
  Assembled a(std::string(kThreadAddress) + R"(
    MOV R4, 0x10
    MOV R5, c[0x0][0x1c]
    MOV R6, 0x4d
    ST.E [R4.64], R6
    LDS R7, [0x10]
    STG.E [R2.64], R7
    EXIT
  )",
              1, 2);
  a.program.static_shared = 64;
  const std::uint64_t out = a.buffer(0, {0}, "out");
  a.run();
  EXPECT_EQ(a.read(out, 1)[0], 0x4du);
}

/// Lane 0 alone, on four words of memory; R4..R7 hold `operand`, R8..R11 `other`; the result of the instruction is stored behind.
std::vector<std::uint32_t> on_words(const std::string& line, const std::vector<std::uint32_t>& memory,
                                    const std::vector<std::uint32_t>& operand,
                                    const std::vector<std::uint32_t>& other) {
  Assembled a(std::string(kThreadAddress) + "LDG.E.128 R4, [R2.64+0x10]\nLDG.E.128 R8, [R2.64+0x20]\n" +
                  line + "\nSTG.E.128 [R2.64+0x30], R12\nEXIT\n",
              1, 2);
  std::vector<std::uint32_t> words = memory;
  words.insert(words.end(), operand.begin(), operand.end());
  words.insert(words.end(), other.begin(), other.end());
  words.resize(16);
  const std::uint64_t address = a.buffer(0, words, "words");
  a.run();
  return a.read(address, 16);
}

TEST(Atomics, OnSixteenBytes) {
  using Words = std::vector<std::uint32_t>;
  const auto part = [](const Words& w, std::size_t first) {
    return Words(w.begin() + first, w.begin() + first + 4);
  };
  const Words old = {1, 2, 3, 4}, other = {9, 8, 7, 6};
  const std::string cas = "ATOM.E.CAS.128.STRONG.GPU PT, R12, [R2.64], R4, R8";
  Words w = on_words(cas, old, old, other);
  EXPECT_EQ(part(w, 0), other);
  EXPECT_EQ(part(w, 12), old);
  w = on_words(cas, old, {1, 2, 3, 5}, other);
  EXPECT_EQ(part(w, 0), old) << "one word differs";
  w = on_words("ATOM.E.EXCH.128.STRONG.GPU PT, R12, [R2.64], R4", old, other, old);
  EXPECT_EQ(part(w, 0), other);
  EXPECT_EQ(part(w, 12), old);
  const auto f = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  w = on_words("ATOMG.E.ADD.F32x4.FTZ.RN.STRONG.GPU PT, R12, [R2.64], R4", {f(1), f(2), f(3), f(4)},
               {f(0.5f), f(-2), f(1e-40f), f(8)}, old);
  EXPECT_EQ(part(w, 0), (Words{f(1.5f), f(0), f(3), f(12)}));
  EXPECT_EQ(part(w, 12), (Words{f(1), f(2), f(3), f(4)}));
  w = on_words("REDG.E.MIN.F16x4.RN.STRONG.GPU [R2.64], R4", {0x3c00c000, 0x00008000, 5, 6},
               {0x7e003c00, 0x80000000, 0, 0}, old);
  EXPECT_EQ(part(w, 0), (Words{0x3c00c000, 0x80008000, 5, 6})) << "a number wins over NaN, -0 over +0";
  w = on_words("REDG.E.ADD.BF16x4.RN.STRONG.GPU [R2.64], R4", {0x3f803f80, 0x40003f80, 5, 6},
               {0x3f803f80, 0x3f803f80, 0, 0}, old);
  EXPECT_EQ(part(w, 0), (Words{0x40004000, 0x40404000, 5, 6}));
}

}  // namespace
}  // namespace foretrace::emulate
