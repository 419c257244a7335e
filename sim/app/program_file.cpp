#include "sim/app/program_file.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "sim/report/json.h"

namespace foretrace::app {

namespace {

template <class T>
std::optional<T> at(std::string_view file, std::uint64_t offset) {
  if (offset > file.size() || sizeof(T) > file.size() - offset) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

std::string text_at(std::string_view file, std::uint64_t offset) {
  if (offset >= file.size()) return {};
  const auto end = file.find('\0', offset);
  return std::string(
      file.substr(offset, end == std::string_view::npos ? std::string_view::npos : end - offset));
}

}  // namespace

ProgramFile read_program_file(const std::string& path) {
  ProgramFile result;
  const std::string file = report::read_file(path);
  const auto header = at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64)
    return result;
  result.is_elf = true;
  result.has_static_runtime = file.find("cuGetExportTable") != std::string::npos;
  const auto section = [&](std::uint64_t index) {
    return at<Elf64_Shdr>(file, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto names = section(header->e_shstrndx);
  for (std::uint64_t i = 0; names && i < header->e_shnum; ++i) {
    const auto here = section(i);
    if (!here) break;
    if (text_at(file, names->sh_offset + here->sh_name) == ".nv_fatbin") result.has_device_code = true;
    if (here->sh_type != SHT_DYNAMIC) continue;
    const auto strings = section(here->sh_link);
    for (std::uint64_t offset = 0; strings && offset + sizeof(Elf64_Dyn) <= here->sh_size;
         offset += sizeof(Elf64_Dyn)) {
      const auto entry = at<Elf64_Dyn>(file, here->sh_offset + offset);
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_NEEDED)
        result.needed.push_back(text_at(file, strings->sh_offset + entry->d_un.d_val));
    }
  }
  return result;
}

}  // namespace foretrace::app
