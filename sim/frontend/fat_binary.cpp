#include "sim/frontend/fat_binary.h"

#include <elf.h>
#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "model/isa/compatibility.h"
#include "model/units/error.h"

namespace foretrace::frontend {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kContainerMagic = 0xba55ed50;
constexpr std::uint64_t kContainerHeader = 16;
constexpr std::uint64_t kLeastEntryHeader = 64;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // our own bound for one decompressed entry
// What a compressed byte can stand for at most: a length byte of LZ4's, and four bytes that repeat one over a whole zstd block.
constexpr std::uint64_t kMostPerLz4Byte = 255, kMostPerZstdByte = (128 << 10) / 4;

constexpr std::uint16_t kPtx = 1, kElf = 2;
constexpr std::uint64_t kLz4Flag = 0x2000, kZstdFlag = 0x8000;
constexpr std::uint64_t kSpecificFlag = 0x100000, kFamilyFlag = 0x200000;

struct Wrapper {  // __fatBinC_Wrapper_t
  std::uint32_t magic;
  std::uint32_t version;
  const void* data;
  const void*
      prelinked;  ///< version 2: the containers that were linked, null behind the last; version 1: a file's name
};

template <class T>
T value_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  T value{};
  FORETRACE_ASSERT(offset + sizeof value <= bytes.size(), "callers have checked the header's size");
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

FatEntry read_entry(std::span<const std::byte> header, std::span<const std::byte> payload,
                    const std::string& where) {
  FatEntry entry;
  const auto kind = value_at<std::uint16_t>(header, 0);
  entry.kind = kind == kPtx ? EntryKind::ptx : kind == kElf ? EntryKind::elf : EntryKind::other;
  entry.sm = static_cast<int>(value_at<std::uint32_t>(header, 28));
  const auto flags = value_at<std::uint64_t>(header, 40);
  entry.variant = (flags & kSpecificFlag) != 0 ? EntryVariant::specific
                  : (flags & kFamilyFlag) != 0 ? EntryVariant::family
                                               : EntryVariant::plain;
  if ((flags & kLz4Flag) != 0) entry.compression = EntryCompression::lz4;
  if ((flags & kZstdFlag) != 0) entry.compression = EntryCompression::zstd;
  entry.payload = payload;
  entry.size = payload.size();
  const std::uint64_t stored = value_at<std::uint32_t>(header, 16);
  if (entry.compression != EntryCompression::none) {
    entry.size = value_at<std::uint64_t>(header, 56);
    const std::uint64_t most =
        entry.compression == EntryCompression::lz4 ? kMostPerLz4Byte : kMostPerZstdByte;
    if (stored == 0 || stored > payload.size() || entry.size == 0 ||
        entry.size > std::min(kMostBytes, (stored + 8) * most)) {
      throw InputError(
          fmt::format("{}: an entry of the fat binary for {} states {} compressed bytes of {} and {} in all",
                      where, entry_name(entry), stored, payload.size(), entry.size));
    }
    entry.payload = payload.first(stored);
  }
  return entry;
}

int preference(const FatEntry& entry, int sm) {
  if (entry.kind != EntryKind::elf) return -1;
  const isa::Target target = entry.variant == EntryVariant::specific ? isa::Target::specific
                             : entry.variant == EntryVariant::family ? isa::Target::family
                                                                     : isa::Target::plain;
  if (!isa::runs_on(entry.sm, target, sm)) return -1;
  if (target == isa::Target::specific) return 1000;
  return (entry.sm % 10) * 2 + (entry.variant == EntryVariant::family ? 1 : 0);
}

/// Which PTX is the better one; negative: the chip does not take it.
int ptx_preference(const FatEntry& entry, int sm) {
  if (entry.kind != EntryKind::ptx || entry.sm > sm) return -1;
  if (entry.variant == EntryVariant::specific) return entry.sm == sm ? entry.sm * 4 + 2 : -1;
  if (entry.variant == EntryVariant::family) return entry.sm / 10 == sm / 10 ? entry.sm * 4 + 1 : -1;
  return entry.sm * 4;
}

}  // namespace

std::string entry_name(const FatEntry& entry) {
  const char* prefix = entry.kind == EntryKind::ptx   ? "compute_"
                       : entry.kind == EntryKind::elf ? "sm_"
                                                      : "lto_";
  const char* suffix = entry.variant == EntryVariant::specific ? "a"
                       : entry.variant == EntryVariant::family ? "f"
                                                               : "";
  return fmt::format("{}{}{}", prefix, entry.sm, suffix);
}

std::vector<FatEntry> read_fat_binary(std::span<const std::byte> container, const std::string& where) {
  if (container.size() < kContainerHeader || value_at<std::uint32_t>(container, 0) != kContainerMagic) {
    throw InputError(where + ": no fat binary: its magic number is missing");
  }
  const std::uint64_t start = value_at<std::uint16_t>(container, 6);
  const auto bytes = value_at<std::uint64_t>(container, 8);
  if (start < kContainerHeader || start > container.size() || bytes > container.size() - start) {
    throw InputError(fmt::format("{}: a fat binary of {} bytes after a header of {}, but only {} are there",
                                 where, bytes, start, container.size()));
  }
  std::vector<FatEntry> entries;
  const auto body = container.subspan(start, bytes);
  for (std::uint64_t at = 0; at < body.size();) {
    const std::uint64_t left = body.size() - at;
    const std::uint64_t header = left < kLeastEntryHeader ? 0 : value_at<std::uint32_t>(body, at + 4);
    const std::uint64_t payload = left < kLeastEntryHeader ? 0 : value_at<std::uint64_t>(body, at + 8);
    if (header < kLeastEntryHeader || header > left || payload > left - header) {
      throw InputError(
          fmt::format("{}: the entry at byte {} of the fat binary runs over its end", where, start + at));
    }
    entries.push_back(read_entry(body.subspan(at, header), body.subspan(at + header, payload), where));
    at += header + payload;
  }
  return entries;
}

