// How long a collective operation over the GPUs of one host takes.
//
// Models:  one operation of many in a row, as nccl-tests time it: a base, a hop for each device that data pass one after another, the moving,
//          and the last part, which nothing overlaps. A broadcast has no hops: its root begins the next one without waiting for the others.
//          Each channel works on its part at its own rate; what all channels send shares the device's link; the two together take the cube
//          root of the sum of their cubes, as the rates of 1 to 24 channels add up to the link's.
// Ignores: the hops of a broadcast that nothing follows, NVLink multicast (NVLS), several hosts, links that are not all alike, kernels that run beside, the caches' part.
// Source:  the algorithms' steps: NCCL's documentation and public sources (docs/sources.md:NCCL); numbers: sim/collective/link_spec.h.
// Units:   nanoseconds, bytes, bytes per nanosecond.
#pragma once

#include <optional>

#include "sim/collective/link_spec.h"

namespace foretrace::collective {

enum class Operation { allreduce, allgather, reducescatter, broadcast, copy };
const char* name_of(Operation operation);
const char* name_of(Algorithm algorithm);
const char* name_of(Protocol protocol);
/// Throws InputError naming the option and what it takes.
Operation parse_operation(const std::string& text);
Algorithm parse_algorithm(const std::string& text);
Protocol parse_protocol(const std::string& text);

struct Question {
  Operation operation = Operation::allreduce;
  double bytes = 0;  ///< of the whole array: an all-gather's output, a reduce-scatter's input
  unsigned devices = 2;
  std::optional<Algorithm> algorithm;  ///< none: as NCCL chooses
  std::optional<Protocol> protocol;
};

enum class Limit { latency, channels, link };
const char* name_of(Limit limit);

struct Answer {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  unsigned channels = 0;  ///< 0: a copy engine's work
  double ns = 0;
  double latency = 0;  ///< of it: base and hops
  double working = 0,
         sending = 0;  ///< of it: the channels' work and the link's while parts are sent, each alone
  double keeping = 0;  ///< of it: the channels' work on the last part
  double algorithm_bandwidth = 0;  ///< bytes over time
  double bus_bandwidth = 0;  ///< that times what an ideal algorithm sends per byte, as nccl-tests define it
  Limit limit = Limit::latency;
};

/// Throws InputError: fewer than two devices or more than the link has, bytes that no device gets a part of, an algorithm that the
/// operation has not.
Answer predict(const LinkSpec& link, const Question& question);
/// A peer copy that others come before, ns: of Operation::copy what the answer says, of any number of bytes.
double copy_ns(const LinkSpec& link, double bytes);

}  // namespace foretrace::collective
