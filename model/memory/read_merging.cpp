#include "model/memory/read_merging.h"

#include "model/units/error.h"

namespace foretrace::memory {

inline void ReadMerging::lead(Merging::Entry& entry, std::uint32_t index) {
  Transaction& transaction = shared_.pool[index];
  transaction.leads = true;
  transaction.peer = entry.leaders;
  entry.leaders = index;
}

inline std::uint32_t ReadMerging::leader_for(Merging::Entry& entry, const Transaction& transaction) {
  const spec::L2Spec& l2 = shared_.spec.l2;
  const std::uint32_t gpc = shared_.gpc_of(transaction.sm);
  std::uint32_t own = kNone;
  for (std::uint32_t* at = &entry.leaders; *at != kNone;) {
    Transaction& leader = shared_.pool[*at];
    const bool gone = leader.answered && shared_.now > leader.since + l2.merge_cycles;
    const bool same = shared_.gpc_of(leader.sm) == gpc;
    if (gone || (same && entry.sectors == transaction.sectors && leader.merged + 1u >= l2.merged_reads)) {
      leader.leads = false;
      *at = leader.peer;
      continue;
    }
    if (same) own = *at;
    at = &leader.peer;
  }
  return own;
}

bool ReadMerging::join(std::uint32_t index) {
  Transaction& transaction = shared_.pool[index];
  const std::uint64_t key = Merging::key(shared_.set_of(transaction), transaction.tag);
  Merging::Entry* const entry = lines_.find(key);
  if (entry == nullptr) {
    Merging::Entry fresh{key, kNone, transaction.sectors};
    lead(fresh, index);
    lines_.put(fresh);
    return false;
  }
  const std::uint32_t own = leader_for(*entry, transaction);
  if (entry->leaders == kNone) entry->sectors = transaction.sectors;
  if (entry->sectors != transaction.sectors) {
    forget(entry);
    return false;
  }
  if (own == kNone) {
    lead(*entry, index);
    return false;
  }
  Transaction& first = shared_.pool[own];
  transaction.next = first.followers;
  first.followers = index;
  ++first.merged;
  if (transaction.note != 0 && first.answered) shared_.signals.look(transaction.note, shared_.now);
  --shared_.counters.tex_requests;
  shared_.counters.tex_sectors_read -= sector_count(transaction.sectors);
  return true;
}

void ReadMerging::forget(Merging::Entry* entry) {
  for (std::uint32_t at = entry->leaders; at != kNone; at = shared_.pool[at].peer)
    shared_.pool[at].leads = false;
  lines_.remove(entry);
}

void ReadMerging::answered(std::uint32_t index) {
  const Transaction& transaction = shared_.pool[index];
  Merging::Entry* const entry = lines_.find(Merging::key(shared_.set_of(transaction), transaction.tag));
  FORETRACE_ASSERT(entry != nullptr, "a read that others may join is not remembered");
  std::uint32_t* at = &entry->leaders;
  while (*at != index) at = &shared_.pool[*at].peer;
  *at = transaction.peer;
  if (entry->leaders == kNone) lines_.remove(entry);
}

}  // namespace foretrace::memory
