// A cubin: the ELF file that nvcc -cubin writes for one architecture.
//
// Models:  kernels' code bytes and launch properties, constant banks, module variables and the pointers between them.
// Ignores: debug and Mercury sections.
// Layouts: of CUDA 12 (ELF ABI version 7) and of CUDA 13 (8); they differ in where the head states the architecture.
// Refuses: files of another kind, objects that nvlink has not linked, layouts before CUDA 12; code that holds
//          addresses (-rdc=true, -G), unless the caller links it (link.h).
// Source:  our own cubins of CUDA 13.0, read with an ELF reader (docs/facts.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/isa/program.h"
#include "sim/frontend/module.h"

namespace foretrace::frontend {

/// A code section inside a kernel's code.
struct CodePart {
  std::string mangled;  ///< its function; linked objects' own ones of one name are numbered, as by nvdisasm
  std::uint32_t offset = 0;  ///< bytes from the start of the kernel's code
  std::uint32_t bytes = 0;
  std::uint64_t in_file = 0;  ///< where it stands in the cubin
};

/// A kernel of the cubin: everything but its decoded instructions.
struct KernelImage {
  isa::Program program;         ///< `code` and `files` are empty
  std::vector<std::byte> text;  ///< its code's bytes, 16 per instruction
  /// The kernel's own section, then the functions in sections of their own; empty when its section is all its code.
  std::vector<CodePart> parts;
  /// Indices of these functions' symbols in the cubin, by which nvdisasm is asked for them alone; empty: one has none.
  std::vector<std::uint32_t> symbols;
  std::uint32_t constant0_bytes = 0;
  std::vector<std::byte> constant2;
  /// A tile kernel (CUDA Tile), whose cubin has host code: launched with blocks of one, it runs with blocks of required_threads.
  bool tile = false;
};

/// A place in the code that holds an address (relocatable device code, -G).
struct CodeRelocation {
  std::uint64_t in_file = 0;  ///< the instruction's place in the cubin
  std::uint32_t type = 0;     ///< R_CUDA_*
  TargetKind target = TargetKind::global;
  std::uint64_t value = 0;  ///< as Pointer::value; code: bytes from the start of every kernel's code
  std::string symbol;
};

struct Cubin {
  std::shared_ptr<const Module> module;
  std::vector<CodeRelocation>
      relocations;  ///< to be filled in by link_code before the code is decoded; empty: nothing to do
  std::vector<KernelImage> kernels;  ///< in order of sections
};

/// What read_cubin does with code that holds addresses.
enum class Relocations : std::uint8_t { refuse, keep };

/// Reads a cubin's bytes; `where` names it in errors (the file's path). `expected_sm` 0 takes any architecture.
/// Throws InputError: no cubin, another architecture (both are named), a layout or relocation that is not supported.
Cubin read_cubin(std::span<const std::byte> bytes, const std::string& where, int expected_sm = 0,
                 Relocations relocations = Relocations::refuse);

/// The architecture of a cubin's machine code, 80, 90 or 120, without reading more of it than its head; 0: no cubin.
int cubin_sm(std::span<const std::byte> bytes);

/// The whole file. Throws InputError when it cannot be read.
std::vector<std::byte> read_file(const std::string& path);
/// Bytes as text.
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// SHA-256 in lower-case hexadecimal.
std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace foretrace::frontend
