// The cache: bounded by FORETRACE_CACHE_BYTES, whole files whoever uses it at the same time.
#include "sim/frontend/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/units/error.h"
#include "sim/frontend/compile_cache.h"

namespace foretrace::frontend {
namespace {

namespace fs = std::filesystem;

class SharedCache : public ::testing::Test {
 protected:
  SharedCache() {
    for (const char* name : {"XDG_CACHE_HOME", "FORETRACE_CACHE_BYTES"})
      if (const char* value = std::getenv(name)) before_.emplace_back(name, value);
    std::string name = (fs::temp_directory_path() / "foretrace_cache_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    unsetenv("FORETRACE_CACHE_BYTES");
  }
  ~SharedCache() override {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("FORETRACE_CACHE_BYTES");
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
    fs::remove_all(folder_);
  }
  static void bound(const char* bytes) { setenv("FORETRACE_CACHE_BYTES", bytes, 1); }
  static void put(const std::string& name, std::size_t bytes, int value = 0) {
    cache(name, std::vector<std::byte>(bytes, static_cast<std::byte>(value)));
  }
  static std::uint64_t bytes_there() {
    std::uint64_t sum = 0;
    for (const fs::directory_entry& file : fs::directory_iterator(cache_directory())) sum += file.file_size();
    return sum;
  }
  /// As if it had been used last then.
  static void used(const std::string& name, time_t seconds) {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, (cache_directory() / name).c_str(), times, 0), 0);
  }

 private:
  fs::path folder_;
  std::vector<std::pair<std::string, std::string>> before_;
};

TEST_F(SharedCache, WhatWasNotUsedForLongestGoes) {
  bound("3500");
  for (const char* name : {"a", "b", "c"}) put(name, 1000);
  used("a", 1000), used("b", 2000), used("c", 3000);
  EXPECT_TRUE(cached("a"));  // and is used
  put("d", 1000);
  EXPECT_FALSE(cached("b"));
  for (const char* name : {"a", "c", "d"}) EXPECT_TRUE(cached(name)) << name;
  EXPECT_EQ(bytes_there(), 3000u);
  put("large", 5000);  // more than the bound: not kept, and nothing goes for it
  EXPECT_FALSE(cached("large"));
  EXPECT_EQ(bytes_there(), 3000u);
  bound("0");
  put("e", 1);
  EXPECT_EQ(bytes_there(), 0u);
}

TEST_F(SharedCache, ItsBound) {
  EXPECT_EQ(cache_bound(), std::uint64_t{4} << 30);
  bound("");
  EXPECT_EQ(cache_bound(), std::uint64_t{4} << 30);
  bound("1000");
  EXPECT_EQ(cache_bound(), 1000u);
  for (const char* wrong : {"4G", "-1", "many", "1 ", "99999999999999999999"}) {
    bound(wrong);
    try {
      (void)cache_bound();
      ADD_FAILURE() << wrong;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()),
                fmt::format("FORETRACE_CACHE_BYTES={}: expected a number of bytes", wrong));
    }
  }
}

TEST_F(SharedCache, CompilationsAreWithinTheBoundToo) {
  bound("10000");
  const fs::path source = cache_directory().parent_path() / "source.cu";
  std::ofstream(source) << "text";
  for (int i = 0; i < 20; ++i) {
    const CompileCache compilations(fmt::format("request {}", i));
    compilations.store({std::vector<std::byte>(2000), "sass"}, {source.string()}, {});
    EXPECT_TRUE(compilations.find()) << i;
    EXPECT_LE(bytes_there(), 10000u);
  }
  EXPECT_FALSE(CompileCache("request 0").find());
}

TEST_F(SharedCache, TwoProcessesAtOnce) {
  bound("60000");
  // Each writes and reads the same few files, of different sizes and contents; all of them do not fit.
  const auto work = [](int process) {
    for (int turn = 0; turn < 300; ++turn) {
      const std::string name = std::to_string((turn * (process + 1)) % 7);
      const int value = turn % 100 + 1;
      put(name, static_cast<std::size_t>(value) * 200, value);
      const auto found = cached(std::to_string(turn % 7));
      if (!found) continue;
      const auto bytes = static_cast<std::size_t>((*found)[0]) * 200;
      if (*found != std::vector<std::byte>(bytes, (*found)[0])) return 1;
    }
    return 0;
  };
  std::vector<pid_t> children;
  for (int process = 0; process < 4; ++process) {
    children.push_back(fork());
    if (children.back() == 0) _exit(work(process));
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "a file was there in part";
  }
  put("last", 1);
  EXPECT_LE(bytes_there(), 60000u);
  for (const fs::directory_entry& file : fs::directory_iterator(cache_directory()))
    EXPECT_EQ(file.path().extension(), "") << "a part is left: " << file.path();
}

}  // namespace
}  // namespace foretrace::frontend
