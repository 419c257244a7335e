#include "sim/app/options.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/units/error.h"
#include "sim/app/examples.h"
#include "sim/app/page.h"
#include "sim/app/version.h"
#include "sim/report/json.h"
#include "sim/report/text.h"

namespace foretrace::app {

namespace {

/// Refuses what a number that counts something cannot be: its option would take it as a huge one, or as none.
void refuse_negative(const std::vector<options::option>& given) {
  for (const options::option& option : given) {
    for (const std::string& value : option.value) {
      if (value.size() > 1 && value[0] == '-' &&
          value.find_first_not_of("0123456789", 1) == std::string::npos)
        throw InputError(fmt::format("--{} {}: expected a number of at least 0", option.string_key, value));
    }
  }
}

/// Refuses an empty word, which would say nothing.
void refuse_empty(const std::vector<options::option>& given) {
  for (const options::option& option : given) {
    if (option.position_key != -1) continue;
    for (const std::string& value : option.value) {
      if (value.empty())
        throw InputError(fmt::format("--{}: an empty word is given; expected a value", option.string_key));
    }
  }
}

/// What the table says of this option beside its type; nullptr: nothing of that kind.
template <class Mark>
const Mark* mark_of(const options::options_description& known, const std::string& name) {
  const options::option_description* option = known.find_nothrow(name, false);
  return option == nullptr ? nullptr : dynamic_cast<const Mark*>(option->semantic().get());
}

/// Refuses none of what is at least one.
void refuse_none(const std::vector<options::option>& given, const options::options_description& known) {
  for (const options::option& option : given) {
    if (mark_of<AtLeastOne>(known, option.string_key) == nullptr) continue;
    for (const std::string& value : option.value) {
      if (value.find_first_not_of('0') == std::string::npos)
        throw InputError(fmt::format("--{} {}: expected a number of at least 1", option.string_key, value));
    }
  }
}

/// Refuses, before anything is computed, a file for results that cannot be written when they are there, is another option's or is read.
void refuse_unwritable(const options::variables_map& values, const options::options_description& known) {
  const Words read = values.count("file") ? values["file"].as<Words>() : Words();
  std::map<std::string, std::string> named;
  for (const auto& [name, value] : values) {
    const auto* const mark = mark_of<ForResults>(known, name);
    if (mark == nullptr) continue;
    const auto& file = value.as<std::string>();
    if (file.empty()) throw InputError(fmt::format("--{}: no name is given; expected a file's", name));
    if (const auto [other, is_new] = named.emplace(file, name); !is_new)
      throw InputError(
          fmt::format("--{} {}: --{} writes it; expected a file of its own", name, file, other->second));
    if (file == "-") {
      if (mark->output_as_well) continue;
      throw InputError(fmt::format("--{} -: expected a file's name, not standard output", name));
    }
    if (file.starts_with("--") && known.find_nothrow(file.substr(2), false) != nullptr)
      throw InputError(fmt::format("--{} {}: expected a file's name, not an option", name, file));
    report::check_writable(file);
    for (const std::string& input : read) {
      std::error_code different;
      if (std::filesystem::equivalent(input, file, different))
        throw InputError(fmt::format("--{} {}: it is read as well; expected a file of its own", name, file));
    }
  }
}

}  // namespace

options::typed_value<std::string>* result_file(std::string* into) {
  return (new Marked<std::string, ForResults>(into))->value_name("FILE");
}

options::typed_value<std::string>* result_file_or_output(std::string* into) {
  auto* const value = new Marked<std::string, ForResults>(into);
  value->output_as_well = true;
  return value->value_name("FILE");
}

bool parse(const Words& words, const std::string& usage, const options::options_description& known,
           const std::string& rest, options::variables_map& values) {
  options::options_description all;
  all.add(known);
  all.add_options()("help,h", "show this help");
  options::options_description hidden;
  options::positional_options_description positional;
  if (!rest.empty()) {
    hidden.add_options()(rest.c_str(), options::value<std::vector<std::string>>());
    positional.add(rest.c_str(), -1);
  }
  options::options_description both;
  both.add(all).add(hidden);
  try {
    options::command_line_parser parser(words);
    // Options are written out: a guessed abbreviation would change its meaning when an option is added.
    const int style = options::command_line_style::unix_style & ~options::command_line_style::allow_guessing;
    const auto parsed = parser.options(both).positional(positional).style(style).run();
    options::store(parsed, values);
    if (values.count("help")) {
      std::cout << "usage: foretrace " << usage << "\n\n"
                << all << "\nexamples:\n"
                << examples_of(usage.substr(0, usage.find(' ')));
      return false;
    }
    options::notify(values);
    refuse_negative(parsed.options);
    refuse_unwritable(values, known);
    refuse_empty(parsed.options);
    refuse_none(parsed.options, known);
  } catch (const options::validation_error& error) {
    const bool no_number = error.kind() == options::validation_error::invalid_option_value;
    throw InputError(fmt::format("{}{}", error.what(), no_number ? "; expected a number" : ""));
  } catch (const options::error& error) {
    throw InputError(fmt::format("{}; expected: foretrace {} (--help lists the options)", error.what(),
                                 usage.substr(0, usage.find('\n'))));
  }
  return true;
}

void refuse_given(const options::variables_map& values, std::initializer_list<const char*> names,
                  const std::string& what) {
  for (const char* name : names) {
    if (values.count(name) && !values[name].defaulted())
      throw InputError(fmt::format("--{} with {}", name, what));
  }
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::ptrdiff_t kMost = 8;
  const auto count = static_cast<std::ptrdiff_t>(names.size());
  return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + std::min(kMost, count), ", "),
                     count > kMost ? ", ..." : "");
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