std::vector<std::byte> entry_contents(const FatEntry& entry, const std::string& where) {
  if (entry.compression == EntryCompression::none) return {entry.payload.begin(), entry.payload.end()};
  std::vector<std::byte> out(entry.size);
  std::uint64_t made = 0;
  if (entry.compression == EntryCompression::zstd) {
    const std::size_t result =
        ZSTD_decompress(out.data(), out.size(), entry.payload.data(), entry.payload.size());
    if (ZSTD_isError(result) == 0) made = result;
  } else {
    const int result = LZ4_decompress_safe(
        reinterpret_cast<const char*>(entry.payload.data()), reinterpret_cast<char*>(out.data()),
        static_cast<int>(entry.payload.size()), static_cast<int>(out.size()));
    if (result > 0) made = static_cast<std::uint64_t>(result);
  }
  if (made != entry.size) {
    throw InputError(
        fmt::format("{}: the {} entry of the fat binary is damaged: {} bytes came out of it, expected {}",
                    where, entry_name(entry), made, entry.size));
  }
  return out;
}

std::span<const void* const> linked_containers(const void* wrapper) {
  Wrapper head{};
  std::memcpy(&head.magic, wrapper, sizeof head.magic);
  if (head.magic != kWrapperMagic) return {};
  std::memcpy(&head, wrapper, sizeof head);
  if (head.version != 2 || head.prelinked == nullptr) return {};
  const auto* first = static_cast<const void* const*>(head.prelinked);
  std::size_t count = 0;
  while (first[count] != nullptr) ++count;
  return {first, count};
}

std::span<const std::byte> fat_binary_in_memory(const void* address, const std::string& where) {
  std::uint32_t magic = 0;
  if (address != nullptr) std::memcpy(&magic, address, sizeof magic);
  if (magic == kWrapperMagic) {
    Wrapper wrapper{};
    std::memcpy(&wrapper, address, sizeof wrapper);
    if (wrapper.version != 1 && wrapper.version != 2) {
      throw InputError(
          fmt::format("{}: a fat binary's wrapper of version {}, expected 1 or 2", where, wrapper.version));
    }
    address = wrapper.data;
    magic = 0;
    if (address != nullptr) std::memcpy(&magic, address, sizeof magic);
  }
  if (magic != kContainerMagic) {
    throw InputError(fmt::format("{}: no fat binary: magic number {:08x}, expected {:08x}", where, magic,
                                 kContainerMagic));
  }
  const std::span<const std::byte> header(static_cast<const std::byte*>(address), kContainerHeader);
  return {header.data(), value_at<std::uint16_t>(header, 6) + value_at<std::uint64_t>(header, 8)};
}

std::span<const std::byte> elf_in_memory(const void* address, const std::string& where) {
  const auto* start = static_cast<const std::byte*>(address);
  Elf64_Ehdr header;
  if (address != nullptr) std::memcpy(&header, address, sizeof header);
  if (address == nullptr || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr)) {
    throw InputError(where + ": no ELF-64 file in memory");
  }
  std::uint64_t end =
      std::max<std::uint64_t>(header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize,
                              header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize);
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, start + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS)
      end = std::max<std::uint64_t>(end, section.sh_offset + section.sh_size);
  }
  if (end > kMostBytes) throw InputError(fmt::format("{}: an ELF file of {} bytes in memory", where, end));
  return {start, end};
}

const FatEntry* best_entry(const std::vector<FatEntry>& entries, int sm) {
  const FatEntry* best = nullptr;
  for (const FatEntry& entry : entries) {
    const int wanted = preference(entry, sm);
    if (wanted >= 0 && (best == nullptr || wanted > preference(*best, sm))) best = &entry;
  }
  return best;
}

const FatEntry* best_ptx(const std::vector<FatEntry>& entries, int sm) {
  const FatEntry* best = nullptr;
  for (const FatEntry& entry : entries) {
    const int wanted = ptx_preference(entry, sm);
    if (wanted >= 0 && (best == nullptr || wanted > ptx_preference(*best, sm))) best = &entry;
  }
  return best;
}

bool is_fat_binary(const void* address) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, address, sizeof magic);
  return magic == kWrapperMagic || magic == kContainerMagic;
}

std::string missing_code_message(const std::vector<FatEntry>& entries, int sm) {
  std::vector<std::string> names;
  for (const FatEntry& entry : entries) {
    std::string name = entry_name(entry);
    if (entry.kind == EntryKind::ptx) name = "PTX for " + name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return fmt::format(
      "no machine code for sm_{}: the program has {}; compile it with nvcc -gencode "
      "arch=compute_{},code=sm_{}",
      sm, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")), sm, sm);
}

}  // namespace foretrace::frontend
