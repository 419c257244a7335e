#include "sim/frontend/cubin.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <regex>
#include <string_view>

#include "model/config/sha256.h"
#include "model/isa/compatibility.h"
#include "model/units/error.h"
#include "sim/frontend/attributes.h"
#include "sim/frontend/device_runtime.h"
#include "sim/frontend/elf_file.h"
#include "sim/frontend/names.h"

namespace foretrace::frontend {
namespace {

constexpr std::uint16_t kMachineCuda = 190;
constexpr std::uint8_t kAbiCuda12 = 7, kAbiCuda13 = 8;
constexpr std::uint8_t kEntryPoint = 0x10;       // st_other of a kernel
constexpr std::uint32_t kReservedShared = 1024;  // bytes of each block's window that sm_90 and later keep
constexpr std::uint32_t kAddress64 = 2;          // R_CUDA_64
constexpr std::uint32_t kGenericAddress64 = 4;   // what initialised __device__ pointers carry
constexpr std::uint64_t kMostGlobalBytes = std::uint64_t{1} << 30;  // our own bound: they are kept in memory
constexpr std::uint64_t kMostAlignment = std::uint64_t{1} << 20;
constexpr std::uint32_t kUnboundedStack = 0xffffffff;  // what nvlink states of a kernel with recursion
constexpr std::uint64_t kSectionAlignment = 128;
constexpr std::uint64_t kMostCode = std::uint64_t{1} << 28;  // our own bound: a kernel and all functions
constexpr std::string_view kText = ".text.";

/// The architecture in the ELF head's flags.
int sm_of(std::uint8_t abi_version, std::uint32_t flags) {
  return static_cast<int>((abi_version == kAbiCuda12 ? flags : flags >> 8) & 0xff);
}

class CubinReader {
 public:
  CubinReader(const ElfFile& elf, std::span<const std::byte> file, std::string where, Relocations relocations)
      : elf_(elf), file_(file), where_(std::move(where)), keep_(relocations == Relocations::keep) {}

  Cubin read(int expected_sm) {
    check_header(expected_sm);
    module_->path = where_;
    module_->toolkit = toolkit();
    read_images();
    read_variables();
    place_functions();
    read_pointers();
    if (const ElfSection* info = elf_.find(".nv.info"))
      attributes_ = read_module_attributes(info->bytes, where_);
    Cubin cubin;
    for (std::size_t i = 0; i < elf_.sections.size(); ++i) {
      if (is_text(i)) read_kernel(i, cubin);
    }
    for (std::size_t i = 0; keep_ && i < elf_.sections.size(); ++i) {
      if (kernel_number_.contains(i) || function_base_.contains(i)) read_relocations(i, cubin);
    }
    cubin.module = module_;
    return cubin;
  }

 private:
  void check_header(int expected_sm) {
    if (elf_.machine != kMachineCuda) {
      throw InputError(fmt::format("{}: no cubin: an ELF file for machine {}, expected {} (NVIDIA CUDA)",
                                   where_, elf_.machine, kMachineCuda));
    }
    if (elf_.abi_version != kAbiCuda12 && elf_.abi_version != kAbiCuda13) {
      throw InputError(
          fmt::format("{}: a cubin of ABI version {}, expected {} or {}; build it with CUDA 12 or 13", where_,
                      elf_.abi_version, kAbiCuda12, kAbiCuda13));
    }
    if (elf_.type != ET_EXEC) {
      throw InputError(
          where_ + ": relocatable device code, expected a linked cubin; build it without -rdc=true and -c");
    }
    module_->sm = sm_of(elf_.abi_version, elf_.flags);
    module_->virtual_sm = virtual_sm();
    const auto [target, suffix] = assembled_for();
    if (expected_sm != 0 && !isa::runs_on(module_->sm, target, expected_sm)) {
      throw InputError(fmt::format("{}: a cubin for sm_{}{}, expected one that runs on sm_{}", where_,
                                   module_->sm, suffix, expected_sm));
    }
  }

