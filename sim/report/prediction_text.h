// The text of one prediction in a result document.
//
// Models:  the bytes that lay_out (json_text.h) makes of the same members, without a tree of them: a run makes thousands.
// Source:  docs/json_schema.json.
#pragma once

#include <string>

#include "sim/report/document.h"

namespace foretrace::report {

/// A prediction's text but for its place in the program, which may be known later than all else.
class PredictionText {
 public:
  explicit PredictionText(const LaunchResult& result);
  std::string with(const LaunchPlace& place) const;

 private:
  std::string before_, after_;  // the place's keys
};

}  // namespace foretrace::report
