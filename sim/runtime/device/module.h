// A program's device code: fat binaries as they are registered, and what is loaded of them when it is first asked for.
//
// Models:  each device's instance of a module, with variables of its own; lazy loading, as CUDA's default: the cubin is read when a kernel or variable of it is first used, and a kernel's code is
//          decoded at its first launch. Variables are placed once and keep their addresses.
// Cache:   nvdisasm's text of a kernel, or of a whole cubin, is kept in ${XDG_CACHE_HOME:-~/.cache}/foretrace, by the cubin's SHA-256.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "model/units/error.h"
#include "sim/emulate/emulator.h"
#include "sim/frontend/cubin.h"
#include "sim/frontend/toolchain.h"
#include "sim/runtime/device/memory.h"

namespace foretrace::runtime {

class Module;

/// Code that the chip cannot run, or that cannot be read: what a program hears that loads it itself.
class LoadFailure : public ToolError {
 public:
  LoadFailure(cudaError_t code, const std::string& line, std::string output = {})
      : ToolError(line, std::move(output)), code_(code) {}
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

/// What cudaFuncSetAttribute may change of a kernel.
struct KernelSettings {
  std::uint64_t max_dynamic_shared = 48 * 1024;  ///< bytes per block, static ones not included
  int carveout = -1;                             ///< percent; -1: the driver's choice
  bool non_portable_cluster = false;
  int cache_preference = 0;
  Dim3 required_cluster{0, 0, 0};
  int cluster_scheduling = 0;
};

/// What the driver's launches of the old form (cuFuncSetBlockShape, cuParamSet*, cuLaunchGrid) keep with a kernel.
struct OldLaunch {
  dim3 block{1, 1, 1};                ///< as an H100 has it before cuFuncSetBlockShape
  unsigned dynamic_shared = 0;        ///< bytes per block
  std::vector<std::byte> parameters;  ///< as far as they were set
};

class Kernel {
 public:
  Kernel(Module& module, std::size_t image) : module_(module), image_(image) {}
  const frontend::KernelImage& image() const;
  /// Decoded at the first call. Throws InputError.
  const std::shared_ptr<const isa::Program>& program();
  Module& module() { return module_; }
  /// The same kernel in the module as another device has loaded it.
  Kernel& on(int device);
  const std::string& name() const { return image().program.kernel; }  ///< as in the source

  KernelSettings settings;
  OldLaunch old_launch;
  std::shared_ptr<const emulate::Translation> translation;  ///< made at the first launch
  std::atomic<bool> bounds_reported{false};                 ///< an access beyond an allocation

 private:
  Module& module_;
  std::size_t image_;
  std::shared_ptr<const isa::Program> program_;
};

/// A variable in memory.
struct PlacedVariable {
  void* address = nullptr;
  std::uint64_t size = 0;
  bool constant = false;
};

/// Where modules are loaded to.
struct ModuleContext {
  int sm = 0;  ///< 80, 90, 120
  DeviceMemory* memory = nullptr;
  const frontend::Toolchain* toolchain = nullptr;
};

class Module {
 public:
  /// `image`: a fat binary's wrapper or container, a cubin, or PTX that ends with a zero byte, in the program's memory.
  /// `ptxas`: further options for PTX.
  Module(const ModuleContext& context, const void* image, std::string where,
         std::vector<std::string> ptxas = {});
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Reads the cubin, compiled from PTX where there is no other code for the chip, and places the variables, once.
  /// Throws LoadFailure: no code for the chip, PTX that does not compile. InputError: a cubin that cannot be read.
  void load();
  /// By mangled name; null: there is none. Loads.
  Kernel* kernel(const std::string& mangled);
  std::vector<Kernel*> kernels();
  /// The current device's, by mangled name; address null: there is none. Loads.
  PlacedVariable variable(const std::string& mangled);

  const frontend::Cubin& cubin() const { return cubin_; }
  /// The module as that device has it: its code and its own variables.
  Module& on(int device);
  /// All devices have the same variable of that name: a managed one.
  void share(std::string mangled) { shared_.push_back(std::move(mangled)); }
  Kernel& kernel_at(std::size_t image) { return *kernels_[image]; }
  std::size_t kernel_count() const { return kernels_.size(); }
  /// Constant banks 3 and 4 as they are now, and where the third lies in memory.
  void fill_banks(emulate::LaunchContext& context) const;
  /// Text in which the kernel's code stands: of that kernel alone, or, when many of the module are asked for, of all.
  const std::string& disassembly(const frontend::KernelImage& kernel);

 private:
  std::vector<std::byte> code_of_image() const;
  std::vector<std::byte> compile(std::string text) const;
  /// Of containers of relocatable code, where the program's own linker has made nothing for the chip.
  std::vector<std::byte> link(std::span<const void* const> objects) const;
  void place();
  PlacedVariable placed(const std::string& mangled) const;
  /// The address of what stands at that offset among the global variables.
  std::uint64_t global_at(std::uint64_t offset) const;
  ModuleContext context_;
  int device_ = 0;
  std::vector<std::string> shared_;  // of the first instance
  Module* first_ = nullptr;          // of an instance for another device: the module
  std::map<int, std::unique_ptr<Module>> others_;
  const void* image_;
  std::string where_;
  std::vector<std::string> ptxas_;
  bool loaded_ = false;
  std::vector<std::byte> bytes_;
  frontend::Cubin cubin_;
  std::string disassembly_;  // what was asked for last
  std::string hash_;         // of the cubin, once it was needed
  int alone_ = 0;            // kernels disassembled by themselves
  bool whole_ = false;       // disassembly_ is of the whole module
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::map<std::string, Kernel*> by_name_;
  std::uint64_t globals_ = 0, constant3_ = 0;  // addresses
  std::vector<std::byte> bank4_;
};

}  // namespace foretrace::runtime
