// foretrace run: starts a CUDA program with Foretrace's CUDA runtime library in the place of NVIDIA's.
//
// The program runs in this process: exit code, signals and standard streams are its own. The library (sim/runtime) finds what was
// chosen here in one environment variable.

#include <sys/personality.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <regex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/app/options.h"
#include "sim/app/page.h"
#include "sim/app/program_file.h"
#include "sim/app/run_gains.h"
#include "sim/app/run_launch.h"
#include "sim/app/run_page.h"
#include "sim/app/runtime_files.h"
#include "sim/app/trace_rows.h"
#include "sim/app/version.h"
#include "sim/collective/link_spec.h"
#include "sim/engine/run_launch.h"
#include "sim/frontend/process.h"
#include "sim/frontend/toolchain.h"
#include "sim/host/host_spec.h"
#include "sim/report/json.h"
#include "sim/report/table.h"
#include "sim/runtime/settings.h"
#include "sim/runtime/trace_settings.h"
#include "sim/trace/scratch_file.h"

namespace foretrace::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kRunUsage = "run --arch CHIP [OPTIONS] -- PROGRAM [ARGUMENTS]";
constexpr int kStopCode = 125;  // as env, timeout and docker: they failed, not the program

/// The file that the program's name means, looked up in PATH as a shell would.
std::string program_path(const std::string& name) {
  std::error_code error;
  if (name.find('/') != std::string::npos) {
    if (!fs::is_regular_file(name, error)) throw InputError(fmt::format("{}: no such program", name));
    return name;
  }
  const char* path = std::getenv("PATH");
  for (const std::string& directory : split(path == nullptr ? "" : path, ':')) {
    const fs::path file = fs::path(directory.empty() ? "." : directory) / name;
    if (fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0) return file.string();
  }
  throw InputError(fmt::format("{}: no such program in PATH", name));
}

void put_first(const char* variable, const std::string& value, char separator) {
  const char* before = std::getenv(variable);
  const std::string all = before == nullptr || *before == '\0' ? value : value + separator + before;
  setenv(variable, all.c_str(), 1);
}

/// The runtime in front of the program: its own version first, for packages of the other may be loaded later.
void preload(const fs::path& libraries, const ProgramFile& file) {
  const auto needs = [&](std::string_view name) {
    return std::find(file.needed.begin(), file.needed.end(), name) != file.needed.end();
  };
  const bool is_12 = needs("libcudart.so.12");
  for (const char* name :
       {is_12 ? "libcudart.so.13" : "libcudart.so.12", is_12 ? "libcudart.so.12" : "libcudart.so.13"}) {
    if (fs::exists(libraries / name)) put_first("LD_PRELOAD", (libraries / name).string(), ' ');
  }
  // Libraries that name a folder of their own for it (PyTorch's) find ours all the same.
  for (const char* name : {"libcupti.so.12", "libcupti.so.13"}) {
    if (fs::exists(libraries / name)) put_first("LD_PRELOAD", (libraries / name).string(), ' ');
  }
  // AddressSanitizer refuses to come after others.
  for (const std::string& name : file.needed) {
    if (name.starts_with("libasan.so")) put_first("LD_PRELOAD", name, ' ');
  }
}

void check_program(const std::string& path, const ProgramFile& program) {
  if (!program.is_elf || !program.has_device_code)
    return;  // a script, say: what it starts is looked at when it registers
  for (const std::string& library : program.needed) {
    if (library.rfind("libcudart.so", 0) == 0) {
      if (library == "libcudart.so.13" || library == "libcudart.so.12") return;
      throw InputError(fmt::format(
          "{}: it needs {}; expected libcudart.so.13 or .12: build it with nvcc 12 or 13 and -cudart shared",
          path, library));
    }
  }
  if (!program.has_static_runtime) return;  // it uses the driver alone
  throw InputError(
      fmt::format("{}: the CUDA runtime is linked into it statically, where nothing can take its place; "
                  "build it again with "
                  "nvcc -cudart shared, or with the same commands after: eval $(foretrace env)",
                  path));
}

/// Refuses it before the program starts; a file gets a path that holds wherever the program goes.
void check_host(std::string& host) {
  if (host.find('/') != std::string::npos || host.ends_with(".toml")) host = fs::absolute(host).string();
  (void)host::load_host(host, config::config_directory());
}

