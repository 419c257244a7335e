// The roofline on logarithmic axes: what the chip could do, and the launch as one point for each memory level.

/** Floating-point operations of the launch by kind, from its instructions. */
function operationsOf(p) {
  const found = { "FP32": 0, "FP64": 0, "FP16": 0, "Tensor FP16": 0 };
  const plain = { FFMA: ["FP32", 2], FADD: ["FP32", 1], FMUL: ["FP32", 1], FFMA2: ["FP32", 4], FADD2: ["FP32", 2], FMUL2: ["FP32", 2],
    DFMA: ["FP64", 2], DADD: ["FP64", 1], DMUL: ["FP64", 1], HFMA2: ["FP16", 4], HADD2: ["FP16", 2], HMUL2: ["FP16", 2] };
  for (const row of p.instructions) {
    const words = row.sass.replace(/^@!?U?P\w+\s+/, "").split(/\s+/)[0].split(".");
    const known = plain[words[0]];
    // HFMA2.MMA and moves of constants (HFMA2 R0, -RZ, RZ, ...) work on no data.
    if (known && !/-RZ, RZ,/.test(row.sass)) found[known[0]] += known[1] * row.pred_on;
    if (words[0] === "HMMA" || words[0] === "QMMA") {
      const shape = { 1688: 16 * 8 * 8, 16816: 16 * 8 * 16, 16832: 16 * 8 * 32 }[words[1]];
      if (shape) found["Tensor FP16"] += 2 * shape * row.executed;
    }
    if (words[0] === "DMMA") found.FP64 += 2 * 8 * 8 * 4 * row.executed;
    const group = words[0].endsWith("GMMA") && /^(\d+)x(\d+)x(\d+)$/.exec(words[1] || "");
    if (group && words[0] !== "IGMMA") found["Tensor FP16"] += 2 * group[1] * group[2] * group[3] * row.executed / 4;
  }
  return found;
}

function bytesOf(p) {
  const m = name => metric(p, name) || 0;
  const sectors = ["global_op_ld", "global_op_st", "local_op_ld", "local_op_st"].map(kind => m(`l1tex__t_sectors_pipe_lsu_mem_${kind}.sum`));
  const wavefronts = m("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") + m("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum");
  return { L1: 32 * sum(sectors, s => s) + 128 * wavefronts, L2: 32 * m("lts__t_sectors_srcunit_tex.sum"),
           DRAM: m("dram__bytes_read.sum") + m("dram__bytes_write.sum") };
}

const levelColours = { L1: "var(--c4)", L2: "var(--c7)", DRAM: "var(--c1)" };

function bandwidths(entry, bytes, time) {
  return el("div", null, el("h3", null, "Bandwidth of each level, of its peak"), bars(entry.facts.roofs.bytes.map(level => {
    const rate = bytes[level.name] / time;
    return { label: level.name === "L1" ? "L1 and shared" : level.name, share: rate / level.per_second, colour: levelColours[level.name],
      text: quantity(rate, "B/s") + " of " + quantity(level.per_second, "B/s") };
  })));
}

