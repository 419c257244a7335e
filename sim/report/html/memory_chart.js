// The memory chart: who asks whom for how much, as Nsight Compute lays it out.

function memoryChart(entry) {
  const p = entry.prediction, m = name => metric(p, name);
  const width = 1000, height = 400;
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Memory chart: traffic between SM, L1, shared memory, L2 and DRAM" });
  const defs = svg("defs", null, svg("marker", { id: "tip", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 4, markerHeight: 4, orient: "auto-start-reverse" },
    svg("path", { d: "M0 0 L10 5 L0 10 z", fill: "context-stroke" })));
  root.append(defs);

  const heat = share => share === null ? "var(--c8)" : share >= 60 ? "var(--warn)" : share >= 30 ? "var(--c5)" : "var(--c3)";
  function box(x, y, w, h, title, lines, share) {
    root.append(svg("rect", { x, y, width: w, height: h, rx: 6, class: "frame" }));
    if (share !== undefined && share !== null) {
      const filled = Math.max(0, Math.min(100, share)) / 100 * (h - 8);
      root.append(svg("rect", { x: x + w - 10, y: y + 4, width: 6, height: h - 8, rx: 2, fill: "var(--line)" }),
        svg("rect", { x: x + w - 10, y: y + 4 + (h - 8 - filled), width: 6, height: filled, rx: 2, fill: heat(share) }));
    }
    root.append(svg("text", { x: x + 12, y: y + 22, "font-size": 15, "font-weight": 600 }, title));
    lines.forEach((line, i) => root.append(svg("text", { x: x + 12, y: y + 42 + 17 * i, "font-size": 12.5, class: "faint" }, line)));
  }
  /** An arrow with what it carries above and how busy the way is. Nothing flows: a thin grey line. */
  function arrow(x1, x2, y, text, amount, share, what) {
    const busy = share === undefined ? null : share;
    root.append(svg("line", { x1, x2, y1: y, y2: y, stroke: amount > 0 ? heat(busy) : "var(--line)",
      "stroke-width": amount > 0 ? 3 : 1.2, "marker-end": "url(#tip)" }),
      svg("text", { x: (x1 + x2) / 2, y: y - 8, "font-size": 12, "text-anchor": "middle", class: amount > 0 ? null : "faint" }, amount > 0 ? text : "no " + what));
    if (amount > 0 && busy !== null) root.append(svg("text", { x: (x1 + x2) / 2, y: y + 17, "font-size": 11, "text-anchor": "middle", class: "faint" }, percent(busy) + " of peak"));
  }
  const sector = 32;
  const inst = m("smsp__inst_executed.sum");
  box(10, 20, 120, 360, "SMs", [number(m("launch__sm_count")) + " SMs", counted(inst, "inst"), "IPC " + number(m("sm__inst_executed.avg.per_cycle_active")),
    "issue " + percent(m("foretrace__issue_share.pct"))], m("foretrace__issue_share.pct"));

  // L1 and shared memory
  box(330, 20, 170, 190, "L1", ["hit rate " + percent(m("l1tex__t_sector_hit_rate.pct")), "data stage " + percent(m("foretrace__l1_data.pct")),
    "tag stage " + percent(m("foretrace__l1_tag.pct"))], Math.max(m("foretrace__l1_data.pct") || 0, m("foretrace__l1_tag.pct") || 0));
  const conflicts = (m("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum") || 0) + (m("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum") || 0);
  const wavefronts = (m("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") || 0) + (m("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum") || 0);
  box(330, 250, 170, 130, "Shared memory", [counted(wavefronts, "wavefronts"),
    wavefronts ? percent(100 * conflicts / wavefronts) + " bank conflicts" : "not used",
    quantity(m("launch__shared_mem_config_size"), "B per SM")], m("foretrace__l1_data.pct"));
  const part = (kind, op) => m(`l1tex__t_requests_pipe_lsu_mem_${kind}_op_${op}.sum`) || 0;
  const perRequest = op => m(`l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_${op}.ratio`);
  const loads = part("global", "ld"), stores = part("global", "st"), atomics = part("global", "atom") + part("global", "red");
  const local = part("local", "ld") + part("local", "st");
  arrow(322, 138, 62, counted(loads, "loads") + (loads ? ", " + number(perRequest("ld")) + " sect./req." : ""), loads, undefined, "loads");
  arrow(138, 322, 106, counted(stores, "stores") + (stores ? ", " + number(perRequest("st")) + " sect./req." : ""), stores, undefined, "stores");
  arrow(138, 322, 150, counted(atomics, "atomics"), atomics, undefined, "atomics");
  arrow(138, 322, 194, counted(local, "local (spills)"), local, undefined, "local accesses");
  const sharedLoads = (m("smsp__inst_executed_op_shared_ld.sum") || 0) + (m("foretrace__inst_matrix_ld.sum") || 0);
  const sharedStores = m("smsp__inst_executed_op_shared_st.sum") || 0;
  arrow(322, 138, 295, counted(sharedLoads, "loads"), sharedLoads, undefined, "loads");
  arrow(138, 322, 345, counted(sharedStores, "stores"), sharedStores, undefined, "stores");

  // L2
  box(630, 20, 130, 360, "L2", ["hit rate " + percent(m("foretrace__l2_hit_rate_srcunit_tex.pct")), "slices " + percent(m("foretrace__l2_slices.pct")),
    quantity((m("lts__t_sectors_srcunit_tex.sum") || 0) * sector, "B asked")], m("foretrace__l2_slices.pct"));
  const read = (m("lts__t_sectors_srcunit_tex_op_read.sum") || 0) * sector, written = (m("lts__t_sectors_srcunit_tex_op_write.sum") || 0) * sector;
  const copies = m("foretrace__inst_async_copy.sum") || 0;
  arrow(622, 508, 80, quantity(read, "B"), read, m("foretrace__network_reply.pct"), "reads");
  arrow(508, 622, 150, quantity(written, "B"), written, m("foretrace__network_request.pct"), "writes");
  if (copies) root.append(svg("text", { x: 565, y: 310, "font-size": 12, "text-anchor": "middle", class: "faint" }, counted(copies, "async copies")));

  // DRAM
  box(870, 20, 120, 360, "DRAM", [quantity(m("dram__bytes.sum.per_second"), "B/s"), "of " + quantity(m("foretrace__dram_peak.per_second"), "B/s"),
    "row hits " + percent(m("foretrace__dram_row_hit_rate.pct"))], m("dram__throughput.avg.pct_of_peak_sustained_elapsed"));
  const dram = m("dram__throughput.avg.pct_of_peak_sustained_elapsed") || 0;
  const dramRead = m("dram__bytes_read.sum") || 0, dramWritten = m("dram__bytes_write.sum") || 0, dramAll = Math.max(1, dramRead + dramWritten);
  arrow(862, 768, 110, quantity(dramRead, "B"), dramRead, dram * dramRead / dramAll, "reads");
  arrow(768, 862, 190, quantity(dramWritten, "B"), dramWritten, dram * dramWritten / dramAll, "writes");

  const parts = [["in the network", "network"], ["in L2", "l2"], ["between L2 partitions", "partition"], ["waiting for DRAM", "dram_queue"], ["in DRAM", "dram"]];
  const latency = m("foretrace__read_latency.avg");
  return el("div", null, root, el("div", { class: "legend" }, [["var(--c3)", "below 30% of peak"], ["var(--c5)", "30% and more"], ["var(--warn)", "60% and more"], ["var(--c8)", "no peak stated"]]
      
      .map(([colour, text]) => el("span", null, el("i", { style: "background:" + colour }), text))),
    latency ? el("div", null, el("h3", null, "A load beyond L1 takes " + number(latency) + " cycles on average"),
      bars(parts.map(([label, name]) => ({ label, share: m(`foretrace__read_latency_${name}.avg`) / latency, text: number(m(`foretrace__read_latency_${name}.avg`)) })))) : null);
}