/// The same of what joins the GPUs.
void check_link(std::string& link, int devices) {
  if (link.empty()) return;
  if (devices < 2)
    throw InputError(
        fmt::format("--link {}: joins several GPUs; expected --devices CHIP,CHIP,... with it", link));
  const collective::LinkSpec spec = collective::load_link(link, config::config_directory());
  if (devices > spec.devices)
    throw InputError(
        fmt::format("--link {}: joins {} GPUs at most; expected no more in --devices, which has {}", link,
                    spec.devices, devices));
  if (link.find('/') != std::string::npos || link.ends_with(".toml")) link = fs::absolute(link).string();
}

/// The list's chip becomes the one that is asked for; how often it stands there.
int take_devices(const std::string& list, ChipOptions& chip) {
  constexpr std::size_t kMost = 64;
  const std::vector<std::string> names = split(list);
  const bool alike =
      std::all_of(names.begin(), names.end(), [&](const auto& name) { return name == names[0]; });
  if (names.empty() || names.size() > kMost || !alike || !chip.arch.empty()) {
    throw InputError(fmt::format(
        "--devices {}: expected one chip's name, once for each of at most {} GPUs, in the place of --arch",
        list, kMost));
  }
  chip.arch = {names[0]};
  return static_cast<int>(names.size());
}

/// What the command line says.
struct Asked {
  runtime::Settings settings;
  runtime::TraceSettings time_line;
  ChipOptions chip;
  std::string launches, checks, html, devices, simulate = "representative", host_time = "none";
  bool gains = false;

  /// Whether something is made of the results once the program has ended.
  bool afterwards() const { return !html.empty() || gains; }
};

void add_options(options::options_description& known, Asked& asked) {
  runtime::Settings& settings = asked.settings;
  asked.chip.add_one_to(known);
  known.add_options()("devices", options::value(&asked.devices)->value_name("CHIP[,CHIP]"),
                      "the machine's GPUs, all of one chip, for --arch: CHIP,CHIP,...")(
      "accuracy", options::value(&settings.accuracy)->value_name("WHICH")->default_value(settings.accuracy),
      "exact: simulate every instruction; sampled (or fast): a part, and estimate the rest "
      "with an interval; auto: sampled for large launches only")(
      "functional", options::bool_switch(&settings.functional), "run the kernels, predict nothing")(
      "cold", options::bool_switch(&settings.cold),
      "every launch starts with cold caches, as Nsight Compute measures; default: as the launch before left "
      "them")("simulate", options::value(&asked.simulate)->value_name("WHICH")->default_value(asked.simulate),
              "representative: beyond the budget, launches that are like others are executed, and get their "
              "time from these; all: every launch is simulated")(
      "budget", count(&settings.budget)->default_value(settings.budget),
      "warp instructions to simulate, about: what a representative simulation may cost")(
      "launches", options::value(&asked.launches)->value_name("LIST"),
      "predict only these launches, counted from 0: 0-11,20")(
      "kernel", options::value(&settings.kernel)->value_name("PATTERN"),
      "predict only kernels whose name matches this regular expression")(
      "html", result_file(&asked.html),
      "write a page of the predicted launches, one file that needs no network, to this file")(
      "gains", options::bool_switch(&asked.gains),
      "at the end, simulate the three hottest kernels again without each limit, and say what that would "
      "bring; "
      "launches are then recorded, and simulated exactly")(
      "json", result_file_or_output(&settings.json),
      "write the result document, every predicted launch in it, to this file")(
      "perfetto", result_file(&asked.time_line.perfetto),
      "write the program's predicted time line, a row per stream, copy engine and host thread, to this file "
      "for ui.perfetto.dev")(
      "host", options::value(&settings.host)->value_name("NAME")->default_value(settings.host),
      "the host whose calls, gaps and copies are on the time line: one of configs/hosts, a file, or none")(
      "link", options::value(&settings.link)->value_name("NAME"),
      "what joins several GPUs, whose numbers copies between them take: one of configs/links, or a file "
      "(default: nvlink4)")(
      "host-time", options::value(&asked.host_time)->value_name("WHICH")->default_value(asked.host_time),
      "what the program's own work between calls takes on the time line: none, measured (as here), or "
      "scale=X of that")("trace", options::value(&settings.trace)->value_name("DIR"),
                         "record every predicted launch in this directory")(
      "max-instructions", count(&settings.max_instructions),
      "a block that executes more warp instructions than this is a timeout")(
      "check", options::value(&asked.checks)->value_name("LIST"),
      "make faults of what a GPU lets pass, several with commas: bounds (accesses beyond an allocation, on a "
      "page "
      "that the device has), uninitialized (reads), races (on shared memory); the last two predict nothing")(
      "threads", options::value(&settings.threads)->value_name("N"),
      "host threads (default: all); any number gives the same result")(
      "quiet", options::bool_switch(&settings.quiet), "no line per launch and no summary");
}

