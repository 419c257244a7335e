// foretrace env: the environment in which an unchanged build links the CUDA runtime as a shared library.
//
// Models:  nvcc and CMake link `-lcudart_static` unless they are told otherwise. A linker script of that name, found first, makes the
//          linker take the shared library; `foretrace run` then puts its own in the place of it.

#include <cstdlib>
#include <iostream>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/app/commands.h"
#include "sim/app/options.h"
#include "sim/app/runtime_files.h"

namespace foretrace::app {

namespace {

constexpr const char* kEnvironmentUsage = "env [--cuda 12|13]";

/// The text as one word of a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// The flag before what the variable holds; as it is where the flag is there already.
std::string with_flag(const char* variable, const std::string& flag, const char* separator = " ") {
  const char* before = std::getenv(variable);
  std::string now = before == nullptr ? "" : before;
  if (now.find(flag) != std::string::npos) return now;
  return now.empty() ? flag : flag + separator + now;
}

}  // namespace

int environment(const Words& words) {
  options::options_description known("options");
  known.add_options()("cuda", options::value<int>()->value_name("N")->default_value(13),
                      "the toolkit's version: that of the runtime which is linked");
  options::variables_map values;
  if (!parse(words, kEnvironmentUsage, known, "word", values)) return 0;
  if (values.count("word"))
    throw InputError(fmt::format("{}: expected nothing after env", values["word"].as<Words>().front()));
  const int cuda = values["cuda"].as<int>();
  if (cuda != 12 && cuda != 13) throw InputError(fmt::format("--cuda {}: expected 12 or 13", cuda));
  const std::string folder = (runtime_directory() / (cuda == 12 ? "link_12" : "link")).string();
  const std::string flag = "-L" + folder;
  for (const char* variable : {"NVCC_PREPEND_FLAGS", "LDFLAGS"})
    std::cout << "export " << variable << "=" << quoted(with_flag(variable, flag)) << "\n";
  // For targets that name CUDA::cudart_static, and for a linker without a folder of CUDA's.
  for (const char* variable : {"CMAKE_LIBRARY_PATH", "LIBRARY_PATH"})
    std::cout << "export " << variable << "=" << quoted(with_flag(variable, folder, ":")) << "\n";
  // For links by the compiler that name the toolkit's folder or its library: gcc and clang look for ld here.
  std::cout << "export COMPILER_PATH=" << quoted(with_flag("COMPILER_PATH", folder + "/tools", ":")) << "\n";
  return 0;
}

}  // namespace foretrace::app
