#include "tests/timeline/case.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "model/config/load.h"
#include "model/gpu/gpu.h"
#include "model/isa/parse.h"
#include "model/units/error.h"
#include "model/work/warp_record.h"
#include "sim/report/timeline.h"

namespace foretrace::timeline_tests {
namespace {

struct Line {
  isa::ControlBits control{};
  std::string text;
  std::uint32_t executed = ~0u;
  std::uint64_t base = 0, operand = 0;
  std::int64_t stride = 4, step = 0;
  std::uint32_t value = 0;
  work::Transfer transfer = {};
};

struct Step {
  std::uint32_t index = 0, active = ~0u;
};

struct Parsed {
  std::vector<config::Override> set;
  std::vector<Line> lines;
  std::vector<std::optional<std::vector<Step>>> paths;  // by warp
  std::vector<std::uint32_t> show;
  std::uint64_t blocks = 1;  // all alike; two may share an SM
  std::vector<std::uint64_t> show_blocks;
  std::uint64_t warm_base = 0, warm_lines = 0, l1_bytes = 0;
};

struct Place {
  std::string file;
  int line = 0;
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", file, line, what));
  }
  std::uint64_t number(const std::string& text) const {
    std::uint64_t value = 0;
    const bool hex = text.starts_with("0x");
    const char* const begin = text.data() + (hex ? 2 : 0);
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value, hex ? 16 : 10);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty())
      refuse(fmt::format("'{}': expected a whole number", text));
    return value;
  }
};

std::vector<std::string> words_of(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::stringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);) {
    const auto begin = word.find_first_not_of(' ');
    if (begin != std::string::npos)
      words.push_back(word.substr(begin, word.find_last_not_of(' ') - begin + 1));
  }
  return words;
}

work::Transfer box(work::TransferKind kind, const std::string& size, const Place& place) {
  const std::vector<std::string> sides = words_of(size, 'x');
  if (sides.size() != 2) place.refuse("expected ROWSxBYTES");
  const auto rows = static_cast<std::uint32_t>(place.number(sides[0])),
             bytes = static_cast<std::uint32_t>(place.number(sides[1]));
  work::Transfer transfer;
  transfer.begin(kind, rows * bytes, rows);
  transfer.shared = 0x800;
  if (kind == work::TransferKind::load) transfer.barrier = 0x400;
  for (std::uint32_t i = 0; i < rows; ++i) transfer.piece((1 << 20) + std::uint64_t{i} * 4096, bytes);
  return transfer;
}

Line line_of(const std::string& text, const Place& place) {
  Line line;
  line.control.stall = 1;
  line.control.write_barrier = line.control.read_barrier = 7;
  const auto bar = text.find('|');
  line.text = words_of(text.substr(0, bar), '\n').at(0);
  if (bar == std::string::npos) return line;
  for (const std::string& part : words_of(text.substr(bar + 1), ',')) {
    const std::vector<std::string> words = words_of(part, ' ');
    const std::string& key = words[0];
    if (key == "yield") {
      line.control.yield = true;
      continue;
    }
    if (words.size() != 2) place.refuse(fmt::format("'{}': expected a word and a value", part));
    if (key == "load" || key == "store") {
      line.transfer =
          box(key == "load" ? work::TransferKind::load : work::TransferKind::store, words[1], place);
      continue;
    }
    const std::uint64_t n = place.number(words[1]);
    if (key == "stall")
      line.control.stall = static_cast<std::uint8_t>(n);
    else if (key == "write")
      line.control.write_barrier = static_cast<std::uint8_t>(n);
    else if (key == "read")
      line.control.read_barrier = static_cast<std::uint8_t>(n);
    else if (key == "wait")
      line.control.wait_mask = static_cast<std::uint8_t>(line.control.wait_mask | 1u << n);
    else if (key == "lanes")
      line.executed = static_cast<std::uint32_t>(n);
    else if (key == "base")
      line.base = n;
    else if (key == "stride")
      line.stride = static_cast<std::int64_t>(n);
    else if (key == "step")
      line.step = static_cast<std::int64_t>(n);
    else if (key == "operand")
      line.operand = n;
    else if (key == "value")
      line.value = static_cast<std::uint32_t>(n);
    else
      place.refuse(fmt::format("'{}': no such word", key));
  }
  return line;
}

