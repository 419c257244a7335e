// Contexts as the driver's interface knows them: a primary one of each device that the runtime uses, those that a program makes, and each
// thread's stack of them. The device of the current one is the thread's.
//
// Choice:  all contexts of a device share its memory, streams and modules: what one has made, the others may use, and destroying one frees
//          nothing but itself. On a GPU each has an address space of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace foretrace::runtime {

struct Context {
  std::uint64_t id = 0;  ///< unique in the process
  unsigned flags = 0;
  int device = 0;     ///< its ordinal
  unsigned uses = 1;  ///< cuCtxCreate's one and cuCtxAttach's: cuCtxDetach takes one off
};

struct PrimaryContext {
  Context context;
  unsigned retained = 0;  ///< cuDevicePrimaryCtxRetain without release; the runtime's own counts as one
  bool runtime = false;   ///< the runtime has made it active
};

struct Contexts {
  bool initialised = false;            ///< cuInit, or a call of the runtime
  std::deque<PrimaryContext> primary;  ///< one of each device
  std::uint64_t last_id = 0;
  std::vector<std::unique_ptr<Context>> made;
};
Contexts& contexts();
/// There are so many devices, once.
void make_primary_contexts(int devices);

bool is_device(int ordinal);
int device_count();
/// That of the thread's current context; 0 where it has none.
int current_device();

/// The calling thread's contexts, the current one last.
std::vector<Context*>& context_stack();
/// Null: the thread has none.
Context* current_context();
/// Null for a handle that is none.
Context* context_of(const void* handle);
/// What a call of the runtime does: where the thread has no context, the first device's primary one becomes current.
void use_primary_context();
/// What cudaSetDevice does: the device's primary context takes the place of the current one.
void use_device(int ordinal);

}  // namespace foretrace::runtime