void ChipOptions::add_chips_to(options::options_description& description) {
  description.add_options()("arch", options::value(&arch)->value_name("CHIP[,CHIP]")->composing(),
                            "chips, by name or alias: a100,h100,gb203 ('foretrace arch' lists them)");
}

void ChipOptions::add_variants_to(options::options_description& description) {
  add_chips_to(description);
  description.add_options()(
      "set", options::value(&set)->value_name("KEY=VALUE[,VALUE]")->composing(),
      "override a value of the chip: sm.count=144; several values give one prediction each; may be repeated "
      "for other keys");
}

void ChipOptions::add_clock_to(options::options_description& description) {
  description.add_options()("clock", options::value(&clock)->value_name("WHICH")->default_value(clock),
                            "base, boost, observed, or sm=MHZ[,l2=MHZ,dram=MHZ]");
}

void ChipOptions::add_to(options::options_description& description) {
  add_variants_to(description);
  add_clock_to(description);
}

void ChipOptions::add_one_to(options::options_description& description) {
  description.add_options()("arch", options::value(&arch)->value_name("CHIP")->composing(),
                            "one chip, by name or alias: h100 ('foretrace arch' lists them)")(
      "set", options::value(&set)->value_name("KEY=VALUE")->composing(),
      "override a value of the chip: sm.count=144; may be repeated for other keys");
  add_clock_to(description);
}

std::vector<Variant> variants(const ChipOptions& chosen) {
  std::vector<std::string> names;
  for (const std::string& list : chosen.arch) {
    for (const std::string& name : split(list)) names.push_back(name);
  }
  if (names.empty())
    throw InputError("no chip given; expected --arch with one or more of those that 'foretrace arch' lists");
  const config::ClockRequest clock = config::parse_clock(chosen.clock);
  std::vector<std::vector<config::Override>> combinations(1);
  for (const std::string& text : chosen.set) {
    std::vector<std::vector<config::Override>> longer;
    for (const auto& combination : combinations) {
      for (const config::Override& value : config::parse_set(text)) {
        longer.push_back(combination);
        longer.back().push_back(value);
      }
    }
    combinations = std::move(longer);
  }
  std::vector<Variant> result;
  for (const std::string& name : names) {
    for (const auto& combination : combinations) {
      Variant variant{config::load_gpu(name, combination, clock), {}};
      for (const config::Override& value : combination)
        variant.overrides.push_back(value.key + "=" + value.value);
      result.push_back(std::move(variant));
    }
  }
  return result;
}

void OutputOptions::add_to(options::options_description& description) {
  description.add_options()("json", result_file_or_output(&json),
                            "write the result document to this file (-: standard output, no text)");
}

void OutputOptions::add_page_to(options::options_description& description) {
  description.add_options()("html", result_file(&html),
                            "write a page to look at, one file that needs no network, to this file");
}

void write_results(const std::vector<report::Prediction>& predictions, const OutputOptions& output,
                   const std::string& timeline) {
  report::Document document;
  document.foretrace = kVersion;
  document.commit = kCommit;
  document.command = command_line();
  for (const report::Prediction& prediction : predictions)
    document.predictions.push_back(report::make_result(prediction));
  if (!output.html.empty()) write_page(output.html, {document}, {timeline, {}, {}, {}});
  if (output.json == "-") {
    std::cout << report::to_json(document);
    return;
  }
  if (!output.json.empty()) report::write_file(output.json, report::to_json(document));
  std::cout << report::to_text(document);
}

}  // namespace foretrace::app
