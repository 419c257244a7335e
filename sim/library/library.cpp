#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "model/config/load.h"
#include "model/units/error.h"
#include "sim/engine/device.h"
#include "sim/engine/ideal.h"
#include "sim/engine/machine.h"
#include "sim/engine/run_launch.h"
#include "sim/engine/sources.h"
#include "sim/frontend/launch/launch.h"
#include "sim/frontend/load.h"
#include "sim/library/foretrace.h"
#include "sim/report/chip_json.h"
#include "sim/report/from_outcome.h"
#include "sim/report/json.h"
#include "sim/trace/scratch_file.h"
#include "sim/trace/trace_reader.h"
#include "sim/trace/trace_writer.h"

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

/// Each array's bytes stand for a named buffer of its size.
void check_arrays(const Launch& launch, const frontend::LaunchDescription& description) {
  for (const Array& array : launch.arrays) {
    const auto buffer = std::find_if(
        description.arguments.begin(), description.arguments.end(), [&](const frontend::Argument& each) {
          return each.kind == frontend::ArgumentKind::buffer && each.name == array.buffer;
        });
    if (array.buffer.empty() || buffer == description.arguments.end())
      throw InputError(fmt::format("Launch::arrays {}: no argument has a buffer of that name", array.buffer));
    if (array.bytes != buffer->buffer_bytes() || array.contents == nullptr)
      throw InputError(fmt::format("Launch::arrays {}: {} bytes; expected contents of {} bytes", array.buffer,
                                   array.bytes, buffer->buffer_bytes()));
  }
}

frontend::LaunchDescription description(const Launch& launch) {
  frontend::LaunchDescription result;
  result.name = launch.name;
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
  check_arrays(launch, result);
  return result;
}

/// The launch's memory as the arrays say.
emulate::LaunchContext bind(engine::Device& device, const Launch& launch,
                            const frontend::LaunchDescription& described,
                            const frontend::LoadedKernel& kernel) {
  emulate::LaunchContext bound = device.bind(described, kernel);
  for (const Array& array : launch.arrays)
    device.write(array.buffer, {static_cast<const std::byte*>(array.contents), array.bytes});
  bound.print = emulate::to_standard_error;
  return bound;
}

engine::RunOptions run_options(const Options& options) {
  engine::RunOptions run;
  run.threads = std::max(1, options.threads);
  run.stop = options.stop;
  return run;
}

void add_gains(report::Prediction& prediction, const std::string& trace, const engine::Launch& shape,
               const Options& options) {
  prediction.gains = engine::gains(trace, *prediction.gpu, shape, run_options(options));
}

report::Prediction predicted(const Launch& launch, const config::Loaded& chip, const Options& options) {
  const frontend::LaunchDescription described = description(launch);
  const engine::Accuracy accuracy = engine::parse_accuracy(options.accuracy, "accuracy");
  if (options.gains && accuracy == engine::Accuracy::sampled)
    throw InputError("Options::gains with accuracy sampled: launches are simulated again to their end");
  const auto spec = std::make_shared<const spec::GpuSpec>(chip.spec);
  const frontend::LoadedKernel kernel =
      frontend::load_kernels(engine::load_request(described, spec->sm_number), frontend::find_toolchain())
          .front();
  const auto program = std::make_shared<const isa::Program>(kernel.program);
  const engine::Launch shape{described, program, described.buffer_bytes()};
  engine::check_launch(*spec, shape);
  std::optional<trace::ScratchFile> scratch;
  std::string trace = options.trace;
  if (options.gains && trace.empty()) trace = scratch.emplace().path();
  std::optional<trace::TraceWriter> writer;
  if (!trace.empty()) writer.emplace(trace, *program, trace::LaunchInfo{described, described.name});
  engine::Device device;
  engine::Machine machine(spec);
  engine::LaunchRun run{run_options(options)};
  run.accuracy = accuracy;
  run.writer = writer ? &*writer : nullptr;
  run.complete = std::any_of(launch.arrays.begin(), launch.arrays.end(),
                             [](const Array& array) { return array.results != nullptr; });
  engine::Outcome outcome = engine::run_launch(bind(device, launch, described, kernel), shape, machine, run);
  if (writer) writer->close();
  report::Prediction prediction = report::prediction_of(
      chip, options.set, program, {described, described.name, false}, std::move(outcome));
  if (options.gains) add_gains(prediction, trace, shape, options);
  for (const Array& array : launch.arrays) {
    if (array.results == nullptr) continue;
    const std::vector<std::byte> bytes = device.read(array.buffer);
    std::memcpy(array.results, bytes.data(), bytes.size());
  }
  return prediction;
}

report::Prediction simulated(const std::string& file, const config::Loaded& chip, const Options& options) {
  trace::TraceReader reader(file);
  const trace::LaunchInfo& launch = reader.launch();
  const auto spec = std::make_shared<const spec::GpuSpec>(chip.spec);
  engine::Machine machine(spec);
  engine::Outcome outcome = engine::run_traced(file, reader, machine, run_options(options));
  report::Prediction prediction = report::prediction_of(chip, options.set, reader.program(),
                                                        {launch, launch.name, false}, std::move(outcome));
  if (options.gains) add_gains(prediction, file, engine::shape_of(reader), options);
  return prediction;
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
  } catch (const ToolError& error) {
    throw Error(error.output().empty() ? error.what() : std::string(error.what()) + "\n" + error.output());
  } catch (const InputError& error) {
    throw Error(error.what());
  } catch (const emulate::Interrupted& stopped) { throw Interrupted(stopped.what()); }
}

}  // namespace

Error::~Error() = default;
Interrupted::~Interrupted() = default;

std::optional<double> Result::metric(std::string_view name) const {
  const auto found =
      std::find_if(metrics.begin(), metrics.end(), [&](const auto& each) { return each.first == name; });
  if (found == metrics.end())
    throw Error(fmt::format("{}: no such metric; docs/json_metrics.md lists them", name));
  return found->second;
}

namespace {

Result result_of(const report::Prediction& prediction) {
  report::Document document;
  document.foretrace = version();
  document.predictions.push_back(report::make_result(prediction));
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
}

}  // namespace

Result predict(const Launch& launch, const std::string& arch, const Options& options) {
  return translated([&] {
    check_processor();
    return result_of(predicted(launch, load_chip(arch, options), options));
  });
}

Result simulate(const std::string& trace, const std::string& arch, const Options& options) {
  return translated([&] {
    check_processor();
    return result_of(simulated(trace, load_chip(arch, options), options));
  });
}

std::string occupancy(const Block& block, const std::string& arch, const Options& options) {
  return translated([&] {
    rules::KernelResources kernel;
    kernel.threads = block.threads;
    kernel.registers = block.registers;
    kernel.dynamic_shared = block.shared;
    kernel.barriers = block.barriers;
    return report::occupancy_json({report::occupancy_of(load_chip(arch, options).spec, kernel)});
  });
}

std::string describe(const std::string& arch, const Options& options) {
  return translated([&] {
    const config::Loaded chip = load_chip(arch, options);
    return report::chips_json({&chip});
  });
}

std::vector<std::string> chips(const std::string& configs) {
  return translated([&] { return config::chip_names(configs_of(configs)); });
}

const char* version() { return FORETRACE_VERSION; }

}  // namespace foretrace
