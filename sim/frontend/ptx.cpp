#include "sim/frontend/ptx.h"

#include <charconv>
#include <fstream>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/frontend/cache.h"
#include "sim/frontend/cubin.h"
#include "sim/frontend/process.h"

namespace foretrace::frontend {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

/// `text` from its first character on that is neither blank nor comment.
std::string_view after_comments(std::string_view text) {
  while (true) {
    const auto start = text.find_first_not_of(kBlanks);
    if (start == std::string_view::npos) return {};
    text.remove_prefix(start);
    std::size_t end = 0;
    if (text.substr(0, 2) == "//") {
      end = text.find('\n');
    } else if (text.substr(0, 2) == "/*") {
      end = text.find("*/");
      if (end != std::string_view::npos) end += 2;
    } else {
      return text;
    }
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end);
  }
}

std::string arch_of(const PtxRequest& request) {
  return fmt::format("sm_{}{}", request.sm, ptx_head(request.text).suffix);
}

/// Throws PtxVersionError when this ptxas does not know the version of the PTX.
std::vector<std::byte> compile_with(const Tool& ptxas, const PtxRequest& request) {
  std::vector<std::string> words = {ptxas.path, "-arch=" + arch_of(request), "-lineinfo"};
  if (request.relocatable) words.emplace_back("-c");
  words.insert(words.end(), request.options.begin(), request.options.end());
  std::string key = ptxas.version;
  for (std::size_t i = 1; i < words.size(); ++i) key += '\n' + words[i];
  key += '\n' + request.text;
  const std::string name = sha256_hex(std::as_bytes(std::span(key))) + ".ptx.cubin";
  if (auto found = cached(name)) return *std::move(found);

  const TemporaryDirectory directory;
  const std::string source = (directory.path() / "program.ptx").string();
  const std::string result = (directory.path() / "program.cubin").string();
  std::ofstream(source, std::ios::binary) << request.text;
  words.insert(words.end(), {"-o", result, source});
  const ProcessResult done = run_process(words);
  if (done.status != 0) {
    const std::string said = done.output + done.errors;
    if (said.find("Unsupported .version") != std::string::npos) {
      throw PtxVersionError(
          fmt::format("the program's PTX is newer than ptxas {} knows; FORETRACE_PTXAS can name a newer one, "
                      "and one that is "
                      "installed beside the program's packages is found (pip install nvidia-cuda-nvcc)",
                      ptxas.version),
          said);
    }
    throw ToolError(fmt::format("ptxas does not compile the program's PTX for {}", arch_of(request)), said);
  }
  std::vector<std::byte> cubin = read_file(result);
  cache(name, cubin);
  return cubin;
}

}  // namespace

bool is_ptx(std::string_view text) { return after_comments(text).substr(0, 8) == ".version"; }

PtxHead ptx_head(std::string_view text) {
  PtxHead head;
  head.has_version = is_ptx(text);
  // A comment that holds the word stands after the directive in all that compilers write.
  const auto target = text.find(".target");
  const auto name = target == std::string_view::npos ? target : text.find("sm_", target);
  if (name == std::string_view::npos) return head;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + name + 3, end, head.sm);
  if (error == std::errc{} && stop != end && (*stop == 'a' || *stop == 'f')) head.suffix = *stop;
  return head;
}

bool ptx_runs_on(const PtxHead& head, int sm) {
  if (head.suffix == "a") return head.sm == sm;
  if (head.suffix == "f") return head.sm / 10 == sm / 10 && head.sm <= sm;
  return head.sm <= sm;
}

std::vector<std::byte> compile_ptx(const PtxRequest& request, const Toolchain& toolchain) {
  if (!toolchain.ptxas) {
    throw InputError(
        "the program has PTX, and no ptxas is there to compile it: scripts/setup installs it, or "
        "FORETRACE_PTXAS or PATH names one");
  }
  try {
    return compile_with(*toolchain.ptxas, request);
  } catch (const PtxVersionError&) {
    const std::optional<Tool> newer = newer_ptxas(*toolchain.ptxas);
    if (!newer) throw;
    return compile_with(*newer, request);
  }
}

}  // namespace foretrace::frontend
