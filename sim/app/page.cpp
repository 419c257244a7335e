#include "sim/app/page.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/bounds/bounds.h"
#include "model/config/load.h"
#include "model/rules/occupancy.h"
#include "model/units/error.h"
#include "sim/report/json.h"
#include "sim/report/page.h"

namespace foretrace::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t kLargestSource = 1 << 20;  // bytes; a longer file is no text that a person reads

/// The chip as the result's own overrides and clocks make it; nothing where its configuration is not here.
std::optional<config::Loaded> chip_of(const report::LaunchResult& result) {
  try {
    std::vector<config::Override> overrides;
    for (const std::string& text : result.overrides) {
      const std::size_t equals = text.find('=');
      overrides.push_back(
          {text.substr(0, equals), equals == std::string::npos ? "" : text.substr(equals + 1)});
    }
    config::Loaded loaded = config::load_gpu(result.arch, overrides);
    loaded.spec.clock = result.clock_hz;
    return loaded;
  } catch (const InputError&) { return std::nullopt; }
}

/// Operations per second that instructions of one kind do. 0: the chip's tables have no such instruction.
double operations_of(const spec::GpuSpec& spec, const char* opcode, double operations) {
  const spec::OpcodeSpec* row = config::find_opcode(spec, opcode);
  if (row == nullptr) return 0;
  double per_cycle = 0;  // instructions of a sub-core
  for (const spec::Pipe pipe : row->pipes) {
    if (pipe == spec::Pipe::none) continue;
    const std::uint32_t own = spec.pipe[static_cast<std::size_t>(pipe)].interval;
    if (own != 0) per_cycle += 1.0 / (row->interval ? row->interval : own);
  }
  return operations * std::min(per_cycle, 1.0) * kSubCores * spec.sm.count *
         static_cast<double>(spec.clock.sm);
}

/// A kind of dense matrix products: a warp's, and the depth of a warpgroup's, which takes columns of any type at one rate. Zero: none.
struct Product {
  const char* kind;
  const char* opcode;
  double rows, columns, depth;
  const char* warpgroup_opcode;
  double warpgroup_depth;
};

/// Only chips with a row of its own for it have it: the table's DMMA alone is of the small one.
constexpr const char* kLargeDouble = "DMMA.16x8x8";

constexpr Product kProducts[] = {
    {"Tensor FP16", "HMMA.16816.F32", 16, 8, 16, "HGMMA", 16},
    {"Tensor FP16 with FP16 sums", "HMMA.16816.F16", 16, 8, 16, "HGMMA", 16},
    {"Tensor TF32", "HMMA.1688.F32.TF32", 16, 8, 8, "HGMMA", 8},
    {"Tensor FP8", "QMMA.16832.F32", 16, 8, 32, "QGMMA", 32},
    {"Tensor FP8 with FP16 sums", "QMMA.16832.F16", 16, 8, 32, "QGMMA", 32},
    {"Tensor FP4", "OMMA.SF.16864.F32", 16, 8, 64, nullptr, 0},
    {"Tensor INT8", "IMMA.16832", 16, 8, 32, "IGMMA", 32},
    {"Tensor FP64", "DMMA.8x8x4", 8, 8, 4, nullptr, 0},
    {"Tensor FP64", kLargeDouble, 16, 8, 8, nullptr, 0},
};

double product_operations(const spec::GpuSpec& spec, const Product& product) {
  constexpr double kWarpgroupRows = 64;
  const bool has_large_double = std::any_of(spec.opcodes.begin(), spec.opcodes.end(), [](const auto& row) {
    return std::string_view(row.pattern) == kLargeDouble;
  });
  const bool has = product.opcode != kLargeDouble || has_large_double;
  const double warp =
      has ? operations_of(spec, product.opcode, 2 * product.rows * product.columns * product.depth) : 0;
  if (product.warpgroup_opcode == nullptr || config::find_opcode(spec, product.warpgroup_opcode) == nullptr)
    return warp;
  return std::max(warp, 2 * kWarpgroupRows * product.warpgroup_depth * spec.wgmma.columns * spec.sm.count *
                            static_cast<double>(spec.clock.sm));
}

Json roofs(const spec::GpuSpec& spec) {
  const bounds::Ceilings peak = bounds::ceilings(spec);
  const double clock = static_cast<double>(spec.clock.sm);
  spec::GpuSpec lower = spec;  // what products other than of doubles are made at
  lower.clock.sm = std::min(spec.clock.sm, spec.product_clock);
  constexpr double kL1Bytes = 128;  // a cycle: 32 banks of 4 bytes
  Json operations = Json::array({Json{{"name", "FP32"}, {"per_second", peak.fp32_operations * clock}},
                                 Json{{"name", "FP64"}, {"per_second", peak.fp64_operations * clock}}});
  // HFMA2: two numbers per lane, a multiply-add is two operations.
  operations.push_back(Json{{"name", "FP16"}, {"per_second", operations_of(spec, "HFMA2", 4.0 * kWarpSize)}});
  for (const Product& product : kProducts) {
    const double per_second = product_operations(product.opcode[0] == 'D' ? spec : lower, product);
    Json& last = operations.back();
    if (last["name"] == product.kind) {
      last["per_second"] = std::max(last["per_second"].get<double>(), per_second);
    } else {
      operations.push_back(Json{{"name", product.kind}, {"per_second", per_second}});
    }
  }
  return Json{{"operations", operations},
              {"bytes", Json::array({Json{{"name", "L1"}, {"per_second", kL1Bytes * spec.sm.count * clock}},
                                     Json{{"name", "L2"}, {"per_second", peak.l2_bytes * clock}},
                                     Json{{"name", "DRAM"}, {"per_second", peak.dram_bytes * clock}}})}};
}

