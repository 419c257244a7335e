// Global memory as a device has it: allocations placed as cudaMalloc places them, pages made when first touched.
//
// Models:  allocations where Places puts them; a fixed base address, so that a kernel sees the same addresses in every run.
//          Backed by pages of its own (launch files: any size may be described, what is touched is made), or by host memory at
//          the very addresses that the kernel uses (foretrace run: host code and kernels share managed and pinned memory).
// Freeing: addresses come back only after another 256 MiB were freed, and then to an allocation of the same size, so that most
//          uses after free are noticed.
// Ignores: peer memory.
// Source:  of places: places.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/emulate/memory/device_heap.h"
#include "sim/emulate/memory/places.h"
#include "sim/emulate/memory/written_bytes.h"

namespace foretrace::emulate {

inline constexpr std::uint64_t kGlobalBase = 0x7f0000000000;  ///< address of the first allocation
inline constexpr std::uint64_t kGlobalBytes = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kPageBytes = 64 * 1024;  ///< of host memory: what a first touch makes
/// Addresses of allocations that are backed by host memory: far from where Linux places a process's own. Where the program's
/// allocator places memory at addresses of its own choice (TCMalloc, V8) and took some of these, kArenaPiece others.
inline constexpr std::uint64_t kHostArena = 0x2000'0000'0000;
inline constexpr std::uint64_t kHostArenaBytes = std::uint64_t{16} << 40;
inline constexpr std::uint64_t kArenaPiece = std::uint64_t{4} << 40;

enum class Backing : std::uint8_t {
  pages,  ///< pages made when first touched, anywhere in host memory
  host,   ///< the address itself, in a reserved range of the process; pages appear zero when first touched
  fork    ///< pages of its own wherever it is touched, over another memory (GlobalMemory::fork)
};

class GlobalMemory {
 public:
  /// Writes the first contents of bytes [offset, offset + span.size()) of an allocation, whose memory is zero before. Called once for
  /// every page that is touched, from whichever thread touches it; offset and size are multiples of 512 or end the allocation.
  using Fill = std::function<void(std::uint64_t offset, std::span<std::byte> bytes)>;

  struct Allocation {
    std::uint64_t address = 0;
    std::uint64_t size = 0;  ///< bytes
    std::string name;        ///< as errors call it
    Fill fill;               ///< may be empty: zero
  };

  /// Throws InputError when the process may not reserve the addresses (Backing::host).
  explicit GlobalMemory(Backing backing = Backing::pages);
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;
  ~GlobalMemory();

  /// Places `size` bytes (0 is placed as 1) and returns their address. Not while a launch runs.
  /// Throws InputError when the addresses (1 TiB, or 16 TiB of host memory, 4 where some were taken) are used up.
  std::uint64_t allocate(std::uint64_t size, std::string name, Fill fill = {});
  /// Ends an allocation, which must start at the address; false: none does. Not while a launch runs.
  bool free(std::uint64_t address);
  /// Another memory with the same allocations and, wherever it is touched first, the contents that this one has then; what is
  /// written to it stays in it. This one must outlive it, and nobody writes to it meanwhile; nothing is allocated in the fork.
  std::unique_ptr<GlobalMemory> fork();
  /// Makes host memory that somebody else owns an allocation (Backing::host); it ends with forget(). False: it overlaps one.
  bool adopt(std::uint64_t address, std::uint64_t size, std::string name);
  bool forget(std::uint64_t address);

  /// The allocation that holds the address; null: none.
  const Allocation* find(std::uint64_t address) const;
  /// The allocation that ends or starts closest to the address; null: there is none at all.
  const Allocation* nearest(std::uint64_t address) const;
  /// The allocation that held the address until it was freed, if that was not long ago and the addresses were not given to another.
  const Allocation* freed(std::uint64_t address) const;

  /// Whether all of it lies in a device's page that an allocation is on, where the addresses are the host's: a GPU reads and writes
  /// what is there, the padding or a neighbour.
  bool on_page(std::uint64_t address, std::uint64_t size) const;

  /// Host memory of an address inside an allocation; it goes on while in_one_piece() says so. Safe from several threads.
  std::byte* at(std::uint64_t address) {
    if (backing_ == Backing::host) return reinterpret_cast<std::byte*>(address);
    if (backing_ == Backing::fork) return at_fork(address);
    const std::uint64_t offset = address - kGlobalBase;
    std::byte* page = pages_[offset / kPageBytes].load(std::memory_order_acquire);
    if (page == nullptr) page = make_page(offset / kPageBytes);
    return page + offset % kPageBytes;
  }

  /// Whether host memory is contiguous from one address to another of the same allocation.
  bool in_one_piece(std::uint64_t first, std::uint64_t last) const {
    return backing_ == Backing::host ||
           (first - kGlobalBase) / kPageBytes == (last - kGlobalBase) / kPageBytes;
  }

  /// Copies to and from allocations; InputError when the range is not inside one.
  void write(std::uint64_t address, std::span<const std::byte> bytes);
  void read(std::uint64_t address, std::span<std::byte> bytes);

  /// Which bytes have been written, of allocations without a Fill that were made after its track(): by write(), by kernels that
  /// are checked, and where its mark() says so.
  WrittenBytes& written() { return written_; }

  /// What device code's malloc gives out.
  DeviceHeap& heap() { return heap_; }
  const DeviceHeap& heap() const { return heap_; }

  /// Bytes of host memory in pages that were touched (Backing::pages).
  std::uint64_t resident() const { return resident_.load(); }

 private:
  std::byte* make_page(std::uint64_t page);
  std::byte* at_fork(std::uint64_t address);
  void copy_page(std::uint64_t begin, std::byte* to);
  void make_pages(std::uint64_t address, std::uint64_t size);
  void open_arena(std::uint64_t end);
  std::uint64_t take_freed(std::uint64_t size);
  std::vector<Allocation>::iterator after(std::uint64_t address);
  void check_range(std::uint64_t address, std::uint64_t size) const;

  Backing backing_;
  std::vector<Allocation> allocations_;  // ascending addresses
  std::deque<Allocation> freed_;         // waiting to be given out again, oldest first
  std::uint64_t freed_bytes_ = 0;
  std::map<std::uint64_t, std::vector<std::uint64_t>> reusable_;  // by size in whole alignments: addresses
  std::unique_ptr<std::atomic<std::byte*>[]> pages_;
  std::uint64_t page_count_ = 0;
  Places places_;
  std::uint64_t arena_ = 0, arena_bytes_ = 0;  // Backing::host: the addresses that are reserved
  std::uint64_t open_end_ = 0;                 // of the arena's part that may be touched
  GlobalMemory* parent_ = nullptr;             // Backing::fork
  std::unordered_map<std::uint64_t, std::unique_ptr<std::byte[]>>
      own_;  // Backing::fork: by address / kPageBytes
  WrittenBytes written_;
  DeviceHeap heap_;
  std::mutex making_;
  std::atomic<std::uint64_t> resident_{0};
};

}  // namespace foretrace::emulate
