// The subcommands. Each takes its own words (without the program and the subcommand) and returns the exit code: 0, or 1 when the answer
// is no. Bad input and everything unsupported is thrown as InputError; main() prints its one line and returns 2.
#pragma once

#include <string>
#include <vector>

namespace foretrace::app {

using Words = std::vector<std::string>;

int arch(const Words& words);
int calibrate(const Words& words);
int beside(const Words& words);
int collective_operation(const Words& words);
int compare(const Words& words);
int disassemble(const Words& words);
int environment(const Words& words);
int launches(const Words& words);
int occupancy(const Words& words);
int predict(const Words& words);
int report_page(const Words& words);
int run(const Words& words);
int simulate(const Words& words);
int timeline(const Words& words);
int validate(const Words& words);

/// All words of the command line, the program's name first: the result document's "command".
const Words& command_line();

}  // namespace foretrace::app
