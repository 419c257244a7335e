// Which launches of a program are simulated, and what time is given to the others: a program with ten thousand launches must not cost
// ten thousand simulations.
//
// Models:  launches of one kernel with one block shape are a group. While half of the budget lasts, every launch is simulated. After
//          that a launch is simulated when its group has too few samples, when its grid or the work of one before it lies beyond what
//          the samples span, and, as a check, each time the group has had two or four times as many launches as at the last check
//          (two where the group holds much of what is uncertain). Every other launch runs for its results alone, and what it was seen
//          to do (blocks, warp and thread instructions), with the memory that its arguments point to, says which samples stand for
//          it: those that did the same, first of all where they came after the same kernel with the same arguments, else the two
//          between which its work lies. A simulation that follows launches which were not simulated finds the L2 cache of an
//          earlier time: launches are then simulated from there until the kernel comes again, and the first counts only until there
//          is a better one; so does the second where the third is faster, because it read what launches before the first had written.
//          Where several samples in a row are off what the earlier ones say, all to the same side, an epoch of the group begins (data
//          that came to lie in L2, another phase of the program): launches are represented by samples of their own epoch.
//          Each new sample is also predicted from those before it. How far these predictions are off is the group's spread, from
//          which the interval of the sum follows.
// Ignores: which of a launch's addresses are touched; launches of other processes.
// Source:  sampling by kernel and signature is the way of Sieve (ISPASS 2023) and of principal kernel analysis (MICRO 2021).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/units/units.h"

namespace foretrace::sampling {

/// What is known of a launch before it runs, its grid apart.
struct LaunchKind {
  std::string kernel;  ///< the linker's name, or another that tells kernels apart
  Dim3 block, cluster{1, 1, 1};
  std::uint64_t dynamic_shared = 0;  ///< bytes per block
  auto key() const {
    return std::tie(kernel, block.x, block.y, block.z, cluster.x, cluster.y, cluster.z, dynamic_shared);
  }
  friend bool operator<(const LaunchKind& a, const LaunchKind& b) { return a.key() < b.key(); }
};

/// What it did.
struct LaunchWork {
  double blocks = 0;
  double bytes = 0;           ///< of the allocations that its arguments point into; 0: none
  std::uint64_t context = 0;  ///< a hash of the kernel before it and of those allocations
  double warp_instructions = 0;
  double thread_instructions = 0;  ///< of active lanes
};

/// A time with its interval for nine cases of ten, in seconds.
struct TimeEstimate {
  double seconds = 0, low = 0, high = 0;
  std::uint64_t by = 0;  ///< of a represented launch: the number of the one that is most like it
};

/// A launch that another stands for.
struct RepresentedLaunch {
  std::uint64_t launch = 0;  ///< its number in the program
  TimeEstimate time;
};

class Representatives {
 public:
  /// `budget`: warp instructions to simulate. It is exceeded where a kernel would else have no sample, or none like it.
  /// `cold`: each launch finds empty caches, whatever ran before it.
  Representatives(double budget, bool cold) : budget_(budget), cold_(cold) {}

  /// Before launch number `launch`: whether to simulate it. Launches are asked about in order, each once. Of its work blocks and bytes
  /// are known.
  bool simulate(std::uint64_t launch, const LaunchKind& kind, const LaunchWork& work);
  /// After it was simulated. `cost`: the warp instructions that were simulated.
  void simulated(std::uint64_t launch, const LaunchKind& kind, const LaunchWork& work, TimeEstimate time,
                 double cost);
  /// After it was only executed: its time, as far as is known by now.
  TimeEstimate represent(std::uint64_t launch, const LaunchKind& kind, const LaunchWork& work);

  /// The launches that were not simulated, in order, their times from all samples, those that came later too.
  std::vector<RepresentedLaunch> represented() const;
  /// Of all launches, with the interval of the sum.
  TimeEstimate total() const;
  std::uint64_t samples() const { return samples_; }
  /// Warp instructions that were simulated.
  double spent() const { return spent_; }

 private:
  struct Sample {
    std::uint64_t launch = 0;
    LaunchWork work;
    TimeEstimate time;
    bool settled = false;        // the launch before it was simulated, too, and the next one was no faster
    std::optional<double> miss;  // what it was off by, where that counts
    bool far = false;            // it came after launches that were left out
  };
  struct Other {
    std::uint64_t launch = 0;
    LaunchWork work;
  };
  /// How far samples were off what those before them said, as a share.
  struct Misses {
    double squares = 0;
    std::size_t count = 0;
    void add(double miss) { squares += miss * miss, ++count; }
    void take_back(double miss) { squares = std::max(0.0, squares - miss * miss), --count; }
    double rms() const;
  };
  struct Group {
    std::vector<Sample> samples;
    std::vector<Other> others;
    Misses next,
        far;  // of samples that followed another in the group, and of those after launches that were left out
    std::vector<std::uint64_t> epochs;  // the launches at which another epoch begins
    std::size_t astray = 0;             // samples in a row that were off to the same side
    bool astray_above = false;
    double others_seconds = 0;  // as they were estimated at first
    std::uint64_t launches = 0, next_check = 0;
    bool beyond = false;  // the last launch that was not simulated did more or less than any sample
  };
  bool due(const Group& group, const LaunchWork& work) const;
  static void note_miss(Group& group, double miss);
  void unsettle_slower(Group& group, const LaunchWork& work, double seconds) const;
  static double uncertain(const Group& group, double others_seconds);
  double next_check(const Group& group) const;
  double seconds_of(const Group& group, const LaunchWork& work, std::uint64_t launch,
                    const Sample** nearest) const;
  struct Choice;
  static Choice choose(const Group& group, const LaunchWork& work, std::uint64_t launch);
  static bool spans(const Group& group, const LaunchWork& work);
  static double spread_of(const Group& group);

  const double budget_;
  const bool cold_;
  double spent_ = 0, burst_cost_ = 0;
  std::size_t burst_samples_ = 0;    // of the burst's kind
  std::uint64_t burst_begin_ = 0;    // its first launch
  std::optional<LaunchKind> burst_;  // launches are simulated until one of this kind has been, in its place
  std::optional<std::uint64_t> latest_;  // the last launch that was simulated
  std::map<LaunchKind, Group> groups_;
  std::uint64_t samples_ = 0;
  double least_ = 0;  // seconds of the shortest sample of all
};

}  // namespace foretrace::sampling