  /// The revision of the PTX that it was assembled from: a note of CUDA 13's cubins, a field of the flags in CUDA 12's.
  int virtual_sm() const {
    if (elf_.abi_version == kAbiCuda12) return static_cast<int>(elf_.flags >> 16 & 0xff);
    constexpr std::size_t kNoteName = 24,
                          kRevision = kNoteName + 2;  // the note's header and owner; a version
    const ElfSection* note = elf_.find(".note.nv.cuinfo");
    std::uint16_t revision = 0;
    if (note == nullptr || note->bytes.size() < kRevision + sizeof revision) return module_->sm;
    std::memcpy(&revision, note->bytes.data() + kRevision, sizeof revision);
    return revision;
  }

  /// sm_90 or sm_90a: the ELF flags say the same of both, but the assembler notes its options.
  std::pair<isa::Target, std::string> assembled_for() const {
    const ElfSection* note = elf_.find(".note.nv.tkinfo");
    if (note == nullptr) return {isa::Target::plain, ""};
    const std::string text(reinterpret_cast<const char*>(note->bytes.data()), note->bytes.size());
    const std::string option = fmt::format("-arch sm_{}", module_->sm);
    const std::size_t at = text.find(option);
    const char next = at == std::string::npos ? ' ' : text[std::min(at + option.size(), text.size() - 1)];
    if (next == 'a') return {isa::Target::specific, "a"};
    return next == 'f' ? std::pair{isa::Target::family, std::string("f")}
                       : std::pair{isa::Target::plain, std::string()};
  }

  std::string toolkit() const {
    const ElfSection* note = elf_.find(".note.nv.tkinfo");
    if (note == nullptr) return {};
    const std::string text(reinterpret_cast<const char*>(note->bytes.data()), note->bytes.size());
    static const std::regex kVersion(R"(release [0-9.]+, V([0-9]+\.[0-9]+\.[0-9]+))");
    std::smatch match;
    return std::regex_search(text, match, kVersion) ? match[1].str() : std::string();
  }

  std::size_t index_of(std::string_view name) const {
    for (std::size_t i = 1; i < elf_.sections.size(); ++i) {
      if (elf_.sections[i].name == name) return i;
    }
    return 0;
  }

  void read_images() {
    constant3_ = index_of(".nv.constant3");
    constant4_ = index_of(".nv.constant4");
    initialised_ = index_of(".nv.global.init");
    zeroed_ = index_of(".nv.global");
    const auto copy = [&](std::size_t section, std::vector<std::byte>& out) {
      if (section == 0) return;
      const std::span<const std::byte> bytes = elf_.sections[section].bytes;
      out.assign(bytes.begin(), bytes.end());
    };
    copy(constant3_, module_->constant3);
    copy(constant4_, module_->constant4);
    copy(initialised_, module_->globals);
    if (zeroed_ != 0) {
      const std::uint64_t alignment = std::max<std::uint64_t>(elf_.sections[zeroed_].alignment, 256);
      if (elf_.sections[zeroed_].size > kMostGlobalBytes || alignment > kMostAlignment) {
        throw InputError(
            fmt::format("{}: {} bytes of __device__ variables aligned to {}, expected at most {} and {}",
                        where_, elf_.sections[zeroed_].size, alignment, kMostGlobalBytes, kMostAlignment));
      }
      zeroed_offset_ = (module_->globals.size() + alignment - 1) / alignment * alignment;
      module_->globals.resize(zeroed_offset_ + elf_.sections[zeroed_].size);
    }
  }

