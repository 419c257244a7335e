// Warps that are held until something behind their backs has happened: warpgroup products, registers that change hands, the barrier of a
// cluster, fences.
//
// Models:  WARPGROUP.ARRIVE and DEPBAR against the products that run and wait, USETMAXREG against the registers that its block has given back,
//          UCGABAR_WAIT against the cluster's phase, MEMBAR of the device or the system against the acknowledgements of the SM's stores.
// Source:  docs/sources.md:TENSOR-H100; PTX ISA, wgmma, setmaxnreg, barrier.cluster.
#pragma once

#include <cstdint>

#include "model/sm/products.h"
#include "model/sm/warp_table.h"

namespace foretrace::sm {

class HeldWarps {
 public:
  HeldWarps(const SmContext& context, WarpTable& table, Blocks& blocks, MemoryPipe& memory)
      : context_(context), table_(table), blocks_(blocks), memory_(memory),
        products_(blocks.size(), context.spec.wgmma) {}

  /// The warp issues a product.
  void issue_product(const Warp& warp, const StaticInstruction& instruction, Cycle now);
  /// The unit of products may be free for the next that waits (Event::Kind::product).
  void begin_products(Cycle now);
  /// Products::delay().
  Cycle dispatch_delay(Cycle passes, Cycle now) const { return products_.delay(passes, now); }
  /// After the issue of `done`, an instruction that waits for something: its stall count runs until `counted`, the warp goes on at
  /// `ready` at the earliest. The warp is held or waits, and all of it is accounted for.
  void hold(Warp& warp, std::uint16_t id, const work::Step& done, Cycle ready, Cycle counted, Cycle now);
  /// Something of the block has changed that its held warps may wait for.
  void look(std::uint32_t block, Cycle now);
  /// The warp's stores have left the memory pipe.
  void stores_left(Warp& warp, std::uint16_t id, Cycle now);
  /// Whether warps wait for acknowledgements of stores; acknowledged() has to be told of each in time then.
  bool fences_wait() const { return fences_ != 0; }
  void acknowledged(Cycle now);
  void forget(std::uint32_t block) { products_.forget(block); }
  /// Held warps go on after `now`. False: there was none.
  bool let_go(Cycle now);

 private:
  Cycle fenced_from(Warp& warp, Cycle now);
  Cycle held_until(Warp& warp, const StaticInstruction& instruction, Hold hold, Cycle now);

  const SmContext& context_;
  WarpTable& table_;
  Blocks& blocks_;
  MemoryPipe& memory_;
  Products products_;
  std::uint32_t fences_ = 0;  ///< warps that wait for acknowledgements
  Cycle asked_ = 0;           ///< the last cycle for which an event was asked for
};

}  // namespace foretrace::sm
