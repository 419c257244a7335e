// A table of text cells: the first columns left, the others right aligned. For reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/units/units.h"

namespace foretrace::report {

class Table {
 public:
  /// Titles of the columns; the first `left` are left aligned.
  Table(std::vector<std::string> titles, std::size_t left) : titles_(std::move(titles)), left_(left) {}
  /// One row, as many cells as there are titles.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// Lines of at least one row, each indented by `indent` blanks, no trailing blanks.
  std::string text(std::size_t indent) const;

 private:
  std::vector<std::string> titles_;
  std::vector<std::vector<std::string>> rows_;
  std::size_t left_;
};

/// 1234567 -> "1,234,567".
std::string grouped(std::uint64_t number);
/// A value with `decimals` places, thousands separated; whole numbers keep no places when decimals is 0.
std::string grouped(double number, int decimals);
/// "(32, 8, 1)".
std::string in_brackets(const Dim3& extent);
/// The text, cut to `width` characters with "..." at the end where it is longer.
std::string shortened(const std::string& text, std::size_t width);
/// The text with control characters as blanks: for what an error quotes from a file.
std::string one_line(std::string text);

}  // namespace foretrace::report
