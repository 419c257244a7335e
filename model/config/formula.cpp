#include "model/config/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "model/units/error.h"

namespace foretrace::config {
namespace {

/// Recursive descent; every level returns a list so that a list key can stand as an argument of min and max.
class Parser {
 public:
  Parser(std::string_view text, const Lookup& lookup) : text_(text), lookup_(lookup) {}

  double whole() {
    const double value = single(sum());
    skip_blanks();
    if (at_ < text_.size()) fail("expected an operator (+ - * /) or the end");
    return value;
  }

 private:
  using Values = std::vector<double>;

  [[noreturn]] void fail(std::string_view what) const {
    throw InputError(fmt::format("formula \"{}\", column {}: {}", text_, at_ + 1, what));
  }
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  double single(const Values& values) const {
    if (values.size() != 1) fail("a list stands only in min(...) and max(...)");
    return values.front();
  }

  Values sum() {
    Values left = product();
    while (true) {
      if (take('+')) {
        left = {single(left) + single(product())};
      } else if (take('-')) {
        left = {single(left) - single(product())};
      } else {
        return left;
      }
    }
  }

  Values product() {
    Values left = factor();
    while (true) {
      if (take('*')) {
        left = {single(left) * single(factor())};
      } else if (take('/')) {
        const double divisor = single(factor());
        if (divisor == 0) fail("division by 0");
        left = {single(left) / divisor};
      } else {
        return left;
      }
    }
  }

  Values factor() {
    // So deep that nobody means it, and not so deep that the stack ends.
    if (depth_ >= kMostDepth) fail("too many brackets and signs inside one another");
    ++depth_;
    Values values = plain_factor();
    --depth_;
    return values;
  }

  Values plain_factor() {
    if (take('-')) return {-single(factor())};
    if (take('(')) {
      Values inner = sum();
      if (!take(')')) fail("expected )");
      return inner;
    }
    skip_blanks();
    if (at_ >= text_.size()) fail("expected a number, a key or (");
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (std::isdigit(c) != 0) return {number()};
    if (std::isalpha(c) != 0) return name();
    fail("expected a number, a key or (");
  }

  double number() {
    double value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("expected a number");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  Values name() {
    const std::size_t begin = at_;
    const auto part_of_name = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    while (at_ < text_.size() && part_of_name(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (!take('(')) return lookup_(word);
    Values arguments;
    do {
      const Values more = sum();
      arguments.insert(arguments.end(), more.begin(), more.end());
    } while (take(','));
    if (!take(')')) fail("expected , or )");
    if (word == "min") return {*std::min_element(arguments.begin(), arguments.end())};
    if (word == "max") return {*std::max_element(arguments.begin(), arguments.end())};
    if (word == "ceil") return {std::ceil(single(arguments))};
    if (word == "floor") return {std::floor(single(arguments))};
    fail(fmt::format("unknown function {}: expected min, max, ceil or floor", word));
  }

  std::string_view text_;
  static constexpr int kMostDepth = 100;
  const Lookup& lookup_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

double evaluate(std::string_view formula, const Lookup& lookup) { return Parser(formula, lookup).whole(); }

}  // namespace foretrace::config
