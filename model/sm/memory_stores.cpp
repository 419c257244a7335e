// What stores and reductions send, and what stores leave in L1.

#include <bit>

#include "model/sm/memory_forms.h"
#include "model/sm/memory_pipe.h"
#include "model/sm/memory_requests.h"

namespace foretrace::sm {

using isa::Access;
using isa::Space;

void MemoryPipe::store_line(Operation& operation, const rules::LineAccess& access, Cycle now) {
  const isa::MemoryForm& form = operation.instruction->form;
  memory::Request request;
  request.line = access.line;
  request.sectors = access.sectors;
  L1Tags::Entry* entry = tags.find(access.line);
  if (form.access == Access::reduction) {
    request.kind = memory::RequestKind::reduction;
    put_packets(request, form, operation.detail->addresses, operation.executed);
    if (entry) tags.drop(*entry, access.sectors);
  } else {
    request.kind = memory::RequestKind::write;
    request.bytes = operation.detail->written[tag_line_];
    const bool here = entry != nullptr;
    if (entry) tags.use(*entry);
    if (!entry) entry = &tags.allocate(access.line);
    const bool held = !form.strong && operation.tells == 0 && operation.lines <= out.held().room();
    out.leave_due(now);
    out.for_each_left(
        [&](std::uint64_t line, std::uint8_t sectors, Cycle when) { tags.left(line, sectors, when); });
    const bool joins = held && out.held().joins(access.line, operation.warp, now);
    const std::uint8_t follows = tags.store(*entry, access.sectors, request.bytes, joins, held, now);
    // Of a line that is here all sectors count as hits, also those that were not.
    if (here)
      shapes_.count_hits(operation,
                         memory::sector_count(static_cast<std::uint8_t>(access.sectors & ~follows)));
    data.take_half(DataArray::Way::read, data.array.half_of_line(tags.place(tags.position(*entry))), now,
                   memory::sector_count(access.sectors));
    if (held) {
      operation.way_pieces += out.hold(operation.warp, request, operation.lines, now);
      return;
    }
    request.flits = memory::write_flits(access.sectors, request.bytes);
  }
  put_signal(request, operation, tag_line_ + 1 == operation.lines);
  const std::uint32_t pieces =
      form.access == Access::reduction ? pieces_.of_reduction(request) : pieces_.of_store(request);
  operation.way_pieces += pieces;
  out.send_store(request, now, operation.lines, pieces);
}

}  // namespace foretrace::sm
