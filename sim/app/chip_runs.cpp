#include "sim/app/chip_runs.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>

#include <fmt/format.h>

#include "sim/app/jobs.h"
#include "sim/app/make_prediction.h"
#include "sim/app/run_launch.h"
#include "sim/engine/device.h"
#include "sim/engine/ideal.h"
#include "sim/engine/shared_blocks.h"
#include "sim/frontend/load.h"
#include "sim/report/first_warps.h"
#include "sim/report/json.h"
#include "sim/trace/scratch_file.h"

namespace foretrace::app {

namespace {

/// Records of a launch that are held at most for chips that have not come to them.
constexpr std::size_t kMostShared = std::size_t{1} << 30;

/// Where the trace of a launch on a chip goes; empty: nowhere.
std::string trace_path(const std::string& trace, bool directory, const frontend::LaunchDescription& launch,
                       const Variant& variant) {
  if (trace.empty() || !directory) return trace;
  std::string name = launch.name.empty() ? launch.kernel : launch.name;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.') c = '_';
  }
  std::string chip = variant.chip.spec.name;
  for (const std::string& value : variant.overrides) chip += "_" + value;
  return (std::filesystem::path(trace) / fmt::format("{}.{}.trace", name, chip)).string();
}

/// The launches of one execution: of each its records, given by one chip, read by the others.
using Shared = std::vector<std::shared_ptr<engine::SharedBlocks>>;

/// What an execution knows of a chip: its machine code, and its shared memory (engine::on_chip).
using Execution = std::tuple<int, std::uint32_t, std::uint32_t>;
Execution execution_of(const Variant& variant) {
  const spec::GpuSpec& spec = variant.chip.spec;
  return {spec.sm_number, spec.limits.shared_unit, spec.limits.shared_reserved};
}

/// What executions have in common that are the same.
std::vector<Shared> shared_by_chip(const std::vector<Variant>& chips, std::size_t launches) {
  std::map<Execution, std::size_t> sharing;
  for (const Variant& variant : chips) ++sharing[execution_of(variant)];
  std::map<Execution, Shared> of;
  std::vector<Shared> result;
  for (const Variant& variant : chips) {
    const Execution same = execution_of(variant);
    Shared& shared = of[same];
    while (sharing[same] > 1 && shared.size() < launches)
      shared.push_back(std::make_shared<engine::SharedBlocks>(sharing[same] - 1, kMostShared));
    result.push_back(shared);
  }
  return result;
}

/// One chip that comes to one launch after another.
class ChipRun {
 public:
  /// `shared`: by launch, or empty. `gives`: this chip executes for the others.
  ChipRun(const Variant& variant, const std::vector<Planned>& launches, const ChipRunChoices& chosen,
          Shared shared, bool gives, std::string* timeline)
      : variant_(variant), launches_(launches), chosen_(chosen), shared_(std::move(shared)), gives_(gives),
        toolchain_(frontend::find_toolchain()), spec_(std::make_shared<spec::GpuSpec>(variant.chip.spec)),
        machine_(spec_), timeline_(timeline) {}
  ~ChipRun() {
    for (const auto& shared : shared_) {
      if (gives_ && shared) shared->close();  // nobody waits for what will not come
    }
  }
  ChipRun(const ChipRun&) = delete;
  ChipRun& operator=(const ChipRun&) = delete;

  report::Prediction run(std::size_t index, const JobContext& context) {
    const frontend::LaunchDescription& launch = launches_[index].launch;
    if (launch.after.empty()) {
      device_ = std::make_unique<engine::Device>();
      owed_.clear();
    }
    const std::shared_ptr<engine::SharedBlocks> shared =
        shared_.empty() ? nullptr : std::exchange(shared_[index], nullptr);
    const engine::SharedBlocks::Closing closing(gives_ ? shared.get() : nullptr);
    std::optional<engine::SharedReader> reader;
    if (shared && !gives_) reader.emplace(*shared);
    return run_one(index, load(launch), gives_ ? shared.get() : nullptr, reader ? &*reader : nullptr,
                   context);
  }

 private:
  std::shared_ptr<const frontend::LoadedKernel> load(const frontend::LaunchDescription& launch) {
    return std::make_shared<const frontend::LoadedKernel>(
        frontend::load_kernels(engine::load_request(launch, spec_->sm_number), toolchain_).front());
  }

