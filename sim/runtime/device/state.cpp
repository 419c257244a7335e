#include "sim/runtime/device/state.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "sim/runtime/device/capture.h"
#include "sim/runtime/device/clock.h"
#include "sim/runtime/device/copy.h"
#include "sim/runtime/device/launcher.h"
#include "sim/runtime/device/side_by_side.h"

namespace foretrace::runtime {

namespace {

std::atomic<State*> the_state{nullptr};
std::recursive_mutex making;

Settings settings_of_environment() {
  const char* text = std::getenv(kSettingsVariable);
  if (text == nullptr)
    throw InputError(
        "this CUDA runtime library is Foretrace's; start the program with: foretrace run --arch CHIP -- "
        "PROGRAM");
  return settings_from_json(text);
}

config::Loaded chip_of(const Settings& settings) {
  std::vector<config::Override> overrides;
  for (const std::string& text : settings.set) {
    const std::vector<config::Override> values = config::parse_set(text);
    overrides.insert(overrides.end(), values.begin(), values.end());
  }
  return config::load_gpu(settings.arch, overrides, config::parse_clock(settings.clock));
}

frontend::Toolchain toolchain_of(const Settings& settings) {
  frontend::Toolchain toolchain;
  if (!settings.nvdisasm.empty())
    toolchain.nvdisasm = frontend::Tool{settings.nvdisasm, settings.nvdisasm_version};
  if (!settings.ptxas.empty()) toolchain.ptxas = frontend::Tool{settings.ptxas, settings.ptxas_version};
  return toolchain;
}

/// What joins the devices, where time passes.
std::optional<collective::LinkSpec> link_of(const Settings& settings) {
  if (settings.functional || settings.devices < 2) return std::nullopt;
  const std::string& name = settings.link;
  return collective::load_link(name.empty() ? collective::kDefaultLink : name, config::config_directory());
}

/// The summary comes when the program ends by exit() or by returning from main, after its own destructors.
__attribute__((destructor)) void finish_at_exit() {
  State* s = the_state.load();
  if (s == nullptr) return;
  std::fflush(stdout);
  try {
    s->mutex.lock();  // for ever: launches that wait do not go on
    s->launcher->journal().finish();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "foretrace: %s\n", error.what());
    std::fflush(nullptr);
    _exit(kStopCode);
  }
}

}  // namespace

State::State()
    : settings(settings_of_environment()), chip(chip_of(settings)),
      spec(std::make_shared<const spec::GpuSpec>(chip.spec)), toolchain(toolchain_of(settings)),
      memory(spec->dram.bytes, settings.devices), l2_passage(spec->l2.bytes), streams(settings.devices) {
  make_primary_contexts(settings.devices);
  if (std::find(settings.check.begin(), settings.check.end(), "uninitialized") != settings.check.end())
    memory.track_writes();
  // Nothing is predicted: no time passes.
  const std::string host = settings.functional ? "none" : settings.host;
  if (!settings.functional)
    side_by_side = std::make_unique<SideBySide>(spec, settings.simulate_all ? 0 : settings.budget,
                                                settings.cold, settings.threads_here());
  clock = std::make_unique<Clock>(host::load_host(host, config::config_directory()),
                                  settings.functional ? 0 : settings.host_time, side_by_side.get(),
                                  link_of(settings));
  launcher = std::make_unique<Launcher>(*this);
}
State::~State() = default;

State* state_if_any() { return the_state.load(); }

State& state() {
  if (State* s = the_state.load(std::memory_order_acquire)) return *s;
  const std::lock_guard lock(making);
  if (State* s = the_state.load()) return *s;
  try {
    // Never deleted: the program's own destructors may still call.
    the_state = new State;
  } catch (const std::exception& error) { stop(error.what()); }
  return *the_state;
}

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

namespace {
thread_local int calls_deep = 0;
}

InCall::InCall(State& state) : state_(state) {
  if (calls_deep++ == 0) state_.clock->enter();
}
InCall::~InCall() {
  if (--calls_deep == 0) state_.clock->leave();
}

