#include "sim/runtime/device/launcher.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "sim/engine/run_launch.h"
#include "sim/report/first_warps.h"
#include "sim/report/from_outcome.h"
#include "sim/report/json.h"
#include "sim/runtime/device/clock.h"
#include "sim/runtime/device/dependence.h"
#include "sim/runtime/device/device_queue.h"
#include "sim/runtime/device/error_texts.h"
#include "sim/runtime/device/launch_attributes.h"
#include "sim/runtime/device/peer_memory.h"
#include "sim/runtime/device/side_by_side.h"
#include "sim/sampling/constants.h"
#include "sim/trace/trace_writer.h"

namespace foretrace::runtime {

namespace {

constexpr std::uint64_t kHashFactor = 1099511628211;  // of the FNV hash

/// State has been made from the same variable.
TraceSettings trace_settings() {
  const char* text = std::getenv(kSettingsVariable);
  return text == nullptr ? TraceSettings{} : trace_settings_from_json(text);
}

int carveout_of(const KernelCall& call) { return call.carveout.value_or(call.kernel->settings.carveout); }

std::string file_name(const std::string& kernel) {
  std::string name = kernel.substr(0, 80);
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.') c = '_';
  }
  return name;
}

}  // namespace

Launcher::Launcher(State& state)
    : state_(state), journal_(state.settings, trace_settings(), state.spec->name, state.clock->line(),
                              state.clock->ranges()),
      machines_(static_cast<std::size_t>(state.settings.devices)) {
  if (!state.settings.kernel.empty()) pattern_.emplace(state.settings.kernel);
  checks_.bounds = false;
  for (const std::string& check : state.settings.check) {
    if (check == "uninitialized") checks_.uninitialized = true;
    if (check == "races") checks_.races = true;
    if (check == "bounds") checks_.bounds = true;
  }
  accuracy_ = engine::parse_accuracy(state.settings.accuracy, "--accuracy");
  threads_ = state.settings.threads_here();
  begin_representatives();
}
Launcher::~Launcher() = default;

engine::Machine& Launcher::machine(const KernelCall& call) {
  std::unique_ptr<engine::Machine>& found = machines_[static_cast<std::size_t>(call.device)].of[call.part];
  if (!found) {
    found = std::make_unique<engine::Machine>(
        call.part.whole() ? state_.spec
                          : std::make_shared<const spec::GpuSpec>(chip_of(*state_.spec, call.part)));
  }
  return *found;
}

/// For a simulation: what L2 holds is one for all parts of a device.
engine::Machine& Launcher::machine_with_caches(const KernelCall& call) {
  engine::Machine& chosen = machine(call);
  engine::Machine*& last = machines_[static_cast<std::size_t>(call.device)].last;
  if (last != nullptr && last != &chosen && !state_.settings.cold) chosen.take_l2(last->l2_contents());
  last = &chosen;
  return chosen;
}

void Launcher::begin_representatives() {
  journal_.stand_for(nullptr);
  if (state_.settings.simulate_all || state_.settings.functional) return;
  representatives_.emplace(static_cast<double>(state_.settings.budget), state_.settings.cold);
  journal_.stand_for(&*representatives_);
}

namespace {

/// Calls `with` for each word of the parameters that points into an allocation: where it stands, in bytes, and the allocation.
template <class With>
void each_allocation(const KernelCall& call, const DeviceMemory& memory, With with) {
  for (std::size_t at = 0; at + sizeof(void*) <= call.parameters.size(); at += sizeof(void*)) {
    const void* pointer = nullptr;
    std::memcpy(&pointer, call.parameters.data() + at, sizeof pointer);
    if (const MemoryBlock* block = memory.find(pointer)) with(at, *block);
  }
}

bool is_of_peer(const MemoryBlock& block, const KernelCall& call) {
  return is_of_one_device(block) && block.device != call.device;
}

/// What tells kernels apart of which one launch may speak for another: their code and carve-out, and which parameters point into
/// another device's memory.
std::string kind_of(const KernelCall& call, const engine::Launch& shape, const DeviceMemory& memory) {
  std::string name = fmt::format("{}{} {} {}", shape.program->mangled, shape.program->code_sha256,
                                 shape.carveout_percent, call.part.sms);
  each_allocation(call, memory, [&](std::size_t at, const MemoryBlock& block) {
    if (is_of_peer(block, call)) name += fmt::format(" peer {}", at);
  });
  return name;
}

}  // namespace

