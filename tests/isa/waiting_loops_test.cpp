// Which loops are waits, and which only look like them.

#include "model/isa/waiting_loops.h"

#include <sstream>

#include <gtest/gtest.h>

#include "model/isa/parse.h"

namespace foretrace::isa {
namespace {

/// One instruction a line; "NAME:" labels the next one.
Program program_of(const std::string& text) {
  Labels labels;
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    line = line.substr(first);
    if (line.back() == ':') {
      labels[line.substr(0, line.size() - 1)] = lines.size() * 16;
    } else {
      lines.push_back(line);
    }
  }
  Program program;
  program.sm = 90;
  for (const std::string& line : lines) {
    program.code.push_back(parse_text(line, static_cast<std::uint32_t>(program.code.size() * 16), labels, "test"));
  }
  return program;
}

const std::string kSpin = R"(
    LDC.64 R2, c[0x0][0x210]
  L:
    LDG.E.STRONG.SYS R9, desc[UR12][R2.64]
    YIELD
    ISETP.GE.U32.AND P0, PT, R9, R22, PT
    @!P0 BRA `(L)
    EXIT
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(WaitingLoops, ALoopThatOnlyAsksIsOne) {
  const auto loops = waiting_loops(program_of(kSpin));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].first, 1u);
  EXPECT_EQ(loops[0].last, 4u);
  EXPECT_EQ(loops[0].early, WaitingLoop::kNone);
}

TEST(WaitingLoops, NothingElseMayHappenInIt) {
  EXPECT_TRUE(waiting_loops(program_of(with(kSpin, "YIELD", "STG.E desc[UR12][R4.64], R9"))).empty());
  EXPECT_TRUE(waiting_loops(program_of(with(kSpin, "YIELD", "STS [R4], R9"))).empty());
  EXPECT_TRUE(waiting_loops(program_of(with(kSpin, "YIELD", "REDG.E.ADD.STRONG.GPU desc[UR12][R4.64], R9"))).empty());
  EXPECT_TRUE(waiting_loops(program_of(with(kSpin, "YIELD", "BAR.SYNC.DEFER_BLOCKING 0x0"))).empty());
  EXPECT_TRUE(waiting_loops(program_of(with(kSpin, "YIELD", "EXIT"))).empty());
}

TEST(WaitingLoops, ItsLoadIsStrong) {
  EXPECT_TRUE(waiting_loops(program_of(with(kSpin, ".STRONG.SYS", ""))).empty());
  EXPECT_EQ(waiting_loops(program_of(with(kSpin, "LDG.E.STRONG.SYS", "LD.E.STRONG.GPU"))).size(), 1u);
}

TEST(WaitingLoops, ASearchThroughAListIsNone) {
  EXPECT_TRUE(waiting_loops(program_of(with(kSpin, "LDG.E.STRONG.SYS R9, ", "LDG.E.64.STRONG.SYS R2, "))).empty());
  EXPECT_TRUE(waiting_loops(program_of(with(kSpin, "YIELD", "IMAD.WIDE R2, R9, 0x4, R10"))).empty());
  EXPECT_EQ(waiting_loops(program_of(with(kSpin, "YIELD", "LDC.64 R2, c[0x0][0x210]"))).size(), 1u) << "the same in every round";
}

TEST(WaitingLoops, OnlyAnAtomicThatWantsTheSameValueWaits) {
  const std::string lock = with(kSpin, "LDG.E.STRONG.SYS R9, desc[UR12][R2.64]", "ATOMG.E.CAS.STRONG.GPU PT, R9, [R2], R6, R7");
  EXPECT_EQ(waiting_loops(program_of(lock)).size(), 1u);
  EXPECT_EQ(waiting_loops(program_of(with(lock, "YIELD", "MOV R6, RZ"))).size(), 1u);
  EXPECT_TRUE(waiting_loops(program_of(with(lock, "YIELD", "MOV R6, R9"))).empty()) << "an addition made of compare-and-swaps";
  EXPECT_TRUE(waiting_loops(program_of(with(kSpin, "LDG.E.STRONG.SYS R9, desc[UR12][R2.64]",
                                            "ATOMG.E.ADD.STRONG.GPU PT, R9, desc[UR12][R2.64], R7"))).empty());
}

TEST(WaitingLoops, TheSameLoadBeforeTheLoopBelongsToIt) {
  const std::string text = R"(
    LD.E.STRONG.GPU R0, desc[UR4][R4.64]
    CCTL.IVALL
    ISETP.GE.AND P0, PT, R0, R7, PT
    @P0 BRA `(D)
  L:
    NANOSLEEP 0x64
    LD.E.STRONG.GPU R0, desc[UR4][R4.64]
    ISETP.GE.AND P0, PT, R0, R7, PT
    @!P0 BRA `(L)
  D:
    EXIT
)";
  const auto loops = waiting_loops(program_of(text));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].early, 0u);
  EXPECT_EQ(loops[0].early_exit, 3u);
  EXPECT_EQ(waiting_loops(program_of(with(text, "[R4.64]", "[R6.64]")))[0].early, WaitingLoop::kNone) << "it asks for something else";
}

}  // namespace
}  // namespace foretrace::isa