/// The one chip that is asked for.
Variant chosen_chip(Asked& asked) {
  if (!asked.devices.empty()) asked.settings.devices = take_devices(asked.devices, asked.chip);
  std::vector<Variant> chips = variants(asked.chip);
  if (chips.size() != 1)
    throw InputError(fmt::format("{} chips or variants given; run takes one", chips.size()));
  return std::move(chips.front());
}

/// Refuses what the options do not take before the program starts, and puts the rest into the settings.
void check_options(Asked& asked, const Variant& chip) {
  runtime::Settings& settings = asked.settings;
  settings.arch = asked.chip.arch.front();
  settings.set = chip.overrides;
  settings.clock = asked.chip.clock;
  const engine::Accuracy accuracy = engine::parse_accuracy(settings.accuracy, "--accuracy");
  if (settings.json == "-")
    throw InputError("--json -: standard output is the program's; expected a file's name");
  if (asked.gains) check_gains(accuracy);
  if (asked.simulate != "all" && asked.simulate != "representative")
    throw InputError(fmt::format("--simulate {}: expected representative or all", asked.simulate));
  settings.simulate_all = asked.simulate == "all";
  settings.host_time = runtime::parse_host_time(asked.host_time);
  check_host(settings.host);
  check_link(settings.link, settings.devices);
  if (!asked.launches.empty()) settings.launches = runtime::parse_launches(asked.launches);
  if (!asked.checks.empty()) {
    settings.check = split(asked.checks);
    for (const std::string& check : settings.check) {
      if (check != "bounds" && check != "uninitialized" && check != "races")
        throw InputError(fmt::format("--check {}: expected bounds, uninitialized or races", check));
      if (check != "bounds") settings.functional = true;
    }
  }
  try {
    const std::regex pattern(settings.kernel);
  } catch (const std::regex_error& error) {
    throw InputError(
        fmt::format("--kernel {}: {}; expected a regular expression", settings.kernel, error.what()));
  }
  if (!settings.trace.empty()) {
    if (!fs::is_directory(settings.trace))
      throw InputError(fmt::format("--trace {}: expected an existing directory", settings.trace));
    settings.trace = fs::absolute(settings.trace).string();
  }
}

/// What reads and compiles machine code, and who we are.
void add_tools(runtime::Settings& settings) {
  const frontend::Toolchain toolchain = frontend::find_toolchain();
  const auto use = [](const std::optional<frontend::Tool>& tool, std::string& path, std::string& version) {
    if (!tool) return;
    path = fs::absolute(tool->path).string();
    version = tool->version;
  };
  use(toolchain.nvdisasm, settings.nvdisasm, settings.nvdisasm_version);
  use(toolchain.ptxas, settings.ptxas, settings.ptxas_version);
  settings.version = kVersion;
  settings.commit = kCommit;
  settings.command = command_line();
}

/// What the program and those that it starts find in their environment.
void set_environment(const ProgramFile& file) {
  const fs::path libraries = runtime_directory();
  setenv("FORETRACE_CONFIGS", fs::absolute(config::config_directory()).c_str(), 1);
  preload(libraries, file);
  put_first("LD_LIBRARY_PATH", libraries.string(), ':');
  setenv("NVTX_INJECTION64_PATH", (libraries / "libforetrace_nvtx.so.1").c_str(),
         0);  // the user's own goes first
  setenv("TRITON_LIBCUDA_PATH", libraries.c_str(), 1);
}

