// A result document's text in parts, launch by launch: what a run writes again and again while it goes on.
//
// Models:  what to_json (json.h) makes, to the byte, once every launch has its place. Each launch's text is made once, and nothing
//          else of it is kept.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "sim/report/document.h"
#include "sim/report/prediction_text.h"
#include "sim/report/program_result.h"

namespace foretrace::report {

/// A text, one part behind the other. Parts do not change: one that is in two texts is the same in both.
using TextPart = std::shared_ptr<const std::string>;
using TextParts = std::vector<TextPart>;

std::string joined(const TextParts& text);

class DocumentText {
 public:
  /// The predictions of `head` are not looked at.
  explicit DocumentText(const Document& head);
  void add(const LaunchResult& result) { hold(PredictionText(result), result.place), settle(); }
  /// A prediction whose place is not known yet: it stands with what is known of it behind the others.
  void hold(PredictionText text, const LaunchPlace& place);
  /// The place of the first of those, to be made known; null: there is none.
  LaunchPlace* first_held() { return held_.empty() ? nullptr : &held_.front().place; }
  /// It has its place now.
  void settle();
  /// A row for a launch that another stands for, behind the others.
  void represent(const RepresentedLaunch& launch);
  /// All of these rows are to be made anew.
  void forget_represented();
  /// The document as it is now. The rows of `program` (may be null) are those of represent().
  TextParts parts(const ProgramResult* program = nullptr);

 private:
  struct Held {
    PredictionText text;
    LaunchPlace place;
    TextPart without;  // its part while it has no place; null: not asked for yet
  };
  void close_rows();

  Document head_;
  TextPart begin_, middle_;  // up to the predictions; from there to the represented launches
  TextParts settled_, represented_;
  std::deque<Held> held_;
  std::string rows_;  // represented launches that are in no part yet
  bool any_rows_ = false;
};

}  // namespace foretrace::report
