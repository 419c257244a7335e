// PTX whose .version the toolkit's ptxas does not know: a newer ptxas compiles it, and without one the error says so. The compilers are
// scripts that say their version and, if they are new enough, write their own version as the cubin.
#include "sim/frontend/ptx.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sim/frontend/process.h"
#include "tests/frontend/corpus.h"

namespace foretrace::frontend {
namespace {

constexpr const char* kText = ".version 99.0\n.target sm_90\n.address_size 64\n";

/// Compilers in folders of their own, and PATH and the cache among them as long as the test lasts.
class NewerPtx : public testing::Test {
 protected:
  NewerPtx() { set("XDG_CACHE_HOME", (directory_.path() / "cache").string()); }
  ~NewerPtx() override {
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }

  void set(const std::string& name, const std::string& value) {
    const char* old = std::getenv(name.c_str());
    before_.emplace_back(name, old == nullptr ? "" : old);
    setenv(name.c_str(), value.c_str(), 1);
  }

  std::string folder(const std::string& version) const { return (directory_.path() / version).string(); }

  Tool compiler(const std::string& version, bool knows) const {
    std::filesystem::create_directories(folder(version));
    const std::string path = folder(version) + "/ptxas";
    std::ofstream(path)
        << "#!/bin/sh\n[ \"$1\" = --version ] && { echo V" << version << "; exit 0; }\n"
        << (knows ? "while [ \"$1\" != -o ]; do shift; done; printf " + version + " > $2\n"
                  : "echo 'fatal : Unsupported .version 99.0; current version is 9.0'; exit 255\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return {path, version};
  }

  static std::string compiled(const Tool& by) {
    const auto bytes = compile_ptx({kText, 90, {}, false}, {std::nullopt, std::nullopt, by});
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  TemporaryDirectory directory_;
  std::vector<std::pair<std::string, std::string>> before_;
};

TEST_F(NewerPtx, TheNewestPtxasOfThePathCompilesIt) {
  const Tool old = compiler("700.9.1", false);
  compiler("700.10.0", true);
  compiler("700.10.2", true);
  compiler("700.2.77", true);
  set("PATH", folder("700.2.77") + ":" + folder("700.10.0") + ":" + folder("700.10.2") + ":/usr/bin:/bin");
  EXPECT_EQ(compiled(old), "700.10.2");
}

TEST_F(NewerPtx, AnOlderPtxasIsNotAskedAndTheErrorIsOfTheVersion) {
  const Tool old = compiler("700.9.1", false);
  compiler("700.9.0", true);
  set("PATH", folder("700.9.0") + ":/usr/bin:/bin");
  EXPECT_NE(message_of<PtxVersionError>([&] { compiled(old); }).find("700.9.1"), std::string::npos);
}

TEST_F(NewerPtx, ACompilerThatKnowsItIsNotReplaced) {
  const Tool knows = compiler("700.1.0", true);
  compiler("700.2.0", true);
  set("PATH", folder("700.2.0") + ":/usr/bin:/bin");
  EXPECT_EQ(compiled(knows), "700.1.0");
}

}  // namespace
}  // namespace foretrace::frontend
