#include "sim/app/predict_one.h"

#include <zstd.h>

#include <fmt/format.h>

#include "model/bounds/bounds.h"
#include "model/units/error.h"
#include "sim/app/make_prediction.h"
#include "sim/app/run_launch.h"
#include "sim/engine/device.h"
#include "sim/frontend/load.h"
#include "sim/report/json.h"

namespace foretrace::app {

namespace {

frontend::LoadedKernel load(const frontend::LaunchDescription& launch, const MeasuredCodes& codes, int sm,
                            const frontend::Toolchain& toolchain) {
  if (const auto code = codes.find(launch.name); code != codes.end()) {
    frontend::LoadRequest request;
    request.sm = sm;
    request.file = code->second.cubin;
    request.kernel = code->second.mangled;
    const frontend::LoadedKernel kernel = frontend::load_kernels(request, toolchain).front();
    if (kernel.program.code_sha256 != code->second.code_sha256) {
      throw InputError(fmt::format("launch {}: the cubin's code is {}; expected the measured {}", launch.name,
                                   kernel.program.code_sha256, code->second.code_sha256));
    }
    return kernel;
  }
  return frontend::load_kernels(engine::load_request(launch, sm), toolchain).front();
}

}  // namespace

validate::PredictedLaunch predict_one(const IndexedLaunch& indexed, const LaunchIndex& index,
                                      const ValidatedChip& chip, const MeasuredCodes& codes,
                                      const JobContext& context) {
  const frontend::LaunchDescription& launch = indexed.launch;
  const Variant variant{config::load_gpu(chip.arch, chip.overrides, chip.clock), {}};
  const auto spec = std::make_shared<const spec::GpuSpec>(variant.chip.spec);
  const frontend::Toolchain toolchain = frontend::find_toolchain();
  engine::Device device;
  for (const IndexedLaunch* earlier : index.before(indexed)) {
    emulate_only(earlier->launch, load(earlier->launch, codes, spec->sm_number, toolchain), device, *spec);
  }
  const frontend::LoadedKernel kernel = load(launch, codes, spec->sm_number, toolchain);
  const auto program = std::make_shared<const isa::Program>(kernel.program);
  engine::Machine machine(spec);
  engine::Outcome outcome = run_launch(launch, kernel, program, device, machine, spec->name, {}, context);
  const report::Prediction prediction =
      make_prediction(variant, program, {launch, launch.name, false}, std::move(outcome));
  validate::PredictedLaunch predicted;
  predicted.name = launch.name;
  predicted.file = indexed.file;
  predicted.kernel = program->kernel;
  predicted.mangled = program->mangled;
  predicted.code_sha256 = program->code_sha256;
  predicted.time_dependent = prediction.time_dependent;
  predicted.roofline_cycles =
      bounds::tightest(bounds::lower_bounds(*spec, bounds::work_of(prediction.counters))).cycles;
  predicted.metrics = report::evaluate(prediction);
  return predicted;
}

std::string PackedCubins::path_of(const std::string& name) const {
  const std::filesystem::path target = scratch_ / name, packed = folder_ / (name + ".zst");
  if (std::filesystem::exists(target)) return target.string();
  const std::string bytes = report::read_file(packed.string());
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    throw InputError(fmt::format("{}: not a zstd file that states its size", packed.string()));
  }
  std::string cubin(size, '\0');
  const std::size_t got = ZSTD_decompress(cubin.data(), cubin.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) || got != size)
    throw InputError(fmt::format("{}: damaged zstd file", packed.string()));
  report::write_file(target.string(), cubin);
  return target.string();
}

}  // namespace foretrace::app
