#include "sim/sampling/representatives.h"

#include <algorithm>
#include <cmath>

#include "model/units/error.h"
#include "sim/sampling/constants.h"
#include "sim/sampling/steady_rate.h"

namespace foretrace::sampling {

namespace {

double distance(double a, double b) { return std::abs(std::log(std::max(a, 1.0) / std::max(b, 1.0))); }

/// How different two launches' work is: 0.02 is two percent of the instructions, of their lanes or of the memory.
double distance(const LaunchWork& a, const LaunchWork& b) {
  return std::max({distance(a.blocks, b.blocks), distance(a.bytes, b.bytes),
                   distance(a.warp_instructions, b.warp_instructions),
                   distance(a.thread_instructions, b.thread_instructions)});
}

}  // namespace

double Representatives::Misses::rms() const {
  return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
}

bool Representatives::spans(const Group& group, const LaunchWork& work) {
  const auto inside = [&](double LaunchWork::*what) {
    double least = group.samples.front().work.*what, most = least;
    for (const Sample& sample : group.samples) {
      least = std::min(least, sample.work.*what);
      most = std::max(most, sample.work.*what);
    }
    return work.*what >= least / kBeyond && work.*what <= most * kBeyond;
  };
  return inside(&LaunchWork::warp_instructions) && inside(&LaunchWork::thread_instructions);
}

bool Representatives::due(const Group& group, const LaunchWork& work) const {
  if (group.samples.empty() || group.beyond) return true;
  const double step = std::log(kGridStep);
  if (std::none_of(group.samples.begin(), group.samples.end(), [&](const Sample& s) {
        return distance(s.work.blocks, work.blocks) <= step && distance(s.work.bytes, work.bytes) <= step;
      }))
    return true;
  if (spent_ >= budget_) return false;
  const auto settled =
      std::count_if(group.samples.begin(), group.samples.end(), [](const Sample& s) { return s.settled; });
  return static_cast<double>(settled) < kFirstSamples || group.launches >= group.next_check;
}

bool Representatives::simulate(std::uint64_t launch, const LaunchKind& kind, const LaunchWork& work) {
  Group& group = groups_[kind];
  ++group.launches;
  if (spent_ < kAllShare * budget_ || burst_) return true;
  if (!due(group, work)) return false;
  const bool follows = cold_ || (latest_ && *latest_ + 1 == launch);
  if (!follows) {
    burst_ = kind;
    burst_begin_ = launch;
    burst_cost_ = 0;
    burst_samples_ = 0;
  }
  return true;
}

/// The number of launches at which the group is looked at again.
double Representatives::next_check(const Group& group) const {
  double all = 0;
  for (const auto& [kind, other] : groups_) all += std::pow(uncertain(other, other.others_seconds), 2);
  const bool much = std::pow(uncertain(group, group.others_seconds), 2) >= kMuch * all;
  return static_cast<double>(group.launches) * (much ? 2 : 4);
}

/// Before the sample that was off by `miss` is added.
void Representatives::note_miss(Group& group, double miss) {
  if (std::abs(miss) <= kSameWork) {
    group.astray = 0;
    return;
  }
  const bool above = miss > 0;
  group.astray = above == group.astray_above ? group.astray + 1 : 1;
  group.astray_above = above;
}

/// The group's last sample, if it is one of this burst and slower than a launch that does about the same, or somewhat more: caches were
/// not yet as they would have been.
void Representatives::unsettle_slower(Group& group, const LaunchWork& work, double seconds) const {
  if (group.samples.empty()) return;
  Sample& last = group.samples.back();
  if (!last.settled || last.launch < burst_begin_ || last.time.seconds <= seconds * (1 + kSameWork) ||
      distance(last.work, work) > std::log(kGridStep) ||
      last.work.warp_instructions > work.warp_instructions * (1 + kSameWork))
    return;
  last.settled = false;
  if (last.miss) (last.far ? group.far : group.next).take_back(*last.miss);
  last.miss.reset();
}

void Representatives::simulated(std::uint64_t launch, const LaunchKind& kind, const LaunchWork& work,
                                TimeEstimate time, double cost) {
  Group& group = groups_[kind];
  // A kernel's first launch finds code and data in no cache.
  const bool settled = cold_ || (!group.samples.empty() && latest_ && *latest_ + 1 == launch);
  latest_ = launch;
  spent_ += cost;
  burst_cost_ += cost;
  least_ = samples_ == 0 ? time.seconds : std::min(least_, time.seconds);
  ++samples_;
  const bool of_burst = burst_ && !(*burst_ < kind) && !(kind < *burst_);
  if (settled && of_burst) unsettle_slower(group, work, time.seconds);
  Sample sample{launch, work, time, settled, {}, false};
  const bool known =
      std::any_of(group.samples.begin(), group.samples.end(), [](const Sample& s) { return s.settled; });
  if (settled && known && time.seconds > 0) {
    sample.far = !group.others.empty() && group.others.back().launch > group.samples.back().launch;
    sample.miss = seconds_of(group, work, launch, nullptr) / time.seconds - 1;
    (sample.far ? group.far : group.next).add(*sample.miss);
    note_miss(group, *sample.miss);
  }
  group.samples.push_back(sample);
  if (static_cast<double>(group.astray) >= kEpoch) {
    // Between the last sample that was as those before it and the first that was not, and the first of all is neither.
    std::size_t first = group.samples.size(), before = 0;
    for (std::size_t left = group.astray; left > 0; --first) left -= group.samples[first - 1].settled ? 1 : 0;
    for (std::size_t i = 0; i < first; ++i) before = group.samples[i].settled ? i : before;
    if (before > 0)
      group.epochs.push_back((group.samples[before].launch + group.samples[first].launch + 1) / 2);
    group.astray = 0;
  }
  group.beyond = false;
  const auto again = [this](const Group& g) { return static_cast<std::uint64_t>(next_check(g)); };
  if (settled) group.next_check = again(group);
  // Where it is astray, whether another epoch begins is found out at once.
  if (of_burst && settled) ++burst_samples_;
  const bool enough = group.astray == 0 || static_cast<double>(burst_samples_) >= kEpoch;
  if (burst_ && ((settled && of_burst && enough) || burst_cost_ > kBurstShare * budget_)) {
    // A kernel that comes again only much later, or not at all, is not waited for.
    groups_[*burst_].next_check = again(groups_[*burst_]);
    burst_.reset();
  }
}

/// The samples that say most of a launch.
struct Representatives::Choice {
  const Sample *before = nullptr, *after = nullptr;  // in the program, of those that did the same
  const Sample *less = nullptr, *more = nullptr;     // that did less and more, and are nearest
  const Sample* closest = nullptr;                   // of all
  double farness = 0;

