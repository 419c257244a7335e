// The chip as numbers: everything that a configuration can say about a GPU, immutable once loaded.
//
// Models:  one GPU: limits, clocks, the SM and its pipes, the unified L1, the network, L2, DRAM, and launch costs.
// Ignores: what does not vary between the chips that the model covers (model/units/units.h).
// Source:  configs/*.toml, where each number has its unit, kind and source. Field names are the keys: sm.count is GpuSpec::sm.count.
//          Unless a comment says otherwise a latency is in SM cycles. Every field moves at least one counter (tests/config/sensitivity).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "model/units/units.h"

namespace foretrace::spec {

/// Frequencies in Hz of the three clock domains.
struct ClockSet {
  std::uint64_t sm = 0;
  std::uint64_t l2 = 0;    ///< L2 and the network
  std::uint64_t dram = 0;  ///< DRAM command clock (data moves on both edges)
};
enum class ClockChoice { base, boost, observed, custom };

/// Execution pipes of a sub-core, and the paths out of it. Names follow Nsight Compute's sm__inst_executed_pipe_*.
enum class Pipe : std::uint8_t {
  alu,       ///< integer and logic
  alulite,   ///< second ALU that only some operations can use (sm_120)
  fmaheavy,  ///< FP32 and integer multiply-add
  fmalite,   ///< FP32 only
  fp16,      ///< packed half, where it is a unit of its own (sm_80)
  fp64,
  xu,  ///< transcendental and conversions
  tensor,
  uniform,
  cbu,  ///< branches and convergence barriers
  adu,  ///< indexed constants and block barriers
  lsu,  ///< everything that goes through the memory queue
  tma,  ///< copies of the copy engine
  tex,  ///< textures and surfaces; through the memory queue, too
  none  ///< taken by the front end (NOP, DEPBAR)
};
inline constexpr int kPipes = static_cast<int>(Pipe::none) + 1;
const char* name_of(Pipe pipe);
bool pipe_from_name(const std::string& name, Pipe& pipe);

/// What decides when an instruction's write scoreboard is released.
enum class LatencyClass : std::uint8_t {
  fixed,             ///< the stall counts cover it
  xu,                ///< MUFU, conversions, POPC, FLO, BREV
  fp64,              ///< DADD, DMUL, DFMA, DSETP where they are scoreboarded
  tensor,            ///< DMMA and other scoreboarded matrix operations
  shuffle,           ///< SHFL
  special_register,  ///< S2R, S2UR, B2R
  constant,          ///< LDC with a hit
  uniform_load,      ///< LDCU, and LDC in uniform form, with a hit
  uniform_reduce,    ///< REDUX, R2UR where scoreboarded, VOTE through the uniform path
  match,             ///< MATCH
  global,            ///< LDG, LD, LDL: by the memory system
  shared,            ///< LDS
  matrix_load,       ///< LDSM, MOVM
  shared_atomic,     ///< ATOMS
  global_atomic      ///< ATOM, ATOMG: by the memory system
};
inline constexpr int kLatencyClasses = static_cast<int>(LatencyClass::global_atomic) + 1;
const char* name_of(LatencyClass latency);
bool latency_from_name(const std::string& name, LatencyClass& latency);

/// A pipe of a sub-core.
struct PipeSpec {
  std::uint32_t interval =
      0;  ///< cycles a warp instruction keeps the pipe's input; 0: the chip has no such pipe
};

struct LimitsSpec {          // keys limits.*
  std::uint32_t warps = 0;   ///< resident warps per SM
  std::uint32_t blocks = 0;  ///< resident blocks per SM
  std::uint32_t threads_per_block = 0;
  std::uint32_t registers = 0;  ///< 32-bit registers per SM
  std::uint32_t registers_per_block = 0;
  std::uint32_t registers_per_thread = 0;
  std::uint32_t register_unit = 0;     ///< registers are allocated to a warp in multiples of this
  std::uint32_t warp_granularity = 0;  ///< a block's warps are rounded up to this when registers are counted
  std::uint32_t barriers = 0;          ///< named barriers per SM (occupancy limit)
  std::uint32_t shared_per_block = 0;  ///< bytes, opt-in maximum per block
  std::uint32_t shared_reserved = 0;   ///< bytes the driver takes of each resident block
  std::uint32_t shared_unit = 0;       ///< shared memory is allocated in multiples of this, bytes
};

struct FetchSpec {             // keys fetch.*
  std::uint32_t l1_bytes = 0;  ///< instruction cache of an SM
  std::uint32_t l1_ways = 0;
  std::uint32_t prefetch_lines =
      0;  ///< 128-byte lines that it is asked for ahead of the line that a warp enters
  std::uint32_t first_latency =
      0;  ///< cycles from an SM's first block until its first instruction is there, at least
  std::uint32_t branch_latency = 0;  ///< cycles from a taken branch to the target's issue, hit
  std::uint32_t resolve_latency =
      0;  ///< of them, cycles after its stall count that pass before the target is fetched
  std::uint32_t target_latency =
      0;  ///< cycles that a branch takes more whose target is in a register: BRX, JMX, RET, CALL
  std::uint32_t mask_latency =
      0;  ///< cycles after its stall count that WARPSYNC takes for a mask in a register
  std::uint32_t mask_interval = 0;  ///< cycles that it takes more for each further mask among its lanes
  std::uint32_t converge_latency =
      0;  ///< cycles from BSYNC, or from EXIT or BREAK of some lanes, until the warp goes on or has ended
};

struct RegisterFileSpec {    // keys register_file.*
  std::uint32_t banks = 0;   ///< a sub-core; register r is in bank r mod banks
  std::uint32_t ports = 0;   ///< 1024-bit reads a bank serves a cycle
  std::uint32_t window = 0;  ///< cycles within which a fixed-latency instruction reads all its operands
  std::uint32_t allocate_latency = 0;  ///< cycles from issue until it reserves its reads: control, allocate
};

struct ConstantSpec {            // keys constant.*
  std::uint32_t l0_bytes = 0;    ///< immediate-constant cache of a sub-core: operands and uniform loads
  std::uint32_t l1_bytes = 0;    ///< indexed-constant cache of an SM: LDC
  std::uint32_t line_bytes = 0;  ///< of both; a power of two
  std::uint32_t l0_miss = 0;     ///< cycles that a miss holds the warp: the GPC's cache has the line
  std::uint32_t l1_miss = 0;     ///< cycles that a miss adds to LDC: the GPC's cache has the line
  std::uint32_t word_interval =
      0;  ///< cycles between the passes of one LDC, one for each different address of its lanes
  std::uint32_t line_interval = 0;  ///< cycles between two lines that come to an SM for LDC
  std::uint32_t ask_again =
      1;  ///< cycles after which a word of an LDC whose line is late goes through the ADU again
};

struct GpcCacheSpec {  // keys gpc_cache.*: code and constants, shared by the SMs of a GPC
  std::uint32_t bytes = 0;
  std::uint32_t ways = 0;
  std::uint32_t line_bytes = 0;    ///< what it asks of L2 at a time; constants come to an SM in such blocks
  std::uint32_t latency = 0;       ///< cycles from an SM's instruction miss until it can issue, hit
  std::uint32_t miss_latency = 0;  ///< same from L2's answer on, miss
  std::uint32_t constant_miss_latency = 0;  ///< same for a sub-core's constant miss
  std::uint32_t interval = 0;               ///< cycles between two lookups
  std::uint32_t tpc_interval = 0;           ///< cycles between two 128-byte pieces that the SMs of a TPC get
  std::uint32_t fill_bytes = 0;             ///< bytes that arrive from L2 a L2 cycle
  std::uint32_t preload_bytes = 0;          ///< bytes from a kernel's start that a launch brings here
  std::uint32_t parameter_code =
      0;  ///< bytes of code with which a launch brings its parameters here, too; behind more they come late
  std::uint32_t parameter_latency = 0;  ///< cycles that a line of parameters which comes late takes more
};

struct LsuSpec {                       // keys lsu.*
  std::uint32_t queue = 0;             ///< instructions a sub-core's memory queue holds (latch included)
  std::uint32_t issue_latency = 0;     ///< cycles from issue to the sub-core's address generation
  std::uint32_t address_latency = 0;   ///< cycles from address generation to the SM's memory unit, unloaded
  std::uint32_t address_interval = 0;  ///< cycles a sub-core's address generation takes per warp instruction
  std::uint32_t uniform_interval = 0;  ///< same, for shared memory or a uniform address
  std::uint32_t sm_interval = 0;  ///< cycles between two instructions of any sub-core at the SM's memory unit
  std::uint32_t source_latency =
      0;  ///< cycles from issue until a load's source registers were read (read scoreboard)
  std::uint32_t store_source_latency = 0;  ///< same for a 32-bit store
  std::uint32_t store_width_latency = 0;   ///< added for each further 32-bit register of store data
  std::uint32_t in_flight = 0;  ///< local/global loads and atomics an SM's memory unit holds at a time
  std::uint32_t data_queue =
      0;  ///< of these, loads of an SM whose data are there and that wait for the data stage
  std::uint32_t width_latency = 0;  ///< cycles each further 32-bit register per lane adds to a load's latency
};

struct MatchSpec {  // keys match.*; latency.match is that of MATCH.ALL, and of MATCH.ANY of one value
  std::uint32_t value_latency = 0;        ///< cycles that each further value of MATCH.ANY's lanes adds
  std::uint32_t value_interval = 0;       ///< cycles that each value takes the data stage
  std::uint32_t wide_latency = 0;         ///< cycles that values of 64 bits add
  std::uint32_t wide_value_latency = 0;   ///< as value_latency, of values of 64 bits
  std::uint32_t wide_value_interval = 0;  ///< as value_interval, of values of 64 bits
};

struct TextureSpec {  // keys texture.*
  std::uint32_t interval =
      0;  ///< cycles a pass of an SM's texture unit takes for 32 lanes: TLD takes one, a bilinear filter of 32 bits two
  std::uint32_t latency = 0;       ///< cycles that a lookup takes longer than a load that hits in L1
  std::uint32_t store_passes = 0;  ///< passes that a surface store takes
};

struct SharedSpec {                   // keys shared.*
  std::uint32_t latency = 0;          ///< LDS.32 without conflict: issue to result usable
  std::uint32_t generic_latency = 0;  ///< LD.32 that finds shared memory: issue to result usable
  std::uint32_t conflict_latency =
      0;  ///< cycles each wavefront beyond the width's floor adds to a lone access
  std::uint32_t sub_core_interval = 0;  ///< cycles between two wavefronts of accesses of one sub-core
  std::uint32_t atomic_latency = 0;     ///< ATOMS without conflict
  std::uint32_t atomic_interval = 0;    ///< cycles the data stage takes for a wavefront of an atomic
  std::uint32_t compare_passes = 0;     ///< times that of a compare-and-swap, which brings two words per lane
  std::uint32_t copy_wavefronts = 0;    ///< that cp.async writes per cycle, beside the data stage
};

/// The way of an SM's reductions to L2 is counted in so many bytes.
inline constexpr std::uint32_t kWayPieceBytes = 16;

struct L1Spec {                          // keys l1.*
  std::uint32_t unified_bytes = 0;       ///< L1 and shared memory together
  std::vector<std::uint32_t> carveouts;  ///< bytes of shared memory that can be chosen, ascending
  std::uint32_t hit_latency = 0;         ///< LDG.32 hit: issue to result usable
  std::uint32_t sets = 0;                ///< of lines, a power of two; a line's set is a hash of its address
  std::uint32_t replacement_stretch =
      0;  ///< accesses to a set within which lines that were used last are as old as each other
  double used_again_share =
      0;  ///< of L1's lines less lines_used_once, that lines used again after they had come may take before others
  std::uint32_t lines_used_once = 0;          ///< lines that they leave to others at least, all sets together
  std::uint32_t lines_kept_back = 0;          ///< lines of L1's bytes that hold no line for long
  std::uint32_t tag_lines = 0;                ///< lines the tag stage resolves per cycle
  std::uint32_t tag_sectors = 0;              ///< sectors the tag stage resolves per cycle
  std::uint32_t lines_in_flight = 0;          ///< lines with misses outstanding per SM
  std::uint32_t sectors_in_flight = 0;        ///< load sectors requested and not yet arrived, per SM
  std::uint32_t store_sectors_in_flight = 0;  ///< store sectors sent and not yet acknowledged by L2, per SM
  std::uint32_t way_bytes =
      0;  ///< of stores and reductions that the way to L2 holds until they are done, per SM
  std::uint32_t way_address_bytes =
      0;  ///< of these, what an address takes, a lone word with it; a multiple of kWayPieceBytes
  std::uint32_t way_sector_bytes = 0;  ///< what a sector of data takes beside it; likewise
  std::uint32_t way_instructions = 0;  ///< stores and reductions in an SM that wait for room on that way
  std::uint32_t store_lines = 0;   ///< lines of which an SM holds stores back, for others to the same line
  std::uint32_t store_cycles = 0;  ///< how long at least, from the last store to it
  std::uint32_t store_line_cycles =
      0;  ///< or so long for each line that the store wrote, where that is longer
  std::uint32_t store_interval =
      0;  ///< cycles per line that leaves, or per wavefront of a store whose lines wait for others
  std::uint32_t store_queue = 0;  ///< lines of stores behind the data stage that can wait to leave
  std::uint32_t store_way_ahead =
      0;  ///< a store is looked up in L1 at most so many cycles before what leaves the SM before it has left
  std::uint32_t store_merge_cycles =
      0;                         ///< cycles within which stores of different warps to a line held back merge
  std::uint32_t fill_bytes = 0;  ///< bytes per cycle that arrive from the network at an SM
  std::uint32_t miss_latency =
      0;  ///< cycles from issue until a load's miss leaves the SM, and from its data's arrival until usable, together
  double sector_interval =
      0;  ///< cycles that a sector written or read for others keeps its half of the array
  std::uint32_t spare_factor =
      0;                   ///< the driver's carve-out has room for this many times the resident blocks
  double spare_share = 0;  ///< but for at most this share of the missing ones to limits.blocks
  std::uint32_t spare_without_shared =
      0;  ///< for a kernel without shared memory: this many times the blocks that the warps allow
  std::uint32_t narrow_interval =
      0;  ///< cycles the data stage takes for a load wavefront of 32-bit lanes (2 where only 64 B per cycle leave it)
};

struct BarrierSpec {                // keys barrier.*
  std::uint32_t latency = 0;        ///< last arrival to first release
  std::uint32_t warp_interval = 0;  ///< cycles between the arrivals of two warps at the barrier unit
  std::uint32_t membar_block = 0;   ///< MEMBAR.CTA of a warp whose stores have been made
  std::uint32_t membar_gpu = 0;     ///< MEMBAR.GPU with nothing outstanding
  std::uint32_t membar_return =
      0;  ///< from the last acknowledgement of stores that a MEMBAR of the device waits for to its end
  std::uint32_t membar_system = 0;
  std::uint32_t fence_latency = 0;  ///< FENCE.VIEW.ASYNC (fence.proxy.async): issue to its scoreboard
};

struct MbarrierSpec {         // keys mbarrier.*: barriers in shared memory, where the chip has a copy engine
  std::uint32_t latency = 0;  ///< SYNCS: issue to its token or its answer usable
  std::uint32_t wake_latency =
      0;  ///< from a phase's end to the answer of a test that is suspended until then (NANOSLEEP.SYNCS)
};

struct TmaSpec {                     // keys tma.*: the copy engine of an SM, where the chip has one
  std::uint32_t issue_latency = 0;   ///< cycles from a copy's issue until its first row is asked for
  std::uint32_t source_latency = 0;  ///< cycles from its issue until its operands are read (read scoreboard)
  std::uint32_t row_interval = 0;  ///< cycles between two rows of boxes, or between two lines of a longer row
  double load_bytes = 0;           ///< bytes per cycle that loads bring into an SM's shared memory
  std::uint32_t write_latency =
      0;  ///< cycles from the arrival of a load's last data until its mbarrier is told
  std::uint32_t store_latency =
      0;  ///< cycles from the last data's way out of the SM until a group's wait is over
};

struct WgmmaSpec {                      // keys wgmma.*: warpgroup products, where the chip has them
  std::uint32_t columns = 0;            ///< columns of B that the four tensor cores take a cycle
  std::uint32_t shared_bytes = 0;       ///< bytes of operands per cycle that they take from shared memory
  std::uint32_t register_interval = 0;  ///< cycles between two products with A in registers, at least
  std::uint32_t latency = 0;  ///< cycles from issue until a wait for it is over, beyond the columns' time
  std::uint32_t queue = 0;  ///< products of a warp that have not begun, from which on WARPGROUP.ARRIVE waits
  std::uint32_t registers_latency = 0;  ///< USETMAXREG: cycles until the warp goes on
  std::uint32_t shared_interval =
      0;  ///< cycles that another access to shared memory takes a pass while products take all of them
  std::uint32_t sum_registers =
      0;  ///< registers of its sums that a product reads per cycle in which it has their ports
  std::uint32_t port_cycles = 0;  ///< cycles for which it has them at a time
  std::uint32_t dispatch_passes =
      0;  ///< cycles in which another instruction needs them, at most; of pipes of 32 lanes it is one
};

struct ClusterSpec {         // keys cluster.*: where the chip has a copy engine
  std::uint32_t blocks = 0;  ///< of clusters resident on an SM at most
  std::vector<std::uint32_t>
      groups;  ///< SMs of each GPC that one cluster can have; what is left takes clusters of one TPC
  std::uint32_t hop_latency =
      0;  ///< cycles from an arrival's way out of an SM until it is at another SM's mbarrier
  std::uint32_t barrier_latency =
      0;  ///< cycles from the last arrival at a cluster's barrier until warps go on
  std::uint32_t remote_latency = 0;  ///< a load from another block's shared memory: issue to result usable
  std::uint32_t remote_bytes = 0;    ///< bytes per cycle that an SM moves to or from other SMs' shared memory
};

struct SmSpec {                     // keys sm.*
  std::uint32_t count = 0;          ///< SMs of the GPU
  std::uint32_t gpcs = 0;           ///< GPCs; SM i belongs to GPC (i / 2) mod gpcs as far as the counts allow
  std::uint32_t cpcs = 0;           ///< CPCs of a GPC, whose TPCs go round them
  std::uint32_t yield_latency = 0;  ///< cycles a YIELD hands the issue slot away
  std::uint32_t adu_queue =
      0;  ///< instructions of a sub-core that wait for the SM's ADU (LDC, S2UR, S2R but of thread ids, BAR)
};

struct NetworkSpec {                  // keys network.*
  std::uint32_t request_latency = 0;  ///< L2 cycles from an SM to an L2 slice of its partition, unloaded
  std::uint32_t reply_latency = 0;    ///< L2 cycles back
  std::uint32_t request_bytes = 0;    ///< bytes an SM sends per L2 cycle (write data)
  std::uint32_t reply_bytes = 0;      ///< bytes an SM receives per L2 cycle
  std::uint32_t cpc_request_bytes =
      0;  ///< bytes all SMs of a CPC send together per L2 cycle (data of writes and atomics)
  std::uint32_t partition_request_bytes =
      0;                              ///< bytes all SMs beside a partition send together per L2 cycle (same)
  std::uint32_t cpc_queue = 0;        ///< sectors of a CPC that wait for the way in beside its partition
  std::uint32_t gpc_reply_bytes = 0;  ///< bytes all SMs of a GPC receive together a L2 cycle
  double cpc_step = 0;  ///< L2 cycles there and back by which the next CPC of a GPC is farther from L2
  double tpc_step = 0;  ///< L2 cycles there and back by which the next TPC of a CPC is nearer
  std::uint32_t slice_queue =
      0;  ///< L2 cycles of work before a slice from which on writes and atomics hold up what their SM sends behind them
  std::uint32_t partition_latency =
      0;  ///< L2 cycles from one partition to the other, one way; 0 with one partition
  std::uint32_t partition_bytes =
      0;  ///< bytes per L2 cycle between the partitions, each way; 0 with one partition
};

/// What a slice's atomic unit works on.
enum class AtomicData : std::uint8_t { integer, wide, compare, single_precision, double_precision };
inline constexpr std::size_t kAtomicDataKinds = 5;

struct L2Spec {             // keys l2.*
  std::uint64_t bytes = 0;  ///< all slices together
  std::uint32_t slices = 0;
  std::uint32_t partitions = 0;  ///< 1 or 2
  std::uint32_t ways = 0;
  std::uint32_t latency = 0;      ///< L2 cycles of a slice from lookup to data, hit
  std::uint32_t slice_bytes = 0;  ///< bytes a slice delivers per L2 cycle
  double write_cost = 0;          ///< in how many reads' time a write comes in at its home slice
  std::uint32_t partly_interval =
      0;  ///< L2 cycles between writes of a part of a sector to one place of the lines of a slice
  std::uint32_t completion_interval =
      0;  ///< L2 cycles of a slice per partly written sector that is completed before it is saved
  std::uint32_t tag_interval =
      0;  ///< L2 cycles between reads and writes that look for their line in a slice, at home or beside their SM
  std::uint32_t line_turnaround =
      0;  ///< L2 cycles from a read of a line to a write of it in a slice, or from a write to a read
  std::uint32_t granule_bytes =
      0;  ///< runs of addresses that lie in one partition; a power of two; 0 with one partition
  std::uint32_t partition_bits =
      0;  ///< bits of an address within 2 MiB whose parity, with every bit above, picks the partition
  std::uint32_t together_bits =
      0;                     ///< bits of an address within a granule that do not move a line to another slice
  std::uint32_t misses = 0;  ///< lines with misses outstanding per slice
  std::uint32_t merged_reads =
      0;  ///< reads of one GPC for the same sectors that one answer serves; 1: none merge
  std::uint32_t merge_cycles =
      0;  ///< L2 cycles after its lookup found the data during which a read still takes others along
  double atomic_interval =
      0;  ///< L2 cycles a slice takes for a sector of an atomic packet of integers, or of a single word of them
  double atomic_wide_interval = 0;     ///< same for 64-bit integers, several words together
  double atomic_compare_interval = 0;  ///< same for compare-and-swap, several words together
  double atomic_float_interval = 0;    ///< same for half and single precision, several words together
  double atomic_double_interval = 0;   ///< same for double precision, several words together
  double atomic_lone_interval = 0;     ///< same for a single word of floating-point numbers
  double atomic_turn_interval =
      0;  ///< L2 cycles more for a single word behind one of the same sector that wants an answer where it wants none, or the other way
  double read_pass_interval =
      0;  ///< L2 cycles the slice beside the SM takes for a read that it gets from the other partition
  double atomic_pass_interval =
      0;  ///< L2 cycles the slice beside the SM takes to pass such a sector on to its home
  std::uint32_t atomic_latency = 0;  ///< L2 cycles from lookup to result, hit
  std::uint32_t launch_sectors =
      0;  ///< sectors that a launch looks up for itself, as ncu counts them under an empty kernel
  std::uint32_t launch_hits = 0;  ///< those of them that are found
  std::uint32_t launch_dirty_lines =
      0;  ///< lines that a cold launch finds written and not yet in DRAM: of what went before it
  double dirty_fraction =
      0;  ///< share of a slice's lines that may be dirty before the oldest are written back
  double partly_fraction =
      0;  ///< share of a set's lines that may hold partly written sectors before the oldest is completed and written back