  report::Prediction run_one(std::size_t index, const std::shared_ptr<const frontend::LoadedKernel>& kernel,
                             engine::SharedBlocks* gives, engine::SharedReader* reader,
                             const JobContext& context) {
    const Planned& planned = launches_[index];
    const frontend::LaunchDescription& launch = planned.launch;
    const bool followed = index + 1 < launches_.size() && !launches_[index + 1].launch.after.empty();
    const auto program = std::make_shared<const isa::Program>(kernel->program);
    const engine::Launch shape{launch, program, launch.buffer_bytes()};
    engine::check_launch(*spec_, shape);

    std::string trace =
        planned.reported ? trace_path(chosen_.trace, chosen_.many_traces, launch, variant_) : std::string();
    std::optional<trace::ScratchFile> scratch;
    if (chosen_.gains && planned.reported && trace.empty()) trace = scratch.emplace().path();
    bool executed = reader == nullptr;
    RunChoices choices = chosen_;
    choices.trace = trace;
    choices.complete = followed || !launch.dumps.empty();
    choices.share = gives;
    choices.reader = reader;
    std::optional<report::FirstWarps> warps;
    if (timeline_ != nullptr && planned.reported) choices.timeline = warps.emplace().timeline();
    choices.before_executing = [&] {
      executed = true;
      execute_owed();
    };
    engine::Outcome outcome =
        run_launch(launch, *kernel, program, *device_, machine_, spec_->name, choices, context);
    if (executed) {
      write_dumps(launch);
    } else if (followed) {
      owed_.push_back({&launch, kernel, machine_.resident_blocks(shape)});
    }
    if (warps) *std::exchange(timeline_, nullptr) = warps->json(spec_->name, program);
    report::Prediction prediction =
        make_prediction(variant_, program, {launch, launch.name, chosen_.warm}, std::move(outcome));
    if (chosen_.gains && planned.reported) {
      context.progress->show("limits of " + program->kernel, 0, engine::kIdeals);
      engine::RunOptions again;
      again.threads = context.threads;
      prediction.gains = engine::gains(trace, *spec_, shape, again);
    }
    return prediction;
  }

  /// Memory as the launches before left it, which this chip has not executed. They have printed their text.
  void execute_owed() {
    for (const Owed& owed : owed_)
      emulate_only(*owed.launch, *owed.kernel, *device_, *spec_, owed.resident, [](std::string_view) {});
    owed_.clear();
  }

  void write_dumps(const frontend::LaunchDescription& launch) {
    for (const frontend::Dump& dump : launch.dumps) {
      const std::vector<std::byte> bytes = device_->read(dump.buffer);
      report::write_file(dump.file.string(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
  }

  struct Owed {
    const frontend::LaunchDescription* launch;
    std::shared_ptr<const frontend::LoadedKernel> kernel;
    std::uint64_t resident;
  };

  const Variant& variant_;
  const std::vector<Planned>& launches_;
  const ChipRunChoices& chosen_;
  Shared shared_;
  const bool gives_;
  const frontend::Toolchain toolchain_;
  std::shared_ptr<const spec::GpuSpec> spec_;
  engine::Machine machine_;
  std::string* timeline_;  // null: nobody asks, or it is there
  std::unique_ptr<engine::Device> device_;
  std::vector<Owed> owed_;  // launches of this chain, by their order, that others have executed
};

}  // namespace

std::vector<report::Prediction> run_on_chips(const std::vector<Variant>& chips,
                                             const std::vector<Planned>& launches,
                                             const ChipRunChoices& chosen, int threads) {
  const std::vector<Shared> shared = shared_by_chip(chips, launches.size());
  std::vector<bool> gives(chips.size());
  for (std::size_t chip = 0; chip < chips.size(); ++chip) {
    gives[chip] = std::none_of(
        chips.begin(), chips.begin() + static_cast<std::ptrdiff_t>(chip),
        [&](const Variant& before) { return execution_of(before) == execution_of(chips[chip]); });
  }
  if (threads <= 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  // A job takes some of the chips from launch to launch: the records of one are held until all have had them. It waits only for chips
  // before its own, at the same launch.
  const std::size_t side_by_side = std::min(static_cast<std::size_t>(threads), chips.size());
  std::vector<std::vector<report::Prediction>> results(launches.size(),
                                                       std::vector<report::Prediction>(chips.size()));
  std::vector<Job> jobs;
  for (std::size_t first = 0; first < side_by_side; ++first) {
    jobs.push_back([&, first](const JobContext& context) -> std::vector<report::Prediction> {
      std::map<std::size_t, ChipRun> runs;
      for (std::size_t chip = first; chip < chips.size(); chip += side_by_side)
        runs.try_emplace(chip, chips[chip], launches, chosen, shared[chip], gives[chip],
                         chip == 0 ? chosen.first_warps : nullptr);
      for (std::size_t launch = 0; launch < launches.size(); ++launch) {
        for (auto& [chip, run] : runs) results[launch][chip] = run.run(launch, context);
      }
      return {};
    });
  }
  run_jobs(jobs, threads);
  // Chips side by side: what one launch does on each chip is read in one place.
  std::vector<report::Prediction> all;
  for (std::size_t launch = 0; launch < launches.size(); ++launch) {
    if (launches[launch].reported)
      std::move(results[launch].begin(), results[launch].end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace foretrace::app