void path_of(const std::string& text, Parsed& parsed, const Place& place) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) place.refuse("expected path WARP: STEPS");
  const std::uint64_t warp = place.number(text.substr(0, colon));
  if (warp >= parsed.paths.size()) place.refuse("the path of a warp that there is not");
  auto& path = parsed.paths[warp].emplace();
  for (const std::string& word : words_of(text.substr(colon + 1), ' ')) {
    const std::vector<std::string> parts = words_of(word, '@');
    path.push_back({static_cast<std::uint32_t>(place.number(parts[0])),
                    parts.size() > 1 ? static_cast<std::uint32_t>(place.number(parts[1])) : ~0u});
  }
}

Parsed parse(const std::string& file, const std::string& head) {
  Parsed parsed;
  parsed.paths.resize(1);
  Place place{file, 0};
  std::stringstream stream(head);
  for (std::string text; std::getline(stream, text);) {
    ++place.line;
    const std::string word = text.substr(0, text.find(' ')),
                      rest = text.substr(std::min(text.size(), word.size() + 1));
    if (text.empty() || text.starts_with("#") || text == "---") continue;
    if (word == "set") {
      const auto equals = rest.find('=');
      if (equals == std::string::npos) place.refuse("expected set KEY=VALUE");
      parsed.set.push_back({rest.substr(0, equals), rest.substr(equals + 1)});
    } else if (word == "warps") {
      parsed.paths.resize(place.number(rest));
    } else if (word == "path") {
      path_of(rest, parsed, place);
    } else if (word == "show") {
      for (const std::string& warp : words_of(rest, ' '))
        parsed.show.push_back(static_cast<std::uint32_t>(place.number(warp)));
    } else if (word == "blocks") {
      parsed.blocks = place.number(rest);
    } else if (word == "show_blocks") {
      for (const std::string& block : words_of(rest, ' ')) parsed.show_blocks.push_back(place.number(block));
    } else if (word == "l1") {
      parsed.l1_bytes = place.number(rest);
    } else if (word == "warm") {
      const std::vector<std::string> words = words_of(rest, ' ');
      if (words.size() != 2) place.refuse("expected warm BASE LINES");
      parsed.warm_base = place.number(words[0]);
      parsed.warm_lines = place.number(words[1]);
    } else {
      parsed.lines.push_back(line_of(text, place));
    }
  }
  parsed.lines.push_back({});
  parsed.lines.back().text = "EXIT";
  parsed.lines.back().control.stall = 5;
  parsed.lines.back().control.write_barrier = parsed.lines.back().control.read_barrier = 7;
  return parsed;
}

std::shared_ptr<isa::Program> program_of(const std::vector<Line>& lines) {
  auto program = std::make_shared<isa::Program>();
  program->sm = 90;
  program->kernel = "case";
  program->registers = 64;
  for (const Line& line : lines) {
    const auto offset = static_cast<std::uint32_t>(program->code.size() * kInstructionBytes);
    isa::Instruction instruction =
        isa::parse_text((line.executed == ~0u ? "" : "@P0 ") + line.text, offset, {}, "case");
    instruction.offset = offset;
    instruction.control = line.control;
    program->code.push_back(instruction);
  }
  return program;
}

void record(const sm::StaticProgram& program, const Parsed& parsed, std::size_t warp,
            work::WarpRecord& into) {
  work::WarpRecorder recorder(program.shapes, into);
  std::vector<Step> path;
  if (parsed.paths[warp]) {
    path = *parsed.paths[warp];
  } else {
    for (std::uint32_t i = 0; i + 1 < parsed.lines.size(); ++i) path.push_back({i});
  }
  path.push_back({static_cast<std::uint32_t>(parsed.lines.size() - 1)});
  for (const Step& step : path) {
    FORETRACE_ASSERT(step.index < parsed.lines.size(), "a path names instructions that there are");
    const Line& line = parsed.lines[step.index];
    std::array<work::LaneAddresses, 2> addresses{};
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      for (auto& set : addresses)
        set[lane] = line.base + static_cast<std::uint64_t>(line.stride * lane +
                                                           line.step * static_cast<std::int64_t>(warp));
    }
    if (program.code[step.index].barrier_use != isa::BarrierUse::none) addresses[1].fill(line.operand);
    recorder.record(step.index, step.active, step.active & line.executed,
                    std::span(addresses.data(), program.shapes.of[step.index].addresses), line.value, {},
                    &line.transfer);
  }
  recorder.finish();
}

