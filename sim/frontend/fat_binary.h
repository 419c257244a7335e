// A fat binary: what nvcc puts into a program for every architecture it was asked for.
//
// Models:  the wrapper that a program registers (versions 1 and 2), the container behind it and its entries: machine code (ELF)
//          and PTX, as they are, LZ4 or zstd compressed; which entry a chip takes.
// Ignores: the options that an entry repeats from nvcc's command line, names of sources.
// Source:  fatbinary_section.h of the CUDA Toolkit for the wrapper; the entries' layout from our own programs of nvcc 13.0 with
//          --compress-mode=none|size|speed|balance, read byte by byte. Compatibility: the CUDA C++ Programming Guide, "Binary
//          Compatibility" (same major, equal or higher minor revision; an architecture-specific "a" only its own; a family's "f" the
//          rest of the family).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace foretrace::frontend {

enum class EntryKind : std::uint8_t {
  ptx,
  elf,   ///< machine code
  other  ///< intermediate code of link-time optimisation and the like
};

enum class EntryVariant : std::uint8_t { plain, family, specific };  ///< sm_90, sm_120f, sm_90a

enum class EntryCompression : std::uint8_t { none, lz4, zstd };

/// One entry of a fat binary. Its bytes belong to the container.
struct FatEntry {
  EntryKind kind = EntryKind::other;
  EntryVariant variant = EntryVariant::plain;
  EntryCompression compression = EntryCompression::none;
  int sm = 0;                          ///< 80, 90, 120
  std::span<const std::byte> payload;  ///< as stored
  std::uint64_t size = 0;              ///< bytes when it is decompressed
};

/// "sm_90a", "compute_90", "lto_90".
std::string entry_name(const FatEntry& entry);

/// The entries of a container (it begins with the magic number ba55ed50). `where` names it in errors.
/// Throws InputError: no container, an entry that runs over its end, a compression that is not known.
std::vector<FatEntry> read_fat_binary(std::span<const std::byte> container, const std::string& where);

/// The entry's bytes, decompressed. Throws InputError when they are damaged.
std::vector<std::byte> entry_contents(const FatEntry& entry, const std::string& where);

/// The container's bytes that a program's memory holds from `address` on: its own header says how many. `address` may be that of
/// the wrapper or of the container. Throws InputError when neither magic number stands there.
std::span<const std::byte> fat_binary_in_memory(const void* address, const std::string& where);

/// The containers of relocatable code from which the program's code was linked: what the wrapper of a program built with -rdc=true
/// points to. Empty: there are none.
std::span<const void* const> linked_containers(const void* wrapper);

/// A whole ELF file that a program's memory holds from `address` on: as long as its header and tables say. Throws InputError.
std::span<const std::byte> elf_in_memory(const void* address, const std::string& where);

/// The machine code that a chip of `sm` runs: of its own revision's "a", "f" or plain entries in this order, else that of the
/// highest lower revision of the same major number. Null: there is none.
const FatEntry* best_entry(const std::vector<FatEntry>& entries, int sm);

/// The PTX that is compiled for a chip that has no machine code: the highest that it takes. Null: there is none.
const FatEntry* best_ptx(const std::vector<FatEntry>& entries, int sm);

/// Whether the magic number of a wrapper or of a container stands there.
bool is_fat_binary(const void* address);

/// One line for a program that holds no code for the chip: what it holds, and the option of nvcc that adds it.
std::string missing_code_message(const std::vector<FatEntry>& entries, int sm);

}  // namespace foretrace::frontend