function roofline(entry) {
  const { prediction: p, facts } = entry;
  if (!facts) return el("p", { class: "note" }, "The chip's configuration was not there when this page was written: no ceilings.");
  const time = seconds(p), operations = operationsOf(p), bytes = bytesOf(p);
  const total = sum(Object.values(operations), x => x);
  if (total === 0) return el("div", null, el("p", { class: "note" }, "The kernel does no floating-point arithmetic; what counts is the bandwidth."), bandwidths(entry, bytes, time));

  const ceilings = facts.roofs.operations.filter(c => c.per_second > 0);
  const points = facts.roofs.bytes.filter(level => bytes[level.name] > 0)
    .map(level => ({ name: level.name, x: total / bytes[level.name], y: total / time }));
  const highest = Math.max(...ceilings.map(c => c.per_second));
  const left = Math.floor(Math.log10(Math.min(0.05, ...points.map(q => q.x)))), right = Math.ceil(Math.log10(Math.max(1000, ...points.map(q => q.x))));
  const top = Math.log10(highest) + 0.25, bottom = Math.floor(Math.min(Math.log10(total / time), Math.log10(highest) - 3));
  const width = 1000, height = 440, x0 = 70, x1 = 985, y0 = 395, y1 = 15;
  const px = x => x0 + (Math.log10(x) - left) / (right - left) * (x1 - x0);
  const py = y => y0 - (Math.log10(y) - bottom) / (top - bottom) * (y0 - y1);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Roofline: operations per second over operations per byte" });
  for (let e = left; e <= right; ++e) root.append(svg("line", { x1: px(10 ** e), x2: px(10 ** e), y1: y0, y2: y1, class: "grid" }),
    svg("text", { x: px(10 ** e), y: y0 + 18, "font-size": 12, "text-anchor": "middle", class: "faint" }, String(10 ** e >= 1 ? 10 ** e : (10 ** e).toFixed(-e))));
  for (let e = bottom; e <= top; ++e) root.append(svg("line", { x1: x0, x2: x1, y1: py(10 ** e), y2: py(10 ** e), class: "grid" }),
    svg("text", { x: x0 - 6, y: py(10 ** e) + 4, "font-size": 12, "text-anchor": "end", class: "faint" }, quantity(10 ** e, "")));
  root.append(svg("text", { x: (x0 + x1) / 2, y: height - 8, "font-size": 13, "text-anchor": "middle", class: "faint" }, "operations per byte"),
    svg("text", { x: 14, y: y1 + 160, "font-size": 13, class: "faint", transform: `rotate(-90 14 ${y1 + 160})`, "text-anchor": "middle" }, "operations per second"));
  for (const level of facts.roofs.bytes) {
    // From the left edge, or from the bottom, up to the highest ceiling.
    const from = Math.max(10 ** left, 10 ** bottom / level.per_second), to = Math.min(10 ** right, highest / level.per_second);
    if (from >= to) continue;
    root.append(svg("line", { x1: px(from), y1: py(from * level.per_second), x2: px(to), y2: py(to * level.per_second), stroke: levelColours[level.name], "stroke-width": 2 },
      svg("title", null, level.name + ": " + quantity(level.per_second, "B/s"))));
  }
  const widest = Math.max(...facts.roofs.bytes.map(l => l.per_second));
  let last = -100;
  // Ceilings of one height are one line with all their names.
  const heights = [...new Set(ceilings.map(c => c.per_second))].sort((a, b) => b - a);
  for (const per_second of heights) {
    const same = ceilings.filter(c => c.per_second === per_second);
    const ceiling = { per_second, name: same.map(c => c.name).join(", ") };
    const y = py(ceiling.per_second), used = same.some(c => operations[c.name] > 0);
    root.append(svg("line", { x1: px(Math.max(10 ** left, ceiling.per_second / widest)), x2: x1, y1: y, y2: y, stroke: used ? "var(--ink)" : "var(--faint)", "stroke-width": used ? 2 : 1, "stroke-dasharray": used ? null : "5 4" }));
    const at = Math.max(y - 5, last + 14);
    last = at;
    root.append(svg("text", { x: x1 - 4, y: at, "font-size": 12, "text-anchor": "end", class: used ? null : "faint" }, ceiling.name + " " + quantity(ceiling.per_second, "FLOP/s")));
  }
  for (const point of points) root.append(svg("circle", { cx: px(point.x), cy: py(point.y), r: 7, fill: levelColours[point.name], stroke: "var(--card)", "stroke-width": 2 },
      svg("title", null, point.name + ": " + number(point.x) + " operations per byte, " + quantity(point.y, "FLOP/s"))),
    svg("text", { x: px(point.x), y: py(point.y) + 24, "font-size": 12, "text-anchor": "middle" }, point.name));
  const used = Object.entries(operations).filter(([, n]) => n > 0).map(([name, n]) => counted(n, name + " operations")).join(", ");
  return el("div", null, el("p", { class: "note" }, used + ", " + quantity(total / time, "FLOP/s") + ". A point stands under the slope of its level in the same colour; a dashed ceiling is of arithmetic that the kernel does not do."),
    root, bandwidths(entry, bytes, time));
}
