// The front end with no CUDA tool on the machine, its processes and its cache.
#include "sim/frontend/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "model/units/error.h"
#include "sim/frontend/compile.h"
#include "sim/frontend/compile_cache.h"
#include "sim/frontend/process.h"
#include "tests/frontend/corpus.h"

namespace foretrace::frontend {
namespace {

namespace fs = std::filesystem;
const Toolchain kNone;

LoadRequest request(const std::string& kernel, int sm = 90) {
  LoadRequest out;
  out.file = corpus_path(sm);
  out.sm = sm;
  out.kernel = kernel;
  return out;
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

TEST(Load, CubinWithItsDisassemblyBesideItNeedsNoTool) {
  for (const int sm : kArchitectures) {
    const std::vector<LoadedKernel> kernels = load_kernels(request("transpose_tile<33>", sm), kNone);
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].program.kernel, "transpose_tile<33>");
    EXPECT_FALSE(kernels[0].program.code.empty());
    EXPECT_EQ(kernels[0].module->sm, sm);
    EXPECT_EQ(kernels[0].constant0_bytes, kernels[0].program.parameter_base + 20);
  }
}

TEST(Load, PatternsGiveAllThatMatch) {
  LoadRequest all = request("transpose_tile");
  all.regex = true;
  const std::vector<LoadedKernel> kernels = load_kernels(all, kNone);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].module, kernels[1].module) << "kernels of one cubin share their variables";
}

TEST(Load, Refusals) {
  const auto error = [](const LoadRequest& r) {
    return message_of<InputError>([&] { load_kernels(r, kNone); });
  };
  EXPECT_NE(error(request("")).find("which kernel? It has "), std::string::npos);
  EXPECT_NE(error(request("absent")).find("no kernel 'absent'; it has "), std::string::npos);
  LoadRequest other = request("halves");
  other.sm = 80;
  EXPECT_NE(error(other).find("a cubin for sm_90, expected one that runs on sm_80"), std::string::npos);
  LoadRequest options = request("halves");
  options.defines = {"N=4"};
  EXPECT_NE(error(options).find("CUDA source only"), std::string::npos);
  LoadRequest source = request("halves");
  source.file = data_path("corpus.cu");
  EXPECT_NE(error(source).find("no nvcc"), std::string::npos);
  source.sm = 0;
  EXPECT_NE(error(source).find("a source needs an architecture"), std::string::npos);

  const TemporaryDirectory directory;
  LoadRequest alone = request("halves");
  alone.file = (directory.path() / "alone.cubin").string();
  fs::copy_file(corpus_path(90), alone.file);
  EXPECT_NE(error(alone).find("no nvdisasm"), std::string::npos);
}

TEST(Load, ListsKernels) {
  LoadRequest all = request("");
  std::vector<std::string> names = list_kernels(all, kNone);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"branches", "halves", "scan::totals", "transpose_tile<32>",
                                             "transpose_tile<33>"}));
}

