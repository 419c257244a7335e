#include "sim/report/document_text.h"

#include "model/units/error.h"
#include "sim/report/json.h"
#include "sim/report/json_text.h"

namespace foretrace::report {
namespace {

constexpr std::size_t kRowsPart = 1 << 16;  // bytes

/// The same part where it would be the same text.
void keep(TextPart& part, std::string text) {
  if (!part || *part != text) part = std::make_shared<const std::string>(std::move(text));
}

/// Where an empty list that is a member of the document ends: behind it stands its closing bracket.
std::size_t end_of_list(const std::string& frame, std::string_view key) {
  const std::string list = "\n \"" + std::string(key) + "\": []";
  const std::size_t at = frame.find(list);
  FORETRACE_ASSERT(at != std::string::npos, "an empty list stands on the line of its key");
  return at + list.size() - 1;
}

/// An element of such a list.
std::string element(const std::string& text, bool first) { return (first ? "\n  " : ",\n  ") + text; }
/// What closes a list.
const char* end_list(bool empty) { return empty ? "" : "\n "; }

}  // namespace

std::string joined(const TextParts& text) {
  std::size_t bytes = 0;
  for (const TextPart& part : text) bytes += part->size();
  std::string all;
  all.reserve(bytes);
  for (const TextPart& part : text) all += *part;
  return all;
}

DocumentText::DocumentText(const Document& head) {
  head_.foretrace = head.foretrace;
  head_.commit = head.commit;
  head_.command = head.command;
}

void DocumentText::hold(PredictionText text, const LaunchPlace& place) {
  held_.push_back({std::move(text), place, nullptr});
}

void DocumentText::settle() {
  const Held& first = held_.front();
  settled_.push_back(
      std::make_shared<const std::string>(element(first.text.with(first.place), settled_.empty())));
  held_.pop_front();
}

void DocumentText::represent(const RepresentedLaunch& launch) {
  rows_ += element(row_text(launch), !any_rows_);
  any_rows_ = true;
  if (rows_.size() >= kRowsPart) close_rows();
}

void DocumentText::forget_represented() {
  represented_.clear();
  rows_.clear();
  any_rows_ = false;
}

void DocumentText::close_rows() {
  if (rows_.empty()) return;
  represented_.push_back(std::make_shared<const std::string>(std::move(rows_)));
  rows_.clear();
}

TextParts DocumentText::parts(const ProgramResult* program) {
  Json whole{{"schema", kSchema},
             {"foretrace", head_.foretrace},
             {"commit", json_text_or_null(head_.commit)},
             {"command", head_.command},
             {"predictions", Json::array()}};
  if (program != nullptr) put_program(*program, whole);
  const std::string frame = lay_out(whole, kDocumentRows);

  std::size_t at = end_of_list(frame, "predictions");
  keep(begin_, frame.substr(0, at));
  TextParts parts = {begin_};
  parts.insert(parts.end(), settled_.begin(), settled_.end());
  for (Held& held : held_) {
    if (!held.without)
      held.without =
          std::make_shared<const std::string>(element(held.text.with(held.place), parts.size() == 1));
    parts.push_back(held.without);
  }
  std::string rest = end_list(parts.size() == 1);
  if (program != nullptr) {
    const std::size_t rows = end_of_list(frame, "represented");
    keep(middle_, rest + frame.substr(at, rows - at));
    parts.push_back(middle_);
    at = rows;
    close_rows();
    parts.insert(parts.end(), represented_.begin(), represented_.end());
    rest = end_list(represented_.empty());
  }
  parts.push_back(std::make_shared<const std::string>(rest + frame.substr(at)));
  return parts;
}

std::string to_json(const Document& document, const ProgramResult* program) {
  DocumentText text(document);
  for (const LaunchResult& result : document.predictions) text.add(result);
  if (program != nullptr)
    for (const RepresentedLaunch& launch : program->represented) text.represent(launch);
  return joined(text.parts(program));
}

std::string with_gains(const std::string& text, const Document& document,
                       const std::vector<std::size_t>& predictions) {
  Json whole = Json::parse(text);
  for (const std::size_t i : predictions) {
    put_gains(document.predictions[i], whole["predictions"][i]);
    whole["predictions"][i]["limiter"]["sentence"] = document.predictions[i].limiter.sentence;
  }
  return lay_out(whole, kDocumentRows);
}

}  // namespace foretrace::report
