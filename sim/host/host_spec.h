// What a host's calls cost, and what lies between two pieces of work on its GPU.
//
// Models:  one host with one GPU: times of calls, of the way between host and GPU, of gaps, copies and fills by size.
// Source:  configs/hosts/*.toml, whose form is that of a chip's (docs/configs.md); docs/time_line.md says what each value means.
// Units:   nanoseconds, bytes, bytes per nanosecond.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::host {

/// A time by size: linear between the sizes that were measured, the first one's below them, the last slope beyond them.
struct BySize {
  std::vector<double> bytes, ns;
  double at(double size) const;
};

struct HostSpec {
  std::string name, title;
  struct {
    double launch = 0, graph = 0, graph_node = 0, graph_path = 0, record = 0, wait = 0;
    double record_untimed = 0;
    double copy_in = 0, copy_out = 0, copy_device = 0, synchronize = 0, malloc_async = 0;
    double fill = 0,
           fill_kernel = 0;  ///< fills that go with the commands, and larger ones, which are kernels
    double fill_inline = 0;  ///< bytes: the largest that goes with the commands
    BySize malloc, free;
  } call;
  struct {
    double arrival = 0;  ///< from a call's return until the GPU begins what it asked for
    double notice = 0;   ///< from the end of work until a thread that waits for it goes on
    double queue = 0;  ///< launches of a stream that have not begun while another is accepted; 0: any number
  } link;
  struct {
    double release = 0;  ///< from when all blocks have let a dependent launch go until it begins
    double resume = 0;   ///< from a kernel's end until a dependent launch that waits for it goes on
    double stream = 0, graph = 0, dependent = 0, wait = 0, record = 0, graph_begin = 0, dispatch = 0;
    double engine = 0;  ///< until a copy engine knows that what its copy comes after is over
    double engine_poll =
        0;  ///< a copy that waits longer than engine_spin is looked at again each time; 0: at once
    double engine_spin = 0, engine_told = 0;  ///< and waits longer than this are seen at once again
    double turn = 0;    ///< from a copy's end to the other engine's copy that comes after it
    double leave = 0;   ///< from a copy's end to what comes after it on the chip
    double device = 0;  ///< from the end of another device's work; of linked GPUs, by their link
    double
        sleep_after = 0,
        sleep_wake =
            0;  ///< likewise: without a copy over a GPU's link, and from the next one's begin until it moves; 0: never
  } gap;
  struct {
    double in_latency = 0, in_rate = 0, out_latency = 0, out_rate = 0, both_rate = 0, inline_latency = 0;
    BySize inline_pageable;
    double pinned_inline = 0, pageable_inline = 0;
    BySize pageable_in, pageable_out, device;
  } copy;
  BySize fill;
};

inline constexpr const char* kDefaultHost = "xeon-h100";

/// The host of configs/hosts/NAME.toml, or of a file (with a slash or ending in .toml). "none": calls, gaps and copies take no time.
/// Throws InputError: no such host, an unknown or missing key, a unit that is not the key's.
HostSpec load_host(std::string_view name, const std::filesystem::path& configs);
/// Every key that a host's file has.
std::vector<std::string> host_keys();
/// The numbers behind a key, to change them; null: no such key.
std::vector<double*> values_of(HostSpec& spec, std::string_view key);

}  // namespace foretrace::host