TEST(Process, CollectsBothStreamsAndTheStatus) {
  const ProcessResult result = run_process({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_EQ(run_process({"/bin/sh", "-c", "kill -9 $$"}).status, 128 + 9);
  EXPECT_THROW(run_process({"/nowhere/nvcc"}), InputError);
}

TEST(Process, FullPipesDoNotBlock) {
  // More than a pipe holds, on the stream that a naive reader would leave for later.
  const ProcessResult result =
      run_process({"/bin/sh", "-c", "head -c 1000000 /dev/zero >&2; head -c 1000000 /dev/zero"});
  EXPECT_EQ(result.output.size(), 1000000u);
  EXPECT_EQ(result.errors.size(), 1000000u);
}

TEST(Toolchain, AVariableThatNamesNoProgramIsAnError) {
  setenv("FORETRACE_NVCC", "/nowhere/nvcc", 1);
  EXPECT_NE(message_of<InputError>([] { find_toolchain(); }).find("FORETRACE_NVCC=/nowhere/nvcc"),
            std::string::npos);
  setenv("FORETRACE_NVCC", "/bin/true", 1);
  EXPECT_EQ(message_of<InputError>([] { find_toolchain(); }),
            "FORETRACE_NVCC=/bin/true: expected NVIDIA's nvcc, whose --version names its release (V13.0.88)");
  unsetenv("FORETRACE_NVCC");
}

TEST(Toolchain, ACompilerThatWritesNothingIsNamed) {
  const std::string source = std::string(FORETRACE_SOURCE_DIR) + "/validate/kernels/vector_add.cu";
  CompileRequest request;
  request.source = source;
  request.sm = 90;
  request.defines = {"NOBODY_COMPILED_IT_SO=1"};  // in no cache
  const Toolchain toolchain{Tool{"/bin/true", "13.0.1"}, Tool{"/bin/true", "13.0.1"}, std::nullopt};
  EXPECT_EQ(message_of<InputError>([&] { compile(request, toolchain); }),
            source +
                ": /bin/true wrote no cubin of it; expected NVIDIA's nvcc, and --nvcc without options that "
                "ask for something else");
}

TEST(Options, SplitAsAShellWould) {
  EXPECT_EQ(split_options("-O2  -DA=\"x y\" '-I a' b\\ c"),
            (std::vector<std::string>{"-O2", "-DA=x y", "-I a", "b c"}));
  EXPECT_TRUE(split_options("  ").empty());
  EXPECT_EQ(split_options("''"), std::vector<std::string>{""});
  EXPECT_THROW(split_options("-D'A"), InputError);
}

TEST(Dependencies, OfAMakeRule) {
  EXPECT_EQ(make_dependencies("/tmp/a.cubin : a.cu \\\n    /usr/my\\ dir/b.h \\\n  c$$.h\n"),
            (std::vector<std::string>{"a.cu", "/usr/my dir/b.h", "c$.h"}));
  EXPECT_TRUE(make_dependencies("no rule").empty());
}

class Cache : public testing::Test {
 protected:
  void SetUp() override {
    const char* before = std::getenv("XDG_CACHE_HOME");
    before_ = before != nullptr ? before : "";
    setenv("XDG_CACHE_HOME", (directory_.path() / "cache").c_str(), 1);
    fs::create_directory(directory_.path() / "source");
    write(source(), "one");
    write(header(), "two");
  }
  void TearDown() override {
    if (before_.empty()) {
      unsetenv("XDG_CACHE_HOME");
    } else {
      setenv("XDG_CACHE_HOME", before_.c_str(), 1);
    }
  }
  fs::path source() const { return directory_.path() / "source" / "k.cu"; }
  fs::path header() const { return directory_.path() / "source" / "k.h"; }
  void store(const CompileCache& cache, const std::string& text) const {
    cache.store({{std::byte{1}, std::byte{2}}, text}, {source().string(), header().string()},
                {source().parent_path().string()});
  }

  TemporaryDirectory directory_;
  std::string before_;
};

TEST_F(Cache, FindsWhatItStored) {
  const CompileCache cache("request");
  EXPECT_FALSE(cache.find().has_value());
  store(cache, "sass");
  const auto found = cache.find();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->disassembly, "sass");
  EXPECT_EQ(found->cubin, (std::vector<std::byte>{std::byte{1}, std::byte{2}}));
  EXPECT_FALSE(CompileCache("another request").find().has_value());
}

TEST_F(Cache, AChangedHeaderMissesAndComesBack) {
  const CompileCache cache("request");
  store(cache, "sass");
  write(header(), "changed");
  EXPECT_FALSE(cache.find().has_value());
  store(cache, "sass of the change");
  EXPECT_EQ(cache.find()->disassembly, "sass of the change");
  write(header(), "two");
  EXPECT_EQ(cache.find()->disassembly, "sass") << "both states are kept";
  fs::remove(header());
  EXPECT_FALSE(cache.find().has_value());
}

TEST_F(Cache, ANewFileBesideTheSourceMisses) {
  const CompileCache cache("request");
  store(cache, "sass");
  write(source().parent_path() / "shadow.h", "may now be included");
  EXPECT_FALSE(cache.find().has_value());
}

TEST_F(Cache, APlaceThatCannotBeWrittenIsPassedOver) {
  write(directory_.path() / "cache", "a file where a directory should be");
  const CompileCache cache("request");
  store(cache, "sass");
  EXPECT_FALSE(cache.find().has_value());
}

}  // namespace
}  // namespace foretrace::frontend
