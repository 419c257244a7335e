// Streams.
//
// Models:  the order that CUDA promises: what is given to a stream is executed when it is given, so any order of streams that a
//          program asks for by events and waits holds. When it would be executed on the GPU is the time line's matter (clock.h).
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
