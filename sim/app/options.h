// Options that several subcommands share, and how words become options.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "model/config/load.h"
#include "sim/app/commands.h"
#include "sim/report/document.h"
#include "sim/report/prediction.h"

namespace foretrace::app {

namespace options = boost::program_options;

/// What an option table says of a value beside its type; parse() refuses what is not so.
struct AtLeastOne {  ///< a number: none would be no bound at all
  virtual ~AtLeastOne() = default;
};
struct ForResults {  ///< a file that can be written, and is no other option's and none of the input
  bool output_as_well = false;  ///< "-" is standard output
  virtual ~ForResults() = default;
};
template <class Value, class Mark>
struct Marked : options::typed_value<Value>, Mark {
  using options::typed_value<Value>::typed_value;
};
template <class Number>
options::typed_value<Number>* count(Number* into) {
  return (new Marked<Number, AtLeastOne>(into))->value_name("N");
}
options::typed_value<std::string>* result_file(std::string* into);
options::typed_value<std::string>* result_file_or_output(std::string* into);

/// Parses `words`; what is not an option goes to the positional option `rest` (empty: refused). Unknown and malformed options throw
/// InputError. `--help` prints `usage` and the options and returns false.
bool parse(const Words& words, const std::string& usage, const options::options_description& known,
           const std::string& rest, options::variables_map& values);

/// Throws InputError where one of these options was given, which say nothing in this case: "--grid with WHAT: ...".
void refuse_given(const options::variables_map& values, std::initializer_list<const char*> names,
                  const std::string& what);
/// Options that say a launch, which a launch file does itself, and a trace is.
inline constexpr std::initializer_list<const char*> kLaunchWords = {
    "grid", "block", "cluster", "shared", "arg", "symbol", "dump", "define", "nvcc"};
inline constexpr const char* kOfLaunchFiles =
    "a launch file: it says its launches itself; expected a source or cubin";

/// --arch, --set, --clock: which chips, in which variants.
struct ChipOptions {
  std::vector<std::string> arch;  ///< as given; each may list several, with commas
  std::vector<std::string> set;
  std::string clock = "boost";
  /// Of a command that takes several chips and variants.
  void add_to(options::options_description& description);
  /// --arch and --set alone, of one that no clock changes; --arch alone, of one that no number changes.
  void add_variants_to(options::options_description& description);
  void add_chips_to(options::options_description& description);
  /// Of one that takes one; variants() may give more nevertheless.
  void add_one_to(options::options_description& description);

 private:
  void add_clock_to(options::options_description& description);
};

/// One chip to predict for, with its overrides.
struct Variant {
  config::Loaded chip;
  std::vector<std::string> overrides;  ///< "key=value", in the order given
};
/// Every chip with every combination of the values that --set lists.
std::vector<Variant> variants(const ChipOptions& chosen);

/// Where results go.
struct OutputOptions {
  std::string json;  ///< file; "-": standard output, and no text then
  std::string html;  ///< file; empty: none
  void add_to(options::options_description& description);
  /// --html, where there is a page to write.
  void add_page_to(options::options_description& description);
};
inline constexpr const char* kGainsHelp =
    "simulate again without each limit (bank conflicts, DRAM ...), and say what that would bring; cold "
    "caches, to the end";
/// Prints the text report and writes the JSON, as asked.
void write_results(const std::vector<report::Prediction>& predictions, const OutputOptions& output,
                   const std::string& timeline = {});

/// Names for an error: "a, b"; of more than eight the first.
std::string listed(const std::vector<std::string>& names);

/// Splits at commas.
std::vector<std::string> split(const std::string& text, char separator = ',');

}  // namespace foretrace::app
