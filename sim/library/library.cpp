#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "model/config/load.h"
#include "model/units/error.h"
#include "sim/engine/device.h"
#include "sim/engine/machine.h"
#include "sim/engine/run_launch.h"
#include "sim/frontend/launch/launch.h"
#include "sim/frontend/load.h"
#include "sim/library/foretrace.h"
#include "sim/report/from_outcome.h"
#include "sim/report/json.h"

namespace foretrace {

namespace {

namespace fs = std::filesystem;

/// Those that were asked for, $FORETRACE_CONFIGS, or those beside this library (lib/../share/foretrace/configs).
fs::path configs_of(const std::string& asked) {
  if (!asked.empty()) return asked;
  if (std::getenv("FORETRACE_CONFIGS")) return config::config_directory();
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&version), &self) != 0 && self.dli_fname != nullptr) {
    std::error_code unknown;
    const fs::path library = fs::canonical(self.dli_fname, unknown);
    const fs::path beside = (library.parent_path() / "../share/foretrace/configs").lexically_normal();
    if (!unknown && fs::is_directory(beside / "isa", unknown)) return beside;
  }
  return config::config_directory();
}

void check_processor() {
#ifdef __x86_64__
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("fma"))
    throw InputError("this processor has no AVX2, BMI2 and FMA, which this build needs");
#endif
}

Dim3 extent(const std::array<std::uint32_t, 3>& of) { return {of[0], of[1], of[2]}; }

frontend::LaunchDescription description(const Launch& launch) {
  frontend::LaunchDescription result;
  result.source = launch.file;
  result.kernel = launch.kernel;
  result.defines = launch.defines;
  result.nvcc = launch.compiler_options;
  result.grid = extent(launch.grid);
  result.block = extent(launch.block);
  result.cluster = extent(launch.cluster);
  result.dynamic_shared = launch.dynamic_shared;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i)
    result.arguments.push_back(frontend::parse_argument(launch.arguments[i], i));
  for (std::size_t i = 0; i < launch.symbols.size(); ++i)
    result.symbols.push_back(frontend::parse_symbol(launch.symbols[i], i));
  frontend::check_launch(result, {}, "launch");
  return result;
}

frontend::LoadedKernel load(const frontend::LaunchDescription& launch, int sm) {
  return frontend::load_kernels(engine::load_request(launch, sm), frontend::find_toolchain()).front();
}

report::LaunchResult simulate(const frontend::LaunchDescription& launch, const config::Loaded& chip,
                              const Options& options) {
  const auto spec = std::make_shared<const spec::GpuSpec>(chip.spec);
  const frontend::LoadedKernel kernel = load(launch, spec->sm_number);
  const auto program = std::make_shared<const isa::Program>(kernel.program);
  const engine::LaunchShape shape{
      program, launch.grid, launch.block, launch.dynamic_shared, launch.buffer_bytes(), launch.cluster};
  engine::check_launch(*spec, shape);
  engine::Device device;
  engine::Machine machine(spec);
  emulate::LaunchContext bound = device.bind(launch, kernel);
  bound.print = emulate::to_standard_error;
  engine::LaunchRun run;
  run.accuracy = engine::parse_accuracy(options.accuracy, "Options::accuracy");
  run.threads = std::max(1, options.threads);
  run.complete = false;
  engine::Outcome outcome = engine::run_launch(bound, shape, machine, run);
  return report::make_result(report::prediction_of(
      chip, options.set, spec, program,
      {launch.name, launch.grid, launch.block, launch.cluster, launch.dynamic_shared, false},
      std::move(outcome)));
}

config::Loaded load_chip(const std::string& arch, const Options& options) {
  std::vector<config::Override> overrides;
  for (const std::string& text : options.set) {
    const std::vector<config::Override> values = config::parse_set(text);
    if (values.size() != 1)
      throw InputError(fmt::format("Options::set {}: {} values; expected one", text, values.size()));
    overrides.push_back(values.front());
  }
  return config::load_gpu(arch, overrides, config::parse_clock(options.clock), configs_of(options.configs));
}

/// What `call` gives; errors as the public one.
template <typename Call>
auto translated(Call&& call) {
  try {
    return call();
  } catch (const InputError& error) { throw Error(error.what()); }
}

}  // namespace

Error::~Error() = default;

std::optional<double> Result::metric(std::string_view name) const {
  const auto found =
      std::find_if(metrics.begin(), metrics.end(), [&](const auto& each) { return each.first == name; });
  if (found == metrics.end())
    throw Error(fmt::format("{}: no such metric; docs/json_metrics.md lists them", name));
  return found->second;
}

Result predict(const Launch& launch, const std::string& arch, const Options& options) {
  return translated([&] {
    check_processor();
    report::Document document;
    document.foretrace = version();
    document.predictions.push_back(simulate(description(launch), load_chip(arch, options), options));
    const report::LaunchResult& from = document.predictions.front();
    Result result;
    result.arch = from.arch;
    result.kernel = from.kernel;
    result.metrics = from.metrics.all();
    result.sampled = from.estimate.sampled;
    result.cycles_low = from.estimate.cycles_low;
    result.cycles_high = from.estimate.cycles_high;
    result.limiter = from.limiter.name;
    result.advice = from.limiter.sentence;
    result.json = report::to_json(document);
    return result;
  });
}

std::vector<std::string> chips(const std::string& configs) {
  return translated([&] { return config::chip_names(configs_of(configs)); });
}

const char* version() { return FORETRACE_VERSION; }

}  // namespace foretrace
