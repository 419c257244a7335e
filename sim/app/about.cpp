#include "sim/app/about.h"

#include <iostream>
#include <optional>

#include <nlohmann/json.hpp>

#include "sim/app/version.h"
#include "sim/frontend/cubin.h"
#include "sim/frontend/load.h"
#include "sim/frontend/toolchain.h"

namespace foretrace::app {

namespace {

nlohmann::ordered_json json_of(const std::optional<frontend::Tool>& tool) {
  if (!tool) return nullptr;
  return {{"path", tool->path}, {"version", tool->version}};
}

}  // namespace

int about() {
  const frontend::Toolchain tools = frontend::find_toolchain();
  const nlohmann::ordered_json document{
      {"schema", 1},
      {"version", kVersion},
      {"commit", kCommit},
      {"program_sha256", frontend::sha256_hex(frontend::read_file("/proc/self/exe"))},
      {"nvcc", json_of(tools.nvcc)},
      {"nvdisasm", json_of(tools.nvdisasm)},
  };
  std::cout << document.dump(1) << "\n";
  return 0;
}

}  // namespace foretrace::app