/// What tells a launch apart before it runs: the allocations that its arguments point into, and the kernel before it.
sampling::LaunchWork Launcher::known_work(const KernelCall& call) {
  sampling::LaunchWork work;
  work.blocks = static_cast<double>(call.grid.count());
  work.context = before_;
  std::vector<const MemoryBlock*> found;
  each_allocation(call, state_.memory, [&](std::size_t, const MemoryBlock& block) {
    work.context = work.context * kHashFactor + block.address;
    if (std::find(found.begin(), found.end(), &block) != found.end()) return;
    found.push_back(&block);
    work.bytes += static_cast<double>(block.size);
  });
  before_ = std::hash<std::string>{}(call.kernel->image().program.mangled);
  return work;
}

namespace {

/// Memory that is not the device's own, or not this one's, and that the arguments point into.
void look_at_arguments(const KernelCall& call, const DeviceMemory& memory, LaunchLine& line) {
  each_allocation(call, memory, [&](std::size_t, const MemoryBlock& block) {
    line.pinned = line.pinned || block.kind == MemoryKind::host || block.kind == MemoryKind::registered;
    line.managed = line.managed || block.kind == MemoryKind::managed;
    line.peer = line.peer || is_of_peer(block, call);
  });
}

/// What the launch asked of a chip of so many SMs while it was on it alone, its time and share apart.
host::Rates rates_of(const report::Prediction& prediction, std::uint32_t sms) {
  const spec::GpuSpec& gpu = *prediction.gpu;
  const auto part = [](double of, double all) { return all > 0 ? std::min(1.0, of / all) : 0.0; };
  const stats::LaunchCounters& counters = prediction.counters;
  const auto cycles = static_cast<double>(counters.elapsed);
  const double seconds = cycles / static_cast<double>(gpu.clock.sm);
  host::Rates rates;
  rates.issue = part(static_cast<double>(counters.inst_executed), cycles * kSubCores * sms);
  rates.l2 = part(static_cast<double>(counters.memory.lts_sectors) * kSectorBytes,
                  seconds * static_cast<double>(gpu.clock.l2) * gpu.l2.slices * gpu.l2.slice_bytes);
  rates.dram =
      part(static_cast<double>(counters.memory.dram_bytes_read + counters.memory.dram_bytes_write),
           seconds * static_cast<double>(gpu.clock.dram) * gpu.dram.channels * gpu.dram.channel_bytes);
  return rates;
}

}  // namespace

/// What has happened to L2 since the launch before.
void Launcher::find_l2(int device) {
  if (!state_.l2_passage.take(device)) return;
  if (engine::Machine* last = machines_[static_cast<std::size_t>(device)].last) last->empty_l2();
  before_ = 0;  // as if none was before
}

double Launcher::predict_or_represent(const KernelCall& call, const emulate::LaunchContext& context,
                                      const engine::Launch& shape, LaunchLine& line) {
  SideBySide& beside = *state_.side_by_side;
  find_l2(call.device);
  if (!representatives_) {
    const report::Prediction prediction = predict(call, context, shape, line.index);
    beside.remember(line.index, rates_of(prediction, state_.spec->sm.count));
    return journal_.predicted(line, prediction);
  }
  sampling::LaunchWork work = known_work(call);
  const sampling::LaunchKind kind{kind_of(call, shape, state_.memory), call.block, call.cluster,
                                  call.dynamic_shared};
  if (!representatives_->simulate(line.index, kind, work)) {
    const emulate::BlockCount count =
        execute(context, *shape.program, machine(call).resident_blocks(shape), line);
    work.warp_instructions = static_cast<double>(count.instructions);
    work.thread_instructions = static_cast<double>(count.thread_instructions);
    const sampling::TimeEstimate time = representatives_->represent(line.index, kind, work);
    if (move_all_of_l2_.count(time.by) != 0) state_.l2_passage.add_all(call.device);
    journal_.represented(line, work, time);
    beside.remember(line.index, beside.rates_of(time.by));
    if (const auto found = dependences_.find(time.by); found != dependences_.end())
      dependences_[line.index] = found->second;
    return time.seconds;
  }
  const report::Prediction prediction = predict(call, context, shape, line.index);
  const stats::MemoryCounters& memory = prediction.counters.memory;
  if (memory.dram_bytes_read + memory.dram_bytes_write >= state_.spec->l2.bytes)
    move_all_of_l2_.insert(line.index);
  const double seconds = journal_.predicted(line, prediction);
  beside.remember(line.index, rates_of(prediction, state_.spec->sm.count));
  work.warp_instructions = static_cast<double>(prediction.counters.inst_executed);
  work.thread_instructions = static_cast<double>(prediction.counters.thread_inst_executed);
  const sampling::Estimate& estimate = prediction.estimate;
  const double cycle = seconds / std::max(1.0, static_cast<double>(prediction.counters.elapsed));
  const sampling::TimeEstimate time{seconds, estimate.sampled ? cycle * estimate.cycles_low : seconds,
                                    estimate.sampled ? cycle * estimate.cycles_high : seconds, line.index};
  representatives_->simulated(line.index, kind, work, time,
                              sampling::kLaunchCost + work.warp_instructions * estimate.simulated);
  return seconds;
}

