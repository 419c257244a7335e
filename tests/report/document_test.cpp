// The document of a run: its text launch by launch, and the file that is replaced again and again.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/units/error.h"
#include "sim/report/document_file.h"
#include "sim/report/document_text.h"
#include "sim/report/json.h"
#include "tests/report/sample.h"

namespace foretrace::report {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::sample_document;

TextPart part(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

TEST(DocumentText, MadeLaunchByLaunchIsTheSame) {
  const Document all = sample_document({"a", "b", "c"});
  Document so_far = all;
  so_far.predictions.clear();
  DocumentText text(so_far);
  ProgramResult program;
  EXPECT_EQ(joined(text.parts()), to_json(so_far));
  EXPECT_EQ(joined(text.parts(&program)), to_json(so_far, &program));
  for (const LaunchResult& result : all.predictions) {
    so_far.predictions.push_back(result);
    text.add(result);
    EXPECT_EQ(joined(text.parts()), to_json(so_far));
    RepresentedLaunch launch;
    launch.number = program.represented.size();
    program.represented.push_back(launch);
    text.represent(launch);
    EXPECT_EQ(joined(text.parts(&program)), to_json(so_far, &program));
    EXPECT_EQ(joined(text.parts(&program)), to_json(so_far, &program));
  }
  program.represented[0].kernel = "another";
  text.forget_represented();
  for (const RepresentedLaunch& launch : program.represented) text.represent(launch);
  EXPECT_EQ(joined(text.parts(&program)), to_json(so_far, &program));
}

TEST(DocumentText, LaunchesWithoutAPlaceStandBehindTheOthersUntilTheyHaveOne) {
  Document all = sample_document({"a", "b", "c"});
  DocumentText text(all);
  for (const LaunchResult& result : all.predictions) text.hold(PredictionText(result), result.place);
  EXPECT_EQ(joined(text.parts()), to_json(all));
  for (LaunchResult& result : all.predictions) {
    ASSERT_TRUE(text.first_held());
    result.place.start_ns = text.first_held()->start_ns = 1.5;
    EXPECT_NE(joined(text.parts()), to_json(all));
    text.settle();
    EXPECT_EQ(joined(text.parts()), to_json(all));
  }
  EXPECT_FALSE(text.first_held());
}

TEST(DocumentText, WhatStaysIsTheSamePart) {
  const Document all = sample_document({"a", "b"});
  DocumentText text(all);
  ProgramResult program;
  for (const LaunchResult& result : all.predictions) text.add(result);
  text.represent({});
  const TextParts before = text.parts(&program);
  text.represent({});
  const TextParts after = text.parts(&program);
  ASSERT_EQ(before.size(), 6u);  // up to the list, two predictions, up to the next list, a row, the end
  ASSERT_EQ(after.size(), 7u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(before[i], after[i]) << i;
}

class DocumentFiles : public ::testing::Test {
 protected:
  DocumentFiles() {
    std::string name = (fs::temp_directory_path() / "foretrace_document_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = (folder_ / "result.json").string();
  }
  ~DocumentFiles() override { fs::remove_all(folder_); }
  std::string partial() const { return fmt::format("{}.partial-{}", path_, getpid()); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  /// Where files cannot change places, or have no leases, documents are written as a whole.
  bool turns() const {
    DocumentFile file(path_, 0);
    for (int i = 0; i < 3; ++i) file.replace({part("some")});
    const bool turns = !file.replace({part("some")}).whole;
    file.finish({part("some")});
    return turns;
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(DocumentFiles, WhatIsWrittenGrowsWithTheDocumentNotWithItsSquare) {
  if (!turns()) GTEST_SKIP() << "no leases or no exchange here";
  DocumentFile file(path_, 0);
  constexpr std::size_t kRows = 200, kBytes = 1000;
  TextParts rows = {part("[")};
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    rows.push_back(part(std::string(kBytes, static_cast<char>('a' + i % 26))));
    TextParts text = rows;
    text.push_back(part("] of " + std::string(i % 7, 'x')));  // now longer, now shorter
    bytes += file.replace(text).bytes;
    ASSERT_EQ(read_file(path_), joined(text)) << i;
  }
  EXPECT_LT(bytes, 2 * kRows * (kBytes + 20));
  rows.push_back(part("]"));
  EXPECT_LT(file.finish(rows).bytes, 2 * kBytes);
  EXPECT_EQ(read_file(path_), joined(rows));
  EXPECT_EQ(files(), 1u);
}

TEST_F(DocumentFiles, ATextMayGetShorter) {
  DocumentFile file(path_, 0);
  const TextPart begin = part("begin ");
  for (const std::size_t bytes : {500u, 400u, 3u, 300u, 2u, 1u}) {
    const TextParts text = {begin, part(std::string(bytes, 'x'))};
    file.replace(text);
    EXPECT_EQ(read_file(path_), joined(text));
  }
}

TEST_F(DocumentFiles, WhoOpenedItReadsAWholeText) {
  DocumentFile file(path_, 0);
  TextParts text = {part("begin")};
  std::vector<std::pair<int, std::string>> opened;
  for (int i = 0; i < 8; ++i) {
    text.push_back(part(fmt::format(" {}", i)));
    file.replace(text);
    if (i % 3 == 0) opened.emplace_back(open(path_.c_str(), O_RDONLY), joined(text));
  }
  for (const auto& [number, expected] : opened) {
    std::string found(1000, ' ');
    const ssize_t bytes = read(number, found.data(), found.size());
    ASSERT_GE(bytes, 0);
    EXPECT_EQ(found.substr(0, static_cast<std::size_t>(bytes)), expected);
    close(number);
  }
  EXPECT_EQ(read_file(path_), joined(text));
}

TEST_F(DocumentFiles, WhatOthersDidToItIsWrittenOver) {
  DocumentFile file(path_, 0);
  TextParts text = {part("begin")};
  int next = 0;
  const auto go_on = [&] {
    text.push_back(part(fmt::format(" {}", ++next)));
    file.replace(text);
    EXPECT_EQ(read_file(path_), joined(text)) << next;
  };
  for (int i = 0; i < 3; ++i) go_on();
  std::ofstream(path_) << "changed";
  for (int i = 0; i < 3; ++i) go_on();
  std::ofstream(partial()) << "changed";
  for (int i = 0; i < 3; ++i) go_on();
  fs::remove(path_);
  for (int i = 0; i < 3; ++i) go_on();
  fs::remove(partial());
  for (int i = 0; i < 3; ++i) go_on();
  fs::rename(path_, folder_ / "moved");
  std::ofstream(path_) << "another";
  for (int i = 0; i < 3; ++i) go_on();
}

TEST_F(DocumentFiles, SmallOnesLeaveNothingBesideThem) {
  DocumentFile file(path_, 20);
  TextParts text;
  for (int i = 0; i < 5; ++i) {
    text.push_back(part("1234"));
    EXPECT_TRUE(file.replace(text).whole);
    EXPECT_EQ(files(), 1u);
  }
}

TEST_F(DocumentFiles, WhatAKilledProcessLeftIsRemoved) {
  const pid_t child = fork();
  if (child == 0) {
    DocumentFile file(path_, 0);
    for (int i = 0; i < 3; ++i) file.replace({part("of the child")});
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(read_file(path_), "of the child");
  const std::string living = fmt::format("{}.partial-{}", path_, getppid());
  std::ofstream(living) << "somebody writes it";
  std::ofstream(path_ + ".partial-note") << "no process";
  DocumentFile file(path_);
  file.replace({part("mine")});
  EXPECT_EQ(read_file(path_), "mine");
  EXPECT_FALSE(fs::exists(fmt::format("{}.partial-{}", path_, child)));
  EXPECT_TRUE(fs::exists(living));
  EXPECT_EQ(files(), 3u);
}

TEST_F(DocumentFiles, ALinkStaysAndItsFileIsWritten) {
  fs::create_directory(folder_ / "there");
  const fs::path target = folder_ / "there" / "latest.json";
  fs::create_symlink("there/latest.json", path_);
  const auto written = [&] {
    EXPECT_TRUE(fs::is_symlink(path_));
    EXPECT_FALSE(fs::is_symlink(target));
    EXPECT_EQ(files(), 2u);
    return read_file(target.string());
  };
  DocumentFile file(path_, 0);
  for (int i = 0; i < 4; ++i) {  // the first time there is no such file
    file.replace({part("row "), part(std::to_string(i))});
    EXPECT_EQ(written(), "row " + std::to_string(i));
  }
  file.finish({part("all")});
  EXPECT_EQ(written(), "all");
  EXPECT_EQ(std::distance(fs::directory_iterator(target.parent_path()), fs::directory_iterator()), 1);
  write_file(path_, "at once");
  EXPECT_EQ(written(), "at once");
  fs::remove_all(target.parent_path());
  try {
    check_writable(path_);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), path_ + ": cannot be written: No such file or directory");
  }
}

TEST_F(DocumentFiles, ADeviceHasNoEndToRead) {
  try {
    read_file("/dev/zero");
    ADD_FAILURE();
  } catch (const InputError& error) { EXPECT_STREQ(error.what(), "/dev/zero: is a device; expected a file"); }
}

TEST_F(DocumentFiles, FullDisksAndFoldersThatAreNotThere) {
  DocumentFile nowhere((folder_ / "no" / "result.json").string());
  EXPECT_THROW(nowhere.replace({part("text")}), InputError);
  // A limit on the size of files, as a full disk.
  const pid_t child = fork();
  if (child == 0) {
    DocumentFile file(path_, 0);
    std::string said;
    TextParts text = {part(std::string(1000, 'a'))};
    for (int i = 0; i < 3; ++i) file.replace(text);
    const rlimit limit{2000, 2000};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    text.push_back(part(std::string(5000, 'b')));
    for (int i = 0; i < 2; ++i) {
      try {
        file.replace(text);
      } catch (const InputError& error) { said = error.what(); }
      if (said != path_ + ": cannot be written: File too large" || fs::exists(partial())) _exit(1);
      if (read_file(path_) != std::string(1000, 'a')) _exit(2);
    }
    text.back() = part("b");
    for (int i = 0; i < 3; ++i) file.replace(text);
    _exit(read_file(path_) == std::string(1000, 'a') + "b" ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(DocumentFiles, APipeTakesTheTextItself) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const int number = open(path_.c_str(), O_RDWR);
  DocumentFile(path_).finish({part("a "), part("text")});
  std::string found(100, ' ');
  found.resize(static_cast<std::size_t>(read(number, found.data(), found.size())));
  EXPECT_EQ(found, "a text");
  EXPECT_EQ(files(), 1u);
  close(number);
}

TEST(NextWriting, OnceASecondHoweverLongItTakes) {
  const std::chrono::steady_clock::time_point begin{milliseconds(5000)};
  const auto after = [&](int taken, bool whole) {
    return std::chrono::duration_cast<milliseconds>(next_writing(begin, begin + milliseconds(taken), whole) -
                                                    begin)
        .count();
  };
  for (const int taken : {0, 1, 200, 700}) {
    EXPECT_GE(after(taken, false), 700) << taken;
    EXPECT_LE(after(taken, false), 1000) << taken;
  }
  // As a whole: no more than half of the time.
  EXPECT_LE(after(100, true), 1000);
  EXPECT_EQ(after(2000, true), 4000);
}

}  // namespace
}  // namespace foretrace::report