cudaStreamCaptureMode& capture_mode() {
  thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}

void stop(const std::string& message) {
  std::fflush(nullptr);
  std::fputs(fmt::format("foretrace: {}\n", message).c_str(), stderr);
  if (State* s = state_if_any(); s != nullptr && s->launcher) {
    try {
      s->launcher->journal().finish();
    } catch (const std::exception& error) { std::fprintf(stderr, "foretrace: %s\n", error.what()); }
  }
  std::fflush(nullptr);
  _exit(kStopCode);
}

void stop_not_provided(const char* name) { stop(fmt::format("{} is not provided by Foretrace", name)); }

Kernel* State::kernel(const void* function) {
  if (const auto found = resolved.find(function); found != resolved.end()) return found->second;
  if (const auto found = handles.find(function); found != handles.end()) return found->second;
  const auto registered = functions.find(function);
  if (registered == functions.end()) return nullptr;
  Kernel* kernel = registered->second.first->kernel(registered->second.second);
  if (kernel != nullptr) {
    resolved[function] = kernel;
    handles[kernel] = kernel;
  }
  return kernel;
}

cudaError_t State::submit(cudaStream_t handle, Operation operation) {
  Stream* stream = streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (const auto* kernel = std::get_if<KernelCall>(&operation);
      kernel != nullptr && kernel->device != stream->device)
    return cudaErrorInvalidResourceHandle;
  if (stream->capture) return capture_work(*stream, std::move(operation));
  if (streams.is_legacy(stream) && streams.blocking_capture())
    return break_captures(*this, cudaErrorStreamCaptureImplicit);
  if (waiting.before(*stream)) {
    const auto* copy = std::get_if<CopyCall>(&operation);
    const bool staged = copy != nullptr && copy->from != nullptr && memory.find(copy->from) == nullptr;
    if (!staged) {
      waiting.put_behind(*stream, [this, handle, operation = std::move(operation)] {
        if (const cudaError_t failed = submit(handle, operation); failed != cudaSuccess) pending = failed;
      });
      return cudaSuccess;
    }
    waiting.finish(*stream);  // the program may change what it copies as soon as the call is over
  }
  return submit_now(handle, *stream, operation);
}

cudaError_t State::submit_now(cudaStream_t handle, const Stream& stream, const Operation& operation) {
  Executed executed;
  if (side_by_side && (streams.made() || !streams.is_legacy(&stream))) side_by_side->expect();
  launcher->place(stream.id - 1);
  cudaError_t result = cudaSuccess;
  const auto* kernel = std::get_if<KernelCall>(&operation);
  if (kernel != nullptr && waiting.may_wait(*kernel)) {
    if (!waiting.launch(handle, stream, *kernel, result, executed)) return cudaSuccess;
  } else {
    result = execute(operation, executed);
  }
  if (result == cudaSuccess) clock->give(*this, stream, operation, executed);
  return result;
}

cudaError_t State::faulted() {
  if (pending != cudaSuccess) sticky = std::exchange(pending, cudaSuccess);
  return sticky;
}

void State::place_launches() { launcher->journal().place_launches(); }

cudaError_t State::execute(const Operation& operation, Executed& executed) {
  executed = {};
  if (const auto* kernel = std::get_if<KernelCall>(&operation)) return launcher->launch(*kernel, executed);
  const auto passed = [this](cudaError_t result, const auto& call) {
    if (result == cudaSuccess) l2_passage.add(call, memory);
    return result;
  };
  if (const auto* copy = std::get_if<CopyCall>(&operation)) return passed(copy_boxes(memory, *copy), *copy);
  if (const auto* fill = std::get_if<FillCall>(&operation)) return passed(fill_boxes(memory, *fill), *fill);
  const auto& host = std::get<HostCall>(operation);
  host.function(host.data);
  return cudaSuccess;
}

}  // namespace foretrace::runtime
