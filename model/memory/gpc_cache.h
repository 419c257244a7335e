// The cache of code and constants that the SMs of a GPC share, between their own and L2 (Nsight Compute's gcc, "L1.5").
//
// Models:  lines in sets, least recently used; a lookup every so many cycles; the two SMs of a TPC as one customer, served a
//          128-byte half line every so many cycles, whose requests for the same half line are one while it is on its way; lines on
//          their way from L2 are asked for once, at the width of the GPC's way; what a launch has brought before it starts.
// Ignores: the limit of lines on their way; how the preloaded code came (its traffic and its time); where parameters lie (always there).
// Source:  our code_sharing, constants, constant_sharing and their counters on H100 (configs: gpc_cache.*).
// Time:    SM cycles. Requests come in order of (time, SM); each is placed in time at once, whatever is still on its way, so that the
//          answers do not depend on the length of the windows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/memory/memory_system.h"
#include "model/spec/gpu_spec.h"

namespace foretrace::memory {

/// What an SM asks for, each on a way of its own.
enum class CodeUse : std::uint8_t {
  code,
  operand,  ///< a constant operand or a uniform load: on the way to a sub-core's constant cache
  load,     ///< an LDC: on the way to the SM's own constant cache, which is a little longer
};

/// An SM asks for a 128-byte piece of code or a line of constants.
struct CodeRequest {
  Cycle time = 0;
  std::uint32_t sm = 0;
  std::uint32_t id = 0;       ///< given back in the reply
  std::uint64_t address = 0;  ///< as L2 sees it
  CodeUse use = CodeUse::code;
  bool resident = false;  ///< a parameter of the launch, which it brings here
};

class GpcCaches {
 public:
  explicit GpcCaches(const spec::GpuSpec& spec);

  /// A launch begins: everything is forgotten but the first part of its code, which is `code_bytes` long from `code` on.
  void begin_launch(std::uint64_t code, std::uint64_t code_bytes);
  /// Not before the one before it. A reply that is known at once is appended.
  void request(const CodeRequest& request, std::vector<Reply>& replies);
  /// L2 answered a request of the outbox. Replies to those that waited are appended.
  void fill(const Reply& reply, std::vector<Reply>& replies);
  /// The shortest way from a request to its reply.
  Cycle lookahead() const {
    return std::min({spec_.gpc_cache.latency, spec_.constant.l0_miss, spec_.constant.l1_miss});
  }
  /// A reply of L2 that is for these caches: no SM's request has such an id.
  static bool owns(const Reply& reply) { return (reply.id & kMark) != 0; }

  std::vector<Request> outbox;  ///< to L2, since the caller last emptied it
  /// Adds what was counted since the launch began.
  void count(stats::MemoryCounters& into) const;

 private:
  static constexpr std::uint32_t kMark = 0x8000'0000;
  static constexpr std::uint32_t kNone = ~0u;

  struct Waiter {
    std::uint32_t sm = 0, id = 0;
    Cycle earliest = 0;  // as if the line had been there
    CodeUse use = CodeUse::code;
  };
  /// A line of the cache: here from `arrived` on, or (kNever) on its way.
  struct Line {
    std::uint64_t block = 0;
    std::uint64_t used = 0;  // 0: empty
    Cycle arrived = kNever;
    std::uint32_t fetch = kNone;
  };
  /// A line on its way from L2.
  struct Fetch {
    std::uint64_t block = 0;
    std::uint32_t gpc = 0;
    std::uint32_t missing = 0;  // pieces
    Cycle last = 0;             // arrival of the latest piece
    std::vector<Waiter> waiters;
  };
  /// A half line on its way to a TPC.
  struct Passing {
    std::uint64_t address = 0;
    Cycle earliest = 0;  // as if the line had been there
    Cycle arrives = 0;
    std::uint32_t fetch = kNone;
  };
  struct Tpc {
    Cycle free = 0;
    std::vector<Passing> passing;
  };
  /// A line of parameters, which was asked for.
  struct Late {
    std::uint64_t block = 0;
    Cycle here = 0;
  };
  struct Gpc {
    std::vector<Line> lines;  // by set
    Cycle free = 0;           // of the lookup
    double way_free = 0;      // of the way from L2
    std::uint64_t clock = 0;
    std::vector<Late> late;  // parameters that the launch did not bring
  };

  Cycle parameters_here(Gpc& gpc, std::uint64_t block, Cycle now);
  Line* find(Gpc& gpc, std::uint64_t block);
  Line& place(Gpc& gpc, std::uint64_t block);
  Cycle way_of(const CodeRequest& request) const;
  Cycle after_miss(Cycle arrived, const Waiter& waiter) const;
  std::uint32_t start(std::uint32_t gpc, const CodeRequest& request, Cycle now);
  bool join(Tpc& tpc, const CodeRequest& request, std::vector<Reply>& replies);

  const spec::GpuSpec& spec_;
  bool parameters_late_ = false;        // the launch has too much code
  std::uint32_t block_bytes_, pieces_;  // of a line; its 128-byte pieces
  std::uint32_t sets_;
  double way_cycles_;  // SM cycles that a line takes on the way from L2
  std::vector<Gpc> gpc_;
  std::vector<Tpc> tpc_;
  std::vector<Fetch> fetch_;
  std::vector<std::uint32_t> free_fetches_;
  std::uint64_t code_requests_ = 0, code_misses_ = 0, constant_requests_ = 0, constant_misses_ = 0;
};

}  // namespace foretrace::memory
