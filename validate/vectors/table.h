// The table of the instruction vectors (vectors.txt), as validate/vectors/generate writes it.
//
// Models:  lines `kernel NAME FILE TUPLES WORDS KIND,KIND,...` each followed by its `op FIRST WORDS SM,SM,... NAME` lines.
// Units:   words are 32 bits; an operation's answer of tuple i is words FIRST..FIRST+WORDS-1 at [word * TUPLES + i].
// Errors:  std::runtime_error with the line number. C++17, no library (the device's runner includes it).
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "operands.h"  // beside this file: the device's runner has no include path

namespace foretrace::vectors {

struct Operation {
  std::string name;
  std::uint32_t first = 0, words = 0;
  std::string architectures;  ///< those that have it: "80,90,120"; "-": none

  bool on(const std::string& sm) const {
    return ("," + architectures + ",").find("," + sm + ",") != std::string::npos;
  }
};

struct VectorKernel {
  std::string name, file;
  std::uint32_t tuples = 0, words = 0;
  std::vector<std::string> operands;
  std::vector<Operation> operations;
};

inline std::vector<VectorKernel> read_table(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line) || line != "foretrace-vectors 1") {
    throw std::runtime_error(path + ": line 1: expected 'foretrace-vectors 1'");
  }
  std::vector<VectorKernel> kernels;
  for (int number = 2; std::getline(in, line); ++number) {
    std::istringstream words(line);
    std::string key, kinds;
    words >> key;
    if (key == "kernel") {
      VectorKernel kernel;
      words >> kernel.name >> kernel.file >> kernel.tuples >> kernel.words >> kinds;
      std::istringstream list(kinds);
      for (std::string kind; std::getline(list, kind, ',');) kernel.operands.push_back(kind);
      kernels.push_back(kernel);
    } else if (key == "op" && !kernels.empty()) {
      Operation operation;
      words >> operation.first >> operation.words >> operation.architectures >> std::ws;
      std::getline(words, operation.name);
      kernels.back().operations.push_back(operation);
    } else {
      throw std::runtime_error(path + ": line " + std::to_string(number) + ": expected 'kernel' or 'op'");
    }
    if (words.bad() || (key == "kernel" && kernels.back().operands.empty())) {
      throw std::runtime_error(path + ": line " + std::to_string(number) + ": a field is missing");
    }
  }
  return kernels;
}

/// The operand words of all tuples, word after word: in[word * tuples + tuple].
inline std::vector<std::uint32_t> operand_words(const VectorKernel& kernel) {
  std::vector<std::uint32_t> in;
  for (std::size_t slot = 0; slot < kernel.operands.size(); ++slot) {
    const std::string& kind = kernel.operands[slot];
    for (int part = 0; part < (is_wide(kind) ? 2 : 1); ++part) {
      for (std::uint32_t i = 0; i < kernel.tuples; ++i) {
        in.push_back(static_cast<std::uint32_t>(operand(kind, slot, i) >> (32 * part)));
      }
    }
  }
  return in;
}

}  // namespace foretrace::vectors
