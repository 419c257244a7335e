#include <fmt/format.h>

#include <iterator>

#include "sim/frontend/launch/launch.h"

namespace foretrace::frontend {
namespace {

std::string path_text(const std::filesystem::path& path, const std::filesystem::path& base) {
  if (base.empty()) return path.generic_string();
  return std::filesystem::absolute(path)
      .lexically_normal()
      .lexically_relative(std::filesystem::absolute(base).lexically_normal())
      .generic_string();
}

std::string hex_text(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

std::string argument_text(const Argument& argument, const std::filesystem::path& base) {
  switch (argument.kind) {
    case ArgumentKind::buffer: {
      const Generator& generator = argument.generator;
      std::string text =
          fmt::format("buf {} {} {} {:x} {:x} {} {}", element_type_name(argument.type), argument.count,
                      generator_name(generator.kind), generator.low_bits, generator.high_bits, generator.seed,
                      argument.name.empty() ? "-" : argument.name);
      if (generator.kind == GeneratorKind::file) text += " " + path_text(argument.file, base);
      return text;
    }
    case ArgumentKind::value:
      return fmt::format("val {} {}", element_type_name(argument.type), hex_text(argument.bytes));
    case ArgumentKind::reference: return fmt::format("ref {} {}", argument.name, argument.offset);
    case ArgumentKind::null: return "null";
    case ArgumentKind::bytes: return "bytes " + hex_text(argument.bytes);
    case ArgumentKind::tensor_map: return "tmap " + argument.text.substr(argument.text.find(':') + 1);
  }
  return "";
}

}  // namespace

std::string flat_table(const std::vector<ResolvedLaunch>& launches, const std::filesystem::path& base) {
  std::string text = "foretrace-launches 1\n";
  const auto out = std::back_inserter(text);
  const auto extent = [&](std::string_view key, Dim3 value) {
    fmt::format_to(out, "{} {} {} {}\n", key, value.x, value.y, value.z);
  };
  for (const ResolvedLaunch& resolved : launches) {
    const LaunchDescription& launch = *resolved.launch;
    fmt::format_to(out, "launch {}\n", launch.name);
    fmt::format_to(out, "source {}\n", path_text(launch.source, base));
    for (const std::string& define : launch.defines) fmt::format_to(out, "define {}\n", define);
    if (!launch.nvcc.empty()) fmt::format_to(out, "nvcc {}\n", launch.nvcc);
    fmt::format_to(out, "cubin {}\n", resolved.cubin.empty() ? "-" : path_text(resolved.cubin, base));
    fmt::format_to(out, "kernel {}\n", resolved.mangled.empty() ? launch.kernel : resolved.mangled);
    extent("grid", launch.grid);
    extent("block", launch.block);
    fmt::format_to(out, "shared {}\n", launch.dynamic_shared);
    extent("cluster", launch.cluster);
    for (const Argument& argument : launch.arguments) {
      fmt::format_to(out, "arg {}\n", argument_text(argument, base));
    }
    for (const Symbol& symbol : launch.symbols) {
      fmt::format_to(out, "symbol {} {}\n", symbol.name, argument_text(symbol.contents, base));
    }
    if (!launch.after.empty()) fmt::format_to(out, "after {}\n", launch.after);
    if (!launch.reference.empty()) fmt::format_to(out, "reference {}\n", launch.reference);
    for (const Check& check : launch.checks) {
      fmt::format_to(out, "check {} {} {}\n", check.buffer, check.relative, check.absolute);
    }
    if (launch.fault != ExpectedFault::none) { fmt::format_to(out, "fault {}\n", fault_name(launch.fault)); }
    text += "end\n";
  }
  return text;
}

}  // namespace foretrace::frontend
