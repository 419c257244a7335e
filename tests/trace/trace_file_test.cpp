// The trace file: what goes in comes out, and nothing else is ever taken for it.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/units/error.h"
#include "sim/trace/format.h"
#include "sim/trace/trace_reader.h"
#include "sim/trace/trace_writer.h"
#include "tests/isa/assemble.h"
#include "tests/trace/sample.h"

namespace foretrace::trace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using trace_test::sample_block;
using trace_test::sample_launch;
using trace_test::vector_add_program;

class TraceFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(FORETRACE_BINARY_DIR) / "trace_test" /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const char* name = "a.trace") const { return (folder_ / name).string(); }

  /// Writes `blocks` blocks and returns them.
  std::vector<work::BlockRecord> write(const std::string& to, unsigned blocks, unsigned iterations,
                                       bool scattered = false) const {
    const isa::Program program = vector_add_program();
    TraceWriter writer(to, program, sample_launch(blocks));
    std::vector<work::BlockRecord> written;
    for (unsigned b = 0; b < blocks; ++b) {
      written.push_back(sample_block(program, b, 3, iterations, scattered));
      writer.add(written.back());
    }
    writer.close();
    return written;
  }

  static std::vector<work::BlockRecord> read(const std::string& from) {
    TraceReader reader(from);
    std::vector<work::BlockRecord> all;
    for (work::BlockRecord record; reader.next(record);) all.push_back(record);
    return all;
  }

  static std::string bytes_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write_bytes(const std::string& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
  }

  static void set_byte(const std::string& file, std::size_t at, char value) {
    std::fstream(file, std::ios::binary | std::ios::in | std::ios::out)
        .seekp(static_cast<std::streamoff>(at))
        .put(value);
  }

  /// The message of the InputError that reading the file throws; "" if none.
  static std::string refusal(const std::string& file) {
    try {
      read(file);
    } catch (const InputError& error) { return error.what(); }
    return "";
  }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::filesystem::path folder_;
};

void expect_same(const std::vector<work::BlockRecord>& a, const std::vector<work::BlockRecord>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].block, b[i].block);
    ASSERT_EQ(a[i].warps.size(), b[i].warps.size());
    for (std::size_t w = 0; w < a[i].warps.size(); ++w) {
      EXPECT_EQ(a[i].warps[w].runs, b[i].warps[w].runs);
      EXPECT_EQ(a[i].warps[w].details, b[i].warps[w].details);
      EXPECT_EQ(a[i].warps[w].instructions, b[i].warps[w].instructions);
      EXPECT_EQ(a[i].warps[w].thread_instructions, b[i].warps[w].thread_instructions);
    }
  }
}

void expect_same_operand(const isa::Operand& a, const isa::Operand& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.index, b.index);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.bank, b.bank);
  EXPECT_EQ(a.base, b.base);
  EXPECT_EQ(a.descriptor, b.descriptor);
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_EQ(a.text, b.text);
}

TEST_F(TraceFile, HoldsTheWholeProgram) {
  const isa::Program in = vector_add_program();
  write(path(), 1, 1);
  const TraceReader reader(path());
  const isa::Program& out = *reader.program();
  EXPECT_EQ(out.sm, in.sm);
  EXPECT_EQ(out.kernel, in.kernel);
  EXPECT_EQ(out.mangled, in.mangled);
  EXPECT_EQ(out.code_sha256, in.code_sha256);
  EXPECT_EQ(out.toolkit, in.toolkit);
  EXPECT_EQ(out.files, in.files);
  EXPECT_EQ(out.registers, in.registers);
  EXPECT_EQ(out.barriers, in.barriers);
  EXPECT_EQ(out.static_shared, in.static_shared);
  EXPECT_EQ(out.shared_base, in.shared_base);
  EXPECT_EQ(out.local_bytes, in.local_bytes);
  EXPECT_EQ(out.max_threads, in.max_threads);
  EXPECT_EQ(out.parameter_base, in.parameter_base);
  EXPECT_EQ(out.parameter_bytes, in.parameter_bytes);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(out.required_threads[i], in.required_threads[i]);
    EXPECT_EQ(out.cluster[i], in.cluster[i]);
  }
  ASSERT_EQ(out.parameters.size(), in.parameters.size());
  for (std::size_t i = 0; i < in.parameters.size(); ++i) {
    EXPECT_EQ(out.parameters[i].offset, in.parameters[i].offset);
    EXPECT_EQ(out.parameters[i].size, in.parameters[i].size);
  }
  ASSERT_EQ(out.code.size(), in.code.size());
  for (std::size_t i = 0; i < in.code.size(); ++i) {
    SCOPED_TRACE(in.code[i].text);
    EXPECT_EQ(out.code[i].offset, in.code[i].offset);
    EXPECT_EQ(out.code[i].word.lo, in.code[i].word.lo);
    EXPECT_EQ(out.code[i].word.hi, in.code[i].word.hi);
    EXPECT_EQ(out.code[i].opcode, in.code[i].opcode);
    EXPECT_EQ(out.code[i].modifiers, in.code[i].modifiers);
    EXPECT_EQ(out.code[i].guard, in.code[i].guard);
    EXPECT_EQ(out.code[i].control.stall, in.code[i].control.stall);
    EXPECT_EQ(out.code[i].text, in.code[i].text);
    EXPECT_EQ(out.code[i].file, in.code[i].file);
    EXPECT_EQ(out.code[i].line, in.code[i].line);
    ASSERT_EQ(out.code[i].operands.size(), in.code[i].operands.size());
    for (std::size_t o = 0; o < in.code[i].operands.size(); ++o) {
      expect_same_operand(out.code[i].operands[o], in.code[i].operands[o]);
    }
  }
  EXPECT_EQ(reader.launch(), sample_launch(1));
}

