// Streams and the predicted GPU's time line.
//
// Models:  the order that CUDA promises: what is given to a stream is executed when it is given, so any order of streams that a
//          program asks for by events and waits holds. Times: each stream has a clock in seconds of predicted GPU time; the legacy
//          default stream waits for, and holds up, the blocking ones.
// Ignores: that work of different streams shares the GPU: launches are predicted one by one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include <cuda_runtime_api.h>

namespace foretrace::runtime {

struct Capture;    // graph.h
struct GraphNode;  // graph.h

struct Stream {
  std::uint64_t id = 0;
  unsigned flags = cudaStreamDefault;
  int priority = 0;
  double ready = 0;                             ///< seconds of the GPU's time line when all its work is done
  std::shared_ptr<Capture> capture;             ///< the capture that it takes part in; empty: none
  std::vector<GraphNode*> frontier;             ///< what the next captured node depends on
  std::vector<cudaLaunchAttribute> attributes;  ///< as cudaStreamSetAttribute has left them
};

class Streams {
 public:
  Streams();
  /// Null: no such stream. The default stream is one of them.
  Stream* find(cudaStream_t handle);
  Stream* create(unsigned flags, int priority);
  bool destroy(cudaStream_t handle);
  /// Work of `seconds` on the stream: its begin on the time line.
  double occupy(Stream& stream, double seconds);
  /// When all work of all streams is done.
  double end() const;
  /// Whether a stream that the legacy default stream waits for is captured.
  bool blocking_capture() const;
  /// Every stream that takes part in the capture.
  std::vector<Stream*> captured_by(const Capture* capture);
  /// Every stream.
  std::vector<Stream*> all();
  bool is_legacy(const Stream* stream) const { return stream == &legacy_; }

 private:
  std::uint64_t next_id_ = 1;
  Stream legacy_, per_thread_;
  std::set<Stream*> others_;
};

}  // namespace foretrace::runtime
