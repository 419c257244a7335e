#include "sim/report/kernel_name.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace foretrace::report {
namespace {

constexpr std::string_view kLeftOut = "...";

/// Whether a bracket belongs to an operator's name or an arrow: "operator<<", "operator->".
bool in_operator(std::string_view name, std::size_t place) {
  if (place != 0 && name[place] == '>' && name[place - 1] == '-') return true;
  std::size_t begin = place;
  while (begin != 0 && std::string_view("<>=").find(name[begin - 1]) != std::string_view::npos) --begin;
  // The third of "operator<<<int>" opens a list.
  return name.substr(0, begin).ends_with("operator") &&
         (place - begin < 2 || name.substr(begin, place - begin) == "<=");
}

/// The name with the template arguments below `levels` levels left out; empty where its brackets are not in pairs.
std::string with_levels(std::string_view name, std::size_t levels) {
  std::string text;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool bracket = (name[i] == '<' || name[i] == '>') && !in_operator(name, i);
    if (bracket && name[i] == '>') {
      if (depth == 0) return {};
      --depth;
    }
    if (depth <= levels) text += name[i];
    if (bracket && name[i] == '<' && ++depth == levels + 1) text += kLeftOut;
  }
  return depth == 0 ? text : std::string();
}

std::string cut_in_the_middle(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  if (width <= kLeftOut.size()) return text.substr(0, width);
  const std::size_t kept = width - kLeftOut.size(), head = kept / 2;
  return text.substr(0, head) + std::string(kLeftOut) + text.substr(text.size() - (kept - head));
}

std::size_t deepest(std::string_view name) {
  std::size_t depth = 0, most = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if ((name[i] != '<' && name[i] != '>') || in_operator(name, i)) continue;
    if (name[i] == '<') most = std::max(most, ++depth);
    if (name[i] == '>' && depth != 0) --depth;
  }
  return most;
}

}  // namespace

std::string shortened_kernel(const std::string& name, std::size_t width) {
  if (name.size() <= width) return name;
  std::string least = name;
  for (std::size_t levels = deepest(name); levels-- != 0;) {
    std::string shorter = with_levels(name, levels);
    if (shorter.empty()) break;
    if (shorter.size() <= width) return shorter;
    least = std::move(shorter);
  }
  return cut_in_the_middle(least, width);
}

std::string progress_line(const std::string& before, const std::string& name, std::uint64_t done,
                          std::uint64_t of, std::size_t columns) {
  constexpr std::size_t kLeastName = 8;
  // The last column stays free: some terminals go to the next line when it is written.
  const std::size_t room = columns == 0 ? 0 : columns - 1;
  const std::string after = fmt::format(": {} of {} blocks", done, of);
  const std::size_t rest = before.size() + after.size();
  const std::string line =
      before + shortened_kernel(name, std::max(kLeastName, room > rest ? room - rest : 0)) + after;
  return line.substr(0, room);
}

std::size_t terminal_columns(int descriptor) {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : kUsual;
}

}  // namespace foretrace::report
