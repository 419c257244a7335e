#include "sim/report/table.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/units/error.h"

namespace foretrace::report {
namespace {

constexpr std::size_t kGap = 2;

void trim(std::string& line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
}

/// Puts commas between the thousands of the first `whole` digits.
void separate(std::string& digits, std::size_t whole) {
  for (std::size_t at = whole; at > 3;) {
    at -= 3;
    digits.insert(digits.begin() + static_cast<std::ptrdiff_t>(at), ',');
  }
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  FORETRACE_ASSERT(cells.size() == titles_.size(), "A table's row has a cell for each title.");
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::size_t indent) const {
  std::vector<std::size_t> width;
  for (const auto& title : titles_) width.push_back(title.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text(indent, ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text.append(kGap, ' ');
      const std::string pad(width[i] - cells[i].size(), ' ');
      text += i < left_ ? cells[i] + pad : pad + cells[i];
    }
    trim(text);
    out += text + "\n";
  };
  line(titles_);
  std::vector<std::string> dashes;
  for (const std::size_t each : width) dashes.emplace_back(each, '-');
  line(dashes);
  for (const auto& row : rows_) line(row);
  return out;
}

std::string grouped(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  separate(digits, digits.size());
  return digits;
}

std::string in_brackets(const Dim3& extent) {
  return fmt::format("({}, {}, {})", extent.x, extent.y, extent.z);
}

std::string grouped(double number, int decimals) {
  std::string plain = fmt::format("{:.{}f}", number < 0 ? -number : number, decimals);
  const bool is_zero = plain.find_first_not_of("0.") == std::string::npos;
  const auto point = plain.find('.');
  separate(plain, point == std::string::npos ? plain.size() : point);
  if (number < 0 && !is_zero) plain.insert(plain.begin(), '-');
  return plain;
}

std::string shortened(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

}  // namespace foretrace::report
