#include "sim/runtime/device/stream.h"

#include <algorithm>

#include "sim/runtime/device/context.h"

namespace foretrace::runtime {

Streams::Streams(int devices) : defaults_(static_cast<std::size_t>(devices)) {
  for (std::size_t device = 0; device < defaults_.size(); ++device) {
    for (Stream* stream : {&defaults_[device].legacy, &defaults_[device].per_thread}) {
      stream->id = next_id_++;
      stream->device = static_cast<int>(device);
    }
  }
}

Stream* Streams::find(cudaStream_t handle) {
  Default& here = defaults_[static_cast<std::size_t>(current_device())];
  if (handle == nullptr || handle == cudaStreamLegacy) return &here.legacy;
  if (handle == cudaStreamPerThread) return &here.per_thread;
  const auto found = others_.find(reinterpret_cast<Stream*>(handle));
  return found == others_.end() ? nullptr : *found;
}

Stream* Streams::create(unsigned flags, int priority) {
  auto* stream = new Stream;
  stream->id = next_id_++;
  stream->flags = flags;
  stream->priority = priority;
  stream->device = current_device();
  if (const Context* context = current_context(); context != nullptr && context->green())
    stream->green = context, stream->part = context->part;
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
  std::vector<Stream*> every;
  for (Default& of_device : defaults_) every.insert(every.end(), {&of_device.legacy, &of_device.per_thread});
  every.insert(every.end(), others_.begin(), others_.end());
  return every;
}

bool Streams::blocking_capture() const {
  const auto captured = [](const Stream& s) {
    return s.device == current_device() && s.capture != nullptr && (s.flags & cudaStreamNonBlocking) == 0;
  };
  return captured(defaults_[static_cast<std::size_t>(current_device())].per_thread) ||
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
