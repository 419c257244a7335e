// An ELF file in memory as plain tables: sections, symbols, relocations. The only file that speaks libelf is elf_file.cpp.
//
// Source: the ELF-64 format, as elfutils' libelf reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace foretrace::frontend {

struct ElfSection {
  std::string name;
  std::uint32_t type = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t size = 0;            ///< bytes, also of sections that have none in the file
  std::uint64_t alignment = 1;       ///< bytes
  std::span<const std::byte> bytes;  ///< empty for NOBITS
};

struct ElfSymbol {
  std::string name;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  std::uint16_t section = 0;  ///< index into ElfFile::sections; 0: defined elsewhere
  std::uint8_t type = 0;      ///< STT_*
  std::uint8_t other = 0;     ///< st_other
};

struct ElfRelocation {
  std::uint64_t offset = 0;  ///< in the section that is patched
  std::uint32_t type = 0;
  std::uint32_t symbol = 0;  ///< index into ElfFile::symbols
  std::int64_t addend = 0;
  bool addend_in_place = false;  ///< REL: the addend is what the section holds at `offset`
};

struct ElfFile {
  std::uint16_t machine = 0;
  std::uint16_t type = 0;
  std::uint32_t flags = 0;
  std::uint8_t os_abi = 0;
  std::uint8_t abi_version = 0;
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;

  const ElfSection* find(const std::string& name) const;
  /// Relocations that patch section `index`.
  std::vector<ElfRelocation> relocations_of(std::size_t index) const;
};

/// Reads `bytes`, which must outlive the result. Throws InputError, beginning with `where`, when they are no ELF-64 file.
ElfFile read_elf(std::span<const std::byte> bytes, const std::string& where);

}  // namespace foretrace::frontend
