#include "sim/frontend/link_objects.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/frontend/cache.h"
#include "sim/frontend/cubin.h"
#include "sim/frontend/fat_binary.h"
#include "sim/frontend/process.h"
#include "sim/frontend/ptx.h"

namespace foretrace::frontend {

namespace fs = std::filesystem;

std::vector<std::byte> link_objects(const std::vector<LinkPiece>& pieces, int sm,
                                    const Toolchain& toolchain) {
  if (!toolchain.ptxas)
    throw InputError("no ptxas, and no nvlink beside it, to link the program's code with");
  std::string key = fmt::format("{}\nsm_{}", toolchain.ptxas->version, sm);
  for (const LinkPiece& piece : pieces) key += '\n' + sha256_hex(piece.code) + piece.suffix;
  const std::string name = sha256_hex(std::as_bytes(std::span(key))) + ".linked.cubin";
  if (auto found = cached(name)) return *std::move(found);

  const fs::path nvlink = fs::path(toolchain.ptxas->path).parent_path() / "nvlink";
  const TemporaryDirectory directory;
  const std::string out = (directory.path() / "linked.cubin").string();
  std::vector<std::string> words = {nvlink.string(), fmt::format("-arch=sm_{}", sm), "-o", out};
  for (const LinkPiece& piece : pieces) {
    words.push_back((directory.path() / fmt::format("{}.{}", words.size(), piece.suffix)).string());
    std::ofstream(words.back(), std::ios::binary)
        .write(reinterpret_cast<const char*>(piece.code.data()),
               static_cast<std::streamsize>(piece.code.size()));
  }
  const ProcessResult done = run_process(words);
  if (done.status != 0) throw ToolError("nvlink does not link the program's code", done.output + done.errors);
  std::vector<std::byte> cubin = read_file(out);
  cache(name, cubin);
  return cubin;
}

std::vector<std::byte> link_fat_binaries(std::span<const void* const> containers, int sm,
                                         const std::vector<std::string>& ptxas, const Toolchain& toolchain,
                                         const std::string& where) {
  std::vector<LinkPiece> pieces;
  for (const void* container : containers) {
    const std::vector<FatEntry> entries = read_fat_binary(fat_binary_in_memory(container, where), where);
    if (const FatEntry* code = best_entry(entries, sm)) {
      pieces.push_back({entry_contents(*code, where), "cubin"});
      continue;
    }
    const FatEntry* source = best_ptx(entries, sm);
    if (source == nullptr) throw InputError(fmt::format("{}: {}", where, missing_code_message(entries, sm)));
    const std::vector<std::byte> bytes = entry_contents(*source, where);
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text.resize(std::min(text.size(), text.find('\0')));
    pieces.push_back({compile_ptx({std::move(text), sm, ptxas, true}, toolchain), "cubin"});
  }
  return link_objects(pieces, sm, toolchain);
}

}  // namespace foretrace::frontend
