// The flat table of launches, read with nothing but the standard library.
//
// Models:  docs/launch_files.md, "The flat table", version 1.
// Ignores: what the cubins hold; the harness loads them.
// Source:  foretrace writes the table (`foretrace launches FILE... --emit TABLE --cubins DIR`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/frontend/launch/buffer_values.h"

namespace foretrace::harness {

enum class ArgumentKind { buffer, value, reference, null };

/// One kernel argument, or what one symbol holds.
struct Argument {
  ArgumentKind kind = ArgumentKind::null;
  frontend::ElementType type = frontend::ElementType::u8;
  frontend::Generator generator;     // buffers
  std::uint64_t count = 0;           // buffers: elements
  std::string name;                  // buffers: empty without one; references: the buffer named
  std::string path;                  // buffers of `file`
  std::uint64_t offset = 0;          // references: bytes into the buffer
  std::vector<unsigned char> bytes;  // values and structs

  std::uint64_t size() const { return count * frontend::element_bytes(type); }
};

struct Symbol {
  std::string name;
  Argument contents;
};

struct Check {
  std::string buffer;
  double relative = 0;
  double absolute = 0;
};

struct Launch {
  std::string name, source, cubin, mangled, after, reference, fault;
  std::vector<std::string> defines;
  std::string nvcc;
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, cluster[3] = {1, 1, 1};
  unsigned shared = 0;  // dynamic, bytes
  std::vector<Argument> arguments;
  std::vector<Symbol> symbols;
  std::vector<Check> checks;
};

/// All launches of a table, in order. Throws std::runtime_error with file, line and what was expected.
std::vector<Launch> read_launch_table(const std::string& path);

}  // namespace foretrace::harness