cudaError_t Launcher::check(const KernelCall& call, const isa::Program& program) {
  const spec::GpuSpec& spec = *state_.spec;
  const auto zero = [](const Dim3& d) { return d.x == 0 || d.y == 0 || d.z == 0; };
  // Limits of every compute capability since 3.0: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
  if (zero(call.grid) || zero(call.block)) return cudaErrorInvalidConfiguration;
  if (call.grid.x > 0x7fffffff || call.grid.y > 65535 || call.grid.z > 65535)
    return cudaErrorInvalidConfiguration;
  if (call.block.x > 1024 || call.block.y > 1024 || call.block.z > 64) return cudaErrorInvalidConfiguration;
  if (call.block.count() > spec.limits.threads_per_block) return cudaErrorInvalidConfiguration;
  if (call.dynamic_shared > call.kernel->settings.max_dynamic_shared) return cudaErrorInvalidValue;
  if (program.max_threads != 0 && call.block.count() > program.max_threads)
    return cudaErrorLaunchOutOfResources;
  const auto* required = program.required_threads;
  if (required[0] != 0 &&
      (required[0] != call.block.x || required[1] != call.block.y || required[2] != call.block.z)) {
    return cudaErrorInvalidConfiguration;
  }
  const engine::Launch shape{{call.grid, call.block, {}, call.dynamic_shared},
                             call.kernel->on(call.device).program(),
                             0,
                             carveout_of(call)};
  if (const cudaError_t refused = check_cluster(spec, call); refused != cudaSuccess) return refused;
  const auto cluster = static_cast<std::uint32_t>(call.cluster.count());
  if (cluster > 1 && !call.part.whole() &&
      clusters_in(spec, call.part, rules::occupancy(spec, engine::resources_of(shape)).blocks, cluster) == 0)
    return cudaErrorInvalidClusterSize;
  if (!rules::impossible(spec, engine::resources_of(shape)).empty()) return cudaErrorLaunchOutOfResources;
  if (call.cooperative && call.grid.count() > machine(call).resident_blocks(shape))
    return cudaErrorCooperativeLaunchTooLarge;
  return cudaSuccess;
}

bool Launcher::wanted(std::uint64_t index, const Kernel& kernel) const {
  const Settings& settings = state_.settings;
  if (settings.functional) return false;
  const bool listed = settings.launches.empty() ||
                      std::any_of(settings.launches.begin(), settings.launches.end(), [&](const auto& range) {
                        return index >= range.first && index <= range.second;
                      });
  return listed && (!pattern_ || std::regex_search(kernel.image().program.kernel, *pattern_));
}

emulate::LaunchContext Launcher::context_of(const KernelCall& call, const isa::Program& program) {
  emulate::LaunchContext context;
  context.program = &program;
  Kernel& kernel = call.kernel->on(call.device);
  context.translation = &kernel.translation;
  context.memory = &state_.memory.global();
  context.textures = &state_.arrays.table();
  context.shape() = call;
  context.parameters = call.parameters;
  context.banks[2] = kernel.image().constant2;
  kernel.module().fill_banks(context);
  context.sms = static_cast<std::uint32_t>(state_.spec->sm.count);
  context.part_sms = call.part.sms;
  engine::on_chip(context, *state_.spec);
  context.checks = checks_;
  context.outside = WaitingLaunches::of_this_thread();
  context.strict_barriers = false;
  context.bounds_reported = &call.kernel->bounds_reported;
  context.max_instructions = state_.settings.max_instructions;
  context.local_bytes = static_cast<std::uint32_t>(state_.stack_bytes);
  return context;
}