TEST_F(TraceFile, WhatAKilledProcessLeftIsRemoved) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const std::string dead = fmt::format("{}.partial-{}", path(), child);
  const std::string living = fmt::format("{}.partial-{}", path(), getppid());
  std::ofstream(dead) << "half of it";
  std::ofstream(living) << "somebody writes it";
  write(path(), 1, 1);
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(std::filesystem::exists(living));
}

TEST_F(TraceFile, GivesBackEveryBlockInOrder) {
  const auto written = write(path(), 40, 20);
  expect_same(read(path()), written);
}

TEST_F(TraceFile, GivesBackWhatFillsSeveralChunks) {
  const auto written = write(path(), 120, 60, /*scattered=*/true);
  std::size_t raw = 0;
  for (const auto& block : written) {
    for (const auto& warp : block.warps) raw += warp.details.size();
  }
  ASSERT_GT(raw, 3 * kChunkBytes) << "the sample is meant to need more than one chunk";
  expect_same(read(path()), written);
}

TEST_F(TraceFile, KeepsTheIndicesOfASampledLaunch) {
  const isa::Program program = vector_add_program();
  TraceWriter writer(path(), program, sample_launch(1000));
  for (const std::uint64_t block : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{999}}) {
    writer.add(sample_block(program, block, 1, 1, false));
  }
  writer.close();
  const auto blocks = read(path());
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[1].block, 7u);
  EXPECT_EQ(blocks[2].block, 999u);
}

TEST_F(TraceFile, CountsWhatItHolds) {
  const auto written = write(path(), 5, 4);
  TraceReader reader(path());
  work::BlockRecord record;
  while (reader.next(record)) {}
  EXPECT_EQ(reader.totals().blocks, 5u);
  EXPECT_EQ(reader.totals().warps, 15u);
  EXPECT_EQ(reader.totals().instructions, 5u * 3u * (8u + 4u * 7u + 1u));
  EXPECT_FALSE(reader.next(record)) << "the end stays the end";
}

TEST_F(TraceFile, TakesLessThanAByteAWarpInstructionForRegularCode) {
  const isa::Program program = vector_add_program();
  TraceWriter writer(path(), program, sample_launch(64));
  for (unsigned b = 0; b < 64; ++b) writer.add(sample_block(program, b, 8, 64, false));
  writer.close();
  EXPECT_LT(static_cast<double>(writer.bytes()), 0.5 * static_cast<double>(writer.totals().instructions));
  EXPECT_EQ(writer.bytes(), std::filesystem::file_size(path()));
}

TEST_F(TraceFile, TheSameBlocksGiveTheSameBytes) {
  write(path("first.trace"), 6, 3);
  write(path("second.trace"), 6, 3);
  EXPECT_EQ(bytes_of(path("second.trace")), bytes_of(path("first.trace")));
}

// Files are cut and damaged in place: writing thousands of them anew would wait for the disk.
TEST_F(TraceFile, CutShortAnywhereIsRefusedWithItsNameAndOffset) {
  write(path(), 2, 2);
  for (std::uintmax_t length = std::filesystem::file_size(path()); length-- > 0;) {
    std::filesystem::resize_file(path(), length);
    ASSERT_THAT(refusal(path()), AllOf(HasSubstr("a.trace"), HasSubstr("at byte "))) << length;
  }
}

