// The .nv.info attribute lists of a cubin (EIATTR): what the compiler tells the driver about kernels.
//
// Models:  the attributes a launch needs. Others are skipped by their format byte, as a driver must.
// Source:  our probe kernels (codes and layouts checked on our own cubins, KPARAM_INFO_V2 included).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/isa/program.h"

namespace foretrace::frontend {

/// Attributes of one kernel, from .nv.info.<kernel>.
struct KernelAttributes {
  std::vector<isa::Parameter> parameters;  ///< by ordinal
  std::uint32_t parameter_base = 0;        ///< bytes from the start of bank 0 to the first parameter
  std::uint32_t parameter_bytes = 0;
  std::uint32_t barriers = 0;
  std::uint32_t max_threads[3] = {0, 0, 0};       ///< __launch_bounds__; 0: not given
  std::uint32_t required_threads[3] = {0, 0, 0};  ///< required block size; 0: not given
  std::uint32_t cluster[3] = {0, 0, 0};           ///< compile-time cluster; 0: not given
};
KernelAttributes read_kernel_attributes(std::span<const std::byte> bytes, const std::string& where);

/// Attributes by symbol index, from .nv.info.
struct ModuleAttributes {
  std::map<std::uint32_t, std::uint32_t> registers;        ///< a thread
  std::map<std::uint32_t, std::uint32_t> frame_bytes;      ///< the function's own stack frame
  std::map<std::uint32_t, std::uint32_t> min_stack_bytes;  ///< with its callees
  std::map<std::uint32_t, std::uint32_t> max_stack_bytes;
};
ModuleAttributes read_module_attributes(std::span<const std::byte> bytes, const std::string& where);

}  // namespace foretrace::frontend
