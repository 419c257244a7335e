// What a copy engine is asked to move: a box of shared memory and the pieces of global memory that belong to it.
//
// Models:  one executed UBLKCP, UBLKRED, UBLKPF, UTMALDG, UTMASTG, UTMAREDG or UTMAPF: bytes, rows, where, and whom it tells.
// Ignores: values; swizzles and element types (they move no byte to another row).
#pragma once

#include <cstdint>
#include <vector>

namespace foretrace::work {

enum class TransferKind : std::uint8_t {
  none,      ///< nothing is moved: a size of 0
  load,      ///< global to shared memory, of one block of the cluster or several
  store,     ///< shared to global memory
  reduce,    ///< the same, combined with what is there
  shared,    ///< shared memory of this block to that of a block of the cluster
  prefetch,  ///< global memory into L2
};

/// `count` pieces of `bytes` consecutive bytes of global memory; each begins `stride` bytes after the one before.
struct CopyRun {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint32_t count = 1;
  std::int64_t stride = 0;
  friend bool operator==(const CopyRun&, const CopyRun&) = default;
};

struct Transfer {
  static constexpr std::uint32_t kNoBarrier = ~std::uint32_t{0};

  TransferKind kind = TransferKind::none;
  std::uint32_t bytes = 0;   ///< of the box, what lies outside of a tensor included: what its mbarrier counts
  std::uint32_t rows = 0;    ///< of the box: consecutive pieces of shared memory in which it is moved
  std::uint32_t shared = 0;  ///< offset in shared memory: load: of the destination; else of the source
  std::uint32_t barrier =
      kNoBarrier;  ///< offset of the mbarrier that the bytes are told, in every block that gets them
  std::uint32_t blocks = 1;  ///< by rank in the cluster: those that a load or a `shared` goes to
  std::vector<CopyRun>
      runs;  ///< of global memory, in the order of the box; without what lies outside of a tensor

  /// Begins anew; keeps the memory of `runs`.
  void begin(TransferKind what, std::uint32_t box_bytes, std::uint32_t box_rows) {
    kind = what;
    bytes = box_bytes;
    rows = box_rows;
    shared = 0;
    barrier = kNoBarrier;
    blocks = 1;
    runs.clear();
  }
  /// The next consecutive bytes of global memory. Pieces of one length at one distance become one run.
  void piece(std::uint64_t address, std::uint32_t length);
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// Appends a transfer to a record's details, told against the last one of the same instruction.
void append_transfer(std::vector<std::uint8_t>& out, const Transfer& transfer, const Transfer& last);
/// Reads it back over the last one, from `at` on. Returns where it ends; null: damaged.
const std::uint8_t* read_transfer(const std::uint8_t* at, const std::uint8_t* end, Transfer& transfer);

}  // namespace foretrace::work
