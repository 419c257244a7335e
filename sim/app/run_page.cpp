#include "sim/app/run_page.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/report/table.h"

namespace foretrace::app {

namespace {

volatile sig_atomic_t child_process = 0;

void pass_on(int signal) {
  if (child_process > 0) kill(static_cast<pid_t>(child_process), signal);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR)
      throw InputError(fmt::format("the program's end was missed: {}", std::strerror(errno)));
  }
  return status;
}

}  // namespace

int run_then(const std::function<void()>& program, const std::function<void()>& afterwards) {
  std::cout.flush();
  const pid_t child = fork();
  if (child < 0) throw InputError(fmt::format("no process for the program: {}", std::strerror(errno)));
  if (child == 0) {
    program();
    std::_Exit(1);  // program() throws or does not return
  }
  child_process = child;
  // A terminal's interrupt reaches the program by itself.
  for (const int signal : {SIGINT, SIGQUIT}) std::signal(signal, SIG_IGN);
  for (const int signal : {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) std::signal(signal, pass_on);
  const int status = wait_for(child);
  try {
    afterwards();
  } catch (const InputError& error) { std::cerr << "foretrace: " << report::one_line(error.what()) << "\n"; }
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace foretrace::app
