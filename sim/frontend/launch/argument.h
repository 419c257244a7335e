// The arguments of a kernel as a user writes them.
//
// Models:  the forms of docs/launch_files.md: buf, val, ref, null, bytes, tmap, and symbols NAME=FORM.
// Ignores: what the kernel's parameters are; whoever binds the arguments compares `parameter_bytes`.
// Source:  our own grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/frontend/launch/buffer_values.h"
#include "sim/frontend/launch/tensor_argument.h"

namespace foretrace::frontend {

enum class ArgumentKind : std::uint8_t { buffer, value, reference, null, bytes, tensor_map };

struct Argument {
  ArgumentKind kind = ArgumentKind::null;
  ElementType type = ElementType::u8;  ///< buffer, value
  std::uint64_t count = 0;             ///< buffer: elements
  Generator generator;                 ///< buffer
  std::filesystem::path file;          ///< buffer: where its contents are, for GeneratorKind::file
  std::string name;  ///< buffer: its name, or ""; reference, tensor_map: the buffer that it points into
  std::uint64_t offset = 0;         ///< reference, tensor_map: bytes from the start of that buffer
  TensorArgument tensor;            ///< tensor_map
  std::vector<std::uint8_t> bytes;  ///< value, bytes: the contents in memory order
  std::string text;                 ///< as the user wrote it, for messages

  std::uint64_t buffer_bytes() const { return count * element_bytes(type); }
  /// Bytes of the kernel parameter: 8 for the three kinds of pointer, 128 for a tensor map.
  std::size_t parameter_bytes() const;
};

/// A __constant__ or __device__ variable with what it holds at the start of the launch.
struct Symbol {
  std::string name;
  Argument contents;
};

/// Reads the argument at `position` (0-based) of a kernel; its default seed is 1 + position. Files are looked for in
/// `directory` unless their path is absolute. Throws InputError: one line that names the argument by its number
/// (1-based) and text and says what was expected.
Argument parse_argument(std::string_view text, std::size_t position,
                        const std::filesystem::path& directory = {});

/// Reads NAME=FORM, the symbol at `position` (0-based); its default seed is 1001 + position. Errors as above.
Symbol parse_symbol(std::string_view text, std::size_t position, const std::filesystem::path& directory = {});

/// A C identifier: a letter or underscore, then letters, digits and underscores.
bool is_identifier(std::string_view text);

}  // namespace foretrace::frontend
