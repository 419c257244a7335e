#include "sim/frontend/device_runtime.h"

#include <vector>

namespace foretrace::frontend {

bool is_device_runtime(std::string_view mangled) {
  return mangled.starts_with("__cudaCDP2") || mangled.starts_with("cudaCG") ||
         mangled.starts_with("cudaGraphKernelNode");
}

std::set<std::size_t> reached_sections(const ElfFile& elf, const std::set<std::size_t>& roots) {
  std::set<std::size_t> reached = roots;
  std::vector<std::size_t> open(roots.begin(), roots.end());
  while (!open.empty()) {
    const std::size_t section = open.back();
    open.pop_back();
    for (const ElfRelocation& relocation : elf.relocations_of(section)) {
      if (relocation.symbol >= elf.symbols.size()) continue;
      const ElfSymbol& symbol = elf.symbols[relocation.symbol];
      if (symbol.section == 0 || symbol.section >= elf.sections.size() || is_device_runtime(symbol.name))
        continue;
      if (reached.insert(symbol.section).second) open.push_back(symbol.section);
    }
  }
  return reached;
}

}  // namespace foretrace::frontend
