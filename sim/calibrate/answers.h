// What the microbenchmarks answered on one device: the document of validate/microbenchmarks/run.
//
// Models:  one answer after another, each with its benchmark's name, its parameters, its value and its spread;
//          and how to pick those that a rule needs.
// Ignores: nothing is interpreted here; units are the benchmark's own (validate/microbenchmarks/README.md).
// Source:  validate/measurements/README.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::calibrate {

struct Answer {
  std::string benchmark;
  std::map<std::string, std::string> words;          ///< parameters that are text: "operation"
  std::map<std::string, double> numbers;             ///< parameters and further results that are numbers
  std::map<std::string, std::vector<double>> lists;  ///< results that are lists of numbers
  double value = 0;
  double spread = 0;     ///< highest less lowest of the repeats, in the value's unit
  std::string document;  ///< the file's name

  /// A number by its name; `value` for "value". None where the answer lacks it.
  std::optional<double> number(const std::string& name) const;
};

/// The highest of their values; 0 where there are none.
double largest(const std::vector<const Answer*>& answers);

/// A parameter that must be this word or number.
struct Where {
  std::string name;
  std::string word;
  double number = 0;
  Where(std::string parameter, const char* is) : name(std::move(parameter)), word(is) {}
  Where(std::string parameter, double is) : name(std::move(parameter)), number(is) {}
};

class Answers {
 public:
  std::string device;
  double highest_sm_mhz = 0,
         highest_dram_mhz = 0;  ///< clocks.max.sm and clocks.max.mem of nvidia-smi; 0: not said

  void add(Answer answer) { answers_.push_back(std::move(answer)); }
  /// Adds another document's answers behind those that are here. Throws InputError where they are another device's.
  void join(const Answers& other);
  bool has(std::string_view benchmark) const;
  /// Answers of a benchmark whose parameters all fit, in the document's order.
  std::vector<const Answer*> all(std::string_view benchmark, const std::vector<Where>& where = {}) const;
  /// The value of the first of them.
  std::optional<double> value(std::string_view benchmark, const std::vector<Where>& where = {}) const;
  /// File name of the document that the benchmark's first answer was read from; empty where there is none.
  std::string document_of(std::string_view benchmark) const;

 private:
  std::vector<Answer> answers_;
};

/// Throws InputError in one line when the text is no such document; `name` is the file's in errors.
Answers read_answers(std::string_view text, const std::string& name);

}  // namespace foretrace::calibrate
