// The streams of a program: what the next work of each comes after.
//
// Models:  streams are in order; a device's legacy default stream waits for, and holds up, those that are not created non-blocking. A copy
//          between two devices in a legacy stream has both devices to itself.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "sim/host/schedule.h"

namespace foretrace::host {

class Streams {
 public:
  /// Number 0 is the legacy default stream of device 0.
  Streams() { streams_[0]; }
  /// `legacy`: its device's legacy default stream.
  void add(std::uint64_t stream, bool non_blocking, unsigned device, std::uint64_t legacy);
  unsigned device(std::uint64_t stream) const { return known(stream).device; }

  /// What the next work comes after, ascending. It is then asked for: waits are over with it.
  std::vector<WorkId> before_next(std::uint64_t stream);
  /// The stream's last work, kNoWork: none yet.
  WorkId last(std::uint64_t stream) const { return known(stream).last; }
  void set_last(std::uint64_t stream, WorkId work) { streams_[stream].last = work; }
  /// The stream's next work comes after that.
  void wait(std::uint64_t stream, WorkId event) { streams_[stream].waits.push_back(event); }

  bool is_legacy(std::uint64_t stream) const { return known(stream).legacy == stream; }
  /// Work that has the device to itself: all that is asked for from now on comes after it (and it after all_of_device).
  void set_alone(unsigned device, WorkId work) { alone_[device] = work; }

  /// A launch of the stream.
  void launched(std::uint64_t stream, WorkId work) { streams_[stream].launches.push_back(work); }
  /// Of the last `most` launches the first, which has to begin before another can come; kNoWork: there are fewer. It is not asked for
  /// again.
  WorkId take_queued(std::uint64_t stream, std::size_t most);

  /// What whoever waits for a stream waits for, and for a device.
  std::vector<WorkId> all_of(std::uint64_t stream) const;
  std::vector<WorkId> all_of_device(unsigned device) const;

 private:
  struct Stream {
    bool non_blocking = false;
    unsigned device = 0;
    std::uint64_t legacy = 0;
    WorkId last = kNoWork;
    std::vector<WorkId> waits;    // for the next work
    std::deque<WorkId> launches;  // the last ones
  };
  const Stream& known(std::uint64_t stream) const;
  std::map<std::uint64_t, Stream> streams_;
  std::map<unsigned, WorkId> alone_;  // by device, the last
};

}  // namespace foretrace::host
