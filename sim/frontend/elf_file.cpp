#include "sim/frontend/elf_file.h"

#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <memory>

#include "model/units/error.h"

namespace foretrace::frontend {
namespace {

struct CloseElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

[[noreturn]] void damaged(const std::string& where, const char* what) {
  const char* reason = elf_errmsg(-1);
  throw InputError(fmt::format("{}: the ELF file is damaged: {} cannot be read ({})", where, what,
                               reason != nullptr ? reason : "no reason given"));
}

std::vector<ElfSection> read_sections(Elf* elf, std::size_t file_bytes, const std::string& where) {
  std::size_t count = 0, names = 0;
  if (elf_getshdrnum(elf, &count) != 0 || elf_getshdrstrndx(elf, &names) != 0)
    damaged(where, "the section table");
  if (count > file_bytes / sizeof(Elf64_Shdr)) damaged(where, "the section table");
  std::vector<ElfSection> sections(count);
  for (std::size_t i = 1; i < count; ++i) {
    Elf_Scn* section = elf_getscn(elf, i);
    GElf_Shdr header;
    if (section == nullptr || gelf_getshdr(section, &header) == nullptr) damaged(where, "a section header");
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr) damaged(where, "a section name");
    ElfSection& out = sections[i];
    out.name = name;
    out.type = header.sh_type;
    out.link = header.sh_link;
    out.info = header.sh_info;
    out.size = header.sh_size;
    out.alignment = header.sh_addralign == 0 ? 1 : header.sh_addralign;
    if (header.sh_type == SHT_NOBITS) continue;
    // Raw: the types are NVIDIA's own, which libelf must not translate.
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr) damaged(where, "a section");
    if (data->d_buf != nullptr) out.bytes = {static_cast<const std::byte*>(data->d_buf), data->d_size};
  }
  return sections;
}

std::vector<ElfSymbol> read_symbols(Elf* elf, const std::string& where) {
  std::vector<ElfSymbol> symbols;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) damaged(where, "a section header");
    if (header.sh_type != SHT_SYMTAB) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || header.sh_entsize == 0) damaged(where, "the symbol table");
    const std::size_t count = header.sh_size / header.sh_entsize;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) damaged(where, "a symbol");
      const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
      ElfSymbol out;
      out.name = name != nullptr ? name : "";
      out.value = symbol.st_value;
      out.size = symbol.st_size;
      out.section = symbol.st_shndx;
      out.type = GELF_ST_TYPE(symbol.st_info);
      out.other = symbol.st_other;
      symbols.push_back(std::move(out));
    }
    break;  // an ELF file has one
  }
  return symbols;
}

template <typename T>
T field(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::copy_n(bytes.data() + offset, sizeof value, reinterpret_cast<std::byte*>(&value));
  return value;
}

}  // namespace

const ElfSection* ElfFile::find(const std::string& name) const {
  for (const ElfSection& section : sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

std::vector<ElfRelocation> ElfFile::relocations_of(std::size_t index) const {
  std::vector<ElfRelocation> out;
  for (const ElfSection& section : sections) {
    if ((section.type != SHT_REL && section.type != SHT_RELA) || section.info != index) continue;
    const std::size_t entry = section.type == SHT_RELA ? 24 : 16;
    for (std::size_t at = 0; at + entry <= section.bytes.size(); at += entry) {
      ElfRelocation relocation;
      relocation.offset = field<std::uint64_t>(section.bytes, at);
      const auto info = field<std::uint64_t>(section.bytes, at + 8);
      relocation.symbol = static_cast<std::uint32_t>(info >> 32);
      relocation.type = static_cast<std::uint32_t>(info);
      relocation.addend_in_place = section.type == SHT_REL;
      if (section.type == SHT_RELA) relocation.addend = field<std::int64_t>(section.bytes, at + 16);
      out.push_back(relocation);
    }
  }
  return out;
}

ElfFile read_elf(std::span<const std::byte> bytes, const std::string& where) {
  if (elf_version(EV_CURRENT) == EV_NONE)
    throw InputError(where + ": this libelf is too old to read ELF files");
  // libelf wants a writable pointer and does not write: the file was opened for reading from memory.
  char* image = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
  const std::unique_ptr<Elf, CloseElf> elf(elf_memory(image, bytes.size()));
  GElf_Ehdr header;
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF || gelf_getclass(elf.get()) != ELFCLASS64 ||
      gelf_getehdr(elf.get(), &header) == nullptr) {
    throw InputError(where + ": no cubin: expected an ELF-64 file of GPU code, as nvcc -cubin writes it");
  }
  ElfFile file;
  file.machine = header.e_machine;
  file.type = header.e_type;
  file.flags = header.e_flags;
  file.os_abi = header.e_ident[EI_OSABI];
  file.abi_version = header.e_ident[EI_ABIVERSION];
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > bytes.size() ||
      std::uint64_t{header.e_shnum} * header.e_shentsize > bytes.size() - header.e_shoff) {
    throw InputError(where + ": the ELF file is cut short: its section table lies beyond its end");
  }
  file.sections = read_sections(elf.get(), bytes.size(), where);
  file.symbols = read_symbols(elf.get(), where);
  return file;
}

}  // namespace foretrace::frontend