TEST_F(TraceFile, AFlippedBitIsRefusedOrChangesNothing) {
  const auto written = write(path(), 2, 2);
  const std::string whole = bytes_of(path());
  std::size_t harmless = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    set_byte(path(), bit / 8, static_cast<char>(whole[bit / 8] ^ 1 << bit % 8));
    const std::string message = refusal(path());
    if (message.empty()) {
      ++harmless;  // a bit of zstd's frames that carries nothing
      expect_same(read(path()), written);
      const TraceReader reader(path());
      ASSERT_EQ(head_text(*reader.program(), reader.launch()),
                head_text(vector_add_program(), sample_launch(2)));
    } else {
      ASSERT_THAT(message, AllOf(HasSubstr("a.trace"), HasSubstr("at byte "))) << bit;
    }
    set_byte(path(), bit / 8, whole[bit / 8]);
  }
  EXPECT_LT(harmless, whole.size() / 20) << "bits that may flip unseen";
}

TEST_F(TraceFile, AMissingChunkIsRefused) {
  write(path(), 120, 60, /*scattered=*/true);
  const std::string whole = bytes_of(path());
  const auto chunk_end = [&](std::size_t start) {
    std::size_t stored = 0;
    for (std::size_t i = 0; i < 4; ++i)
      stored |= static_cast<std::size_t>(static_cast<unsigned char>(whole[start + 1 + i])) << 8 * i;
    return start + kChunkHeaderBytes + stored;
  };
  const std::size_t first = chunk_end(kPreambleBytes), second = chunk_end(first), third = chunk_end(second);
  ASSERT_EQ(whole[second], 'B');
  write_bytes(path("short.trace"), whole.substr(0, second) + whole.substr(third));
  EXPECT_THAT(refusal(path("short.trace")), HasSubstr("were written"));
  // Two chunks that changed places: the indices run backwards.
  write_bytes(path("swapped.trace"), whole.substr(0, first) + whole.substr(second, third - second) +
                                         whole.substr(first, second - first) + whole.substr(third));
  EXPECT_THAT(refusal(path("swapped.trace")), HasSubstr("damaged: block 0"));
}

TEST_F(TraceFile, BytesAfterTheEndAreRefused) {
  write(path(), 1, 1);
  const std::string whole = bytes_of(path());
  write_bytes(path(), whole + "x");
  EXPECT_THAT(refusal(path()), AllOf(HasSubstr("1 bytes follow"), HasSubstr(std::to_string(whole.size()))));
}

TEST_F(TraceFile, AnotherVersionIsNamed) {
  write(path(), 1, 1);
  std::string bytes = bytes_of(path());
  bytes[kMagic.size()] = 8;
  write_bytes(path(), bytes);
  EXPECT_THAT(refusal(path()), HasSubstr("version 8; expected 1 to 7"));
}

TEST(TraceVersion, SaysWhetherValuesOfMatchesAreRecorded) {
  EXPECT_EQ(version_of(isa::assemble("MATCH.ALL PT, R0, R1\nEXIT\n")), kVersion);
  EXPECT_EQ(version_of(isa::assemble("MATCH.ANY R0, R1\nEXIT\n")), kVersionWithMatches);
}

TEST(TraceVersion, SaysWhetherABarriersThreadsAreRecorded) {
  for (const char* line :
       {"BAR.SYNC 0x3, 0x40\n", "BAR.SYNC R4, R4\n", "BAR.SYNC R4\n", "BAR.SYNC 0x3, RZ\n"})
    EXPECT_EQ(version_of(isa::assemble(std::string(line) + "EXIT\n")), kVersion) << line;
  EXPECT_EQ(version_of(isa::assemble("BAR.SYNC 0x3, R4\nEXIT\n")), kVersionWithThreads);
}

TEST(TraceVersion, SaysWhetherPlacesOfUniformLoadsAreRecorded) {
  for (const char* line : {"ULDC UR4, c[0x3][0x10]\n", "LDC R0, c[0x3][R4]\n", "LDC R0, c[0x3][R4+UR4]\n"})
    EXPECT_EQ(version_of(isa::assemble(std::string(line) + "EXIT\n")), kVersion) << line;
  for (const char* line : {"ULDC UR4, c[0x3][UR6+0x10]\n", "LDC R0, c[0x3][UR4]\nBAR.SYNC 0x3, R4\n"})
    EXPECT_EQ(version_of(isa::assemble(std::string(line) + "EXIT\n")), kVersionWithConstants) << line;
}