/// Resident warps over one resource, the others as they are.
template <typename Change>
Json curve(const spec::GpuSpec& spec, const rules::KernelResources& kernel, std::uint64_t first,
           std::uint64_t last, std::uint64_t step, const Change& change) {
  Json points = Json::array();
  for (std::uint64_t x = first; x <= last; x += step) {
    rules::KernelResources one = kernel;
    change(one, x);
    points.push_back(Json::array({x, rules::occupancy(spec, one).warps}));
  }
  return points;
}

Json occupancy(const spec::GpuSpec& spec, const report::LaunchResult& result) {
  rules::KernelResources kernel;
  kernel.threads = static_cast<std::uint32_t>(result.block.count());
  kernel.registers = static_cast<std::uint32_t>(result.metrics.get("launch__registers_per_thread", 0));
  kernel.static_shared =
      static_cast<std::uint64_t>(result.metrics.get("launch__shared_mem_per_block_static", 0));
  kernel.dynamic_shared = result.dynamic_shared;
  kernel.barriers = 1;
  const std::uint64_t shared = kernel.static_shared + kernel.dynamic_shared;
  return Json{
      {"max_warps", spec.limits.warps},
      {"warps", rules::occupancy(spec, kernel).warps},
      {"registers", curve(spec, kernel, 8, spec.limits.registers_per_thread, 1,
                          [](auto& k, std::uint64_t x) { k.registers = static_cast<std::uint32_t>(x); })},
      {"shared", curve(spec, kernel, 0, spec.limits.shared_per_block, 1024,
                       [](auto& k, std::uint64_t x) {
                         k.static_shared = 0;
                         k.dynamic_shared = x;
                       })},
      {"block", curve(spec, kernel, kWarpSize, spec.limits.threads_per_block, kWarpSize,
                      [](auto& k, std::uint64_t x) { k.threads = static_cast<std::uint32_t>(x); })},
      {"today", Json{{"registers", kernel.registers}, {"shared", shared}, {"block", kernel.threads}}}};
}

Json facts_of(const report::LaunchResult& result) {
  const std::optional<config::Loaded> chip = chip_of(result);
  if (!chip) return nullptr;
  Json assumed = Json::array();
  for (const config::Value& value : chip->values) {
    const bool elsewhere = value.kind == config::Kind::transferred;
    if (value.kind != config::Kind::assumed && !elsewhere && !value.overridden) continue;
    assumed.push_back(Json{{"key", value.key},
                           {"value", value.text},
                           {"unit", value.unit},
                           {"kind", value.overridden ? "set by --set"
                                    : elsewhere      ? "transferred"
                                                     : "assumed"},
                           {"low", value.has_range ? Json(value.low) : Json(nullptr)},
                           {"high", value.has_range ? Json(value.high) : Json(nullptr)},
                           {"source", value.source}});
  }
  return Json{{"title", chip->title},
              {"sms", chip->spec.sm.count},
              {"roofs", roofs(chip->spec)},
              {"occupancy", occupancy(chip->spec, result)},
              {"assumed", assumed}};
}

/// The text of every source that an instruction names.
Json sources_of(const std::vector<report::Document>& documents) {
  std::set<std::string> files;
  for (const report::Document& document : documents) {
    for (const report::LaunchResult& result : document.predictions) {
      for (const report::InstructionResult& row : result.instructions) {
        if (!row.file.empty()) files.insert(row.file);
      }
    }
  }
  Json texts = Json::object();
  for (const std::string& file : files) {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(file, unknown)) continue;
    if (std::filesystem::file_size(file, unknown) > kLargestSource) continue;
    try {
      texts[file] = report::read_file(file);
    } catch (const InputError&) {}  // the page says that the text is not there
  }
  return texts;
}

}  // namespace

std::string program_of(const std::string& text) {
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains("program")) return "null";
  Json program{{"program", document["program"]}};
  if (document.contains("represented")) program["represented"] = document["represented"];
  return program.dump();
}

std::string read_timeline(const std::string& file) {
  std::string text = report::read_file(file);
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("timeline") || json.value("schema", 0) != 1)
    throw InputError(fmt::format("{}: no timeline; expected what foretrace timeline --json wrote", file));
  return text;
}

void check_page(const char* option, const std::string& file, const std::string& page) {
  if (!file.empty() && page.empty())
    throw InputError(fmt::format("{}: it is shown on a page; expected --html as well", option));
}

void write_page(const std::string& path, const std::vector<report::Document>& documents,
                const PageExtras& extras) {
  report::PageParts parts;
  Json facts = Json::array();
  for (const report::Document& document : documents) {
    parts.documents.push_back(report::to_json(document));
    Json of_document = Json::array();
    for (const report::LaunchResult& result : document.predictions) of_document.push_back(facts_of(result));
    facts.push_back(std::move(of_document));
  }
  parts.facts = facts.dump();
  parts.sources = sources_of(documents).dump(-1, ' ', false, Json::error_handler_t::replace);
  parts.timeline = extras.timeline;
  parts.comparison = extras.comparison;
  parts.programs = extras.programs;
  parts.traces = extras.traces;
  report::write_file(path, report::page(parts));
}

}  // namespace foretrace::app
