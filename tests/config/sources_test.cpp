// What a configuration's numbers rest on: microbenchmarks and literature, never on a kernel that predictions are judged by.
#include "model/config/load.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

namespace foretrace::config {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = FORETRACE_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

void add_matches(const std::string& text, const std::regex& pattern, std::set<std::string>& to) {
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) to.insert((*at)[1]);
}

/// Launches and kernels below validate/ of which launch files or CUDA sources tell, but for microbenchmarks. A name of one word is left out: "copy" may be English.
const std::set<std::string>& judges() {
  static const std::set<std::string> found = [] {
    const std::regex named(R"re((?:^|\n)\s*(?:name|kernel)\s*=\s*"(\w+))re"),
        kernel(R"(__global__[^;{(]*(?:\([^)]*\))?[^;{(]*\b(\w+)\()");
    std::set<std::string> names;
    for (const char* folder : {"kernels", "suite", "large", "triton", "triton_second", "tensor", "published",
                               "representative", "sampling", "beside"}) {
      for (const auto& entry : fs::recursive_directory_iterator(kRoot / "validate" / folder)) {
        const fs::path& file = entry.path();
        if (file.extension() != ".toml" && file.extension() != ".cu") continue;
        names.insert(file.stem().string());
        add_matches(read(file), file.extension() == ".toml" ? named : kernel, names);
      }
    }
    std::erase_if(names, [](const std::string& name) { return name.find('_') == std::string::npos; });
    return names;
  }();
  return found;
}

/// What a source rests on that it may not; empty: nothing.
std::string judge_in(const std::string& key, const std::string& source) {
  static const std::regex path(R"((validate/[\w./-]*))"), word(R"(\b([A-Za-z_]\w*)\b)");
  std::set<std::string> paths, words;
  add_matches(source, path, paths);
  for (const std::string& each : paths) {
    const bool answers =
        each.starts_with("validate/measurements/") && each.find("microbenchmarks") != std::string::npos;
    const bool calls = key.starts_with("cuda.") && each.starts_with("validate/measurements/driver_calls/");
    if (!answers && !calls && !each.starts_with("validate/microbenchmarks")) return each;
  }
  add_matches(source, word, words);
  for (const std::string& each : words) {
    if (judges().contains(each)) return each;
  }
  return {};
}

TEST(ShippedConfigs, NeverRestOnAKernelThatJudges) {
  const fs::path configs = kRoot / "configs";
  for (const std::string& chip : chip_names(configs)) {
    for (const Value& value : load_gpu(chip, {}, {}, configs).values)
      EXPECT_EQ(judge_in(value.key, value.source), "") << chip << " " << value.key;
  }
}

TEST(Sources, ThatNameAKernelThatJudgesAreFound) {
  for (const char* path :
       {"validate/kernels/relu.cu", "validate/suite/graph", "validate/large/h100-sxm.tsv",
        "validate/triton/kernels.py", "validate/triton_second/products.py", "validate/tensor/h100-sxm.tsv",
        "validate/measurements/h100-sxm.json", "validate/published/a.json"}) {
    EXPECT_EQ(judge_in("l2.latency", std::string("measured, ") + path +
                                         " and validate/measurements/h100-sxm-microbenchmarks.json: b"),
              path);
  }
  // A launch of the suite, of Triton's kernels, a program of the tensor list, one of the examples and a file of the large launches.
  for (const char* name :
       {"list_link_n500k", "triton_softmax_1823x781", "wgmma_product", "transpose_tile", "sgemm_tiled"})
    EXPECT_EQ(judge_in("l2.latency", std::string("as fits ") + name + " best"), name);
  EXPECT_EQ(judge_in("l2.latency",
                     "validate/measurements/h100-sxm-microbenchmarks.json: store_order, a copy; "
                     "validate/microbenchmarks/store_order.cu"),
            "");
  EXPECT_EQ(judge_in("cuda.copy_engines", "validate/measurements/driver_calls/h100.txt"), "");
  EXPECT_EQ(judge_in("l2.latency", "validate/measurements/driver_calls/h100.txt"),
            "validate/measurements/driver_calls/h100.txt");
}

}  // namespace
}  // namespace foretrace::config