TEST_F(TraceFile, WhatAnotherVersionLacksIsNamed) {
  const std::tuple<std::uint32_t, isa::Program, std::string> programs[] = {
      {kVersion, vector_add_program(), "none of its loops waits"},
      {kVersionWithWaits, trace_test::waiting_program(), "what its loops wait for is missing"},
      {kVersionWithTransfers, trace_test::arriving_program(),
       "what its copies move and its barriers count is missing"},
      {kVersionWithRetries, trace_test::swapping_program(),
       "which lanes of its compare-and-swaps changed memory is missing"},
      {kVersionWithMatches, trace_test::matching_program(), "how many values its lanes compare is missing"},
      {kVersionWithThreads, trace_test::meeting_program(),
       "how many threads its barriers wait for is missing"},
      {kVersionWithConstants, trace_test::walking_program(),
       "where its uniform loads of constants go is missing"},
  };
  for (const auto& [version, program, otherwise] : programs) {
    ASSERT_EQ(version_of(program), version) << otherwise;
    TraceWriter(path(), program, sample_launch(1)).close();
    EXPECT_EQ(read(path()).size(), 0u);
    ASSERT_EQ(bytes_of(path())[kMagic.size()], static_cast<char>(version));
    const std::uint32_t other = version == kVersion ? kNewestVersion : kVersion;
    set_byte(path(), kMagic.size(), static_cast<char>(other));
    EXPECT_THAT(refusal(path()), HasSubstr(fmt::format("version {} of kernel vector_add; expected {}: {}",
                                                       other, version, otherwise)));
  }
}

TEST_F(TraceFile, WhatALoopWaitsForComesBack) {
  const isa::Program program = trace_test::waiting_program();
  const work::Shapes shapes(program);
  const std::vector<work::Awaited> awaited = {{0, {70'000, 31, work::Signal::kLast}, 0},
                                              {4224, {}, 0x7f0000001004 / 4}};
  work::BlockRecord record;
  record.warps.resize(1);
  work::WarpRecorder recorder(shapes, record.warps[0]);
  const auto round = [&](std::span<const work::Awaited> by, std::uint64_t address = 0) {
    const work::LaneAddresses addresses{address};
    recorder.record(0, 1, 1, {&addresses, 1}, 0, by);
    for (std::uint32_t i = 1; i < 4; ++i) recorder.record(i, 1, 1);
  };
  recorder.mark();
  round({}, 4096);
  recorder.take_back();
  round(awaited);
  recorder.record(4, 1, 1);
  recorder.finish();
  {
    TraceWriter writer(path(), program, sample_launch(1));
    writer.add(record);
    writer.close();
  }
  const std::vector<work::BlockRecord> back = read(path());
  ASSERT_EQ(back.size(), 1u);
  work::WarpCursor cursor(shapes, back[0].warps[0]);
  work::Step step;
  for (std::uint32_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(cursor.next(step));
    EXPECT_EQ(step.index, i) << "the round that was taken back is gone";
    if (i != 0) continue;
    EXPECT_EQ(std::vector<work::Awaited>(cursor.awaited().begin(), cursor.awaited().end()), awaited);
    work::LaneAddresses addresses{};
    cursor.addresses(0, addresses);
    EXPECT_EQ(addresses[0], 0u);
  }
  EXPECT_FALSE(cursor.next(step));
}

TEST_F(TraceFile, WhatIsNoTraceIsRefused) {
  write_bytes(path("text"), "a file of somebody's that is long enough");
  EXPECT_THAT(refusal(path("text")), AllOf(HasSubstr("text: at byte 0: no trace")));
  write_bytes(path("empty"), "");
  EXPECT_THAT(refusal(path("empty")), HasSubstr("no trace"));
  EXPECT_THAT(refusal(path("missing")), HasSubstr("cannot open"));
  EXPECT_THAT(refusal(folder_.string()), HasSubstr("trace "));
}

TEST_F(TraceFile, AppearsOnlyWhenClosed) {
  const isa::Program program = vector_add_program();
  {
    TraceWriter writer(path(), program, sample_launch(1));
    writer.add(sample_block(program, 0, 1, 1, false));
    EXPECT_FALSE(std::filesystem::exists(path()));
  }
  EXPECT_EQ(files(), 0u) << "an abandoned trace leaves nothing behind";
  write(path(), 1, 1);
  EXPECT_EQ(files(), 1u);
}

TEST_F(TraceFile, AFailedTraceLeavesTheOldOneAlone) {
  write(path(), 1, 1);
  const std::string before = bytes_of(path());
  {
    const isa::Program program = vector_add_program();
    TraceWriter writer(path(), program, sample_launch(2));
    writer.add(sample_block(program, 0, 1, 1, false));
  }
  EXPECT_EQ(bytes_of(path()), before);
}

TEST_F(TraceFile, ALinkStaysAndItsFileIsWritten) {
  std::filesystem::create_directory(folder_ / "there");
  const std::string target = path("there/b.trace");
  for (const char* link : {"there/b.trace", target.c_str()}) {
    std::filesystem::remove(path());
    std::filesystem::create_symlink(link, path());
    for (const unsigned blocks : {1u, 2u}) {  // the file of the first is replaced by the second's
      const auto written = write(path(), blocks, 4);
      EXPECT_TRUE(std::filesystem::is_symlink(path()));
      EXPECT_FALSE(std::filesystem::is_symlink(target));
      expect_same(read(target), written);
      EXPECT_EQ(files(), 2u);
    }
  }
}

TEST_F(TraceFile, LinksInACircleAreRefused) {
  std::filesystem::create_symlink("b.trace", path());
  std::filesystem::create_symlink("a.trace", path("b.trace"));
  try {
    write(path(), 1, 4);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), path() + ": cannot be written: Too many levels of symbolic links");
  }
  EXPECT_EQ(files(), 2u);
}

