// What the memory system counts. memory_counters.def says what each counter means.
#pragma once

#include <cstdint>

namespace foretrace::stats {

struct MemoryCounters {
#define FORETRACE_MEMORY_COUNTER(name, growth, meaning) std::uint64_t name = 0;
#include "model/stats/memory_counters.def"
};

}  // namespace foretrace::stats
