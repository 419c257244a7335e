#include "sim/frontend/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "model/units/error.h"
#include "sim/frontend/compile_cache.h"
#include "sim/frontend/cubin.h"
#include "sim/frontend/process.h"

namespace foretrace::frontend {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDisassemblerOptions[] = {"-c", "-hex", "-gi"};

bool starts_with(const std::string& text, std::string_view prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

bool names_architecture(const std::string& option) {
  static constexpr std::string_view kPrefixes[] = {
      "-arch", "--gpu-architecture", "-gencode", "--generate-code", "-code", "--gpu-code"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return starts_with(option, prefix); });
}

void write_text(const fs::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  if (!(out << text).flush()) throw InputError(fmt::format("{}: cannot be written", path.string()));
}

/// Taking an instance's address makes the compiler emit it; source lines stay those of the user's file.
std::string wrapper(const std::string& source, const std::string& instance) {
  return fmt::format(
      "#include \"{}\"\n"
      "[[maybe_unused]] static void* const foretrace_instance = reinterpret_cast<void*>(&{});\n",
      source, instance);
}

/// nvcc's arguments but for the input and output files.
std::vector<std::string> compiler_options(const CompileRequest& request) {
  std::vector<std::string> options = {"-cubin", "-lineinfo"};
  if (std::none_of(request.options.begin(), request.options.end(), names_architecture)) {
    // The chip's own target: what it alone has (wgmma, block-scaled products) compiles, and ordinary code comes out the same.
    options.push_back(fmt::format("-arch=sm_{}{}", request.sm, request.sm >= 90 ? "a" : ""));
  }
  for (const std::string& define : request.defines) options.push_back("-D" + define);
  options.insert(options.end(), request.options.begin(), request.options.end());
  return options;
}

/// All that decides the result and is no file's content.
std::string cache_request(const CompileRequest& request, const std::string& source,
                          const Toolchain& toolchain) {
  std::string text =
      fmt::format("nvcc {} {}\nnvdisasm {} {} {}\nsource {}\ninstance {}\n", toolchain.nvcc->path,
                  toolchain.nvcc->version, toolchain.nvdisasm->path, toolchain.nvdisasm->version,
                  fmt::join(kDisassemblerOptions, " "), source, request.instance);
  for (const std::string& option : compiler_options(request)) text += fmt::format("option {}\n", option);
  text += fmt::format("directory {}\n", fs::current_path().string());  // options may hold relative paths
  for (const char* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH",
                           "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH", "CUDA_HOME", "CUDA_PATH"}) {
    const char* value = std::getenv(name);
    text += fmt::format("{}={}\n", name, value != nullptr ? value : "");
  }
  return text;
}

/// Directories in which a new file could be found by an #include before the one that was read.
std::vector<std::string> lookup_directories(const CompileRequest& request, const std::string& source,
                                            const std::string& toolkit) {
  std::set<std::string> directories = {fs::path(source).parent_path().string()};
  for (std::size_t i = 0; i < request.options.size(); ++i) {
    const std::string& option = request.options[i];
    if (option == "-I" && i + 1 < request.options.size()) directories.insert(request.options[i + 1]);
    if (starts_with(option, "-I") && option.size() > 2) directories.insert(option.substr(2));
  }
  directories.erase(toolkit);
  return {directories.begin(), directories.end()};
}

/// One run of nvcc in `directory`, which receives kernel.cubin and kernel.d.
ProcessResult run_compiler(const CompileRequest& request, const std::string& input, const fs::path& directory,
                           const Toolchain& toolchain) {
  std::vector<std::string> arguments = {toolchain.nvcc->path};
  const std::vector<std::string> options = compiler_options(request);
  arguments.insert(arguments.end(), options.begin(), options.end());
  for (const char* argument : {"-MD", "-MF"}) arguments.emplace_back(argument);
  arguments.push_back((directory / "kernel.d").string());
  arguments.emplace_back("-o");
  arguments.push_back((directory / "kernel.cubin").string());
  arguments.push_back(input);
  return run_process(arguments);
}

}  // namespace

