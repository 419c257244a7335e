// Copies in a warp's record: what is read back is what was asked for.

#include <gtest/gtest.h>

#include "model/work/transfer.h"

namespace foretrace::work {
namespace {

Transfer tile(std::uint64_t base, std::uint32_t shared, unsigned rows) {
  Transfer t;
  t.begin(TransferKind::load, rows * 128, rows);
  t.shared = shared;
  t.barrier = 0x400;
  for (unsigned i = 0; i < rows; ++i) t.piece(base + i * 4096, 128);
  return t;
}

Transfer again(const std::vector<std::uint8_t>& bytes, const Transfer& last) {
  Transfer t = last;
  EXPECT_EQ(read_transfer(bytes.data(), bytes.data() + bytes.size(), t), bytes.data() + bytes.size());
  return t;
}

TEST(Transfer, PiecesOfOneDistanceAreOneRun) {
  const Transfer t = tile(1 << 20, 1024, 64);
  ASSERT_EQ(t.runs.size(), 1u);
  EXPECT_EQ(t.runs[0], (CopyRun{1 << 20, 128, 64, 4096}));
  Transfer other;
  other.begin(TransferKind::store, 48, 3);
  other.piece(0, 16);
  other.piece(32, 16);
  other.piece(48, 16);  // another distance
  other.piece(64, 8);   // another length
  other.piece(0, 0);    // nothing of it lies inside
  EXPECT_EQ(other.runs, (std::vector<CopyRun>{{0, 16, 2, 32}, {48, 16, 1, 0}, {64, 8, 1, 0}}));
}

TEST(Transfer, IsReadBackAsItWas) {
  const Transfer none;
  for (const TransferKind kind : {TransferKind::load, TransferKind::store, TransferKind::reduce,
                                  TransferKind::shared, TransferKind::prefetch}) {
    Transfer t = tile(0x7f00'1234'0000, 0x8400, 5);
    t.kind = kind;
    t.blocks = 0x5;
    t.piece(0x100, 64);  // backwards
    if (kind != TransferKind::load) t.barrier = Transfer::kNoBarrier;
    std::vector<std::uint8_t> bytes;
    append_transfer(bytes, t, none);
    EXPECT_EQ(again(bytes, none), t);
  }
  std::vector<std::uint8_t> bytes;
  append_transfer(bytes, none, tile(0, 0, 3));
  EXPECT_EQ(again(bytes, tile(0, 0, 3)), none);
}

TEST(Transfer, ThatHasMovedTakesFewBytes) {
  const Transfer first = tile(0x7f00'1234'0000, 0x8400, 5), next = tile(0x7f00'1234'0080, 0x400, 5);
  std::vector<std::uint8_t> bytes;
  append_transfer(bytes, next, first);
  EXPECT_LE(bytes.size(), 8u);
  EXPECT_EQ(again(bytes, first), next);
}

TEST(Transfer, CutShortItIsNotUnderstood) {
  std::vector<std::uint8_t> bytes;
  append_transfer(bytes, tile(1 << 20, 1024, 64), {});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Transfer t;
    EXPECT_EQ(read_transfer(bytes.data(), bytes.data() + size, t), nullptr) << size;
  }
  const std::uint8_t moved[] = {0, 0, 0, 0}, unknown[] = {1};
  Transfer none;
  EXPECT_EQ(read_transfer(moved, moved + 4, none), nullptr) << "there is none that could have moved";
  EXPECT_EQ(read_transfer(unknown, unknown + 1, none), nullptr);
}

}  // namespace
}  // namespace foretrace::work