TEST_F(TraceFile, WhereNothingCanBeWrittenTheReasonIsNamed) {
  const auto message = [](const std::string& to) -> std::string {
    try {
      TraceWriter writer(to, vector_add_program(), sample_launch(1));
    } catch (const InputError& error) { return error.what(); }
    return "";
  };
  EXPECT_THAT(message(path("no/such/folder.trace")), HasSubstr("No such file or directory"));
  EXPECT_THAT(message("/dev/null"), HasSubstr("no ordinary file"));
  EXPECT_THAT(message(folder_.string()), HasSubstr("no ordinary file"));
}

TEST(TraceHead, RefusesWhatItDoesNotKnow) {
  const std::string text = head_text(vector_add_program(), sample_launch(1));
  const auto message = [](const std::string& head) -> std::string {
    isa::Program program;
    LaunchInfo launch;
    try {
      parse_head(head, "t", program, launch);
    } catch (const InputError& error) { return error.what(); }
    return "";
  };
  const auto with = [&](const std::string& old, const std::string& replacement) {
    const auto at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return std::string(text).replace(at, old.size(), replacement);
  };
  EXPECT_EQ(message(text), "");
  EXPECT_THAT(message(with("\"registers\":12", "\"registers\":-12")),
              HasSubstr("'registers' holds no number"));
  EXPECT_THAT(message(with("\"registers\"", "\"Registers\"")), HasSubstr("'registers' is missing"));
  EXPECT_THAT(message(with("\"launch\":{", "\"launch\":{\"more\":1,")), HasSubstr("6 keys, expected 5"));
  EXPECT_THAT(message("{"), HasSubstr("expected an object"));
}

// A program may hold instructions that nobody executes and nobody understands.
TEST(TraceHead, KeepsWhatItDoesNotUnderstandOpaque) {
  const std::string text = head_text(vector_add_program(), sample_launch(1));
  const auto opaque = [&](const std::string& old, const std::string& replacement) -> std::string {
    isa::Program program;
    LaunchInfo launch;
    parse_head(std::string(text).replace(text.find(old), old.size(), replacement), "t", program, launch);
    for (const isa::Instruction& in : program.code) {
      if (in.opcode == isa::Opcode::opaque) return in.opaque;
    }
    return "";
  };
  EXPECT_EQ(opaque("FADD R9", "FADD R9"), "");
  EXPECT_THAT(opaque("FADD R9", "FODD R9"), HasSubstr("FODD"));
  EXPECT_THAT(opaque("0x28]", "0x2c]"), HasSubstr("c[0x0]["));
  EXPECT_THAT(opaque("\".L_x_0\":320", "\".L_x_0\":336"), HasSubstr("label"));
}

}  // namespace
}  // namespace foretrace::trace