Compiled compile(const CompileRequest& request, const Toolchain& toolchain) {
  if (!toolchain.nvcc) {
    throw InputError(
        fmt::format("{}: no nvcc to compile it: set FORETRACE_NVCC or PATH, or give a cubin with its "
                    "disassembly beside it",
                    request.source));
  }
  if (!toolchain.nvdisasm) {
    throw InputError(fmt::format("{}: no nvdisasm to read the compiled code: set FORETRACE_NVDISASM or PATH",
                                 request.source));
  }
  std::error_code error;
  const std::string source = fs::absolute(request.source, error).lexically_normal().string();
  if (!fs::is_regular_file(source, error)) throw InputError(request.source + ": no such file");

  const CompileCache cache(cache_request(request, source, toolchain));
  if (std::optional<Compiled> found = cache.find()) return *std::move(found);

  const TemporaryDirectory directory;
  std::string input = source;
  if (!request.instance.empty()) {
    input = (directory.path() / "instance.cu").string();
    write_text(input, wrapper(source, request.instance));
  }
  const ProcessResult result = run_compiler(request, input, directory.path(), toolchain);
  if (result.status != 0) {
    const std::string what = request.instance.empty() ? "" : fmt::format(" with {}", request.instance);
    throw ToolError(fmt::format("{}: nvcc could not compile it{} for sm_{} (exit status {}):", request.source,
                                what, request.sm, result.status),
                    result.output + result.errors);
  }
  Compiled compiled;
  const fs::path cubin = directory.path() / "kernel.cubin";
  if (!fs::is_regular_file(cubin, error)) {
    throw InputError(
        fmt::format("{}: {} wrote no cubin of it; expected NVIDIA's nvcc, and --nvcc without options that "
                    "ask for something else",
                    request.source, toolchain.nvcc->path));
  }
  compiled.cubin = read_file(cubin.string());
  compiled.disassembly = disassemble(compiled.cubin, toolchain);

  std::vector<std::string> dependencies =
      make_dependencies(text_of(read_file((directory.path() / "kernel.d").string())));
  // The wrapper is gone in a moment; what it says is part of the request.
  std::erase(dependencies, input == source ? std::string() : input);
  cache.store(compiled, dependencies,
              lookup_directories(request, source, fs::path(toolchain.nvcc->path).parent_path().string()));
  return compiled;
}

std::string disassemble(const std::vector<std::byte>& cubin, const Toolchain& toolchain,
                        std::span<const std::uint32_t> symbols) {
  if (!toolchain.nvdisasm) {
    throw InputError(
        "no nvdisasm to read the cubin: set FORETRACE_NVDISASM or PATH, or put its disassembly beside it");
  }
  const TemporaryDirectory directory;
  const fs::path file = directory.path() / "kernel.cubin";
  write_text(file, text_of(cubin));
  std::vector<std::string> arguments = {toolchain.nvdisasm->path};
  arguments.insert(arguments.end(), std::begin(kDisassemblerOptions), std::end(kDisassemblerOptions));
  if (!symbols.empty()) {
    arguments.emplace_back("-fun");
    arguments.push_back(fmt::format("{}", fmt::join(symbols, ",")));
  }
  arguments.push_back(file.string());
  ProcessResult result = run_process(arguments);
  if (result.status != 0) {
    throw ToolError(fmt::format("nvdisasm could not read the cubin (exit status {}):", result.status),
                    result.output + result.errors);
  }
  return std::move(result.output);
}

std::vector<std::string> split_options(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      inside = true;
    } else if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      inside = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (inside) words.push_back(std::exchange(word, {}));
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (quote != '\0') throw InputError(fmt::format("the options '{}' hold an open quote", text));
  if (inside) words.push_back(word);
  return words;
}

}  // namespace foretrace::frontend
