// Streams.
//
// Models:  the order that CUDA promises: what is given to a stream is executed when it is given, so any order of streams that a
//          program asks for by events and waits holds. When it would be executed on the GPU is the time line's matter (clock.h).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "sim/runtime/device/sm_part.h"

namespace foretrace::runtime {

struct Capture;    // graph.h
struct GraphNode;  // graph.h
struct Context;    // context.h

struct Stream {
  std::uint64_t id = 0;
  unsigned flags = cudaStreamDefault;
  int priority = 0;
  int device = 0;                    ///< its ordinal
  const Context* green = nullptr;    ///< the green context that it was made in; null: none
  SmPart part;                       ///< that one's
  std::shared_ptr<Capture> capture;  ///< the capture that it takes part in; empty: none
  std::vector<GraphNode*> frontier;  ///< what the next captured node depends on
  std::vector<std::pair<const GraphNode*, cudaGraphEdgeData>>
      ports;                                    ///< of edges from those, where they have one
  std::vector<cudaGraphEdgeData> edges;         ///< what cudaStreamGetCaptureInfo points to
  std::vector<cudaLaunchAttribute> attributes;  ///< as cudaStreamSetAttribute has left them
};

class Streams {
 public:
  explicit Streams(int devices);
  /// Null: no such stream. The current device's default streams are among them.
  Stream* find(cudaStream_t handle);
  /// On the current device.
  Stream* create(unsigned flags, int priority);
  bool destroy(cudaStream_t handle);
  /// Whether a stream that the current device's legacy default stream waits for is captured.
  bool blocking_capture() const;
  /// Every stream that takes part in the capture.
  std::vector<Stream*> captured_by(const Capture* capture);
  /// Whether the program has made some.
  bool made() const { return !others_.empty(); }
  /// Every stream.
  std::vector<Stream*> all();
  /// The id of a device's legacy default stream.
  static std::uint64_t legacy_id(int device) { return 2 * static_cast<std::uint64_t>(device) + 1; }
  /// Whether it is one of its device's default streams.
  bool is_default(const Stream& stream) const { return others_.count(const_cast<Stream*>(&stream)) == 0; }
  bool is_legacy(const Stream* stream) const { return stream == &of(*stream).legacy; }

 private:
  struct Default {
    Stream legacy, per_thread;
  };
  Default& of(const Stream& stream) { return defaults_[static_cast<std::size_t>(stream.device)]; }
  const Default& of(const Stream& stream) const { return defaults_[static_cast<std::size_t>(stream.device)]; }

  std::uint64_t next_id_ = 1;
  std::vector<Default> defaults_;  // by device
  std::set<Stream*> others_;
};

}  // namespace foretrace::runtime
