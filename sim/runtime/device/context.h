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

#include "sim/runtime/device/sm_part.h"

namespace foretrace::runtime {

struct Context {
  std::uint64_t id = 0;  ///< unique in the process
  unsigned flags = 0;
  int device = 0;     ///< its ordinal
  unsigned uses = 1;  ///< cuCtxCreate's one and cuCtxAttach's: cuCtxDetach takes one off
  SmPart part{};      ///< of a green context: its SMs

  bool green() const { return !part.whole(); }
};

/// What a green context is made of: SMs of a device.
struct SmDescription {
  int device = 0;
  SmPart part;
};

struct PrimaryContext {
  Context context;
  unsigned retained = 0;  ///< cuDevicePrimaryCtxRetain without release; the runtime's own counts as one
  unsigned greens = 0;    ///< green contexts, each of which holds it as well
  bool runtime = false;   ///< the runtime has made it active
};

struct Contexts {
  bool initialised = false;            ///< cuInit, or a call of the runtime
  std::deque<PrimaryContext> primary;  ///< one of each device
  std::uint64_t last_id = 0;
  std::vector<std::unique_ptr<Context>> made;
  std::uint64_t splits = 0;                                  ///< of a device's SMs, so far
  std::vector<std::unique_ptr<SmDescription>> descriptions;  ///< nothing takes one back
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
Context* primary_of(int device);
/// Null for a handle that is no green context's.
Context* green_context_of(const void* handle);
/// Takes one that was made out of the thread's stack, and of the list.
void drop_context(Context* context);
/// What a call of the runtime does: where the thread has no context, the first device's primary one becomes current.
void use_primary_context();
/// What cudaSetDevice does: the device's primary context takes the place of the current one.
void use_device(int ordinal);

}  // namespace foretrace::runtime