  /// Bytes of the runs of addresses within which `together_bits` choose: with one partition the smallest that hold them.
  std::uint32_t granule() const {
    return partitions == 2 ? granule_bytes
                           : std::max<std::uint32_t>(kLineBytes, std::bit_ceil(together_bits + 1));
  }
};

struct DramSpec {           // keys dram.*
  std::uint64_t bytes = 0;  ///< capacity
  std::uint32_t channels = 0;
  std::uint32_t channel_bytes = 0;  ///< bytes a channel moves per DRAM clock cycle, both edges together
  std::uint32_t access_bytes = 0;   ///< bytes of the smallest access: sectors one miss brings times 32
  std::uint32_t latency =
      0;  ///< L2 cycles of the path slice - controller - slice, without the device's own timing
  std::uint32_t queue = 0;  ///< requests a channel's controller holds and may reorder
  std::uint32_t ahead =
      0;                   ///< cycles of its bus that a controller gives away beyond what opening a row needs
  double drain_from = 0;   ///< share of the queue from which on waiting writes are served before reads
  double drain_until = 0;  ///< share of it down to which they then are
  std::uint32_t overtakings = 0;  ///< queue lengths by which its oldest request may be overtaken
  std::uint32_t banks = 0;        ///< a channel
  std::uint32_t row_bytes = 0;    ///< bytes of a bank's open row
  std::uint32_t t_rcd = 0, t_rp = 0, t_cl = 0,
                t_ras = 0;  ///< DRAM cycles: activate to read, precharge, read to data, activate to precharge
  std::uint32_t t_wr = 0;   ///< DRAM cycles: end of write data to precharge
  std::uint32_t t_rrd = 0;  ///< DRAM cycles between the activates of two banks of a channel
  std::uint32_t read_to_write = 0, write_to_read = 0;  ///< DRAM cycles the bus loses at a turn-around
  std::uint32_t refresh_interval = 0;                  ///< DRAM cycles between refreshes of a channel
  std::uint32_t refresh_cycles = 0;                    ///< DRAM cycles a refresh takes the channel
};

struct LaunchSpec {         // keys launch.*
  std::uint32_t start = 0;  ///< cycles from the launch to the first block's dispatch
  std::uint32_t by_gpc =
      0;  ///< 1: neighbouring first blocks go to one GPC; 0: pairs of them go round the GPCs
  std::uint32_t first_group =
      0;  ///< with by_gpc: SMs of the first GPC that are filled before the grid is shared out
  std::uint32_t first_group_turns =
      0;  ///< with by_gpc: GPCs that get a block for each SM between two such rounds of these, one less the first time
  double fill_interval = 0;   ///< cycles between two blocks' dispatches, chip-wide, where there is room
  double block_interval = 0;  ///< cycles between two blocks' ends whose room can be given away, chip-wide
  std::uint32_t sm_block_interval = 0;  ///< cycles between two blocks placed on one SM
  std::uint32_t block_start = 0;        ///< cycles from dispatch to the first instruction's issue on the SM
  double warp_interval = 0;             ///< cycles between the starts of two warps on one SM
  std::uint32_t block_end = 0;  ///< cycles from a block's last exit until its resources can be given away
  std::uint32_t spare_warps =
      0;  ///< free warp slots of an SM from which on those that warps of unfinished blocks left go to a new one; 0: never
  std::uint32_t drain = 0;  ///< cycles from the last block's end to the launch's end
};

struct CudaSpec {                   // keys cuda.*: what CUDA says of the device; no cycle depends on it
  double persisting_share = 0;      ///< of L2 that may be set aside for persisting accesses
  std::uint32_t policy_window = 0;  ///< bytes that an access-policy window may have
  std::uint32_t copy_engines = 0;   ///< that copy beside kernels
  std::uint32_t sync_domains = 0;   ///< memory synchronization domains
  std::uint32_t compression = 0;    ///< 1: memory can be allocated compressible
  std::uint32_t largest_cluster =
      0;  ///< blocks, where the kernel allows what is not portable; 0: no clusters
};

/// What an opcode needs: one row of configs/isa/sm_*.toml.
struct OpcodeSpec {
  std::array<Pipe, 2> pipes{Pipe::none,
                            Pipe::none};  ///< the pipe, and another that can take it as well (none: no other)
  LatencyClass latency = LatencyClass::fixed;
  std::uint32_t interval = 0;  ///< cycles it keeps the pipe's input; 0: the pipe's own
  std::uint32_t hold =
      0;  ///< cycles after it in which the sub-core issues nothing and counts no stall counts down
};

struct GpuSpec {
  std::string name;   ///< "h100-sxm"
  int sm_number = 0;  ///< 80, 90, 120: the machine code it runs
  ClockSet clock;     ///< as chosen
  /// Hz: the most at which an SM's clock runs in a launch that multiplies on tensor cores (isa::makes_products)
  std::uint64_t product_clock = 0;
  ClockChoice clock_choice = ClockChoice::boost;
  SmSpec sm;
  LimitsSpec limits;
  FetchSpec fetch;
  RegisterFileSpec register_file;
  ConstantSpec constant;
  GpcCacheSpec gpc_cache;
  std::array<PipeSpec, kPipes> pipe{};  ///< keys pipe.<name>.interval
  std::array<std::uint32_t, kLatencyClasses>
      latency{};  ///< keys latency.<class>; issue to result usable; 0 where another key says it
  LsuSpec lsu;
  MatchSpec match;
  TextureSpec texture;
  SharedSpec shared;
  L1Spec l1;
  BarrierSpec barrier;
  MbarrierSpec mbarrier;  ///< zeros where the chip has no copy engine
  TmaSpec tma;            ///< likewise
  ClusterSpec cluster;    ///< likewise
  WgmmaSpec wgmma;        ///< zeros where the chip has no warpgroup products
  NetworkSpec network;
  L2Spec l2;
  DramSpec dram;
  LaunchSpec launch;
  CudaSpec cuda;
  /// By opcode name with modifiers, longest match first: "IMAD.WIDE", then "IMAD". Built by the loader.
  struct OpcodeRow {
    std::string pattern;
    OpcodeSpec spec;
  };
  std::vector<OpcodeRow> opcodes;
};

}  // namespace foretrace::spec