class Blocks final : public work::BlockSource {
 public:
  Blocks(const sm::StaticProgram& program, const Parsed& parsed) : program_(program), parsed_(parsed) {}
  std::shared_ptr<const work::BlockRecord> next() override {
    if (given_ == parsed_.blocks) return nullptr;
    auto block = std::make_shared<work::BlockRecord>();
    block->block = given_++;
    block->warps.resize(parsed_.paths.size());
    for (std::size_t w = 0; w < parsed_.paths.size(); ++w) record(program_, parsed_, w, block->warps[w]);
    return block;
  }

 private:
  const sm::StaticProgram& program_;
  const Parsed& parsed_;
  std::uint64_t given_ = 0;
};

void run(gpu::Gpu& gpu, const spec::GpuSpec& chip, const sm::StaticProgram& program, const Parsed& parsed,
         bool warm, sm::Timeline* timeline) {
  Blocks source(program, parsed);
  gpu::LaunchSetup setup;
  setup.blocks = parsed.blocks;
  setup.blocks_per_sm = parsed.blocks > 1 ? 2 : 1;
  setup.warps = static_cast<std::uint32_t>(parsed.paths.size());
  setup.block_shared = 4096;
  setup.l1_bytes = parsed.l1_bytes ? parsed.l1_bytes : chip.l1.unified_bytes - chip.l1.carveouts.back();
  setup.warm = warm;
  setup.timeline = timeline;
  gpu.run(program, setup, source);
}

/// A launch before that loads the lines.
void bring(gpu::Gpu& gpu, const spec::GpuSpec& chip, std::uint64_t base, std::uint64_t lines) {
  std::string loads;
  for (std::uint64_t at = base; at < base + lines * kLineBytes; at += kWarpSize * 16)
    loads += fmt::format("LDG.E.128 R4, desc[UR4][R2.64] | base {}, stride 16\n", at);
  const Parsed before = parse("warm", loads);
  const sm::StaticProgram program(program_of(before.lines), chip);
  run(gpu, chip, program, before, false, nullptr);
}

}  // namespace

Case read_case(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw InputError(file + ": cannot be read");
  std::stringstream all;
  all << stream.rdbuf();
  const std::string text = all.str();
  const auto end = text.find("\n---\n");
  if (end == std::string::npos) throw InputError(file + ": no line '---'");
  return {text.substr(0, end + 5), text.substr(end + 5)};
}

std::string timeline_of(const std::string& file, const Case& from) {
  const Parsed parsed = parse(file, from.head);
  std::vector<config::Override> set = {
      {"fetch.prefetch_lines", "64"}, {"fetch.first_latency", "0"}, {"launch.warp_interval", "0.01"}};
  set.insert(set.end(), parsed.set.begin(), parsed.set.end());
  const spec::GpuSpec chip = config::load_gpu("h100-sxm", set).spec;
  const sm::StaticProgram program(program_of(parsed.lines), chip);
  gpu::Gpu gpu(chip);
  if (parsed.warm_lines != 0) bring(gpu, chip, parsed.warm_base, parsed.warm_lines);
  sm::TimelineChoice choice;
  choice.warps = parsed.show;
  choice.blocks = parsed.show_blocks;
  sm::Timeline timeline(choice);
  run(gpu, chip, program, parsed, parsed.warm_lines != 0, &timeline);
  report::TimelineDocument document;
  document.program = program.program;
  document.rows = std::move(timeline.rows);
  // The first issue is cycle 0; how the code comes there before it is left out.
  document.origin = document.rows.front().issued;
  for (const sm::TimelineRow& row : document.rows) document.origin = std::min(document.origin, row.issued);
  document.from = document.origin;
  return report::timeline_text(document);
}

}  // namespace foretrace::timeline_tests
