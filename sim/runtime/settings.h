// What `foretrace run` tells the runtime library inside the program: one environment variable that holds JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace foretrace::runtime {

inline constexpr const char* kSettingsVariable = "FORETRACE_RUN";

struct Settings {
  std::string arch;              ///< a chip's name or alias, or a config file's path
  std::vector<std::string> set;  ///< "key=value"
  std::string clock = "boost";   ///< as --clock
  int devices = 1;               ///< GPUs of that chip
  bool functional = false;       ///< emulate only
  bool cold = false;             ///< every launch starts with empty caches, not as the one before left them
  bool simulate_all = false;     ///< every launch, however much it costs
  std::uint64_t budget = 20'000'000;  ///< warp instructions to simulate before launches stand for others
  std::string host = "xeon-h100";     ///< whose calls the time line has: a name, a file, or none
  std::string link;                   ///< between the GPUs: a name or a file; empty: none was asked for
  double host_time = 0;               ///< the program's own work between calls, times this
  bool quiet = false;                 ///< no line per launch and no summary
  std::string json;                   ///< file of the result document, %p in it the process; empty: none
  int process = 0;                    ///< the first process: the one that the program was started in
  std::string trace;                  ///< directory for a trace of each predicted launch; empty: none
  std::string
      timelines;       ///< directory for the first warps of each kernel's first predicted launch; empty: none
  std::string kernel;  ///< predict kernels whose source name matches this regular expression; empty: all
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      launches;                        ///< predict launches first..last, from 0; empty: all
  std::string accuracy = "auto";       ///< as --accuracy of predict
  std::uint64_t max_instructions = 0;  ///< warp instructions of one block; 0: no limit
  int threads = 0;                     ///< host threads; 0: all
  int threads_here() const;            ///< how many that is
  std::vector<std::string> check;      ///< "uninitialized", "races"
  std::string nvdisasm;                ///< its path; empty: there is none
  std::string nvdisasm_version;        ///< as it says; empty: it does not
  std::string ptxas, ptxas_version;    ///< likewise
  std::string version, commit;         ///< of foretrace, for the result document
  std::vector<std::string> command;    ///< foretrace's own command line, likewise
};

std::string to_json(const Settings& settings);
/// Throws InputError when the text is not what to_json wrote.
Settings settings_from_json(const std::string& text);

/// "0-11,20" -> {{0,11},{20,20}}. Throws InputError naming the expected form.
std::vector<std::pair<std::uint64_t, std::uint64_t>> parse_launches(const std::string& text);
/// "none" -> 0, "measured" -> 1, "scale=0.5" -> 0.5. Throws InputError naming the expected form.
double parse_host_time(const std::string& text);

}  // namespace foretrace::runtime