  const Sample *context_before = nullptr,
               *context_after = nullptr;  // as before and after, in the same context

  static void same(const Sample& sample, std::uint64_t launch, const Sample*& before, const Sample*& after) {
    if (sample.launch <= launch) before = &sample;
    if (sample.launch > launch && after == nullptr) after = &sample;
  }
  void other(const Sample& sample, double work) {
    const double w = sample.work.warp_instructions;
    if (w <= work && (less == nullptr || w >= less->work.warp_instructions)) less = &sample;
    if (w >= work && (more == nullptr || w <= more->work.warp_instructions)) more = &sample;
  }
};

/// From the samples that found L2 as the launch does, in its epoch; unless none of them did nearly as much, and others did.
Representatives::Choice Representatives::choose(const Group& group, const LaunchWork& work,
                                                std::uint64_t launch) {
  const auto next = std::upper_bound(group.epochs.begin(), group.epochs.end(), launch);
  const std::uint64_t from = next == group.epochs.begin() ? 0 : *(next - 1);
  const std::uint64_t to = next == group.epochs.end() ? ~std::uint64_t{0} : *next;
  Choice best;
  for (const int pass : {0, 1, 2}) {
    Choice choice;
    for (const Sample& sample : group.samples) {
      const bool own = sample.settled && sample.launch >= from && sample.launch < to;
      if (pass == 0 ? !own : pass == 1 && !sample.settled) continue;
      const double far = distance(sample.work, work);
      if (choice.closest == nullptr || far <= choice.farness) choice.closest = &sample, choice.farness = far;
      if (far > kSameWork) {
        choice.other(sample, work.warp_instructions);
        continue;
      }
      Choice::same(sample, launch, choice.before, choice.after);
      if (sample.work.context == work.context)
        Choice::same(sample, launch, choice.context_before, choice.context_after);
    }
    if (choice.closest == nullptr) continue;
    if (best.closest == nullptr || choice.farness < best.farness) best = choice;
    if (best.farness <= std::log(kGridStep)) return best;
  }
  return best;
}

/// From the samples: those that did the same, the one before `launch` and the one after it, each by how near it is; else between the two
/// that did less and more; else in proportion to the work beyond the shortest launch's time.
double Representatives::seconds_of(const Group& group, const LaunchWork& work, std::uint64_t launch,
                                   const Sample** nearest) const {
  FORETRACE_ASSERT(!group.samples.empty(), "the first launch of a kernel is simulated");
  const Choice all = choose(group, work, launch);
  const bool same = all.context_before != nullptr || all.context_after != nullptr;
  const Sample* const before = same ? all.context_before : all.before;
  const Sample* const after = same ? all.context_after : all.after;
  if (nearest != nullptr) *nearest = before != nullptr ? before : after != nullptr ? after : all.closest;
  if (before != nullptr && after != nullptr) {
    const auto since = static_cast<double>(launch - before->launch);
    const auto until = static_cast<double>(after->launch - launch);
    return (before->time.seconds * until + after->time.seconds * since) / (since + until);
  }
  if (before != nullptr) return before->time.seconds;
  if (after != nullptr) return after->time.seconds;
  const Sample *less = all.less, *more = all.more;
  if (less != nullptr && more != nullptr && more->work.warp_instructions > less->work.warp_instructions) {
    const double share = (work.warp_instructions - less->work.warp_instructions) /
                         (more->work.warp_instructions - less->work.warp_instructions);
    return less->time.seconds + share * (more->time.seconds - less->time.seconds);
  }
  return least_ + (all.closest->time.seconds - least_) * std::max(work.warp_instructions, 1.0) /
                      std::max(all.closest->work.warp_instructions, 1.0);
}

/// Half the interval of one estimate of the group, as a share of it.
double Representatives::spread_of(const Group& group) {
  if (group.next.count + group.far.count == 0 ||
      std::none_of(group.samples.begin(), group.samples.end(), [](const Sample& s) { return s.settled; }))
    return kUnknownSpread * kNine;
  const double far = group.far.count == 0 ? 0 : group.far.rms() * student(group.far.count);
  if (static_cast<double>(group.far.count) > kFirstSamples) return std::max(far, kSurely * kNine);
  const double next = group.next.count == 0 ? 0 : group.next.rms() * student(group.next.count);
  return std::max({next, far, kSurely * kNine});
}

/// Half the interval of the sum of the group's other launches, in seconds. What samples are off by is partly common to a group's
/// launches: the sum is as uncertain as the mean of the checks is.
double Representatives::uncertain(const Group& group, double others_seconds) {
  const auto checks = static_cast<double>(std::max<std::size_t>(1, group.far.count));
  return others_seconds * spread_of(group) / std::sqrt(checks);
}

TimeEstimate Representatives::represent(std::uint64_t launch, const LaunchKind& kind,
                                        const LaunchWork& work) {
  Group& group = groups_[kind];
  group.beyond = !spans(group, work);
  const Sample* nearest = nullptr;
  const double seconds = seconds_of(group, work, launch, &nearest), half = seconds * spread_of(group);
  group.others.push_back({launch, work});
  group.others_seconds += seconds;
  return {seconds, std::max(0.0, seconds - half), seconds + half, nearest->launch};
}

std::vector<RepresentedLaunch> Representatives::represented() const {
  std::vector<RepresentedLaunch> all;
  for (const auto& [kind, group] : groups_) {
    const double spread = spread_of(group);
    for (const Other& other : group.others) {
      const Sample* nearest = nullptr;
      const double seconds = seconds_of(group, other.work, other.launch, &nearest);
      const double low = std::max(0.0, seconds * (1 - spread));
      all.push_back({other.launch, {seconds, low, seconds * (1 + spread), nearest->launch}});
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.launch < b.launch; });
  return all;
}

TimeEstimate Representatives::total() const {
  double seconds = 0, variance = 0;
  for (const auto& [kind, group] : groups_) {
    for (const Sample& sample : group.samples) {
      seconds += sample.time.seconds;
      variance += std::pow((sample.time.high - sample.time.low) / 2, 2);
    }
    double others = 0;
    for (const Other& other : group.others) others += seconds_of(group, other.work, other.launch, nullptr);
    seconds += others;
    variance += std::pow(uncertain(group, others), 2);
  }
  const double half = std::sqrt(variance);
  return {seconds, std::max(0.0, seconds - half), seconds + half, 0};
}

}  // namespace foretrace::sampling
