// What a schedule asks about kernels that streams allow together: how long they take on one chip.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace foretrace::host {

inline constexpr double kNever = std::numeric_limits<double>::infinity();  // ns

class Sharing {
 public:
  /// A kernel that is given to the chip.
  struct Member {
    std::uint64_t launch = 0;  ///< its number in the program
    double launched = 0;       ///< ns; from then on its blocks go where there is room
  };
  struct Times {
    double begin = 0, end = 0;  ///< ns, as of a kernel alone: `begin` is as long before its first block
  };
  enum class How {
    unknown,    ///< times() cannot say it
    rates,      ///< from what each asks of the chip
    simulation  ///< of all together
  };
  virtual ~Sharing() = default;
  /// How times() finds those of these, in the order in which they are launched.
  virtual How possible(const std::vector<Member>& members) = 0;
  /// Of each member; `how`: what possible() has said of them.
  virtual std::vector<Times> times(const std::vector<Member>& members, How how) = 0;
};

}  // namespace foretrace::host
