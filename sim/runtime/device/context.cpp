#include "sim/runtime/device/context.h"

namespace foretrace::runtime {

Contexts& contexts() {
  static auto* all = new Contexts;  // never deleted: the program's own destructors may still call
  return *all;
}

std::vector<Context*>& context_stack() {
  thread_local std::vector<Context*> stack;
  return stack;
}

Context* current_context() { return context_stack().empty() ? nullptr : context_stack().back(); }

Context* context_of(const void* handle) {
  Contexts& all = contexts();
  if (handle == &all.primary) return &all.primary;
  for (const auto& made : all.made) {
    if (made.get() == handle) return made.get();
  }
  return nullptr;
}

void use_primary_context() {
  Contexts& all = contexts();
  if (current_context() != nullptr) return;
  all.initialised = true;
  if (!all.runtime) {
    all.runtime = true;
    ++all.retained;
  }
  context_stack().push_back(&all.primary);
}

}  // namespace foretrace::runtime
