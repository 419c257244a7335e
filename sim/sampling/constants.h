// Every number that sampling rests on, in one table: unit, meaning, range that was looked at, and where it is from.
//
// Models:  nothing; sim/sampling reads its numbers here and nowhere else.
// Source:  "fit": chosen on the launches of the fitting half (scripts/compare_accuracy), never on those whose error
//          docs/accuracy.md reports. "bound": costs time and moves no estimate. "judgement": neither fitted nor measured;
//          the range says between which values the estimate was not seen to change by more than its interval.
#pragma once

#include <array>
#include <cstdint>

namespace foretrace::sampling {

struct Constant {
  const char* name;
  double value;
  const char* unit;
  double low, high;  ///< range
  const char* meaning;
  const char* source;
  constexpr operator double() const { return value; }
  /// For what is counted.
  constexpr std::uint64_t whole() const { return static_cast<std::uint64_t>(value); }
};

// clang-format off
// When a launch is sampled, and what of it.
inline constexpr Constant kExactWork{"exact_work", 20e6, "warp instruction", 1e6, 1e9,
    "--accuracy auto simulates launches of less exactly", "bound"};
inline constexpr Constant kSurveyWork{"survey_work", 12e6, "warp instruction", 2e6, 60e6,
    "that the survey executes, about; a block of more is simulated exactly", "bound"};
inline constexpr Constant kFewestWaves{"fewest_waves", 6, "wave", 5, 10,
    "below these there is no steady state between first and last wave", "judgement: ramp, three measured waves, one skipped, the last"};
inline constexpr Constant kPatientWork{"patient_work", 150e6, "warp instruction", 30e6, 1e9,
    "a launch without a steady state of whole waves is simulated exactly up to this cost", "bound"};
inline constexpr Constant kWaveWork{"wave_work", 30e6, "warp instruction", 10e6, 100e6,
    "a wave of more cannot be simulated several times: the rate within one must do", "bound"};
inline constexpr Constant kWholeWave{"whole_wave", 60e6, "warp instruction", 30e6, 200e6,
    "a wave of more is not simulated to its end: the rate within it must do", "bound"};
inline constexpr Constant kSeenWaves{"seen_waves", 1.25, "wave", 1.1, 2,
    "simulated before the rate of a launch of few waves is believed; the first does not count", "judgement: a naive SGEMM of 1024 goes on 57% faster from three quarters of its first wave on, when its blocks come out of step"};
inline constexpr Constant kLongestBlock{"longest_block", 64e6, "warp instruction", 12e6, 500e6,
    "a block of more is simulated exactly: finding out what it does takes as long as that", "bound"};
inline constexpr Constant kWorthSurvey{"worth_survey", 50, "block", 20, 200,
    "of a launch of blocks of more than survey_work: of fewer, the survey would be a large part", "bound"};
inline constexpr Constant kDependentSpread{"dependent_spread", 0.01, "share of a block's work", 0.001, 0.05,
    "blocks that take values from atomics and differ by more depend on each other", "judgement"};
inline constexpr Constant kEvenSpread{"even_spread", 0.1, "share of a block's work", 0.03, 0.3,
    "blocks that all run at once and differ by more have no rate that lasts", "judgement"};

// The survey.
inline constexpr Constant kSurveyError{"survey_error", 0.002, "share of the work", 0.001, 0.005,
    "standard error at which the sample of blocks stops growing", "bound"};
inline constexpr Constant kSurveyBudgets{"survey_budgets", 5, "survey_work", 1, 10,
    "most that the sample may take while its error is larger", "bound"};
inline constexpr Constant kPatience{"patience", 2e6, "warp instruction", 1e6, 1e7,
    "without progress after which a block of the sample is taken to wait for another", "bound"};
inline constexpr Constant kFewestOfClass{"fewest_of_class", 8, "block", 4, 32,
    "of a class that are sampled before all its blocks are taken to do the same", "judgement"};
inline constexpr Constant kMostOfClass{"most_of_class", 128, "block", 32, 512,
    "of a class that all do the same: more say nothing new", "bound"};
inline constexpr Constant kEnoughOfClass{"enough_of_class", 2e6, "warp instruction", 1e6, 6e6,
    "of a class that all do the same, after which it is known", "bound"};
inline constexpr Constant kBlocksBefore{"blocks_before", 16, "block", 4, 64,
    "executed before one that may depend on them", "bound"};
inline constexpr Constant kPlacesLooked{"places_looked", 3, "place of the grid", 1, 8,
    "at which is looked whether a block depends on those before it", "bound"};
inline constexpr Constant kWorkBefore{"work_before", 1e6, "warp instruction", 1e5, 1e7,
    "of the blocks executed before one, at most", "bound"};
inline constexpr Constant kProfileStretches{"profile_stretches", 64, "stretch", 32, 256,
    "of a block's run of which is kept what ran in them, at most", "bound"};

// The rate.
inline constexpr Constant kSnapshotsKept{"snapshots_kept", 4096, "snapshot", 1024, 65536,
    "at most; then every second is dropped", "bound"};
inline constexpr Constant kNearlyDirty{"nearly_dirty", 0.95, "share of the dirty sectors of L2", 0.9, 0.99,
    "from which what stays dirty counts as no longer growing", "judgement"};
inline constexpr Constant kRamp{"ramp", 0.25, "share of what was simulated", 0.15, 0.5,
    "that is not steady yet, and at least one wave", "judgement"};
inline constexpr Constant kStretches{"stretches", 8, "stretch", 4, 16,
    "that the steady part is cut into, of whole waves where three or more have ended", "judgement"};
inline constexpr Constant kFewestStretches{"fewest_stretches", 3, "stretch", 3, 5,
    "from which a standard error can be told", "judgement"};
inline constexpr Constant kMostAlike{"most_alike", 0.8, "correlation", 0.5, 0.9,
    "of neighbouring stretches; more is taken for it", "judgement"};

// Convergence.
inline constexpr Constant kFirstShare{"first_share", 0.2, "share of the work", 0.05, 0.3,
    "simulated before the first look, between first_look_least and first_look_most", "bound"};
inline constexpr Constant kFirstLookLeast{"first_look_least", 2e6, "warp instruction", 1e6, 4e6,
    "simulated before the first look, at least", "bound"};
inline constexpr Constant kFirstLookMost{"first_look_most", 12e6, "warp instruction", 6e6, 60e6,
    "simulated before the first look, at most", "bound"};
inline constexpr Constant kNextLook{"next_look", 1.15, "factor of the cost", 1.05, 1.5,
    "from one look to the next", "bound"};
inline constexpr Constant kRequestCost{"request_cost", 1.5, "warp instruction per L2 request", 1, 3,
    "host time of a request", "bound"};
inline constexpr Constant kMostDoubt{"most_doubt", 0.015, "share of the launch's time", 0.005, 0.03,
    "that the rate's doubt may be over what is left", "judgement"};
inline constexpr Constant kMostDrift{"most_drift", 0.025, "share of DRAM's rate", 0.01, 0.05,
    "by which its traffic may still change over what is left", "judgement"};
inline constexpr Constant kFilled{"filled", 1.3, "L2 size", 1, 2,
    "taken up by the launch when L2 counts as full", "judgement"};
inline constexpr Constant kFills{"fills", 0.4, "L2 size", 0.2, 0.6,
    "from which L2 begins to write back", "judgement"};
inline constexpr Constant kDramMatters{"dram_matters", 0.3, "share of DRAM's rate", 0.1, 0.5,
    "below which a fuller L2 changes no rate", "judgement"};
inline constexpr Constant kFlat{"flat", 0.1, "share of what is written back", 0.05, 0.3,
    "growth of what stays dirty below which as much is written back as is written", "judgement"};
inline constexpr Constant kMostChange{"most_change", 0.05, "share of executed instructions", 0.02, 0.1,
    "that may differ between the part of a block that was seen and the rest", "judgement"};
inline constexpr Constant kWorthSkipping{"worth_skipping", 0.15, "share of the work", 0.05, 0.3,
    "less is simulated to its end", "bound"};

// The end.
inline constexpr Constant kTailWaves{"tail_waves", 1, "wave", 1, 3,
    "placed after the gap, which the chip then runs to the launch's end", "judgement: what a chip holds has started after the gap"};
inline constexpr Constant kGapError{"gap_error", 0.15, "time of a wave", 0, 0.5,
    "standard deviation of a sampled launch about its exact time beyond the rate's doubt: blocks on either side of the gap are out of step", "judgement: to be fitted on the fitting half"};
inline constexpr Constant kSkippedError{"skipped_error", 0.0125, "share of the time left out", 0.005, 0.03,
    "standard deviation of what is left out about the rate that was seen, however steady that was: traffic drifts over a launch (the interval holds for 32 of 33 launches of the fitting half)", "fit"};
inline constexpr Constant kKeepsUp{"keeps_up", 0.9, "share of what is asked", 0.8, 0.98,
    "served by L2 below which stores pile up and the launch ends with them", "judgement"};
inline constexpr Constant kUnseenWaves{"unseen_waves", 0.2, "share of the time left", 0.1, 0.4,
    "standard deviation of later waves about what is seen within the first: caches are cold and blocks in step there", "judgement: 1024 by rows was 18% faster than its first wave said"};
inline constexpr Constant kShared{"shared", 0.5, "L2 size", 0.4, 1,
    "that blocks which are not in step may take up together: each of two partitions keeps what all SMs read", "judgement"};
inline constexpr Constant kLaterWaves{"later_waves", 0.04, "share of the time left", 0.02, 0.1,
    "standard deviation of waves after the first about the rate of blocks that begin anywhere on their way", "judgement: as within_blocks"};
inline constexpr Constant kWithinBlocks{"within_blocks", 0.04, "share of the time left", 0.02, 0.08,
    "standard deviation of what is left of blocks that all run at once about the rate seen so far", "judgement: blocks come out of step; a gravity_tiles of 256 blocks was 5.9% of the time left slower than its rate said"};
inline constexpr Constant kWavesPlayed{"waves_played", 40, "wave", 20, 100,
    "of blocks that are played through for the end, which does not depend on more before them", "bound"};
inline constexpr Constant kPlacesOfWork{"places_of_work", 4096, "place of the grid", 512, 16384,
    "for which the work of a block is told, at most", "bound"};
inline constexpr Constant kSampleOfPlaces{"sample_of_places", 8, "block", 4, 32,
    "of the survey's sample from which on it is told where in the grid the work is", "judgement"};
inline constexpr Constant kUnseenStores{"unseen_stores", 1.01, "factor of the sectors written", 1, 1.05,
    "that the survey says beyond the rate's from which the end holds stores that nobody has seen", "judgement"};
// Launches of a program that stand for others (representatives.h).
inline constexpr Constant kFirstSamples{"first_samples", 2, "launch", 2, 5,
    "of a kernel that are simulated before one of it may be left out", "judgement: two tell whether the second is like the first"};
inline constexpr Constant kSameWork{"same_work", 0.02, "share of the instructions", 0.005, 0.05,
    "by which launches of a kernel may differ and still stand for each other", "judgement"};
inline constexpr Constant kBeyond{"beyond", 1.1, "factor of the instructions", 1.02, 1.3,
    "beyond the samples' least and most from which the next launch is simulated", "judgement"};
inline constexpr Constant kGridStep{"grid_step", 1.3, "factor of the blocks", 1.1, 2,
    "from every sample's grid beyond which a launch is simulated", "bound"};
inline constexpr Constant kBurstShare{"burst_share", 0.25, "share of the budget", 0.1, 1,
    "that launches may cost which are simulated so that one finds the caches as they would be", "bound"};
inline constexpr Constant kUnknownSpread{"unknown_spread", 0.2, "share of the time", 0.1, 0.5,
    "standard deviation of a group's launches about its only sample", "judgement"};
inline constexpr Constant kSurely{"surely", 0.003, "share of the time", 0.001, 0.01,
    "standard deviation of a group's launches that is assumed though its samples differ by less", "judgement"};
inline constexpr Constant kMuch{"much", 0.1, "share of the total's variance", 0.05, 0.3,
    "that a group holds which is checked each time that its launches have doubled, not when they are four times as many", "judgement"};
inline constexpr Constant kAllShare{"all_share", 0.5, "share of the budget", 0.25, 0.8,
    "spent on simulating every launch before any is left out", "judgement"};
inline constexpr Constant kEpoch{"epoch", 3, "launch", 2, 6,
    "simulated in a row whose times are off by more than same_work to one side, with which another epoch of the kernel begins", "judgement"};
inline constexpr Constant kLaunchCost{"launch_cost", 2000, "warp instruction", 500, 10000,
    "that a launch counts for in the budget beside its own: what its start and its end cost the simulation", "judgement: half a millisecond"};
inline constexpr Constant kNine{"nine_of_ten", 1.645, "standard deviation", 1.645, 1.645,
    "that hold nine cases of ten", "the normal distribution"};

inline constexpr std::array kConstants{
    kExactWork, kSurveyWork, kFewestWaves, kPatientWork, kWaveWork, kWholeWave, kSeenWaves, kLongestBlock, kWorthSurvey, kDependentSpread, kEvenSpread, kSurveyError, kSurveyBudgets, kPatience, kFewestOfClass, kMostOfClass, kEnoughOfClass, kBlocksBefore, kPlacesLooked, kWorkBefore, kProfileStretches, kSnapshotsKept, kNearlyDirty, kRamp,
    kStretches, kFewestStretches, kMostAlike, kFirstShare, kFirstLookLeast, kFirstLookMost, kNextLook, kRequestCost, kMostDoubt, kMostDrift, kFilled, kFills,
    kDramMatters, kFlat, kMostChange, kWorthSkipping, kTailWaves, kGapError, kSkippedError, kKeepsUp, kUnseenWaves, kShared, kLaterWaves, kWithinBlocks, kWavesPlayed, kPlacesOfWork, kSampleOfPlaces, kUnseenStores,
    kFirstSamples, kSameWork, kBeyond, kGridStep, kBurstShare, kUnknownSpread, kSurely, kMuch, kAllShare, kEpoch, kLaunchCost, kNine};
// clang-format on

}  // namespace foretrace::sampling
