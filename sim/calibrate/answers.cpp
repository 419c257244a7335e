#include "sim/calibrate/answers.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/report/json_reader.h"

namespace foretrace::calibrate {
namespace {

bool fits(const Answer& answer, const Where& where) {
  if (!where.word.empty()) {
    const auto found = answer.words.find(where.name);
    return found != answer.words.end() && found->second == where.word;
  }
  return answer.number(where.name) == where.number;
}

/// The field of this name in nvidia-smi's comma-separated line.
double smi_field(const report::JsonReader& document, const std::string& name) {
  const std::string names = document.text_if_there("nvidia_smi_fields", "");
  const std::string values =
      document.text_if_there("nvidia_smi_after", document.text_if_there("nvidia_smi_before", ""));
  std::size_t name_at = 0, value_at = 0;
  while (name_at != std::string::npos && value_at != std::string::npos) {
    const std::size_t name_end = names.find(',', name_at);
    if (names.substr(name_at, name_end - name_at) == name)
      return std::strtod(values.c_str() + value_at, nullptr);
    name_at = name_end == std::string::npos ? name_end : name_end + 1;
    value_at = values.find(',', value_at);
    if (value_at != std::string::npos) ++value_at;
  }
  return 0;
}

Answer answer_of(const report::JsonReader& from, std::string document) {
  Answer answer;
  answer.document = std::move(document);
  answer.benchmark = from.text("benchmark");
  answer.value = from.number("value");
  answer.spread = from.number_if_there("spread").value_or(0);
  for (const auto& [name, each] : from.members()) {
    if (each.is_number()) {
      answer.numbers[name] = each.get<double>();
    } else if (each.is_string()) {
      answer.words[name] = each.get<std::string>();
    } else if (each.is_array() &&
               std::all_of(each.begin(), each.end(), [](const auto& item) { return item.is_number(); })) {
      answer.lists[name] = each.get<std::vector<double>>();
    }
  }
  return answer;
}

}  // namespace

std::optional<double> Answer::number(const std::string& name) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

bool Answers::has(std::string_view benchmark) const { return !all(benchmark).empty(); }

std::vector<const Answer*> Answers::all(std::string_view benchmark, const std::vector<Where>& where) const {
  std::vector<const Answer*> some;
  for (const Answer& each : answers_) {
    if (each.benchmark == benchmark &&
        std::all_of(where.begin(), where.end(), [&](const Where& one) { return fits(each, one); })) {
      some.push_back(&each);
    }
  }
  return some;
}

std::optional<double> Answers::value(std::string_view benchmark, const std::vector<Where>& where) const {
  const auto some = all(benchmark, where);
  return some.empty() ? std::nullopt : std::optional(some.front()->value);
}

double largest(const std::vector<const Answer*>& answers) {
  double most = 0;
  for (const Answer* each : answers) most = std::max(most, each->value);
  return most;
}

void Answers::join(const Answers& other) {
  if (other.device != device) {
    throw InputError(fmt::format("answers of {} and of {}; expected one device's", device, other.device));
  }
  answers_.insert(answers_.end(), other.answers_.begin(), other.answers_.end());
}

std::string Answers::document_of(std::string_view benchmark) const {
  const auto some = all(benchmark);
  return some.empty() ? std::string() : some.front()->document;
}

Answers read_answers(std::string_view text, const std::string& name) {
  Answers answers;
  const report::Json json = report::parse_json(text, name, "a document of validate/microbenchmarks/run");
  const report::JsonSource source{name, "validate/microbenchmarks/run writes it"};
  const report::JsonReader document(json, source);
  document.expect_schema(1);
  answers.device = document.text("device");
  answers.highest_sm_mhz = smi_field(document, "clocks.max.sm");
  answers.highest_dram_mhz = smi_field(document, "clocks.max.mem");
  for (const report::JsonReader& each : document.objects("answers"))
    answers.add(answer_of(each, std::filesystem::path(name).filename().string()));
  return answers;
}

}  // namespace foretrace::calibrate
