#include "sim/runtime/device/operators.h"

#include <vector>

namespace foretrace::runtime {

namespace {

std::vector<std::shared_ptr<const NamedOperator>>& open_operators() {
  thread_local std::vector<std::shared_ptr<const NamedOperator>> open;
  return open;
}

}  // namespace

void begin_operator(const char* name, const char* note) {
  const bool named = name != nullptr && *name != '\0';
  open_operators().push_back(
      named ? std::make_shared<const NamedOperator>(NamedOperator{name, note == nullptr ? "" : note})
            : nullptr);
}

void end_operator() {
  if (!open_operators().empty()) open_operators().pop_back();
}

std::shared_ptr<const NamedOperator> current_operator() {
  return open_operators().empty() ? nullptr : open_operators().back();
}

}  // namespace foretrace::runtime
