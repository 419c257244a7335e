// Work that blocks share by counts that they ask for in a loop: who gets how much.

#include <gtest/gtest.h>

#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

constexpr const char* kAddress = R"(
    S2R R0, SR_CTAID.X
    MOV R2, c[0x0][0x160]
    MOV R3, c[0x0][0x164]
    MOV R5, 0x1
)";

/// How many of 64 pieces of work each of four blocks takes where they take turns at a counter; a piece has so many rounds in block 0.
std::vector<std::uint32_t> shares(std::uint32_t rounds_of_first, std::uint64_t resident) {
  Assembled a(std::string(kAddress) + R"(
    MOV R10, RZ
    IMAD.WIDE R8, R0, 0x4, R2
    ISETP.EQ.AND P2, PT, R0, RZ, PT
  L:
    ATOMG.E.ADD.STRONG.GPU PT, R6, [R2.64], R5
    ISETP.GE.AND P0, PT, R6, 0x40, PT
    @P0 BRA `(E)
    IADD3 R10, R10, 0x1, RZ
    MOV R11, 0x40
    @P2 MOV R11, c[0x0][0x168]
  W:
    IADD3 R11, R11, -0x1, RZ
    ISETP.NE.AND P1, PT, R11, RZ, PT
    @P1 BRA `(W)
    BRA `(L)
  E:
    STG.E [R8.64+0x4], R10
    EXIT
  )",
              1, 3);
  a.context.grid = {4, 1, 1};
  const std::uint64_t counter = a.buffer(0, {0, 0, 0, 0, 0}, "counter and shares");
  std::memcpy(a.context.parameters.data() + 8, &rounds_of_first, 4);
  const Emulator emulator(a.context);
  BlockSequence blocks(emulator, resident, true);
  std::uint64_t block = 0;
  while (const auto record = blocks.next()) EXPECT_EQ(record->block, block++);
  EXPECT_TRUE(blocks.has_waited()) << "who is there decides";
  const auto words = a.read(counter, 5);
  return {words.begin() + 1, words.end()};
}

TEST(SharedWork, GoesToTheBlocksThatRunBesideEachOther) {
  EXPECT_EQ(shares(0x40, 4), (std::vector<std::uint32_t>{16, 16, 16, 16}));
  const auto alone = shares(0x40, 2);
  EXPECT_EQ(alone[0] + alone[1], 64u) << "the others come when it is done";
  const auto slow = shares(0x100, 4);
  EXPECT_LT(slow[0], 8u) << "whose pieces take longer comes later for the next one";
  EXPECT_EQ(slow[0] + slow[1] + slow[2] + slow[3], 64u);
}

TEST(SharedWork, TheFirstPieceMayBeAskedForBeforeTheLoop) {
  // As many pieces as blocks: each asks for one, and finds none left when it comes for the next.
  Assembled a(std::string(kAddress) + R"(
    MOV R10, RZ
    IMAD.WIDE R8, R0, 0x4, R2
    ATOMG.E.ADD.STRONG.GPU PT, R6, [R2.64], R5
    ISETP.GE.AND P0, PT, R6, 0x4, PT
    @P0 BRA `(E)
  L:
    IADD3 R10, R10, 0x1, RZ
    ATOMG.E.ADD.STRONG.GPU PT, R6, [R2.64], R5
    ISETP.GE.AND P0, PT, R6, 0x4, PT
    @!P0 BRA `(L)
  E:
    STG.E [R8.64+0x4], R10
    EXIT
  )",
              1, 2);
  a.context.grid = {4, 1, 1};
  const std::uint64_t counter = a.buffer(0, {0, 0, 0, 0, 0}, "counter and shares");
  const Emulator emulator(a.context);
  BlockSequence blocks(emulator, 4, true);
  std::uint64_t instructions = 0;
  while (const auto record = blocks.next()) instructions += record->warps[0].instructions;
  EXPECT_EQ(a.read(counter, 5), (std::vector<std::uint32_t>{8, 1, 1, 1, 1}));
  EXPECT_EQ(blocks.count().instructions, instructions) << "who gives way has not issued its atomic";
}

}  // namespace
}  // namespace foretrace::emulate
