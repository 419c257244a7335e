// What each kernel of this folder should have computed, in plain C++17 on the CPU.
//
// Models:  the result of a launch, bit for bit: float sums are chains of std::fma in ascending order, as the
//          kernels' machine code has them (checked in the SASS of sm_80, sm_90 and sm_120).
// Ignores: everything about time; grids that do not cover their problem.
// Source:  the kernels beside this file. No library, no CUDA: it builds on a bare GPU machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace foretrace::references {

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
};

/// One argument of the kernel, in parameter order. For a pointer, `data` is the host copy of the memory that it
/// points to and `bytes` what is left of its buffer from there; for a number or a struct, its own bytes; a null
/// pointer has data == nullptr. Buffers are the caller's copies: a reference writes its results into them.
struct ArgumentView {
  void* data = nullptr;
  std::size_t bytes = 0;

  /// The memory as `count` elements of T. Throws std::invalid_argument if it holds fewer.
  template <typename T>
  T* elements(std::size_t count) const {
    if (data == nullptr || bytes < count * sizeof(T)) {
      throw std::invalid_argument("a reference needs " + std::to_string(count * sizeof(T)) +
                                  " bytes of an argument that holds " + std::to_string(bytes));
    }
    return static_cast<T*>(data);
  }

  /// The argument as one number. Throws std::invalid_argument if its size is not T's.
  template <typename T>
  T value() const {
    if (data == nullptr || bytes != sizeof(T)) {
      throw std::invalid_argument("a reference needs a number of " + std::to_string(sizeof(T)) +
                                  " bytes where the argument has " + std::to_string(bytes));
    }
    T result;
    std::memcpy(&result, data, sizeof(T));
    return result;
  }
};

/// Writes what a launch of the kernel with this grid and block leaves in the buffers.
using Reference = void (*)(const std::vector<ArgumentView>& arguments, Dim3 grid, Dim3 block);

/// The reference of that name, or nullptr.
Reference find_reference(const std::string& name);

/// The names of all references, sorted.
std::vector<std::string> reference_names();

}  // namespace foretrace::references
