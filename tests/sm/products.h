// Lines of warpgroup products for a test's program.
#pragma once

#include <string>
#include <vector>

#include "tests/sm/bench.h"

namespace foretrace::sm_tests {

inline std::string product(const std::string& shape, bool registers = false, bool ends = false) {
  return "HGMMA." + shape + ".F32 R24, " + (registers ? "R4, " : "") + "gdesc[UR8], R24" +
         (ends ? ", gsb0" : "");
}

/// `count` products in one group, and a wait for it.
inline std::vector<Line> group(const std::string& shape, int count, bool registers = false,
                               const char* most = "0x0") {
  std::vector<Line> lines{{"WARPGROUP.ARRIVE", 1}};
  for (int i = 0; i < count; ++i) lines.push_back({product(shape, registers, i + 1 == count), 2});
  lines.push_back({std::string("WARPGROUP.DEPBAR.LE gsb0, ") + most, 1});
  return lines;
}

}  // namespace foretrace::sm_tests
