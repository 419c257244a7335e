// What GPUs of one host are linked by, and what collectives over it cost per protocol.
//
// Models:  one kind of link: bandwidth each way per device, channels (a block of threads each on every device), and per algorithm and
//          protocol what a start, a hop and a channel's work take; what NCCL compares when it chooses a protocol.
// Source:  configs/links/*.toml, whose form is that of a chip's (docs/configs.md); docs/collectives.md says what each value means.
// Units:   nanoseconds, bytes, bytes per nanosecond.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::collective {

enum class Algorithm { ring, tree };
enum class Protocol { ll, ll128, simple };
inline constexpr std::size_t kAlgorithms = 2, kProtocols = 3;

struct LinkSpec {
  std::string name, title;
  double bandwidth = 0;     ///< each way, of one device, as copies reach it
  double devices = 0;       ///< at most, on one host
  double copy_latency = 0;  ///< of a peer copy that others come before
  double event_time = 0;    ///< that an event with a time takes more than on a GPU without links
  double event_wait = 0;    ///< that a stream sees another device's event later than its own device's
  double sleep_after = 0;   ///< without a copy over a device's link; 0: it never sleeps
  double sleep_wake = 0;    ///< until a link that sleeps carries data again
  struct {
    double latency = 0;      ///< of a load from when it leaves the chip until its data are back
    double bandwidth = 0;    ///< each way, headers and questions included
    double header = 0;       ///< bytes that go with the data of a line
    double question = 0;     ///< bytes of a load's question
  } kernel;                  ///< what loads and stores of kernels find
  double channels = 0;       ///< at most
  double channel_bytes = 0;  ///< of each device's part, below which another channel is not used
  struct PerProtocol {
    double payload = 0;  ///< share of what is sent that is data
    double landing =
        0;  ///< work of taking in the last part, in works of any other; 0: it lands where it belongs
  };
  std::array<PerProtocol, kProtocols> protocol;
  struct Cost {
    double base = 0,
           hop = 0;   ///< of an operation; of each device that data pass on their way, one after another
    double rate = 0;  ///< of one channel's work
  };
  std::array<std::array<Cost, kProtocols>, kAlgorithms> cost;
  struct Choice {
    double base = 0, hop = 0;
    double bandwidth = 0;  ///< 0: the protocol is not chosen on this link
  };
  std::array<Choice, kProtocols> choice;  ///< of rings; NCCL chooses no tree on one host
};

inline constexpr const char* kDefaultLink = "nvlink4";

/// The link of configs/links/NAME.toml, or of a file (with a slash or ending in .toml).
/// Throws InputError: no such link, an unknown or missing key, a unit that is not the key's, a number that means nothing.
LinkSpec load_link(std::string_view name, const std::filesystem::path& configs);
/// Every key that a link's file has.
std::vector<std::string> link_keys();
/// The number behind a key, to change it; null: no such key.
double* value_of(LinkSpec& spec, std::string_view key);

}  // namespace foretrace::collective
