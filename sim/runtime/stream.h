// Streams and the predicted GPU's time line.
//
// Models:  the order that CUDA promises: what is given to a stream is executed when it is given, so any order of streams that a
//          program asks for by events and waits holds. Times: each stream has a clock in seconds of predicted GPU time; the legacy
//          default stream waits for, and holds up, the blocking ones.
// Ignores: that work of different streams shares the GPU: launches are predicted one by one.
#pragma once

#include <cstdint>
#include <set>

#include <cuda_runtime_api.h>

namespace foretrace::runtime {

struct Stream {
  std::uint64_t id = 0;
  unsigned flags = cudaStreamDefault;
  int priority = 0;
  double ready = 0;  ///< seconds of the GPU's time line when all its work is done
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

 private:
  std::uint64_t next_id_ = 1;
  Stream legacy_, per_thread_;
  std::set<Stream*> others_;
};

}  // namespace foretrace::runtime
