// What each kernel of validate/ should have computed, in plain C++17 on the CPU: one registry of all references.
//
// Models:  the result of a launch. The examples' (references.cpp beside this file) are bit for bit: float sums are
//          chains of std::fma in ascending order, as the kernels' machine code has them (checked in the SASS of
//          sm_80, sm_90 and sm_120). A class of the suite has its own in validate/suite/<class>/references.cpp and
//          registers them there; where an order of additions is not fixed, the launch file states the tolerance.
// Ignores: everything about time; grids that do not cover their problem.
// Source:  the kernels beside each file. No library, no CUDA: it builds on a bare GPU machine. Whoever links the
//          references must link each such file as an object: from a static library the linker would drop it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
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

using Arguments = std::vector<ArgumentView>;

/// Throws std::invalid_argument unless there are `count` arguments.
inline void need(const Arguments& arguments, std::size_t count) {
  if (arguments.size() != count) {
    throw std::invalid_argument("a reference needs " + std::to_string(count) + " arguments and got " +
                                std::to_string(arguments.size()));
  }
}

/// An `int` argument that counts something; a negative one is nothing.
inline std::size_t count_of(const ArgumentView& argument) {
  return static_cast<std::size_t>(std::max(argument.value<std::int32_t>(), 0));
}

struct Entry {
  const char* name;  ///< unique in the project, as a launch file's `reference` names it
  Reference reference;
};

/// Adds references to the registry: one static object of a file's own in each references.cpp,
///   const Registration kRegistered{{"reduce_sum", reduce_sum}, {"reduce_rows", reduce_rows}};
class Registration {
 public:
  Registration(std::initializer_list<Entry> entries);
};

/// The reference of that name, or nullptr.
Reference find_reference(const std::string& name);

/// The names of all references, sorted.
std::vector<std::string> reference_names();

}  // namespace foretrace::references
