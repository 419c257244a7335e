// A cubin: the ELF file that nvcc -cubin writes for one architecture.
//
// Models:  kernels' code bytes and launch properties, constant banks, module variables and the pointers between them.
// Ignores: debug and Mercury sections.
// Refuses: files of another kind, relocatable device code (-rdc, -G), the layout of CUDA 12 and before (ABI 7).
// Source:  facts sass.md 1.1-1.6, checked on our own cubins of CUDA 13.0.
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

/// A kernel of the cubin: everything but its decoded instructions.
struct KernelImage {
  isa::Program program;         ///< `code` and `files` are empty
  std::vector<std::byte> text;  ///< the section's bytes, 16 an instruction
  std::uint32_t constant0_bytes = 0;
  std::vector<std::byte> constant2;
};

struct Cubin {
  std::shared_ptr<const Module> module;
  std::vector<KernelImage> kernels;  ///< in order of sections
};

/// Reads a cubin's bytes; `where` names it in errors (the file's path). `expected_sm` 0 takes any architecture.
/// Throws InputError: no cubin, another architecture (both are named), a layout or relocation that is not supported.
Cubin read_cubin(std::span<const std::byte> bytes, const std::string& where, int expected_sm = 0);

/// The whole file. Throws InputError when it cannot be read.
std::vector<std::byte> read_file(const std::string& path);

/// SHA-256 in lower-case hexadecimal.
std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace foretrace::frontend
