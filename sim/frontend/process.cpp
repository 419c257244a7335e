#include "sim/frontend/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "model/units/error.h"

namespace foretrace::frontend {
namespace {

[[noreturn]] void cannot_start(const std::string& program, int error) {
  throw InputError(fmt::format("{}: cannot be run: {}", program, std::strerror(error)));
}

/// Both ends of a pipe, closed on every way out.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  explicit Pipe(const std::string& program) {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) cannot_start(program, errno);
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t which) {
    if (ends[which] >= 0) ::close(ends[which]);
    ends[which] = -1;
  }
};

/// Reads both pipes to their ends, in whichever order the program fills them.
void drain(Pipe& output, Pipe& errors, ProcessResult& result) {
  std::array<pollfd, 2> waits{{{output.ends[0], POLLIN, 0}, {errors.ends[0], POLLIN, 0}}};
  std::array<std::string*, 2> texts{&result.output, &result.errors};
  std::array<char, 1 << 16> buffer;
  int open = 2;
  while (open > 0) {
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].fd < 0 || waits[i].revents == 0) continue;
      const ssize_t count = read(waits[i].fd, buffer.data(), buffer.size());
      if (count > 0) {
        texts[i]->append(buffer.data(), static_cast<std::size_t>(count));
      } else if (count == 0 || errno != EINTR) {
        waits[i].fd = -1;  // poll passes over it
        --open;
      }
    }
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments) {
  FORETRACE_ASSERT(!arguments.empty(), "a program to run has a name");
  const std::string& program = arguments.front();
  Pipe output(program), errors(program);
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) cannot_start(program, error);

  output.close_end(1);
  errors.close_end(1);
  ProcessResult result;
  drain(output, errors, result);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) cannot_start(program, errno);
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "foretrace-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw InputError(fmt::format("{}: no temporary directory: {}", pattern, std::strerror(errno)));
  }
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace foretrace::frontend
