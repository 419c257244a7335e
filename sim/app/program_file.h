// What `foretrace run` wants to know of a program before it starts it.
#pragma once

#include <string>
#include <vector>

namespace foretrace::app {

struct ProgramFile {
  bool is_elf = false;           ///< 64-bit
  bool has_device_code = false;  ///< a section .nv_fatbin
  bool has_static_runtime =
      false;  ///< the CUDA runtime is linked into it: it asks the driver for its private tables
  std::vector<std::string> needed;  ///< DT_NEEDED: libraries it asks for by name
};

/// Throws InputError when the file cannot be read. A file that is no ELF file, or a damaged one, is no error.
ProgramFile read_program_file(const std::string& path);

}  // namespace foretrace::app
