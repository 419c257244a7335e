// Small programs written as text, for tests of what looks at machine code or executes it.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "model/isa/parse.h"

namespace foretrace::isa {

/// One instruction per line; "NAME:" labels the next one.
inline Program assemble(const std::string& text, int sm = 90) {
  Labels labels;
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    line = line.substr(first);
    if (line.back() == ':') {
      labels[line.substr(0, line.size() - 1)] = lines.size() * 16;
    } else {
      lines.push_back(line);
    }
  }
  Program program;
  program.sm = sm;
  program.kernel = "test";
  for (const std::string& line : lines) {
    program.code.push_back(
        parse_text(line, static_cast<std::uint32_t>(program.code.size() * 16), labels, "test"));
  }
  return program;
}

}  // namespace foretrace::isa
