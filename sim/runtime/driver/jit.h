// The options that a program gives for code that is compiled when it is loaded.
#pragma once

#include <string>
#include <vector>

#include "sim/runtime/driver/driver.h"

namespace foretrace::runtime::driver {

class JitOptions {
 public:
  /// `values` holds numbers and pointers; where the driver writes a size back, it is kept for that.
  JitOptions(unsigned count, const CUjit_option* options, void** values);
  /// What ptxas is told.
  const std::vector<std::string>& ptxas() const { return ptxas_; }
  /// Puts the text into the program's buffer for errors, as much as there is room for, and says how much it was.
  void write_errors(const std::string& text);

 private:
  std::vector<std::string> ptxas_;
  char* errors_ = nullptr;
  std::size_t errors_room_ = 0;
  void** errors_size_ = nullptr;  // where the size is written back
  void** info_size_ = nullptr;
};

/// Loads code; what the chip cannot run or the compiler refuses is told on standard error, in the program's buffer and by the code.
CUresult load(State& s, Library** library, const void* image, std::vector<std::byte> bytes,
              const std::string& where, JitOptions options);

/// The file's bytes and a zero byte behind them; empty when it cannot be read.
std::vector<std::byte> file_bytes(const char* path);

}  // namespace foretrace::runtime::driver
