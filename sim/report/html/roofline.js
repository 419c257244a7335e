// The roofline on logarithmic axes: what the chip could do, and the launch as one point for each memory level.

/** What a dense matrix product computes in: the kinds of the chip's ceilings; null: not counted (sparse, 4-bit integers, single bits). */
function productKind(words, rateOf) {
  const name = words[0], sums = words.find(word => word === "F16" || word === "F32");
  if (words.includes("SP") || words.includes("S4") || words.includes("U4")) return null;
  const floats = { HMMA: words.includes("TF32") ? "Tensor TF32" : "Tensor FP16", QMMA: "Tensor FP8", OMMA: "Tensor FP4" }[name.replace("GMMA", "MMA")];
  if (floats) return sums === "F16" && rateOf(floats + " with FP16 sums") > rateOf(floats) ? floats + " with FP16 sums" : floats;
  return { IMMA: "Tensor INT8", IGMMA: "Tensor INT8", DMMA: "Tensor FP64" }[name] ?? null;
}

/** Rows times columns times depth: "16816", "884", "64x128x16". */
function productSize(words) {
  const spelled = words.map(word => /^(\d+)x(\d+)x(\d+)$/.exec(word)).find(Boolean);
  if (spelled) return spelled[1] * spelled[2] * spelled[3];
  const packed = words.map(word => /^(16|8)8(\d+)$/.exec(word)).find(Boolean);
  return packed ? packed[1] * 8 * packed[2] : 0;
}

/** Floating-point operations of the launch, and integer ones of the tensor pipe, by kind, from its instructions. */
function operationsOf(p, facts) {
  const found = { "FP32": 0, "FP64": 0, "FP16": 0 };
  const rateOf = kind => facts.roofs.operations.find(c => c.name === kind)?.per_second || 0;
  const plain = { FFMA: ["FP32", 2], FADD: ["FP32", 1], FMUL: ["FP32", 1], FFMA2: ["FP32", 4], FADD2: ["FP32", 2], FMUL2: ["FP32", 2],
    DFMA: ["FP64", 2], DADD: ["FP64", 1], DMUL: ["FP64", 1], HFMA2: ["FP16", 4], HADD2: ["FP16", 2], HMUL2: ["FP16", 2] };
  for (const row of p.instructions) {
    const words = row.sass.replace(/^@!?U?P\w+\s+/, "").split(/\s+/)[0].split(".");
    const known = plain[words[0]];
    // HFMA2.MMA and moves of constants (HFMA2 R0, -RZ, RZ, ...) work on no data.
    if (known && !/-RZ, RZ,/.test(row.sass)) found[known[0]] += known[1] * row.pred_on;
    const kind = words[0].endsWith("MMA") ? productKind(words, rateOf) : null;
    // A warpgroup's product is counted by each of its four warps.
    if (kind) found[kind] = (found[kind] || 0) + 2 * productSize(words.slice(1)) * row.executed / (words[0].endsWith("GMMA") ? 4 : 1);
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
  const time = seconds(p), operations = operationsOf(p, facts), bytes = bytesOf(p);
  const total = sum(Object.values(operations), x => x);
  if (total === 0) return el("div", null, el("p", { class: "note" }, "The kernel does no floating-point arithmetic and no dense matrix products; what counts is the bandwidth."), bandwidths(entry, bytes, time));

  // Of the tensor pipe's many types those that the kernel computes in, and FP16 to compare with.
  const ceilings = facts.roofs.operations.filter(c => c.per_second > 0 && (operations[c.name] > 0 || !c.name.startsWith("Tensor ") || c.name === "Tensor FP16"));
  const unit = Object.entries(operations).some(([name, n]) => n > 0 && name.includes("INT")) ? "OP/s" : "FLOP/s";
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
    root.append(svg("text", { x: x1 - 4, y: at, "font-size": 12, "text-anchor": "end", class: used ? null : "faint" }, ceiling.name + " " + quantity(ceiling.per_second, unit)));
  }
  for (const point of points) root.append(svg("circle", { cx: px(point.x), cy: py(point.y), r: 7, fill: levelColours[point.name], stroke: "var(--card)", "stroke-width": 2 },
      svg("title", null, point.name + ": " + number(point.x) + " operations per byte, " + quantity(point.y, unit))),
    svg("text", { x: px(point.x), y: py(point.y) + 24, "font-size": 12, "text-anchor": "middle" }, point.name));
  const used = Object.entries(operations).filter(([, n]) => n > 0).map(([name, n]) => counted(n, name + " operations")).join(", ");
  return el("div", null, el("p", { class: "note" }, used + ", " + quantity(total / time, unit) + ". A point stands under the slope of its level in the same colour; a dashed ceiling is of arithmetic that the kernel does not do."),
    root, bandwidths(entry, bytes, time));
}
