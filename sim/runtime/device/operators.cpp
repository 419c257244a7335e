#include "sim/runtime/device/operators.h"

#include <mutex>
#include <vector>

#include "sim/runtime/device/clock.h"
#include "sim/runtime/device/state.h"

namespace foretrace::runtime {

namespace {

struct Open {
  std::shared_ptr<const NamedOperator> named;  // null: without a name
  bool range = false;                          // it is one on the time line
};
std::vector<Open>& open_operators() {
  thread_local std::vector<Open> open;
  return open;
}

constexpr char kDomain = 0;  // its address: beside those of NVTX

template <class Body>
void with_clock(Body body) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  const InCall in_call(all);
  body(*all.clock);
}

}  // namespace

void begin_operator(const char* name, const char* note) {
  Open next;
  if (name != nullptr && *name != '\0') {
    // One that stands for another of its name, as foretrace_torch's do for PyTorch's, is the same.
    const std::shared_ptr<const NamedOperator> around = current_operator();
    next.range = around == nullptr || around->name != name;
    next.named = std::make_shared<const NamedOperator>(NamedOperator{name, note == nullptr ? "" : note});
  }
  if (next.range)
    with_clock([&](Clock& clock) { clock.push_range(&kDomain, "operator/" + next.named->name); });
  open_operators().push_back(std::move(next));
}

void end_operator() {
  if (open_operators().empty()) return;
  const bool range = open_operators().back().range;
  open_operators().pop_back();
  if (range) with_clock([](Clock& clock) { clock.pop_range(&kDomain); });
}

std::shared_ptr<const NamedOperator> current_operator() {
  return open_operators().empty() ? nullptr : open_operators().back().named;
}

}  // namespace foretrace::runtime