/// All blocks, unless that has been done and nothing is different since.
emulate::BlockCount Launcher::execute(const emulate::LaunchContext& context, const isa::Program& program,
                                      std::uint64_t resident, LaunchLine& line) {
  return repeats_.run(
      context, state_.memory, state_.arrays.changes(),
      [&] { return emulate_only(context, program, resident); }, line.repeated);
}

/// All blocks, by as many host threads as may run them without one seeing what another does.
emulate::BlockCount Launcher::emulate_only(const emulate::LaunchContext& context, const isa::Program& program,
                                           std::uint64_t resident) {
  const emulate::Emulator emulator(context);
  const std::uint64_t blocks = emulator.blocks(), clusters = emulator.clusters(), size = blocks / clusters;
  const auto threads =
      static_cast<int>(std::min<std::uint64_t>({static_cast<std::uint64_t>(threads_), blocks / 4, clusters}));
  if (threads <= 1 || !emulate::may_run_at_once(context)) {
    emulate::BlockSequence sequence(emulator, resident, false);
    for (std::uint64_t done = 0; sequence.next(); ++done) journal_.progress(program.kernel, done, blocks);
    return sequence.count();
  }
  emulate::BlockCount total;
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  std::uint64_t failed = ~std::uint64_t{0};
  const auto work = [&](bool first) {
    emulate::BlockCount mine;
    for (std::uint64_t cluster = next++; cluster < clusters; cluster = next++) {
      if (first) journal_.progress(program.kernel, cluster * size, blocks);
      try {
        mine += emulator.run_cluster(cluster, nullptr);
      } catch (...) {
        // The first in order is the one reported, whichever thread came first.
        const std::lock_guard lock(mutex);
        if (cluster < failed) {
          failed = cluster;
          failure = std::current_exception();
        }
        next = clusters;
      }
    }
    const std::lock_guard lock(mutex);
    total += mine;
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work, false);
  work(true);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
  return total;
}

void Launcher::remember_dependence(std::uint64_t index, const report::Prediction& prediction) {
  const host::Dependence found = dependence_of(prediction);
  if (found.waits < 0 && found.lets_go < 0) return;
  const double ns =
      1e9 * static_cast<double>(prediction.counters.elapsed) / static_cast<double>(prediction.gpu->clock.sm);
  dependences_[index] = {found.waits / ns, found.lets_go / ns};
}

report::Prediction Launcher::predict(const KernelCall& call, const emulate::LaunchContext& context,
                                     const engine::Launch& shape, std::uint64_t index) {
  const Settings& settings = state_.settings;
  std::optional<trace::TraceWriter> writer;
  if (!settings.trace.empty()) {
    const auto path =
        std::filesystem::path(settings.trace) /
        fmt::format("{:05}_{}.{}.trace", index, file_name(shape.program->kernel), state_.spec->name);
    writer.emplace(path.string(), *shape.program, trace::LaunchInfo{call, ""});
  }
  engine::Launch reaching = shape;
  if (const auto& link = state_.clock->link()) reaching.peer = peer_memory(state_.memory, call.device, *link);
  engine::LaunchRun run;
  run.accuracy = accuracy_;
  run.warm = !settings.cold;
  run.threads = threads_;
  run.writer = writer ? &*writer : nullptr;
  run.progress = [&](std::uint64_t done, Cycle) {
    journal_.progress(shape.program->kernel, done, call.grid.count());
  };
  std::optional<report::FirstWarps> warps;
  if (!settings.timelines.empty() && settings.process == getpid() &&
      shown_.insert(shape.program->mangled).second) {
    run.timeline = warps.emplace().timeline();
  }
  SideBySide& beside = *state_.side_by_side;
  SideBySide::Kept kept;
  engine::Machine& machine = machine_with_caches(call);
  if (beside.expected() && call.part.whole()) kept = beside.begin(reaching, machine);
  run.keep = kept.blocks.get();
  engine::Outcome outcome = engine::run_launch(context, reaching, machine, run);
  if (writer) writer->close();
  if (warps) {
    const auto path = std::filesystem::path(settings.timelines) / fmt::format("{:05}.json", index);
    report::write_file(path.string(), warps->json(state_.spec->name, shape.program));
  }
  kept.warp_instructions = outcome.counters.inst_executed;
  report::Prediction prediction = report::prediction_of(state_.chip, settings.set, shape.program,
                                                        {call, "", !settings.cold}, std::move(outcome));
  remember_dependence(index, prediction);
  beside.add(index, std::move(kept));
  return prediction;
}

