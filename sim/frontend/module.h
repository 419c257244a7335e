// A cubin as it is bound to memory: kernels' machine code, constant banks, module variables and the pointers between them.
//
// Models:  what a driver would have to place before a launch. Section meanings and symbol kinds: our own cubins (docs/facts.md).
// Ignores: debug sections, Mercury duplicates (.nv.capmerc.*, .nv.merc.*), textures and surfaces.
// Source:  our own cubins of CUDA 13.0 (ELF ABI version 8), read with libelf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/isa/program.h"

namespace foretrace::frontend {

/// Where a module variable lives.
enum class VariableSpace : std::uint8_t {
  global,    ///< `__device__`: offset into Module::globals
  constant3  ///< `__constant__`: offset into Module::constant3
};

/// A `__device__` or `__constant__` variable.
struct Variable {
  std::string name;     ///< as in the source, demangled ("coef", "tables::sine")
  std::string mangled;  ///< the ELF symbol
  VariableSpace space = VariableSpace::global;
  std::uint64_t offset = 0;  ///< bytes from the start of its image
  std::uint64_t size = 0;    ///< bytes
};

/// The image that holds a pointer to be filled in.
enum class Image : std::uint8_t { constant3, constant4, globals };

/// What a pointer points to.
enum class TargetKind : std::uint8_t {
  global,     ///< Module::globals + value
  constant3,  ///< the global-memory address of Module::constant3 + value
  code,       ///< code of this module: kernel section `symbol` + value
  kernel,     ///< a kernel of this module, for a launch by device code: its number in Cubin::kernels
  external  ///< a function of the driver ("vprintf", "malloc", "free", "__assertfail"): `symbol`; value is 0
};

/// Eight bytes at `offset` of `image` hold an address that is known once memory has been placed.
struct Pointer {
  Image image = Image::constant4;
  std::uint64_t offset = 0;
  TargetKind target = TargetKind::global;
  std::uint64_t value = 0;  ///< bytes from the start of the target's image or section, addend included
  std::string symbol;       ///< the mangled name pointed to
};

/// All that the kernels of one cubin share.
struct Module {
  int sm = 0;                        ///< 80, 90, 120
  int virtual_sm = 0;                ///< of the PTX that it was assembled from: 75
  std::string path;                  ///< the cubin's file, as the user gave it; "" when it came from memory
  std::string toolkit;               ///< version of ptxas that made it ("13.0.88"), "": not stated
  std::vector<std::byte> constant3;  ///< `__constant__` variables with their initial values; empty: none
  std::vector<std::byte>
      constant4;  ///< addresses of variables and driver functions, zero until bound; empty: none
  /// Initialised `__device__` variables, then the zeroed ones. Place it at an address aligned to 512 bytes.
  std::vector<std::byte> globals;
  std::vector<Variable> variables;  ///< by mangled name
  std::vector<Pointer> pointers;    ///< by image, then offset
};

/// A kernel ready to be launched.
struct LoadedKernel {
  isa::Program program;
  std::uint32_t constant0_bytes = 0;  ///< size of bank 0: driver area and parameters
  std::vector<std::byte> constant2;   ///< the compiler's constants: literals, jump tables; empty: none
  std::shared_ptr<const Module> module;
};

}  // namespace foretrace::frontend
