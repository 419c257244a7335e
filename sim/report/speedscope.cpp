// Stalls as speedscope's file format has them (speedscope.app/file-format-schema.json): frames, and samples with weights.

#include <map>

#include <fmt/format.h>

#include "sim/report/json_text.h"
#include "sim/report/pages.h"

namespace foretrace::report {
namespace {

std::string base_name(const std::string& file) { return file.substr(file.find_last_of('/') + 1); }

/// Frames by what they are, numbered in the order in which they first appear.
class Frames {
 public:
  std::size_t place(const std::string& file, std::uint32_t line) {
    Json frame{{"name", fmt::format("{}:{}", base_name(file), line)}, {"file", file}, {"line", line}};
    return number(frame);
  }
  std::size_t name(const std::string& name) { return number(Json{{"name", name}}); }
  Json take() { return std::move(all_); }

 private:
  std::size_t number(Json frame) {
    const auto [at, fresh] =
        numbers_.try_emplace(frame.dump(-1, ' ', false, Json::error_handler_t::replace), all_.size());
    if (fresh) all_.push_back(std::move(frame));
    return at->second;
  }
  Json all_ = Json::array();
  std::map<std::string, std::size_t> numbers_;
};

using Stack = std::vector<std::size_t>;  // the outermost frame first

Stack stack_of(const LaunchResult& result, const InstructionResult& row, Frames& frames) {
  Stack stack{frames.name(result.kernel)};
  for (auto place = row.inlined.rbegin(); place != row.inlined.rend(); ++place)
    stack.push_back(frames.place(place->file, place->line));
  if (row.line != 0) {
    stack.push_back(frames.place(row.file, row.line));
  } else {
    stack.push_back(frames.name(fmt::format("{:04x} {}", row.offset, row.sass)));
  }
  return stack;
}

Json profile_of(const LaunchResult& result, Frames& frames) {
  std::map<Stack, std::uint64_t> weights;
  for (const InstructionResult& row : result.instructions) {
    Stack stack = stack_of(result, row, frames);
    for (int s = 0; s < stats::kWarpStates; ++s) {
      const auto state = static_cast<stats::WarpState>(s);
      if (row.stalled[static_cast<std::size_t>(s)] == 0) continue;
      stack.push_back(frames.name(stats::name_of(state)));
      weights[stack] += row.stalled[static_cast<std::size_t>(s)];
      stack.pop_back();
    }
  }
  Json samples = Json::array(), of_samples = Json::array();
  std::uint64_t sum = 0;
  for (const auto& [stack, weight] : weights) {
    samples.push_back(stack);
    of_samples.push_back(weight);
    sum += weight;
  }
  return Json{{"type", "sampled"},
              {"name", fmt::format("{} on {}, warp-cycles", result.kernel, result.arch)},
              {"unit", "none"},
              {"startValue", 0},
              {"endValue", sum},
              {"samples", std::move(samples)},
              {"weights", std::move(of_samples)}};
}

}  // namespace

std::string to_speedscope(const Document& document) {
  Frames frames;
  Json profiles = Json::array();
  for (const LaunchResult& result : document.predictions) profiles.push_back(profile_of(result, frames));
  const Json whole{{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                   {"exporter", "foretrace " + document.foretrace},
                   {"shared", Json{{"frames", frames.take()}}},
                   {"profiles", std::move(profiles)}};
  return whole.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace foretrace::report
