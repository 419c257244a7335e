#include "sim/frontend/link.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>

#include "model/units/error.h"

namespace foretrace::frontend {
namespace {

constexpr std::uint32_t kLow32 = 0x38, kHigh32 = 0x39;  // R_CUDA_ABS32_LO_32, R_CUDA_ABS32_HI_32
constexpr std::uint32_t kTarget47 = 0x3a;               // R_CUDA_ABS47_34
constexpr std::uint32_t kTarget55 = 0x4b;               // R_CUDA_ABS55_16_34
constexpr std::uint32_t kDescriptorLow32 = 0x3e,
                        kDescriptorHigh32 = 0x3f;  // R_CUDA_FUNC_DESC32_LO_32, _HI_32

/// Bits [at, at + width) of an instruction.
struct Field {
  unsigned at, width;
};
constexpr Field kHalf{32, 32}, kTarget{34, 47}, kTargetLow{16, 8};

class Word {
 public:
  explicit Word(std::byte* place) : place_(place) { std::memcpy(halves_, place, sizeof halves_); }
  ~Word() { std::memcpy(place_, halves_, sizeof halves_); }
  Word(const Word&) = delete;
  Word& operator=(const Word&) = delete;

  std::uint64_t get(Field field) const {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < field.width; ++i)
      value |= (halves_[(field.at + i) / 64] >> (field.at + i) % 64 & 1) << i;
    return value;
  }
  void set(Field field, std::uint64_t value) {
    for (unsigned i = 0; i < field.width; ++i) {
      std::uint64_t& half = halves_[(field.at + i) / 64];
      const unsigned bit = (field.at + i) % 64;
      half = (half & ~(std::uint64_t{1} << bit)) | (value >> i & 1) << bit;
    }
  }

 private:
  std::byte* place_;
  std::uint64_t halves_[2];
};

void fill_in(const CodeRelocation& relocation, std::uint64_t address, std::byte* instruction) {
  Word word(instruction);
  switch (relocation.type) {
    case kLow32:
    case kDescriptorLow32:
      word.set(kHalf, address + word.get(kHalf));
      break;  // what stands there is the addend where no table has one
    case kHigh32:
    case kDescriptorHigh32: word.set(kHalf, address >> 32); break;
    case kTarget47: word.set(kTarget, address >> 2); break;
    case kTarget55:
      word.set(kTargetLow, address >> 2);
      word.set(kTarget, address >> 10);
      break;
    default:
      throw InputError(fmt::format("relocation type {} of '{}' in the code is not supported", relocation.type,
                                   relocation.symbol));
  }
}

/// nvdisasm prints a symbol where a relocation stands; without it, the number that is there.
void forget_relocations(std::vector<std::byte>& file) {
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  const auto section_at = [&](std::uint64_t index) {
    Elf64_Shdr section;
    std::memcpy(&section, file.data() + header.e_shoff + index * sizeof section, sizeof section);
    return section;
  };
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section = section_at(i);
    if (section.sh_type != SHT_REL && section.sh_type != SHT_RELA) continue;
    if (section.sh_info >= header.e_shnum || (section_at(section.sh_info).sh_flags & SHF_EXECINSTR) == 0)
      continue;
    section.sh_type = SHT_NULL;
    std::memcpy(file.data() + header.e_shoff + i * sizeof section, &section, sizeof section);
  }
}

}  // namespace

std::vector<std::byte> link_code(std::span<const std::byte> file, Cubin& cubin,
                                 const std::function<std::uint64_t(const CodeRelocation&)>& address_of) {
  std::vector<std::byte> linked(file.begin(), file.end());
  for (const CodeRelocation& relocation : cubin.relocations) {
    FORETRACE_ASSERT(relocation.in_file + kInstructionBytes <= linked.size(),
                     "read_cubin has compared it with its section");
    fill_in(relocation, address_of(relocation), linked.data() + relocation.in_file);
  }
  forget_relocations(linked);
  for (KernelImage& kernel : cubin.kernels) {
    if (kernel.parts.empty()) continue;
    const CodePart& last = kernel.parts.back();
    kernel.text.assign(last.offset + last.bytes, std::byte{0});
    for (const CodePart& part : kernel.parts)
      std::memcpy(kernel.text.data() + part.offset, linked.data() + part.in_file, part.bytes);
    kernel.program.code_sha256 = sha256_hex(kernel.text);
  }
  return linked;
}

}  // namespace foretrace::frontend
