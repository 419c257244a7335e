// The timeline as text. Cycles become columns: a stretch in which no row changes is folded into one column, `~`. Columns that are too
// many for the page go on in another panel, with the rows that have something there.

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/report/table.h"
#include "sim/report/timeline.h"

namespace foretrace::report {
namespace {

using sm::Stage;
using stats::WarpState;

struct Letter {
  char letter;
  const char* meaning;
};

constexpr std::array<char, stats::kWarpStates> kStateLetters = {
    'b', 'r', 'd', 'x', 'g', 'c', 'q', 'l', 'p', 'm', 'o', 'i', 'f', 'n', '-', 's', 'z', 't', 'w'};
constexpr std::array<Letter, sm::kStages> kStageLetters = {{{'O', "operands"},
                                                            {'E', "executes"},
                                                            {'Q', "queue"},
                                                            {'A', "address generation"},
                                                            {'T', "L1 tags"},
                                                            {'D', "L1 data stage"},
                                                            {'N', "network"},
                                                            {'L', "L2"},
                                                            {'P', "between partitions"},
                                                            {'U', "queue of DRAM"},
                                                            {'M', "DRAM"},
                                                            {'F', "fill of L1"},
                                                            {'C', "copy engine"}}};
constexpr std::array<Letter, 4> kMarks = {
    {{'I', "issue"}, {'R', "sources read"}, {'W', "written"}, {'.', "under way"}}};

bool beyond_the_sm(Stage stage) { return stage >= Stage::network && stage <= Stage::fill; }

/// A row's letters, from its first cycle on.
struct Painted {
  const sm::TimelineRow* row = nullptr;
  Cycle from = 0;
  std::string letters;
  Cycle to() const { return from + letters.size(); }
  char at(Cycle cycle) const { return cycle < from || cycle >= to() ? ' ' : letters[cycle - from]; }
};

Painted paint(const sm::TimelineRow& row, Cycle from, Cycle to) {
  Painted painted{&row, std::clamp(row.first(), from, to), {}};
  painted.letters.assign(std::clamp(row.last(), painted.from, to) - painted.from, ' ');
  const auto put = [&](Cycle begin, Cycle end, char letter) {
    for (Cycle c = std::max(begin, painted.from); c < std::min(end, painted.to()); ++c)
      painted.letters[c - painted.from] = letter;
  };
  put(row.issued, row.last(), '.');
  for (const auto& each : row.states)
    put(each.from, each.to, kStateLetters[static_cast<std::size_t>(each.state)]);
  for (const bool beyond : {true, false}) {
    for (const auto& each : row.stages) {
      if (beyond_the_sm(each.stage) == beyond)
        put(each.from, each.to, kStageLetters[static_cast<std::size_t>(each.stage)].letter);
    }
  }
  const auto mark = [&](Cycle when, char letter) {
    if (when != kNever) put(when, when + 1, letter);
  };
  mark(row.sources_read, 'R');
  mark(row.written, 'W');
  mark(row.issued, 'I');
  return painted;
}

/// One cycle, or several in which nothing changes.
struct Column {
  Cycle cycle = 0;
  bool folded = false;
};

std::vector<Column> columns_of(const std::vector<Painted>& rows) {
  constexpr Cycle kBefore = 3, kAfter = 2,
                  kFewest = 9;  // cycles shown of a folded stretch; shorter ones are not
  std::set<Cycle> changes;
  for (const Painted& row : rows) {
    changes.insert(row.from);
    changes.insert(row.to());
    for (std::size_t i = 1; i < row.letters.size(); ++i) {
      if (row.letters[i] != row.letters[i - 1]) changes.insert(row.from + i);
    }
  }
  std::vector<Column> columns;
  if (changes.empty()) return columns;
  for (auto at = changes.begin(); std::next(at) != changes.end(); ++at) {
    const Cycle begin = *at, end = *std::next(at);
    const bool folded = end - begin >= kFewest;
    for (Cycle cycle = begin; cycle < end; ++cycle) {
      if (folded && cycle == begin + kBefore) {
        columns.push_back({cycle, true});
        cycle = end - kAfter;
      }
      columns.push_back({cycle, false});
    }
  }
  return columns;
}

/// The numbers above a panel's columns, and a line of ticks. Every column after a fold has its number.
std::vector<std::string> ruler(const std::vector<Column>& columns, std::size_t first, std::size_t last,
                               Cycle origin) {
  std::vector<std::string> lines;
  std::string ticks;
  const auto put = [&](std::size_t column, bool must) {
    const std::string number = std::to_string(columns[first + column].cycle - origin);
    for (std::size_t i = 0;; ++i) {
      if (i == lines.size()) {
        if (!must && i != 0) return;
        lines.emplace_back();
      }
      std::string& line = lines[i];
      if (!line.empty() && line.size() + 1 > column) continue;
      line.resize(column, ' ');
      line += number;
      ticks[column] = '|';
      return;
    }
  };
  for (std::size_t i = 0; first + i < last; ++i) ticks += columns[first + i].folded ? '~' : '.';
  for (std::size_t i = 0; first + i < last; ++i) {
    if (columns[first + i].folded) continue;
    const bool must = i == 0 || columns[first + i - 1].folded;
    if (must || (columns[first + i].cycle - origin) % 10 == 0) put(i, must);
  }
  std::reverse(lines.begin(), lines.end());
  lines.push_back(ticks);
  return lines;
}

/// "title: a one, b two", broken into lines at commas.
std::string list_of(const std::string& title, const std::vector<Letter>& letters, std::size_t width) {
  std::string text, line = title + ":";
  for (const Letter& each : letters) {
    const bool last = &each == &letters.back();
    const std::string word = fmt::format(" {} {}{}", each.letter, each.meaning, last ? "" : ",");
    if (line.size() + word.size() > width) {
      text += line + "\n";
      line = std::string(title.size() + 1, ' ');
    }
    line += word;
  }
  return letters.empty() ? "" : text + line + "\n";
}

/// What the letters mean that stand in the rows.
std::string legend(const std::vector<Painted>& rows, std::size_t width) {
  std::set<char> used;
  for (const Painted& row : rows) used.insert(row.letters.begin(), row.letters.end());
  std::vector<Letter> waits, stages{kMarks[0]};
  for (std::size_t i = 0; i < kStateLetters.size(); ++i)
    waits.push_back({kStateLetters[i], stats::name_of(static_cast<WarpState>(i))});
  stages.insert(stages.end(), kStageLetters.begin(), kStageLetters.end());
  stages.insert(stages.end(), kMarks.begin() + 1, kMarks.end());
  for (auto* letters : {&waits, &stages})
    std::erase_if(*letters, [&](const Letter& each) { return !used.contains(each.letter); });
  return list_of("waits", waits, width) + list_of("stages", stages, width);
}

/// What stands to the left of a row's cycles.
struct Margin {
  std::vector<std::string> cells;  ///< by row
  std::string title;
};

Margin margin_of(const TimelineDocument& document, std::size_t sass_width) {
  std::vector<std::array<std::string, 4>> cells = {{"warp", "issue", "line", "SASS"}};
  for (const sm::TimelineRow& row : document.rows) {
    const isa::Instruction& instruction = document.program->code.at(row.index);
    cells.push_back({fmt::format("{}.{}", row.block, row.warp), std::to_string(row.issued - document.origin),
                     instruction.line ? std::to_string(instruction.line) : "",
                     shortened(one_line(instruction.text), sass_width)});
  }
  std::array<std::size_t, 4> width{};
  for (const auto& row : cells) {
    for (std::size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  const bool lines =
      std::any_of(cells.begin() + 1, cells.end(), [](const auto& row) { return !row[2].empty(); });
  Margin margin;
  for (const auto& row : cells) {
    std::string text = fmt::format("{:<{}} {:>{}} ", row[0], width[0], row[1], width[1]);
    if (lines) text += fmt::format("{:>{}} ", row[2], width[2]);
    margin.cells.push_back(text + fmt::format("{:<{}}", row[3], width[3]) + "  ");
  }
  margin.title = margin.cells.front();
  margin.cells.erase(margin.cells.begin());
  return margin;
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string timeline_text(const TimelineDocument& document, std::size_t width) {
  constexpr std::size_t kSass = 36;
  std::vector<Painted> rows;
  for (const sm::TimelineRow& row : document.rows) rows.push_back(paint(row, document.from, document.to));
  const std::vector<Column> columns = columns_of(rows);
  const Margin margin = margin_of(document, kSass);
  FORETRACE_ASSERT(margin.title.size() + 20 < width, "there is room for cycles beside the instructions");
  const std::size_t longest = columns.empty() ? 1 : std::to_string(columns.back().cycle).size();
  const std::size_t room = width - margin.title.size() - longest;  // a number may stand above the last column
  std::string text = document.what.empty() ? "" : document.what + "\n\n";
  for (std::size_t first = 0; first < columns.size(); first += room) {
    const std::size_t last = std::min(columns.size(), first + room);
    const std::vector<std::string> above = ruler(columns, first, last, document.origin);
    for (std::size_t i = 0; i < above.size(); ++i) {
      const bool titles = i + 1 == above.size();
      text += trimmed((titles ? margin.title : std::string(margin.title.size(), ' ')) + above[i]);
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::string letters;
      for (std::size_t c = first; c < last; ++c) {
        const char letter = rows[r].at(columns[c].cycle);
        letters += columns[c].folded && letter != ' ' ? '~' : letter;
      }
      if (letters.find_first_not_of(' ') != std::string::npos) text += trimmed(margin.cells[r] + letters);
    }
    text += "\n";
  }
  text += legend(rows, width);
  if (document.left_out != 0) {
    text += fmt::format("{} more instructions; --blocks, --warps, --cycles and --instructions choose\n",
                        grouped(document.left_out));
  }
  return text;
}

}  // namespace foretrace::report
