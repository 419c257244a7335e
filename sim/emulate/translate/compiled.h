// A program translated: once for many launches, and what one launch puts into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/isa/program.h"
#include "model/work/warp_record.h"
#include "sim/emulate/execute/lanes/lane_table.h"
#include "sim/emulate/translate/micro_op.h"

namespace foretrace::emulate {

/// Layout of a warp's register file, in words: a vector of zeros and one for unwanted results, four each so that a
/// 128-bit access to RZ stays inside; the return-address register Rpc; then R0 on. Uniform registers likewise, no Rpc.
inline constexpr std::uint32_t kZeroWord = 0;
inline constexpr std::uint32_t kSinkWord = 4 * 32;
inline constexpr std::uint32_t kRpcWord = 8 * 32;
inline constexpr std::uint32_t kFirstRegisterWord = 10 * 32;
inline constexpr std::uint32_t kFirstUniformWord = 8 * 32;

/// An array of words that starts on a cache line.
class LaneWords {
 public:
  LaneWords() = default;
  explicit LaneWords(std::size_t words)
      : words_(static_cast<std::uint32_t*>(::operator new[](words * 4, std::align_val_t{64}))), size_(words) {
    for (std::size_t i = 0; i < words; ++i) words_.get()[i] = 0;
  }
  std::uint32_t* data() const { return words_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Delete {
    void operator()(std::uint32_t* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::uint32_t, Delete> words_;
  std::size_t size_ = 0;
};

/// A literal that holds a word of a constant bank.
struct BoundLiteral {
  std::uint32_t word = 0;  ///< first word of its lane vector
  std::uint8_t bank = 0;
  std::uint32_t offset = 0;  ///< bytes
};

struct Compiled {
  std::vector<MicroOp> code;          ///< one per instruction
  std::vector<std::string> messages;  ///< why a form is not supported: MicroOp::message - 1
  LaneWords literals;                 ///< with the constant banks of the launch that it was made for
  std::vector<BoundLiteral> bound;
  std::uint32_t register_words = 0;     ///< size of a warp's register file
  std::uint32_t uniform_registers = 0;  ///< uniform registers in use: UR0 .. this - 1
  bool shares_work = false;             ///< by counts (isa::work_counters)
  bool asks_in_loops = false;           ///< isa::has_asking_loop
  std::uint32_t all_first = 0;          ///< isa::done_by_all_first
};

/// The constant banks as bytes; a bank that is not there is empty.
using Banks = std::span<const std::vector<std::byte>>;

/// The literals of a launch with other contents of the constant banks; their sizes are those of compile()'s.
LaneWords bind_literals(const Compiled& compiled, Banks banks);

/// Translates every instruction. Never fails: what is not supported becomes Kind::unsupported with a message.
Compiled compile(const isa::Program& program, Banks banks, const LaneTable& lanes);

/// What of the driver's a program asks for.
struct AsksFor {
  bool workspace = false;          ///< that of a cooperative launch
  bool parameter_address = false;  ///< the address of a parameter
  bool system_shared = false;      ///< where the system's shared memory lies behind a block's own
};

/// What depends on the program alone; launches of the same program may share it (LaunchContext::translation).
struct Translation {
  Compiled compiled;
  work::Shapes shapes;
  AsksFor asks;
  bool without_products = false;  ///< matrix products are not computed (LaunchContext::results_unused)
};

}  // namespace foretrace::emulate
