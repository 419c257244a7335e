#include "sim/runtime/device/stream.h"

#include <algorithm>

namespace foretrace::runtime {

Streams::Streams() {
  legacy_.id = next_id_++;
  per_thread_.id = next_id_++;
}

Stream* Streams::find(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return &legacy_;
  if (handle == cudaStreamPerThread) return &per_thread_;
  const auto found = others_.find(reinterpret_cast<Stream*>(handle));
  return found == others_.end() ? nullptr : *found;
}

Stream* Streams::create(unsigned flags, int priority) {
  auto* stream = new Stream;
  stream->id = next_id_++;
  stream->flags = flags;
  stream->priority = priority;
  others_.insert(stream);
  return stream;
}

bool Streams::destroy(cudaStream_t handle) {
  const auto found = others_.find(reinterpret_cast<Stream*>(handle));
  if (found == others_.end()) return false;
  delete *found;
  others_.erase(found);
  return true;
}

std::vector<Stream*> Streams::all() {
  std::vector<Stream*> every{&legacy_, &per_thread_};
  every.insert(every.end(), others_.begin(), others_.end());
  return every;
}

bool Streams::blocking_capture() const {
  const auto captured = [](const Stream& s) {
    return s.capture != nullptr && (s.flags & cudaStreamNonBlocking) == 0;
  };
  return captured(per_thread_) ||
         std::any_of(others_.begin(), others_.end(), [&](const Stream* s) { return captured(*s); });
}

std::vector<Stream*> Streams::captured_by(const Capture* capture) {
  std::vector<Stream*> members;
  for (Stream* stream : all()) {
    if (stream->capture.get() == capture) members.push_back(stream);
  }
  return members;
}

}  // namespace foretrace::runtime
