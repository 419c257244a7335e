// Contexts as the driver's interface knows them: a primary one that the runtime uses, those that a program makes, and each thread's
// stack of them.
//
// Choice:  all contexts share the device's memory, streams and modules: what one has made, the others may use, and destroying one frees
//          nothing but itself. On a GPU each has an address space of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace foretrace::runtime {

struct Context {
  std::uint64_t id = 0;  ///< unique in the process
  unsigned flags = 0;
};

struct Contexts {
  bool initialised = false;  ///< cuInit, or a call of the runtime
  Context primary{1, 0};
  unsigned retained = 0;  ///< cuDevicePrimaryCtxRetain without release; the runtime's own counts as one
  bool runtime = false;   ///< the runtime has made the primary one active
  std::uint64_t last_id = 1;
  std::vector<std::unique_ptr<Context>> made;
};
Contexts& contexts();

/// The calling thread's contexts, the current one last.
std::vector<Context*>& context_stack();
/// Null: the thread has none.
Context* current_context();
/// Null for a handle that is none.
Context* context_of(const void* handle);
/// What a call of the runtime does: where the thread has no context, the primary one becomes current.
void use_primary_context();

}  // namespace foretrace::runtime