/// The page of a program that has ended.
void write_page_of(const Asked& asked) {
  const std::string& file = asked.settings.json;
  const std::string text = report::read_file(file);
  const report::Document document = report::from_json(text, file);
  PageExtras extras{hottest_timeline(document, asked.settings.timelines), {}, {program_of(text)}, {}};
  if (const std::string& trace = asked.time_line.perfetto; fs::exists(trace))
    extras.traces = {trace_rows(report::read_file(trace), trace)};
  write_page(asked.html, {document}, extras);
}

}  // namespace

int run(const Words& words) {
  Asked asked;
  runtime::Settings& settings = asked.settings;
  options::options_description known("options");
  add_options(known, asked);
  const auto end = std::find(words.begin(), words.end(), "--");
  options::variables_map values;
  try {
    if (!parse(Words(words.begin(), end), kRunUsage, known, "program", values)) return 0;
    if (values.count("program")) {
      throw InputError(fmt::format("{}: the program stands after --; expected: foretrace {}",
                                   values["program"].as<Words>().front(), kRunUsage));
    }
    if (end == words.end() || end + 1 == words.end())
      throw InputError(fmt::format("no program given; expected: foretrace {}", kRunUsage));
    const Variant chip = chosen_chip(asked);
    check_options(asked, chip);
    if (settings.simulate_all)
      refuse_given(values, {"budget"}, "--simulate all, which has no bound; expected one of the two");
    std::optional<trace::ScratchFile> scratch;
    std::optional<frontend::TemporaryDirectory> recorded, timelines;
    const bool gains = asked.gains;
    if (settings.functional) {
      refuse_given(values,
                   {"gains", "html", "perfetto", "trace", "accuracy", "cold", "simulate", "budget",
                    "launches", "kernel", "host", "link", "host-time"},
                   fmt::format("{}: nothing is predicted; expected one of the two",
                               values["functional"].as<bool>() ? "--functional" : "--check " + asked.checks));
    }
    if (asked.afterwards() && settings.json.empty()) settings.json = scratch.emplace().path();
    if (gains && settings.trace.empty()) settings.trace = recorded.emplace().path();
    if (!asked.html.empty()) settings.timelines = timelines.emplace().path();
    if (!settings.json.empty()) settings.json = fs::absolute(settings.json).string();
    if (std::string& file = asked.time_line.perfetto; !file.empty()) file = fs::absolute(file).string();
    add_tools(settings);

    const Words program(end + 1, words.end());
    put_first("PATH", (runtime_directory() / "bin").string(), ':');  // has nvidia-smi
    const std::string path = program_path(program.front());
    const ProgramFile file = read_program_file(path);
    check_program(path, file);
    if (file.has_device_code && settings.nvdisasm.empty()) {
      throw InputError(
          "no nvdisasm to read the program's machine code; scripts/setup installs it, or FORETRACE_NVDISASM "
          "or PATH names one");
    }
    set_environment(file);
    std::vector<char*> arguments;
    for (const std::string& word : program) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    // Memory that the program registers lies where the system puts it, and caches see its addresses: the same in every run, if allowed.
    if (const int now = personality(0xffffffff); now >= 0)
      (void)personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE);
    const auto start = [&] {
      settings.process = getpid();
      setenv(runtime::kSettingsVariable, runtime::to_json(settings, asked.time_line).c_str(), 1);
      std::cout.flush();
      std::signal(SIGXFSZ, SIG_DFL);  // the program's own, not ours
      execv(path.c_str(), arguments.data());
      throw InputError(fmt::format("{}: cannot be started: {}", path, std::strerror(errno)));
    };
    if (asked.afterwards()) {
      return run_then(start, [&] {
        const auto spec = std::make_shared<const spec::GpuSpec>(chip.chip.spec);
        const int threads =
            settings.threads > 0 ? settings.threads : static_cast<int>(std::thread::hardware_concurrency());
        if (gains) add_gains(settings.json, settings.trace, spec, threads);
        if (!asked.html.empty()) write_page_of(asked);
      });
    }
    start();
    return kStopCode;
  } catch (const InputError& error) {
    std::cerr << "foretrace: " << report::one_line(error.what()) << "\n";
    return kStopCode;
  }
}

}  // namespace foretrace::app