  void read_variables() {
    for (const ElfSymbol& symbol : elf_.symbols) {
      if (symbol.type != STT_OBJECT || symbol.section == 0) continue;
      Variable variable;
      variable.mangled = symbol.name;
      variable.name = source_name(symbol.name);
      variable.offset = symbol.value;
      variable.size = symbol.size;
      if (symbol.section == constant3_) {
        variable.space = VariableSpace::constant3;
      } else if (symbol.section == zeroed_) {
        variable.offset += zeroed_offset_;
      } else if (symbol.section != initialised_) {
        continue;  // shared memory, constant bank 2
      }
      const std::uint64_t end =
          variable.space == VariableSpace::constant3 ? module_->constant3.size() : module_->globals.size();
      if (variable.offset > end || variable.size > end - variable.offset) {
        throw InputError(fmt::format("{}: variable '{}' lies outside its section", where_, variable.name));
      }
      module_->variables.push_back(std::move(variable));
    }
    std::sort(module_->variables.begin(), module_->variables.end(),
              [](const Variable& a, const Variable& b) { return a.mangled < b.mangled; });
  }

  bool is_text(std::size_t section) const {
    return elf_.sections[section].name.compare(0, kText.size(), kText) == 0;
  }

  /// The symbol of the kernel whose section this is; 0: none, a device function.
  std::uint32_t kernel_symbol(std::size_t section) const {
    const std::string name = elf_.sections[section].name.substr(kText.size());
    for (std::size_t i = 0; i < elf_.symbols.size(); ++i) {
      const ElfSymbol& symbol = elf_.symbols[i];
      if (symbol.type == STT_FUNC && symbol.name == name && (symbol.other & kEntryPoint) != 0)
        return static_cast<std::uint32_t>(i);
    }
    return 0;
  }

  /// A symbol of a function that stands in the section; 0: there is none.
  std::uint32_t function_symbol(std::size_t section) const {
    for (std::size_t i = 0; i < elf_.symbols.size(); ++i) {
      if (elf_.symbols[i].type == STT_FUNC && elf_.symbols[i].section == section)
        return static_cast<std::uint32_t>(i);
    }
    return 0;
  }

  /// nvdisasm prints the section in which a symbol stands.
  std::vector<std::uint32_t> symbols_of_code(std::size_t kernel) const {
    std::vector<std::uint32_t> symbols = {function_symbol(kernel)};
    for (const auto& [section, base] : function_base_) symbols.push_back(function_symbol(section));
    if (std::find(symbols.begin(), symbols.end(), 0u) != symbols.end()) symbols.clear();
    return symbols;
  }

  std::uint64_t in_file(const ElfSection& section) const {
    return static_cast<std::uint64_t>(section.bytes.data() - file_.data());
  }

