#include "sim/runtime/device/module.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/emulate/execute/device_runtime.h"
#include "sim/emulate/execute/driver_functions.h"
#include "sim/engine/module_images.h"
#include "sim/frontend/compile.h"
#include "sim/frontend/disassembly.h"
#include "sim/frontend/fat_binary.h"
#include "sim/frontend/link.h"
#include "sim/frontend/link_objects.h"
#include "sim/frontend/ptx.h"
#include "sim/runtime/device/context.h"

namespace foretrace::runtime {

namespace {

namespace fs = std::filesystem;

fs::path cache_file(const std::string& name) {
  fs::path directory;
  if (const char* given = std::getenv("XDG_CACHE_HOME"); given != nullptr && *given == '/') {
    directory = fs::path(given) / "foretrace";
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    directory = fs::path(home) / ".cache" / "foretrace";
  } else {
    return {};
  }
  return directory / name;
}

/// The disassembly of these functions (none: of all) from the cache, or made and put there. A cache that cannot be used is passed over.
std::string disassembly_of(const std::vector<std::byte>& cubin, const std::string& hash,
                           std::span<const std::uint32_t> symbols, const frontend::Toolchain& toolchain) {
  const std::string version = toolchain.nvdisasm ? toolchain.nvdisasm->version : "";
  // The first symbol is the kernel's; which functions come with it is the cubin's affair.
  const fs::path file = cache_file(symbols.empty() ? fmt::format("{}-{}.sass", hash, version)
                                                   : fmt::format("{}-{}-{}.sass", hash, version, symbols[0]));
  std::error_code error;
  if (!file.empty() && fs::is_regular_file(file, error)) {
    const std::vector<std::byte> bytes = frontend::read_file(file.string());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::string text = frontend::disassemble(cubin, toolchain, symbols);
  if (file.empty()) return text;
  fs::create_directories(file.parent_path(), error);
  const fs::path part = fmt::format("{}.{}", file.string(), getpid());
  bool written = false;
  {
    std::ofstream out(part, std::ios::binary);
    written = bool(out.write(text.data(), static_cast<std::streamsize>(text.size()))) && bool(out.flush());
  }
  if (written) {
    fs::rename(part, file, error);
  } else {
    fs::remove(part, error);
  }
  return text;
}

bool is_elf(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && std::memcmp(bytes.data(),
                                          "\x7f"
                                          "ELF",
                                          4) == 0;
}

}  // namespace

const frontend::KernelImage& Kernel::image() const { return module_.cubin().kernels[image_]; }

Kernel& Kernel::on(int device) { return module_.on(device).kernel_at(image_); }

const std::shared_ptr<const isa::Program>& Kernel::program() {
  if (!program_) {
    program_ = std::make_shared<const isa::Program>(
        frontend::decode_kernel(image(), module_.disassembly(image()), ""));
  }
  return program_;
}

Module::Module(const ModuleContext& context, const void* image, std::string where,
               std::vector<std::string> ptxas)
    : context_(context), device_(current_device()), image_(image), where_(std::move(where)),
      ptxas_(std::move(ptxas)) {}

Module& Module::on(int device) {
  if (first_ != nullptr) return first_->on(device);
  if (device == device_) return *this;
  std::unique_ptr<Module>& other = others_[device];
  if (!other) {
    load();
    other = std::make_unique<Module>(context_, image_, where_, ptxas_);
    other->device_ = device;
    other->first_ = this;
    other->load();
  }
  return *other;
}

Module::~Module() {
  for (const std::uint64_t address : {globals_, constant3_}) {
    if (address != 0) context_.memory->release(reinterpret_cast<void*>(address), MemoryKind::variable);
  }
}

std::vector<std::byte> Module::compile(std::string text) const {
  const frontend::PtxHead head = frontend::ptx_head(text);
  if (!frontend::ptx_runs_on(head, context_.sm)) {
    throw LoadFailure(cudaErrorNoKernelImageForDevice,
                      fmt::format("{}: PTX for sm_{}{}, which sm_{} does not run", where_, head.sm,
                                  head.suffix, context_.sm));
  }
  try {
    return frontend::compile_ptx({std::move(text), context_.sm, ptxas_, false}, *context_.toolchain);
  } catch (const frontend::PtxVersionError& error) {
    throw LoadFailure(cudaErrorUnsupportedPtxVersion, fmt::format("{}: {}", where_, error.what()),
                      error.output());
  } catch (const ToolError& error) {
    throw LoadFailure(cudaErrorInvalidPtx, fmt::format("{}: {}", where_, error.what()), error.output());
  }
}

std::vector<std::byte> Module::link(std::span<const void* const> objects) const {
  try {
    return frontend::link_fat_binaries(objects, context_.sm, ptxas_, *context_.toolchain, where_);
  } catch (const ToolError& error) {
    throw LoadFailure(cudaErrorInvalidPtx, fmt::format("{}: {}", where_, error.what()), error.output());
  } catch (const InputError& error) { throw LoadFailure(cudaErrorNoKernelImageForDevice, error.what()); }
}

std::vector<std::byte> Module::code_of_image() const {
  const auto* start = static_cast<const std::byte*>(image_);
  if (is_elf({start, 4})) {
    const auto bare = frontend::elf_in_memory(image_, where_);
    return {bare.begin(), bare.end()};
  }
  if (!frontend::is_fat_binary(image_)) {
    std::string text = static_cast<const char*>(image_);
    if (!frontend::is_ptx(text))
      throw LoadFailure(cudaErrorInvalidKernelImage, where_ + ": neither a cubin, a fat binary nor PTX");
    return compile(std::move(text));
  }
  const auto container = frontend::fat_binary_in_memory(image_, where_);
  const std::vector<frontend::FatEntry> entries = frontend::read_fat_binary(container, where_);
  if (const frontend::FatEntry* entry = frontend::best_entry(entries, context_.sm))
    return frontend::entry_contents(*entry, where_);
  if (const frontend::FatEntry* entry = frontend::best_ptx(entries, context_.sm)) {
    const std::vector<std::byte> bytes = frontend::entry_contents(*entry, where_);
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text.resize(std::min(text.size(), text.find('\0')));
    return compile(std::move(text));
  }
  if (const auto objects = frontend::linked_containers(image_); !objects.empty()) return link(objects);
  throw LoadFailure(cudaErrorNoKernelImageForDevice,
                    fmt::format("{}: {}", where_, frontend::missing_code_message(entries, context_.sm)));
}

void Module::load() {
  if (loaded_) return;
  bytes_ = code_of_image();
  if (const int sm = frontend::cubin_sm(bytes_);
      sm != 0 && (sm / 10 != context_.sm / 10 || sm > context_.sm)) {
    throw LoadFailure(
        cudaErrorNoKernelImageForDevice,
        fmt::format("{}: machine code for sm_{}, which sm_{} does not run", where_, sm, context_.sm));
  }
  cubin_ = frontend::read_cubin(bytes_, where_, 0, frontend::Relocations::keep);
  for (std::size_t i = 0; i < cubin_.kernels.size(); ++i) {
    kernels_.push_back(std::make_unique<Kernel>(*this, i));
    const std::uint32_t fixed = cubin_.kernels[i].program.static_shared;
    kernels_.back()->settings.max_dynamic_shared = fixed < 48 * 1024 ? 48 * 1024 - fixed : 0;
    by_name_[cubin_.kernels[i].program.mangled] = kernels_.back().get();
  }
  place();
  loaded_ = true;
}

/// Variables to memory, and the pointers between them.
void Module::place() {
  const frontend::Module& module = *cubin_.module;
  const auto room = [&](std::size_t size) {
    return size == 0 ? std::uint64_t{0}
                     : reinterpret_cast<std::uint64_t>(context_.memory->allocate(size, MemoryKind::variable));
  };
  globals_ = room(module.globals.size());
  constant3_ = room(module.constant3.size());
  const engine::ModulePlace place{[this](std::uint64_t offset) { return global_at(offset); }, constant3_};
  engine::ModuleImages images = engine::module_images(module, place, where_);
  if (globals_ != 0)
    std::memcpy(reinterpret_cast<void*>(globals_), images.globals.data(), images.globals.size());
  if (constant3_ != 0)
    std::memcpy(reinterpret_cast<void*>(constant3_), images.constant3.data(), images.constant3.size());
  bank4_ = std::move(images.constant4);
  if (cubin_.relocations.empty()) return;
  bytes_ = frontend::link_code(bytes_, cubin_, [&](const frontend::CodeRelocation& relocation) {
    return place.address(relocation.target, relocation.value, relocation.symbol);
  });
}

std::uint64_t Module::global_at(std::uint64_t offset) const {
  if (first_ != nullptr) {
    for (const frontend::Variable& variable : cubin_.module->variables) {
      const bool inside =
          variable.space != frontend::VariableSpace::constant3 && offset - variable.offset < variable.size;
      if (inside && std::find(first_->shared_.begin(), first_->shared_.end(), variable.mangled) !=
                        first_->shared_.end())
        return first_->globals_ + offset;
    }
  }
  return globals_ + offset;
}

Kernel* Module::kernel(const std::string& mangled) {
  load();
  const auto found = by_name_.find(mangled);
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<Kernel*> Module::kernels() {
  load();
  std::vector<Kernel*> all;
  for (const auto& kernel : kernels_) all.push_back(kernel.get());
  return all;
}

PlacedVariable Module::variable(const std::string& mangled) {
  load();
  if (Module& here = on(current_device()); &here != this) return here.placed(mangled);
  return placed(mangled);
}

PlacedVariable Module::placed(const std::string& mangled) const {
  const auto& variables = cubin_.module->variables;
  const auto found =
      std::lower_bound(variables.begin(), variables.end(), mangled,
                       [](const frontend::Variable& v, const std::string& name) { return v.mangled < name; });
  if (found == variables.end() || found->mangled != mangled) return {};
  const bool constant = found->space == frontend::VariableSpace::constant3;
  const std::uint64_t address = constant ? constant3_ + found->offset : global_at(found->offset);
  return {reinterpret_cast<void*>(address), found->size, constant};
}

void Module::fill_banks(emulate::LaunchContext& context) const {
  const auto* now = reinterpret_cast<const std::byte*>(constant3_);
  context.banks[3].assign(now, now + cubin_.module->constant3.size());
  context.banks[4] = bank4_;
  context.constants = constant3_;
}

const std::string& Module::disassembly(const frontend::KernelImage& kernel) {
  if (whole_) return disassembly_;
  if (hash_.empty()) hash_ = frontend::sha256_hex(bytes_);
  // nvdisasm takes half a second to start and some milliseconds per kernel: a module of which many kernels run is read once.
  constexpr int kMostAlone = 4;
  whole_ = kernel.symbols.empty() || alone_ == kMostAlone;
  ++alone_;
  disassembly_ =
      disassembly_of(bytes_, hash_, whole_ ? std::span<const std::uint32_t>() : std::span(kernel.symbols),
                     *context_.toolchain);
  return disassembly_;
}

}  // namespace foretrace::runtime
