#include "sim/runtime/device/context.h"

#include <memory>
#include <mutex>

namespace foretrace::runtime {

Contexts& contexts() {
  static auto* all = new Contexts;  // never deleted: the program's own destructors may still call
  return *all;
}

namespace {

/// The stacks of threads that have ended, for the next ones. As they were: the main thread has "ended" when the program's own
/// destructors call.
struct SpareStacks {
  std::mutex mutex;
  std::vector<std::unique_ptr<std::vector<Context*>>> stacks;
};
SpareStacks& spare_stacks() {
  static auto* spare = new SpareStacks;  // never deleted, as contexts()
  return *spare;
}

std::vector<Context*>* take_stack() {
  SpareStacks& spare = spare_stacks();
  const std::lock_guard lock(spare.mutex);
  if (spare.stacks.empty()) return new std::vector<Context*>;
  std::vector<Context*>* stack = spare.stacks.back().release();
  spare.stacks.pop_back();
  stack->clear();
  return stack;
}

struct GivesStackBack {
  std::vector<Context*>* stack;
  ~GivesStackBack() {
    SpareStacks& spare = spare_stacks();
    const std::lock_guard lock(spare.mutex);
    spare.stacks.emplace_back(stack);
  }
};

}  // namespace

std::vector<Context*>& context_stack() {
  thread_local std::vector<Context*>* stack = nullptr;  // has no destructor: outlives the thread's objects
  if (stack == nullptr) {
    stack = take_stack();
    thread_local const GivesStackBack at_end{stack};
  }
  return *stack;
}

Context* current_context() { return context_stack().empty() ? nullptr : context_stack().back(); }

Context* context_of(const void* handle) {
  Contexts& all = contexts();
  for (PrimaryContext& primary : all.primary) {
    if (handle == &primary.context) return &primary.context;
  }
  for (const auto& made : all.made) {
    if (made.get() == handle) return made.get();
  }
  return nullptr;
}

Context* primary_of(int device) { return &contexts().primary[static_cast<std::size_t>(device)].context; }

Context* green_context_of(const void* handle) {
  Context* context = context_of(handle);
  return context != nullptr && context->green() ? context : nullptr;
}

void drop_context(Context* context) {
  if (current_context() == context) context_stack().pop_back();
  std::erase(context_stack(), context);
  std::erase_if(contexts().made, [&](const auto& made) { return made.get() == context; });
}

void make_primary_contexts(int devices) {
  Contexts& all = contexts();
  for (int device = 0; device < devices; ++device)
    all.primary.push_back({{++all.last_id, 0, device}, 0, 0, false});
}

int device_count() { return static_cast<int>(contexts().primary.size()); }
bool is_device(int ordinal) { return ordinal >= 0 && ordinal < device_count(); }
int current_device() { return current_context() == nullptr ? 0 : current_context()->device; }

void use_device(int ordinal) {
  Contexts& all = contexts();
  all.initialised = true;
  PrimaryContext& primary = all.primary[static_cast<std::size_t>(ordinal)];
  if (!primary.runtime) {
    primary.runtime = true;
    ++primary.retained;
  }
  if (current_context() != nullptr) context_stack().pop_back();
  context_stack().push_back(&primary.context);
}

void use_primary_context() {
  if (current_context() == nullptr) use_device(0);
}

}  // namespace foretrace::runtime
