// Launch files are read strictly: what is unknown, missing or of a wrong type is refused with file, line and key.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "model/units/error.h"
#include "sim/frontend/launch/launch.h"

namespace foretrace::frontend {
namespace {

class LaunchFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(testing::TempDir()) /
        ("foretrace_launch_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "k.cu") << "__global__ void k() {}\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::vector<LaunchDescription> load(const std::string& text) {
    std::ofstream(folder_ / "k.toml") << text;
    return load_launch_file(folder_ / "k.toml");
  }

  /// The message without the folder, or "accepted".
  std::string refusal(const std::string& text) {
    try {
      load(text);
    } catch (const InputError& error) {
      std::string message = error.what();
      const std::string folder = folder_.string() + "/";
      for (std::size_t at; (at = message.find(folder)) != std::string::npos;)
        message.erase(at, folder.size());
      return message;
    }
    return "accepted";
  }

  std::filesystem::path folder_;
};

const std::string kMinimal =
    "source = \"k.cu\"\n"
    "[[launch]]\n"
    "name = \"one\"\n"
    "kernel = \"k\"\n"
    "grid = [8]\n"
    "block = [128]\n"
    "args = [\"buf:f32:10:name=a\"]\n";

TEST_F(LaunchFile, FoldersAreSearchedWithAllBelowThem) {
  std::filesystem::create_directories(folder_ / "b" / "deep");
  for (const char* name : {"b/deep/z.toml", "a.toml", "b/y.toml", "b/notes.txt"})
    std::ofstream(folder_ / name) << "\n";
  const std::vector<std::filesystem::path> expected = {folder_ / "a.toml", folder_ / "b/deep/z.toml",
                                                       folder_ / "b/y.toml"};
  EXPECT_EQ(launch_files(folder_), expected);
  EXPECT_EQ(launch_files(folder_ / "a.toml"), std::vector<std::filesystem::path>{folder_ / "a.toml"});
  EXPECT_THROW(launch_files(folder_ / "nowhere"), InputError);
  std::filesystem::create_directories(folder_ / "empty");
  EXPECT_THROW(launch_files(folder_ / "empty"), InputError);
}

TEST_F(LaunchFile, CharactersBeyondAsciiStandInQuotesAndCommentsOnly) {
  EXPECT_EQ(refusal("\xef\xbb\xbf# \xc3\xa9t\xc3\xa9\n" + kMinimal + "nvcc = \"-DX=\\\"1\" # \xc3\xa9\n"),
            "accepted");
  EXPECT_EQ(refusal(kMinimal + "\xc3\xa9 = 1\n"),
            "k.toml:8: a character that is not ASCII; it may stand in quotes and comments");
  EXPECT_EQ(refusal(kMinimal + "x = \"\"\"\na\\\"\"\"\"\n\xe2\x80\xa8"),
            "k.toml:10: a character that is not ASCII; it may stand in quotes and comments");
}

TEST_F(LaunchFile, ATableWithoutANameIsRefused) {
  EXPECT_EQ(refusal(kMinimal + "[:x]\n"),
            "k.toml: no TOML: a name or a value begins with a character that none begins with");
}

TEST_F(LaunchFile, DefaultsOfAMinimalLaunch) {
  const auto launches = load(kMinimal);
  ASSERT_EQ(launches.size(), 1u);
  const LaunchDescription& launch = launches[0];
  EXPECT_EQ(launch.name, "one");
  EXPECT_EQ(launch.source, folder_ / "k.cu");
  EXPECT_EQ(launch.kernel, "k");
  EXPECT_EQ(launch.grid, (Dim3{8, 1, 1}));
  EXPECT_EQ(launch.block, (Dim3{128, 1, 1}));
  EXPECT_EQ(launch.cluster, (Dim3{1, 1, 1}));
  EXPECT_EQ(launch.dynamic_shared, 0u);
  EXPECT_EQ(launch.arguments.size(), 1u);
  EXPECT_TRUE(launch.defines.empty() && launch.nvcc.empty() && launch.symbols.empty() &&
              launch.dumps.empty());
  EXPECT_TRUE(launch.reference.empty() && launch.checks.empty() && launch.after.empty());
  EXPECT_EQ(launch.fault, ExpectedFault::none);
}

TEST_F(LaunchFile, EveryKeyIsRead) {
  const auto launches = load(
      "source = \"k.cu\"\n[[launch]]\nname = \"first\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n"
      "args = [\"buf:i32:4:name=kept\"]\n"
      "[[launch]]\nname = \"second\"\nkernel = \"k<33>\"\ndefine = [\"TILE=16\", \"FAST\"]\n"
      "nvcc = \"-use_fast_math\"\ngrid = [4, 2, 6]\nblock = [32, 8]\nshared = 4096\ncluster = [2, 1, 3]\n"
      "args = [\"ref:kept+4\", \"buf:f32:10:name=c\", \"val:i32:10\"]\n"
      "symbols = [\"scale=val:f32:2\"]\ndump = [\"c=c.bin\"]\nreference = \"k\"\n"
      "check = { c = { relative = 1e-6, absolute = 0 } }\nafter = \"first\"\n");
  ASSERT_EQ(launches.size(), 2u);
  const LaunchDescription& launch = launches[1];
  EXPECT_EQ(launch.kernel, "k<33>");
  EXPECT_EQ(launch.defines, (std::vector<std::string>{"TILE=16", "FAST"}));
  EXPECT_EQ(launch.nvcc, "-use_fast_math");
  EXPECT_EQ(launch.grid, (Dim3{4, 2, 6}));
  EXPECT_EQ(launch.block, (Dim3{32, 8, 1}));
  EXPECT_EQ(launch.cluster, (Dim3{2, 1, 3}));
  EXPECT_EQ(launch.dynamic_shared, 4096u);
  EXPECT_EQ(launch.arguments[0].offset, 4u);
  EXPECT_EQ(launch.arguments[1].generator.seed, 2u);
  EXPECT_EQ(launch.symbols[0].name, "scale");
  EXPECT_EQ(launch.dumps[0].buffer, "c");
  EXPECT_EQ(launch.dumps[0].file, "c.bin");
  EXPECT_EQ(launch.reference, "k");
  ASSERT_EQ(launch.checks.size(), 1u);
  EXPECT_EQ(launch.checks[0].relative, 1e-6);
  EXPECT_EQ(launch.checks[0].absolute, 0.0);
  EXPECT_EQ(launch.after, "first");
  const auto before = launches_before(launches, 1);
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before[0], &launches[0]);
  EXPECT_TRUE(launches_before(launches, 0).empty());
}

TEST_F(LaunchFile, UnknownKeysNameFileLineAndKey) {
  EXPECT_EQ(refusal(kMinimal + "girdle = 1\n").substr(0, 30), "k.toml:8: unknown key 'girdle'");
  EXPECT_EQ(refusal("sources = 1\n" + kMinimal),
            "k.toml:1: unknown key 'sources', expected one of: source launch");
  EXPECT_EQ(
      refusal(kMinimal + "reference = \"k\"\ncheck = { a = { relative = 0, absolute = 0, ulp = 1 } }\n"),
      "k.toml:9: unknown key 'ulp', expected one of: relative absolute");
}

TEST_F(LaunchFile, MissingKeysAreNamed) {
  for (const char* key : {"name", "kernel", "grid", "block", "args"}) {
    std::string text = kMinimal;
    const std::size_t at = text.find(std::string("\n") + key + " =") + 1;
    text.erase(at, text.find('\n', at) + 1 - at);
    EXPECT_EQ(refusal(text), std::string("k.toml:2: key '") + key + "' is missing");
  }
  EXPECT_EQ(refusal("[[launch]]\nname = \"one\"\n"), "k.toml:1: key 'source' is missing");
  EXPECT_EQ(refusal("source = \"k.cu\"\n"), "k.toml:1: key 'launch' is missing");
  EXPECT_EQ(refusal("source = \"k.cu\"\nlaunch = []\n"),
            "k.toml:2: key 'launch': expected at least one [[launch]]");
  EXPECT_EQ(refusal(kMinimal + "reference = \"k\"\ncheck = { a = { relative = 0 } }\n"),
            "k.toml:9: key 'absolute' is missing");
}

TEST_F(LaunchFile, WrongTypesAreNamed) {
  const auto with = [&](const std::string& line) { return refusal(kMinimal + line + "\n"); };
  EXPECT_EQ(with("shared = -1"), "k.toml:8: key 'shared': expected a whole number from 0 to 4294967295");
  EXPECT_EQ(with("shared = 1.5"), "k.toml:8: key 'shared': expected a whole number from 0 to 4294967295");
  EXPECT_EQ(with("nvcc = 1"), "k.toml:8: key 'nvcc': expected a string");
  EXPECT_EQ(with("nvcc = \"a\\nb\""),
            "k.toml:8: key 'nvcc': expected one line of text that neither begins nor ends with a space");
  EXPECT_EQ(with("define = \"TILE=16\""), "k.toml:8: key 'define': expected an array");
  EXPECT_EQ(with("define = [\"1=16\"]"),
            "k.toml:8: key 'define': '1=16' is no define, expected NAME or NAME=VALUE");
  EXPECT_EQ(with("cluster = [1, 1, 1, 1]"),
            "k.toml:8: key 'cluster': expected one to three numbers, x first");
  EXPECT_EQ(with("cluster = []"), "k.toml:8: key 'cluster': expected one to three numbers, x first");
  EXPECT_EQ(with("dump = [\"a\"]"),
            "k.toml:8: key 'dump': dump: 'a' is no dump, expected NAME=FILE, NAME a buffer's name");
  EXPECT_EQ(
      with("fault = \"none\""),
      "k.toml:8: key 'fault': expected one of: out_of_bounds misaligned divergent_barrier impossible_barrier "
      "never_ends trap illegal_instruction");
  EXPECT_EQ(with("fault = \"illegal_instruction\""), "accepted");
  EXPECT_EQ(with("reference = \"k\"\ncheck = { a = { relative = -1, absolute = 0 } }"),
            "k.toml:9: key 'relative': expected a tolerance: a finite number of at least 0");
  EXPECT_EQ(with("reference = \"k\"\ncheck = { a = { relative = nan, absolute = 0 } }"),
            "k.toml:9: key 'relative': expected a tolerance: a finite number of at least 0");
}

TEST_F(LaunchFile, ArgumentErrorsCarryTheLine) {
  std::string text = kMinimal;
  text.replace(text.find("args = "), std::string::npos,
               "args = [\n  \"buf:f32:10\",\n  \"buf:f33:10\",\n]\n");
  EXPECT_EQ(refusal(text).substr(0, 75),
            "k.toml:9: key 'args': argument 2 'buf:f33:10': 'f33' is no element type, ex");
}

TEST_F(LaunchFile, SyntaxErrorsAndMissingFiles) {
  EXPECT_EQ(refusal("source = \n").substr(0, 9), "k.toml:1:");
  EXPECT_EQ(refusal("source = \"gone.cu\"\n[[launch]]\n"),
            "k.toml:1: key 'source': there is no file 'gone.cu'");
  EXPECT_THROW(load_launch_file(folder_ / "gone.toml"), InputError);
  EXPECT_THROW(load_launch_file(folder_), InputError) << "a folder is no launch file";
}

TEST_F(LaunchFile, ShapesAtTheirLimits) {
  const auto shaped = [&](const std::string& grid, const std::string& block) {
    std::string text = kMinimal;
    text.replace(text.find("[8]"), 3, grid);
    text.replace(text.find("[128]"), 5, block);
    return refusal(text);
  };
  EXPECT_EQ(shaped("[2147483647, 65535, 65535]", "[1024]"), "accepted");
  EXPECT_EQ(shaped("[1]", "[4, 4, 64]"), "accepted");
  EXPECT_EQ(shaped("[1]", "[1025]"),
            "k.toml:2: launch 'one': a block of 1025,1,1 threads, expected 1,1,1 to 1024,1024,64");
  EXPECT_EQ(shaped("[1]", "[32, 33]"),
            "k.toml:2: launch 'one': a block of 32,33,1 is 1056 threads, expected at most 1024");
  EXPECT_EQ(shaped("[1]", "[1, 1, 65]"),
            "k.toml:2: launch 'one': a block of 1,1,65 threads, expected 1,1,1 to 1024,1024,64");
  EXPECT_NE(shaped("[1, 65536]", "[1]"), "accepted");
  EXPECT_NE(shaped("[2147483648]", "[1]"), "accepted");
  EXPECT_NE(shaped("[0]", "[1]"), "accepted");
  EXPECT_EQ(refusal(kMinimal + "cluster = [8]\n"), "accepted");
  EXPECT_EQ(refusal(kMinimal + "cluster = [3]\n"),
            "k.toml:2: launch 'one': a grid of 8,1,1 is no multiple of the cluster 3,1,1");
  EXPECT_NE(refusal(kMinimal + "cluster = [4, 8]\n"), "accepted");
}

TEST_F(LaunchFile, BuffersMustBeThereAndUnique) {
  const auto with_args = [&](const std::string& args, const std::string& more = "") {
    std::string text = kMinimal;
    text.replace(text.find("args = "), std::string::npos, "args = [" + args + "]\n" + more);
    return refusal(text);
  };
  EXPECT_EQ(with_args("\"buf:f32:10:name=a\", \"ref:a+39\""), "accepted");
  EXPECT_EQ(with_args("\"ref:a\", \"buf:f32:10:name=a\""),
            "k.toml:2: launch 'one': 'ref:a' names the buffer 'a', which is not there; named buffers: none")
      << "buffers are placed in the order of the arguments";
  EXPECT_EQ(with_args("\"buf:f32:10:name=a\", \"ref:a+40\""),
            "k.toml:2: launch 'one': 'ref:a+40' is 40 bytes into a buffer of 40 bytes");
  EXPECT_EQ(with_args("\"buf:f32:10:name=a\", \"ref:b\""),
            "k.toml:2: launch 'one': 'ref:b' names the buffer 'b', which is not there; named buffers: a");
  EXPECT_EQ(with_args("\"buf:f32:10:name=a\", \"buf:f32:10:name=a\""),
            "k.toml:2: launch 'one': two buffers are named 'a'");
  EXPECT_EQ(with_args("", "dump = [\"a=f\"]\n"),
            "k.toml:2: launch 'one': dump names the buffer 'a', which is not there; named buffers: none");
  EXPECT_EQ(with_args("\"buf:f32:1:name=a\"", "check = { a = { relative = 0, absolute = 0 } }\n"),
            "k.toml:2: launch 'one': check needs a reference to compare with");
  EXPECT_EQ(with_args("", "symbols = [\"s=null\", \"s=null\"]\n"),
            "k.toml:2: launch 'one': the symbol 's' is given twice");
  EXPECT_EQ(with_args("", "fault = \"never_ends\"\nreference = \"k\"\n"),
            "k.toml:2: launch 'one': a launch that is expected to fault has no reference");
}

TEST_F(LaunchFile, ChainsShareBuffersAndOnlyLookBack) {
  const auto second = [](const std::string& name, const std::string& args, const std::string& after) {
    return "[[launch]]\nname = \"" + name + "\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\nargs = [" + args +
           "]\n" + (after.empty() ? "" : "after = \"" + after + "\"\n");
  };
  EXPECT_EQ(refusal(kMinimal + second("two", "\"ref:a\"", "one")), "accepted");
  EXPECT_EQ(refusal(kMinimal + second("two", "", "one") + second("three", "\"ref:a\"", "two")), "accepted");
  EXPECT_NE(refusal(kMinimal + second("two", "\"ref:a\"", "")).find("not there"), std::string::npos)
      << "without `after` the buffers of another launch are not seen";
  EXPECT_NE(
      refusal(kMinimal + second("two", "\"buf:f32:1:name=a\"", "one")).find("two buffers are named 'a'"),
      std::string::npos);
  EXPECT_EQ(refusal(kMinimal + second("two", "\"buf:f32:1:name=a\"", "")), "accepted");
  EXPECT_EQ(refusal(kMinimal + second("two", "", "three")),
            "k.toml:14: key 'after': no launch before this one is named 'three'");
  EXPECT_EQ(refusal(kMinimal + second("two", "", "two")),
            "k.toml:14: key 'after': no launch before this one is named 'two'");
  EXPECT_EQ(refusal(kMinimal + second("one", "", "")), "k.toml:9: key 'name': two launches are named 'one'");
}

TEST(Extent, ReadsOneToThreeNumbers) {
  EXPECT_EQ(parse_extent("32", "--grid"), (Dim3{32, 1, 1}));
  EXPECT_EQ(parse_extent("32,8", "--grid"), (Dim3{32, 8, 1}));
  EXPECT_EQ(parse_extent("32,8,4", "--grid"), (Dim3{32, 8, 4}));
  for (const char* text : {"", "0", "1,0", "1,", ",1", "1,2,3,4", "-1", "1x", "1 ,2", "4294967296"}) {
    EXPECT_THROW(parse_extent(text, "--grid"), InputError) << text;
  }
  try {
    parse_extent("1,x", "--grid");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "--grid: '1,x' is no extent, expected X, X,Y or X,Y,Z of numbers of at least 1");
  }
}

}  // namespace
}  // namespace foretrace::frontend
