#include "sim/frontend/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>

#include "model/units/error.h"
#include "sim/frontend/compile.h"
#include "sim/frontend/cubin.h"
#include "sim/frontend/disassembly.h"
#include "sim/frontend/names.h"

namespace foretrace::frontend {
namespace {

namespace fs = std::filesystem;

bool is_source(const std::string& file) {
  const std::string extension = fs::path(file).extension().string();
  return extension == ".cu" || extension == ".cuh";
}

/// A cubin with the text of its code.
struct Input {
  Cubin cubin;
  std::string disassembly;       ///< empty: to be made of `bytes`, for the kernels that are wanted
  std::string disassembly_name;  ///< for errors
  std::vector<std::byte> bytes;
};

std::vector<std::string> symbols_of(const Cubin& cubin) {
  std::vector<std::string> symbols;
  for (const KernelImage& kernel : cubin.kernels) symbols.push_back(kernel.program.mangled);
  return symbols;
}

Input read_source(const LoadRequest& request, const std::string& instance, const Toolchain& toolchain) {
  if (request.sm == 0) throw InputError(request.file + ": a source needs an architecture");
  const Compiled compiled =
      compile({request.file, request.sm, request.defines, request.options, instance}, toolchain);
  return {read_cubin(compiled.cubin, request.file, request.sm), compiled.disassembly, request.file, {}};
}

Input read_binary(const LoadRequest& request, const Toolchain& toolchain) {
  if (!request.defines.empty() || !request.options.empty()) {
    throw InputError(request.file + ": options for nvcc are of use with CUDA source only");
  }
  std::vector<std::byte> bytes = read_file(request.file);
  Input input{read_cubin(bytes, request.file, request.sm), "", request.file, {}};
  const std::string beside = request.file + ".sass";
  std::error_code error;
  if (toolchain.nvdisasm || !fs::is_regular_file(beside, error)) {
    input.bytes = std::move(bytes);
  } else {
    input.disassembly = text_of(read_file(beside));
    input.disassembly_name = beside;
  }
  return input;
}

/// Whether the source declares a kernel of this name: a template, where the machine code has none.
bool declares(const std::string& file, const std::string& kernel) {
  const std::string text = text_of(read_file(file));
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find("__global__"); at != std::string::npos;
       at = text.find("__global__", at + 1)) {
    const std::size_t end = text.find_first_of(";{", at), name = text.find(kernel, at);
    if (name >= end || in_word(text[name - 1])) continue;
    const std::size_t after = text.find_first_not_of(" \n", name + kernel.size());
    if (after != std::string::npos && text[after] == '(') return true;
  }
  return false;
}

std::vector<std::size_t> chosen(const LoadRequest& request, const Input& input) {
  const std::vector<std::string> symbols = symbols_of(input.cubin);
  const auto named = [&](const std::string& symbol) {
    const std::string name = source_name(symbol);
    return name == request.kernel || name.starts_with(request.kernel + '<');
  };
  const bool is_bare =
      !request.regex && !request.kernel.empty() && request.kernel.find('<') == std::string::npos;
  if (is_bare && is_source(request.file) && std::none_of(symbols.begin(), symbols.end(), named) &&
      declares(request.file, request.kernel)) {
    throw InputError(fmt::format(
        "{0}: kernel '{1}' has no machine code of its own; of a template, expected an instance: '{1}<32>'",
        request.file, request.kernel));
  }
  if (request.kernel.empty() && !request.regex && symbols.size() == 1) return {0};
  if (request.kernel.empty() && !symbols.empty()) {
    std::string names;
    for (const std::string& symbol : symbols) names += (names.empty() ? "" : ", ") + source_name(symbol);
    throw InputError(fmt::format("{}: which kernel? It has {}", request.file, names));
  }
  return match_kernels(symbols, request.kernel, request.regex, request.file);
}

/// nvdisasm's text of these kernels, or of all where one of them has no symbol to ask by.
std::string disassembly_of(const Input& input, const std::vector<std::size_t>& indices,
                           const Toolchain& toolchain) {
  std::set<std::uint32_t> symbols;
  for (const std::size_t index : indices) {
    const std::vector<std::uint32_t>& own = input.cubin.kernels[index].symbols;
    if (own.empty()) return disassemble(input.bytes, toolchain);
    symbols.insert(own.begin(), own.end());
  }
  return disassemble(input.bytes, toolchain, std::vector<std::uint32_t>(symbols.begin(), symbols.end()));
}

std::vector<LoadedKernel> decode(const Input& input, const std::vector<std::size_t>& indices,
                                 const Toolchain& toolchain) {
  const std::string made = input.bytes.empty() ? std::string() : disassembly_of(input, indices, toolchain);
  const std::string& text = input.bytes.empty() ? input.disassembly : made;
  std::vector<LoadedKernel> kernels;
  for (const std::size_t index : indices) {
    const KernelImage& image = input.cubin.kernels[index];
    LoadedKernel kernel;
    kernel.program = decode_kernel(image, text, input.disassembly_name);
    kernel.constant0_bytes = image.constant0_bytes;
    kernel.constant2 = image.constant2;
    kernel.module = input.cubin.module;
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

/// Makes the template instance that is asked for. Two cases need the source as it is as well: the compiler does not
/// take the name as an expression (a demangled spelling), so the source itself must hold the instance; or the instance
/// goes by another name (an enumerator, an alias), so it is the one kernel that is new.
std::vector<LoadedKernel> load_instance(const LoadRequest& request, const Toolchain& toolchain) {
  std::optional<Input> made;
  std::optional<ToolError> refused;
  try {
    made = read_source(request, request.kernel, toolchain);
    return decode(*made, chosen(request, *made), toolchain);
  } catch (const ToolError& error) { refused = error; } catch (const InputError&) {
    if (!made) throw;
  }
  const Input plain = read_source(request, "", toolchain);
  if (refused) {
    try {
      return decode(plain, chosen(request, plain), toolchain);
    } catch (const InputError&) { throw *refused; }
  }
  const std::vector<std::string> before = symbols_of(plain.cubin);
  std::vector<std::size_t> added;
  for (std::size_t i = 0; i < made->cubin.kernels.size(); ++i) {
    const std::string& symbol = made->cubin.kernels[i].program.mangled;
    if (std::find(before.begin(), before.end(), symbol) == before.end()) added.push_back(i);
  }
  return decode(*made, added.size() == 1 ? added : chosen(request, *made), toolchain);
}

}  // namespace

std::vector<LoadedKernel> load_kernels(const LoadRequest& request, const Toolchain& toolchain) {
  if (!is_source(request.file)) {
    const Input input = read_binary(request, toolchain);
    return decode(input, chosen(request, input), toolchain);
  }
  const bool instance = !request.regex && request.kernel.find('<') != std::string::npos;
  if (instance) return load_instance(request, toolchain);
  const Input input = read_source(request, "", toolchain);
  return decode(input, chosen(request, input), toolchain);
}

std::vector<std::string> list_kernels(const LoadRequest& request, const Toolchain& toolchain) {
  std::vector<std::string> names;
  const Cubin cubin = is_source(request.file) ? read_source(request, "", toolchain).cubin
                                              : read_cubin(read_file(request.file), request.file, request.sm);
  for (const std::string& symbol : symbols_of(cubin)) names.push_back(source_name(symbol));
  return names;
}

}  // namespace foretrace::frontend