  /// Functions in sections of their own stand behind the longest kernel, at the same offset in every kernel's code, so that a
  /// pointer to one is the same for all.
  void place_functions() {
    if (!keep_) return;
    std::uint64_t longest = 0;
    std::vector<std::size_t> functions;
    const std::set<std::size_t> reached = reached_code();
    std::map<std::string, unsigned> seen;        // sections of a name
    std::map<std::size_t, std::string> numbers;  // by section
    for (std::size_t i = 0; i < elf_.sections.size(); ++i) {
      if (!is_text(i)) continue;
      if (const unsigned number = seen[elf_.sections[i].name]++; number != 0)
        numbers[i] = fmt::format("__{}", number);
      if (!reached.contains(i)) continue;
      if (kernel_number_.contains(i)) {
        longest = std::max(longest, elf_.sections[i].size);
      } else {
        functions.push_back(i);
      }
    }
    std::uint64_t next = (longest + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
    for (const std::size_t i : functions) {
      const ElfSection& section = elf_.sections[i];
      const std::string name = section.name.substr(kText.size());
      if (section.bytes.size() != section.size)
        throw InputError(fmt::format("{}: function {} has no code", where_, source_name(name)));
      if (index_of(".nv.constant2." + name) != 0) {
        throw InputError(fmt::format("{}: function {} has constants of its own, which are not supported",
                                     where_, source_name(name)));
      }
      functions_.push_back({name + numbers[i], static_cast<std::uint32_t>(next),
                            static_cast<std::uint32_t>(section.size), in_file(section)});
      function_base_[i] = next;
      next += (section.size + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
      if (next > kMostCode) throw InputError(fmt::format("{}: {} bytes of device functions", where_, next));
    }
  }

  /// Kernels are numbered; they, and pointers in memory, are what functions are reached from.
  std::set<std::size_t> reached_code() {
    std::set<std::size_t> roots = {constant3_, constant4_, initialised_};
    for (std::size_t i = 0; i < elf_.sections.size(); ++i) {
      if (!is_text(i) || kernel_symbol(i) == 0) continue;
      kernel_number_.emplace(i, kernel_number_.size());
      roots.insert(i);
    }
    roots.erase(0);
    return reached_sections(elf_, roots);
  }

  /// Bytes from the start of every kernel's code.
  std::uint64_t code_base(std::size_t section) const {
    return function_base_.contains(section) ? function_base_.at(section) : 0;
  }

  void read_relocations(std::size_t section, Cubin& cubin) {
    const ElfSection& text = elf_.sections[section];
    for (const ElfRelocation& relocation : elf_.relocations_of(section)) {
      const ElfSymbol& symbol = symbol_of(relocation, section);
      CodeRelocation made;
      made.in_file = in_file(text) + relocation.offset;
      made.type = relocation.type;
      made.symbol = symbol.name;
      if (relocation.offset % kInstructionBytes != 0 ||
          relocation.offset + kInstructionBytes > text.bytes.size()) {
        throw InputError(fmt::format("{}: a relocation lies outside {}", where_, text.name));
      }
      made.value =
          symbol.value + (relocation.addend_in_place ? 0 : static_cast<std::uint64_t>(relocation.addend));
      made.target = target_of(symbol, relocation.type, made.value);
      if (made.target == TargetKind::external) add_external(symbol.name);
      cubin.relocations.push_back(std::move(made));
    }
  }

  /// What a symbol is; `value`, its offset in its section, becomes that in the image.
  TargetKind target_of(const ElfSymbol& symbol, std::uint32_t type, std::uint64_t& value) const {
    if (symbol.section == 0 || is_device_runtime(symbol.name)) {
      value = 0;
      return TargetKind::external;
    }
    if (symbol.section == constant3_) return TargetKind::constant3;
    if (symbol.section == initialised_) return TargetKind::global;
    if (symbol.section == zeroed_) {
      value += zeroed_offset_;
      return TargetKind::global;
    }
    if (!is_text(symbol.section)) {
      throw InputError(fmt::format("{}: a pointer to '{}' in {} is not supported", where_, symbol.name,
                                   elf_.sections[symbol.section].name));
    }
    if (is_descriptor(type) && kernel_number_.contains(symbol.section)) {
      value = kernel_number_.at(symbol.section);
      return TargetKind::kernel;
    }
    value += code_base(symbol.section);
    return TargetKind::code;
  }

  /// A driver's function that the code calls directly also stands in bank 4, as in code without relocations.
  void add_external(const std::string& name) {
    const auto known =
        std::any_of(module_->pointers.begin(), module_->pointers.end(), [&](const Pointer& pointer) {
          return pointer.target == TargetKind::external && pointer.symbol == name;
        });
    if (known) return;
    Pointer pointer;
    pointer.image = Image::constant4;
    pointer.offset = module_->constant4.size();
    pointer.target = TargetKind::external;
    pointer.symbol = name;
    module_->constant4.resize(module_->constant4.size() + sizeof(std::uint64_t));
    module_->pointers.push_back(std::move(pointer));
  }

  void read_pointers() {
    read_pointers_of(constant3_, Image::constant3, module_->constant3);
    read_pointers_of(constant4_, Image::constant4, module_->constant4);
    read_pointers_of(initialised_, Image::globals, module_->globals);
    std::sort(module_->pointers.begin(), module_->pointers.end(), [](const Pointer& a, const Pointer& b) {
      return a.image != b.image ? a.image < b.image : a.offset < b.offset;
    });
  }

  void read_pointers_of(std::size_t section, Image image, const std::vector<std::byte>& bytes) {
    if (section == 0) return;
    for (const ElfRelocation& relocation : elf_.relocations_of(section)) {
      const ElfSymbol& symbol = symbol_of(relocation, section);
      const bool descriptor = keep_ && is_descriptor(relocation.type);
      if (relocation.type != kAddress64 && relocation.type != kGenericAddress64 && !descriptor) {
        throw InputError(fmt::format("{}: relocation type {} in {} is not supported", where_, relocation.type,
                                     elf_.sections[section].name));
      }
      if (bytes.size() < 8 || relocation.offset > bytes.size() - 8) {
        throw InputError(
            fmt::format("{}: a relocation lies outside {}", where_, elf_.sections[section].name));
      }
      Pointer pointer;
      pointer.image = image;
      pointer.offset = relocation.offset;
      pointer.symbol = symbol.name;
      std::uint64_t addend = static_cast<std::uint64_t>(relocation.addend);
      if (relocation.addend_in_place) std::memcpy(&addend, bytes.data() + relocation.offset, sizeof addend);
      pointer.value = symbol.value + addend;
      pointer.target = target_of(symbol, relocation.type, pointer.value);
      module_->pointers.push_back(std::move(pointer));
    }
  }

  const ElfSymbol& symbol_of(const ElfRelocation& relocation, std::size_t section) const {
    if (relocation.symbol < elf_.symbols.size()) {
      const ElfSymbol& symbol = elf_.symbols[relocation.symbol];
      if (symbol.section < elf_.sections.size()) return symbol;
    }
    throw InputError(
        fmt::format("{}: a relocation of {} names no symbol", where_, elf_.sections[section].name));
  }

  void read_kernel(std::size_t section, Cubin& cubin) const {
    const std::string name = elf_.sections[section].name.substr(kText.size());
    const std::uint32_t symbol_index = kernel_symbol(section);
    if (symbol_index == 0) return;  // a device function in a section of its own
    const std::string where = fmt::format("{}: kernel {}", where_, source_name(name));
    if (!keep_ && !elf_.relocations_of(section).empty()) {
      throw InputError(where + ": its code needs a linker; build it without -G and -rdc=true");
    }

    KernelImage image;
    const ElfSection& text = elf_.sections[section];
    image.text.assign(text.bytes.begin(), text.bytes.end());
    if (image.text.empty() || image.text.size() % kInstructionBytes != 0) {
      throw InputError(fmt::format("{}: {} bytes of code, expected a multiple of {}", where,
                                   image.text.size(), kInstructionBytes));
    }
    if (!functions_.empty() || !elf_.relocations_of(section).empty()) {
      image.parts.push_back({name, 0, static_cast<std::uint32_t>(image.text.size()), in_file(text)});
      image.parts.insert(image.parts.end(), functions_.begin(), functions_.end());
    }
    image.symbols = symbols_of_code(section);
    isa::Program& program = image.program;
    program.sm = module_->sm;
    program.kernel = source_name(name);
    program.mangled = name;
    program.code_sha256 = sha256_hex(image.text);
    program.toolkit = module_->toolkit;
    describe(symbol_index, name, where, image);
    cubin.kernels.push_back(std::move(image));
  }

  void describe(std::uint32_t symbol, const std::string& name, const std::string& where,
                KernelImage& image) const {
    isa::Program& program = image.program;
    const auto attribute = [&](const std::map<std::uint32_t, std::uint32_t>& table) {
      const auto found = table.find(symbol);
      return found == table.end() ? 0u : found->second;
    };
    program.registers = attribute(attributes_.registers);
    if (program.registers == 0) throw InputError(where + ": its register count is not stated");
    const auto stack = [&](const std::map<std::uint32_t, std::uint32_t>& table) {
      const std::uint32_t bytes = attribute(table);
      return bytes == kUnboundedStack ? 0u : bytes;
    };
    program.local_bytes = std::max({stack(attributes_.frame_bytes), stack(attributes_.min_stack_bytes),
                                    stack(attributes_.max_stack_bytes)});
    if (const ElfSection* info = elf_.find(".nv.info." + name)) {
      const KernelAttributes kernel = read_kernel_attributes(info->bytes, where);
      program.parameters = kernel.parameters;
      program.parameter_base = kernel.parameter_base;
      program.parameter_bytes = kernel.parameter_bytes;
      program.barriers = kernel.barriers;
      program.max_threads = kernel.max_threads[0] * kernel.max_threads[1] * kernel.max_threads[2];
      std::copy(std::begin(kernel.required_threads), std::end(kernel.required_threads),
                program.required_threads);
      std::copy(std::begin(kernel.cluster), std::end(kernel.cluster), program.cluster);
    }
    image.tile = elf_.find(".nv.host") != nullptr && program.required_threads[0] != 0;
    const std::uint32_t reserved = program.sm >= 90 ? kReservedShared : 0;
    program.shared_base = reserved;
    if (const ElfSection* shared = elf_.find(".nv.shared." + name)) {
      if (shared->size < reserved) throw InputError(where + ": its shared memory lacks the system's part");
      program.static_shared = static_cast<std::uint32_t>(shared->size) - reserved;
    }
    if (const ElfSection* bank = elf_.find(".nv.constant0." + name))
      image.constant0_bytes = static_cast<std::uint32_t>(bank->size);
    const std::string bank2 = ".nv.constant2." + name;
    if (const std::size_t index = index_of(bank2); index != 0) {
      if (!elf_.relocations_of(index).empty()) throw InputError(where + ": bank 2 needs a linker");
      image.constant2.assign(elf_.sections[index].bytes.begin(), elf_.sections[index].bytes.end());
    }
    for (const isa::Parameter& parameter : program.parameters) {
      if (parameter.offset > program.parameter_bytes ||
          parameter.size > program.parameter_bytes - parameter.offset) {
        throw InputError(fmt::format("{}: a parameter of {} bytes at {} lies outside the {} bytes of all",
                                     where, parameter.size, parameter.offset, program.parameter_bytes));
      }
    }
    if (program.parameter_base + program.parameter_bytes > image.constant0_bytes) {
      throw InputError(fmt::format("{}: parameters end at byte {} of a bank of {} bytes", where,
                                   program.parameter_base + program.parameter_bytes, image.constant0_bytes));
    }
  }

  const ElfFile& elf_;
  std::span<const std::byte> file_;
  std::string where_;
  bool keep_;
  std::vector<CodePart> functions_;                                     // by offset
  std::map<std::size_t, std::uint64_t> function_base_, kernel_number_;  // by section
  std::shared_ptr<Module> module_ = std::make_shared<Module>();
  ModuleAttributes attributes_;
  std::size_t constant3_ = 0, constant4_ = 0, initialised_ = 0, zeroed_ = 0;  // section indices, 0: none
  std::uint64_t zeroed_offset_ = 0;  // where .nv.global starts in Module::globals
};

}  // namespace

Cubin read_cubin(std::span<const std::byte> bytes, const std::string& where, int expected_sm,
                 Relocations relocations) {
  const ElfFile elf = read_elf(bytes, where);
  return CubinReader(elf, bytes, where, relocations).read(expected_sm);
}

int cubin_sm(std::span<const std::byte> bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) return 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != kMachineCuda) return 0;
  return sm_of(header.e_ident[EI_ABIVERSION], header.e_flags);
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  return config::sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace foretrace::frontend
