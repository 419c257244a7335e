// The device runtime: what device code calls when it launches kernels itself (-rdc=true, cudadevrt).
//
// Models:  its functions are the driver's here, like vprintf and malloc: a call of one goes there by its name, which the public header
//          cuda_device_runtime_api.h declares. The code that nvlink has put beside the program's own is not looked at.
#pragma once

#include <cstddef>
#include <set>
#include <string_view>

#include "sim/frontend/elf_file.h"

namespace foretrace::frontend {

/// Whether a function belongs to the device runtime: '__cudaCDP2LaunchDeviceV2', 'cudaCGSynchronize'.
bool is_device_runtime(std::string_view mangled);

/// R_CUDA_FUNC_DESC_64, R_CUDA_FUNC_DESC32_LO_32 and _HI_32: what a kernel is to the device code that launches it.
inline bool is_descriptor(std::uint32_t relocation) {
  return relocation == 35 || relocation == 0x3e || relocation == 0x3f;
}

/// The sections from which a chain of relocations leads to others, `roots` among them; it ends at functions of the device runtime.
std::set<std::size_t> reached_sections(const ElfFile& elf, const std::set<std::size_t>& roots);

}  // namespace foretrace::frontend
