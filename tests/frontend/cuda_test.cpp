// The front end with the real compiler: every instruction that nvcc emits for our kernels and probes decodes, on three
// architectures. Left out by its label where there is no nvcc; where there is one, a broken one fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "model/isa/operands.h"
#include "model/units/error.h"
#include "sim/frontend/compile.h"
#include "sim/frontend/disassembly.h"
#include "sim/frontend/load.h"
#include "sim/frontend/process.h"
#include "tests/frontend/corpus.h"

namespace foretrace::frontend {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> sources() {
  std::vector<std::string> found;
  for (const char* directory : {"/tests/frontend/data", "/validate/kernels"}) {
    for (const fs::directory_entry& entry :
         fs::directory_iterator(std::string(FORETRACE_SOURCE_DIR) + directory)) {
      if (entry.path().extension() == ".cu") found.push_back(entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

class Cuda : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    toolchain() = find_toolchain();
    // A cache of its own, empty at the start: these tests compile.
    directory() = std::make_unique<TemporaryDirectory>();
    if (const char* before = std::getenv("XDG_CACHE_HOME")) users_cache() = before;
    setenv("XDG_CACHE_HOME", directory()->path().c_str(), 1);
  }
  static void TearDownTestSuite() {
    restore_users_cache();
    directory().reset();
  }
  static void restore_users_cache() {
    if (users_cache().empty()) {
      unsetenv("XDG_CACHE_HOME");
    } else {
      setenv("XDG_CACHE_HOME", users_cache().c_str(), 1);
    }
  }
  static std::string& users_cache() {
    static std::string path;
    return path;
  }
  void SetUp() override {
    ASSERT_TRUE(toolchain().nvcc && toolchain().nvdisasm)
        << "nvcc and nvdisasm are not here; ctest -LE cuda leaves this test out";
  }
  static Toolchain& toolchain() {
    static Toolchain found;
    return found;
  }
  static std::unique_ptr<TemporaryDirectory>& directory() {
    static std::unique_ptr<TemporaryDirectory> path;
    return path;
  }
};

class EverySource : public Cuda, public testing::WithParamInterface<std::string> {
 protected:
  // With the user's cache: what matters here is the code that nvcc emits, and the second run is quick.
  void SetUp() override {
    Cuda::SetUp();
    restore_users_cache();
  }
  void expect_decodes(int sm) {
    const Compiled compiled = compile({GetParam(), sm, {}, {}, ""}, toolchain());
    const Cubin cubin = read_cubin(compiled.cubin, GetParam(), sm);
    for (const KernelImage& kernel : cubin.kernels) {
      const isa::Program program = decode_kernel(kernel, compiled.disassembly, GetParam());
      EXPECT_EQ(program.toolkit, toolchain().nvcc->version);
      ASSERT_FALSE(program.code.empty());
      for (const isa::Instruction& in : program.code) {
        const isa::RegisterUse use = isa::register_use(in, sm);
        int reuse = 0;
        for (std::size_t slot = 0; slot < use.reuse.size(); ++slot) reuse |= use.reuse[slot] ? 1 << slot : 0;
        EXPECT_EQ(reuse, in.control.reuse) << "sm_" << sm << ' ' << program.kernel << ": " << in.text;
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Files, EverySource, testing::ValuesIn(sources()),
                         [](const auto& parameter) { return fs::path(parameter.param).stem().string(); });

TEST_P(EverySource, DecodesOnEveryArchitecture) {
  for (const int sm : kArchitectures) expect_decodes(sm);
}

TEST_F(Cuda, WarpgroupInstructionsDecode) {
  const std::string source = data_path("probe_hopper.cu");
  const Compiled compiled = compile({source, 90, {}, {"-arch=sm_90a"}, ""}, toolchain());
  const Cubin cubin = read_cubin(compiled.cubin, source, 90);
  const isa::Program program = decode_kernel(kernel_named(cubin, "warpgroups"), compiled.disassembly, source);
  EXPECT_EQ(std::count_if(program.code.begin(), program.code.end(),
                          [](const isa::Instruction& in) { return in.opcode == isa::Opcode::HGMMA; }),
            2);
}

TEST_F(Cuda, ThisDisassemblerPrintsTheCorpusAsCommitted) {
  for (const int sm : kArchitectures) {
    const std::vector<std::byte> bytes = read_file(corpus_path(sm));
    const std::string fresh = disassemble(bytes, toolchain());
    const std::string committed = corpus_disassembly(sm);
    for (const KernelImage& kernel : read_cubin(bytes, "corpus", sm).kernels) {
      const isa::Program a = decode_kernel(kernel, fresh, "fresh");
      const isa::Program b = decode_kernel(kernel, committed, "committed");
      ASSERT_EQ(a.code.size(), b.code.size());
      for (std::size_t i = 0; i < a.code.size(); ++i) {
        EXPECT_EQ(a.code[i].text, b.code[i].text);
        EXPECT_EQ(a.code[i].line, b.code[i].line);
      }
    }
  }
}

TEST_F(Cuda, MakesTheTemplateInstanceThatIsAskedFor) {
  const fs::path source = directory()->path() / "template.cu";
  std::ofstream(source)
      << "enum class Mode { slow, fast };\n"
         "template <Mode kMode, int kN, typename T = float>\n"
         "__global__ void lonely(T* out) { out[0] = static_cast<T>(kN) + static_cast<int>(kMode); }\n";
  LoadRequest request;
  request.file = source.string();
  request.sm = 90;
  request.kernel = "lonely<Mode::fast, 7>";
  const std::vector<LoadedKernel> kernels = load_kernels(request, toolchain());
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].program.kernel, "lonely<(Mode)1,7,float>");
  ASSERT_FALSE(kernels[0].program.files.empty());
  EXPECT_EQ(kernels[0].program.files[0], source.string()) << "lines are those of the user's file";

  request.kernel = "lonely<Mode::fast, nothing>";
  EXPECT_THROW(load_kernels(request, toolchain()), ToolError);
  request.kernel = "";
  EXPECT_NE(
      message_of<InputError>([&] { load_kernels(request, toolchain()); }).find("a template is made when"),
      std::string::npos);
  const auto said = [&](const char* kernel) {
    request.kernel = kernel;
    return message_of<InputError>([&] { load_kernels(request, toolchain()); });
  };
  std::ofstream(source, std::ios::app) << "__global__ void alone(int* out) { out[0] = 1; }\n";
  EXPECT_NE(said("lonely").find(
                "kernel 'lonely' has no machine code of its own; of a template, expected an instance"),
            std::string::npos);
  EXPECT_NE(said("lone").find("no kernel 'lone'; it has alone"), std::string::npos);
  EXPECT_NE(said("out").find("no kernel 'out'; it has alone"), std::string::npos);
  // An instance that the source makes itself is there by its own spelling and by its bare name.
  std::ofstream(source, std::ios::app)
      << "template <int kA, int kB> __global__ void held(int* out) { out[kA] = kB; }\n"
         "template __global__ void held<3, 4>(int* out);\n";
  for (const char* name : {"held<3, 4>", "held"}) {
    request.kernel = name;
    EXPECT_EQ(load_kernels(request, toolchain()).at(0).program.kernel, "held<3,4>") << name;
  }
}

TEST_F(Cuda, CompilerErrorsComeWithTheCompilersWords) {
  const fs::path source = directory()->path() / "broken.cu";
  std::ofstream(source) << "__global__ void k(int* out) { out[0] = missing; }\n";
  try {
    compile({source.string(), 80, {}, {}, ""}, toolchain());
    FAIL() << "nvcc took a broken source";
  } catch (const ToolError& error) {
    EXPECT_NE(std::string(error.what()).find("nvcc could not compile it for sm_80"), std::string::npos);
    EXPECT_NE(error.output().find("missing"), std::string::npos);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "our part is one line";
  }
}

TEST_F(Cuda, DefinesAndIncludedFilesDecideTheCode) {
  const fs::path work = directory()->path() / "defines";
  fs::create_directory(work);
  std::ofstream(work / "value.h") << "#define VALUE 11\n";
  std::ofstream(work / "k.cu")
      << "#include \"value.h\"\n__global__ void k(int* out) { out[0] = VALUE + EXTRA; }\n";
  const auto hash = [&](const std::string& extra) {
    const Compiled compiled =
        compile({(work / "k.cu").string(), 90, {"EXTRA=" + extra}, {}, ""}, toolchain());
    return read_cubin(compiled.cubin, "k").kernels.at(0).program.code_sha256;
  };
  const std::string first = hash("1");
  EXPECT_EQ(hash("1"), first);
  EXPECT_NE(hash("2"), first);
  std::ofstream(work / "value.h") << "#define VALUE 12\n";
  EXPECT_NE(hash("1"), first) << "the header changed: the cache must not answer";
  std::ofstream(work / "value.h") << "#define VALUE 11\n";
  EXPECT_EQ(hash("1"), first);
}

}  // namespace
}  // namespace foretrace::frontend