cudaError_t Launcher::code_of(emulate::FaultKind kind) const {
  switch (kind) {
    case emulate::FaultKind::out_of_bounds:
    case emulate::FaultKind::stack_overflow:
    case emulate::FaultKind::use_after_free: return cudaErrorIllegalAddress;
    case emulate::FaultKind::misaligned: return cudaErrorMisalignedAddress;
    case emulate::FaultKind::never_ends: return cudaErrorLaunchTimeout;
    case emulate::FaultKind::illegal_instruction: return cudaErrorIllegalInstruction;
    case emulate::FaultKind::assertion: return cudaErrorAssert;
    default: return cudaErrorLaunchFailure;
  }
}

cudaError_t Launcher::launch(const KernelCall& call, Executed& executed) {
  const std::shared_ptr<const isa::Program> program = call.kernel->on(call.device).program();
  if (const cudaError_t refused = check(call, *program); refused != cudaSuccess) return refused;
  const std::uint64_t index = next_++;
  // One that waits has the caches.
  const bool predicted = wanted(index, *call.kernel) && !state_.waiting.any();
  if (journal_.begin()) begin_representatives();
  LaunchLine line{call, index, program->kernel};
  line.stream = stream_;
  line.within = call.within;
  line.sms = call.part.sms;
  if (predicted) look_at_arguments(call, state_.memory, line);
  DeviceQueue queue(state_, *this, call, depth_);
  try {
    emulate::LaunchContext context = context_of(call, *program);
    context.device_runtime = &queue;
    const engine::Launch shape{context, program, 0, carveout_of(call)};
    const std::uint64_t resident = machine(call).resident_blocks(shape);
    executed.launch = index;
    executed.share = std::min(1.0, static_cast<double>(call.grid.count()) / static_cast<double>(resident)) *
                     call.part.of(*state_.spec) / state_.spec->sm.count;
    if (predicted) {
      executed.seconds = predict_or_represent(call, context, shape, line);
      host::Rates rates = state_.side_by_side->rates_of(index);
      rates.ns = executed.seconds * 1e9;
      rates.share = executed.share;
      state_.side_by_side->remember(index, rates);
      if (const auto found = dependences_.find(index); found != dependences_.end())
        executed.dependence = {found->second.waits * rates.ns, found->second.lets_go * rates.ns};
    } else {
      execute(context, *program, resident, line);
      journal_.emulated(line);
    }
  } catch (const emulate::KernelFault& fault) {
    if (fault.kind() == emulate::FaultKind::unsupported) throw;
    state_.pending = code_of(fault.kind());
    journal_.fault(line, fault.what(), error_name(state_.pending));
    return cudaSuccess;
  }
  run_asked(queue, executed);
  return cudaSuccess;
}

/// What the grid's code has asked for.
void Launcher::run_asked(DeviceQueue& queue, Executed& executed) {
  ++depth_;
  for (const Operation& operation : queue.take()) {
    if (state_.side_by_side) state_.side_by_side->forget(executed.launch);
    Executed done;
    if (const cudaError_t failed = state_.execute(operation, done); failed != cudaSuccess)
      state_.pending = failed;
    if (state_.pending != cudaSuccess) break;
    executed.seconds += done.seconds;
  }
  for (const GraphInstance* graph : queue.take_graphs()) {
    if (state_.side_by_side) state_.side_by_side->forget(executed.launch);
    if (state_.pending != cudaSuccess) break;
    if (const cudaError_t failed = run_graph_within(state_, *graph, executed.seconds); failed != cudaSuccess)
      state_.pending = failed;
  }
  --depth_;
}

}  // namespace foretrace::runtime
