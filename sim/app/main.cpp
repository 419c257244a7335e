// The program: finds the subcommand and turns errors into one line and exit code 2.

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "model/config/keys.h"
#include "model/units/error.h"
#include "sim/app/about.h"
#include "sim/app/commands.h"
#include "sim/app/package.h"
#include "sim/app/version.h"
#include "sim/report/table.h"

namespace foretrace::app {

namespace {

struct Command {
  const char* name;
  int (*run)(const Words&);
  const char* summary;
};
constexpr std::array<Command, 15> kCommands{{
    {"predict", predict, "run a kernel's machine code on the CPU and predict its time on a GPU"},
    {"run", run, "run a CUDA program with no GPU: its kernels are emulated, and each launch is predicted"},
    {"env", environment, "what a shell evaluates so that builds link what run can take over"},
    {"simulate", simulate, "predict from a trace"},
    {"timeline", timeline, "what a few warps do, cycle by cycle"},
    {"beside", beside, "traces whose kernels share a chip: how much each is slowed by the others"},
    {"validate", validate,
     "predict what a real GPU was measured on, and say how far off the predictions are"},
    {"calibrate", calibrate, "from microbenchmark answers to the configuration of another GPU"},
    {"compare", compare, "two results side by side, or a result beside ncu's CSV"},
    {"report", report_page, "a page to look at, of results that --json wrote"},
    {"collective", collective_operation, "all-reduces and their like over the GPUs of one host, by size"},
    {"arch", arch, "the chips, their numbers and where these come from"},
    {"occupancy", occupancy, "how many blocks an SM holds, and what limits it"},
    {"disassemble", disassemble, "a kernel's machine code with control bits and pipes"},
    {"launches", launches, "what launch files hold; --emit writes the table that the harness reads"},
}};

Words& words_of_program() {
  static Words words;
  return words;
}

void print_usage(std::ostream& out) {
  out << "usage: foretrace COMMAND [OPTIONS]\n\n";
  for (const Command& command : kCommands) {
    out << "  " << command.name << std::string(14 - std::string(command.name).size(), ' ') << command.summary
        << "\n";
  }
  out << "\nof the Python package (docs/python.md), handed to python3:\n\n";
  for (const PackageCommand& command : kPackageCommands) {
    out << "  " << command.name << std::string(14 - command.name.size(), ' ') << command.summary << "\n";
  }
  out << "\nforetrace COMMAND --help lists a command's options.\n"
      << "Exit codes: 0 success, 1 check failed, 2 invalid input, kernel fault or unsupported feature; of "
         "run its\n"
      << "program's own, 125 where Foretrace itself stops.\n";
}

int run_command(const Words& words) {
  if (words.size() < 2 || words[1] == "--help" || words[1] == "-h" || words[1] == "help") {
    if (words.size() > 2)
      throw InputError(
          fmt::format("{}: expected nothing after {}; 'foretrace COMMAND --help' lists a command's options",
                      words[2], words[1]));
    print_usage(words.size() < 2 ? std::cerr : std::cout);
    return words.size() < 2 ? 2 : 0;
  }
  if (words[1] == "--version") {
    const bool json = words.size() > 2 && words[2] == "--json";
    if (words.size() > (json ? 3 : 2))
      throw InputError(words.back() + ": expected --version or --version --json");
    if (json) return about();
    std::cout << "foretrace " << kVersion << (*kCommit ? " " : "") << kCommit << "\n";
    return 0;
  }
  const Words rest(words.begin() + 2, words.end());
  for (const PackageCommand& command : kPackageCommands) {
    if (words[1] == command.name) hand_to_package(command.name, rest);
  }
  const auto found =
      std::find_if(kCommands.begin(), kCommands.end(), [&](const Command& c) { return words[1] == c.name; });
  if (found == kCommands.end()) {
    std::vector<std::string> known;
    known.reserve(std::size(kCommands) + std::size(kPackageCommands));
    for (const Command& command : kCommands) known.emplace_back(command.name);
    for (const PackageCommand& command : kPackageCommands) known.emplace_back(command.name);
    throw InputError(fmt::format("unknown command {}{}; 'foretrace --help' lists the commands", words[1],
                                 config::hint(words[1], known)));
  }
  return found->run(rest);
}

/// What the rooms marked HOT are compiled for (cmake/foretrace.cmake).
void check_processor() {
#ifdef __x86_64__
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("fma"))
    throw InputError("this processor has no AVX2, BMI2 and FMA, which this build needs");
#endif
}

}  // namespace

const Words& command_line() { return words_of_program(); }

}  // namespace foretrace::app

int main(int argc, char** argv) {
  using namespace foretrace;
  app::words_of_program().assign(argv, argv + argc);
  try {
    // A limit on the size of files is an error like a full disk, not the end of the process.
    std::signal(SIGXFSZ, SIG_IGN);
    errno = 0;
    app::check_processor();
    const int code = app::run_command(app::command_line());
    if (!std::cout.flush()) {
      throw InputError(fmt::format("standard output: cannot be written{}{}", errno != 0 ? ": " : "",
                                   errno != 0 ? std::strerror(errno) : ""));
    }
    return code;
  } catch (const ToolError& error) {
    std::cout.flush();
    std::cerr << "foretrace: " << error.what() << "\n" << error.output();
  } catch (const InputError& error) {
    std::cout.flush();
    std::cerr << "foretrace: " << report::one_line(error.what()) << "\n";
  } catch (const std::exception& error) {
    std::cout.flush();
    std::cerr << "foretrace: internal error: " << error.what() << "\n";
  }
  return 2;
}
