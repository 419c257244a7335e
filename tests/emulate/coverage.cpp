// Lists what of cubins the emulator does not execute: one line per form, with how often and where it stands first.
// Usage: emulate_coverage FILE.cubin ... (docs/instructions.md)
#include <cstdio>
#include <exception>
#include <map>
#include <string>

#include <fmt/format.h>

#include "sim/emulate/emulator.h"
#include "sim/emulate/translate/compiled.h"
#include "sim/frontend/load.h"

namespace foretrace {
namespace {

struct Form {
  std::uint64_t count = 0;
  std::string first;
};

int coverage(int files, char** names) {
  std::map<std::string, Form> refused;
  std::map<std::string, std::uint64_t> opcodes;
  std::uint64_t instructions = 0, kernels = 0;
  for (int f = 0; f < files; ++f) {
    frontend::LoadRequest request;
    request.file = names[f];
    request.kernel = ".*";
    request.regex = true;
    std::vector<frontend::LoadedKernel> loaded;
    try {
      loaded = frontend::load_kernels(request, frontend::find_toolchain());
    } catch (const std::exception& error) {
      fmt::print("{}: {}\n", names[f], error.what());
      continue;
    }
    for (const frontend::LoadedKernel& kernel : loaded) {
      const std::vector<std::vector<std::byte>> banks(emulate::kConstantBanks, std::vector<std::byte>(65536));
      const emulate::Compiled compiled = emulate::compile(kernel.program, banks, emulate::lane_table());
      ++kernels;
      for (std::size_t i = 0; i < compiled.code.size(); ++i) {
        const isa::Instruction& in = kernel.program.code[i];
        ++instructions;
        std::string name(name_of(in.opcode));
        for (const std::string& m : in.modifiers) name += "." + m;
        ++opcodes[name];
        const std::uint32_t message = compiled.code[i].message;
        if (message == 0) continue;
        Form& form =
            refused[fmt::format("sm_{} {}: {}", kernel.program.sm, name, compiled.messages[message - 1])];
        if (form.count++ == 0)
          form.first = fmt::format("{} {} 0x{:x} {}", names[f], kernel.program.kernel, in.offset, in.text);
      }
    }
  }
  for (const auto& [what, form] : refused) fmt::print("{:6} {}  | {}\n", form.count, what, form.first);
  fmt::print("{} instructions of {} kernels, {} spellings of opcodes; {} forms not executed\n", instructions,
             kernels, opcodes.size(), refused.size());
  return refused.empty() ? 0 : 1;
}

}  // namespace
}  // namespace foretrace

int main(int argc, char** argv) { return foretrace::coverage(argc - 1, argv + 1); }
