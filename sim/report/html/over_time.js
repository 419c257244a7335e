// The launch over its time, and over its SMs: what the document's rows "over_time" and "sms" say.

/** Slices of the launch: { from, to, cycles } each. */
function slicesOf(p) {
  let from = 0;
  return p.over_time.end.map(to => { const slice = { from, to, cycles: Math.max(1, to - from) }; from = to; return slice; });
}

/** A frame with time below; draw(px, py) adds what is in it, tell(i) says what slice i holds. */
function overTimeChart(label, slices, height, highest, unit, draw, tell) {
  const width = 1000, x0 = 56, x1 = 990, y0 = height - 26, y1 = 10, last = slices[slices.length - 1].to;
  const px = cycle => x0 + cycle / last * (x1 - x0), py = value => y0 - Math.min(1, value / highest) * (y0 - y1);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (let i = 0; i <= 4; ++i) root.append(svg("line", { x1: x0, x2: x1, y1: py(highest * i / 4), y2: py(highest * i / 4), class: "grid" }),
    svg("text", { x: x0 - 6, y: py(highest * i / 4) + 4, "font-size": 12, "text-anchor": "end", class: "faint" }, number(highest * i / 4) + unit));
  const step = niceStep(last, 8);
  for (let c = 0; c <= last * 0.93; c += step) root.append(svg("text", { x: px(c), y: y0 + 18, "font-size": 12, "text-anchor": c === 0 ? "start" : "middle", class: "faint" }, number(c)));
  root.append(svg("text", { x: x1, y: y0 + 18, "font-size": 12, "text-anchor": "end", class: "faint" }, "cycles"));
  draw(root, px, py);
  slices.forEach((slice, i) => root.append(svg("rect", { x: px(slice.from), y: y1, width: Math.max(0.5, px(slice.to) - px(slice.from)), height: y0 - y1, fill: "transparent", class: "slice" },
    svg("title", null, "cycles " + number(slice.from) + " to " + number(slice.to) + "\n" + tell(i)))));
  return root;
}

/** The top of an axis: the whole where half of it is reached, else a round number above the highest value. */
function scaleFor(highest, whole) {
  if (highest > whole / 2) return whole;
  const base = 10 ** Math.floor(Math.log10(Math.max(1e-6, highest)));
  return Math.min(whole, [1, 2, 4, 8, 10].map(f => f * base).find(top => top >= highest));
}

/** A value holds for its whole slice. */
function stepPath(slices, values, px, py) {
  return slices.map((s, i) => `${i ? "L" : "M"}${px(s.from).toFixed(1)} ${py(values[i]).toFixed(1)}H${px(s.to).toFixed(1)}`).join("");
}

function statesOverTime(p, slices, sms, mostWarps) {
  const all = Object.entries(p.over_time).filter(([name]) => name.startsWith("warps.")).map(([name, values]) =>
    ({ name: name.slice(6), values: values.map((v, i) => v / slices[i].cycles / sms) }));
  const total = sum(all, s => sum(s.values, v => v));
  const shown = all.filter(s => stateColours[s.name] && s.name !== "wait" && sum(s.values, v => v) > 0.01 * total)
    .sort((x, y) => sum(y.values, v => v) - sum(x.values, v => v));
  const rest = all.filter(s => !shown.includes(s));
  if (rest.length) shown.push({ name: "others", values: slices.map((_, i) => sum(rest, s => s.values[i])) });
  const fullest = Math.max(...slices.map((_, i) => sum(shown, s => s.values[i])));
  const chart = overTimeChart("Warps per SM over time, by what they wait for", slices, 230, scaleFor(fullest, mostWarps), "", (root, px, py) => {
    const below = slices.map(() => 0);
    for (const state of shown) {
      const above = below.map((v, i) => v + state.values[i]);
      let path = stepPath(slices, above, px, py);
      for (let i = slices.length - 1; i >= 0; --i) path += `L${px(slices[i].to).toFixed(1)} ${py(below[i]).toFixed(1)}H${px(slices[i].from).toFixed(1)}`;
      root.append(svg("path", { d: path + "Z", fill: stateColour(state.name) }));
      above.forEach((v, i) => { below[i] = v; });
    }
  }, i => shown.filter(s => s.values[i] >= 0.05).map(s => s.name + ": " + number(s.values[i]) + " warps per SM").join("\n"));
  return el("div", null, el("h3", null, "Warps per SM, the mean of all SMs, by what they wait for (an SM holds " + number(mostWarps) + ")"), chart,
    legend(shown.map(s => [stateColour(s.name), s.name])));
}

function unitsOverTime(entry, slices, sms) {
  const p = entry.prediction, rows = p.over_time;
  const share = (values, perCycle) => values.map((v, i) => Math.min(100, 100 * v / (slices[i].cycles * perCycle)));
  const units = [];
  if (rows.instructions) units.push({ name: "issue slots", values: share(rows.instructions, 4 * sms) });
  if (rows.l1_data) units.push({ name: "L1 data stage", values: share(rows.l1_data, sms) });
  const dramPeak = metric(p, "foretrace__dram_peak.per_second");
  if (rows.dram_bytes && dramPeak) units.push({ name: "DRAM", values: share(rows.dram_bytes, dramPeak / p.clock_hz.sm) });
  const l2 = entry.facts?.roofs.bytes.find(level => level.name === "L2");
  if (rows.l2_sectors && l2) units.push({ name: "L2", values: share(rows.l2_sectors, l2.per_second / 32 / p.clock_hz.sm) });
  const pipes = Object.entries(rows).filter(([name]) => name.startsWith("pipe.") && name !== "pipe.lsu")
    .map(([name, values]) => ({ name: name.replace(".", " "), values: share(values, 4 * sms) }));
  const mean = unit => sum(unit.values, (v => v)) / slices.length;
  units.push(...pipes.sort((x, y) => mean(y) - mean(x)).slice(0, 3));
  const colours = ["var(--c3)", "var(--c2)", "var(--c1)", "var(--c7)", "var(--c4)", "var(--c5)", "var(--c6)"];
  const busiest = Math.max(...units.flatMap(unit => unit.values));
  const chart = overTimeChart("Utilisation over time", slices, 200, scaleFor(busiest, 100), "%", (root, px, py) => units.forEach((unit, u) =>
    root.append(svg("path", { d: stepPath(slices, unit.values, px, py), fill: "none", stroke: colours[u], "stroke-width": 1.8 }))),
  i => units.map(unit => unit.name + ": " + percent(unit.values[i])).join("\n"));
  return el("div", null, el("h3", null, "How busy units are"), chart, legend(units.map((unit, u) => [colours[u], unit.name])));
}

function blocksOverTime(p, slices, sms) {
  const capacity = (metric(p, "foretrace__blocks_per_sm") || 1) * sms, blocks = p.over_time.blocks;
  const most = Math.max(1, Math.min(capacity, Math.max(...blocks)));
  const chart = overTimeChart("Blocks on the chip over time", slices, 120, most, "", (root, px, py) =>
    root.append(svg("path", { d: stepPath(slices, blocks, px, py) + `V${py(0)}H${px(0)}Z`, fill: "var(--c1)", opacity: 0.35 }),
      svg("path", { d: stepPath(slices, blocks, px, py), fill: "none", stroke: "var(--c1)", "stroke-width": 1.8 })), i => number(blocks[i]) + " blocks");
  return el("div", null, el("h3", null, "Blocks on the chip (it holds " + number(capacity) + " of this launch at a time)"), chart);
}

function overTime(entry) {
  const p = entry.prediction;
  if (!p.over_time) return el("p", { class: "note" }, p.accuracy.sampled ? "A sampled launch is not simulated to its end: there is nothing over its time."
    : "The document does not say it.");
  const slices = slicesOf(p), sms = metric(p, "launch__sm_count") || 1;
  const mostWarps = entry.facts?.occupancy.max_warps || Math.ceil(Math.max(1, ...slices.map((s, i) =>
    sum(Object.entries(p.over_time).filter(([name]) => name.startsWith("warps.")), ([, v]) => v[i]) / s.cycles / sms)));
  return el("div", null, statesOverTime(p, slices, sms, mostWarps), unitsOverTime(entry, slices, sms), blocksOverTime(p, slices, sms));
}

/** A bar per SM: how long it was active, darker where it had more blocks. */
function smStrip(p) {
  if (!p.sms) return null;
  const elapsed = metric(p, "gpc__cycles_elapsed.max"), { active, instructions, blocks } = p.sms;
  const width = 1000, height = 130, x0 = 56, x1 = 990, y0 = 104, y1 = 8, most = Math.max(1, ...blocks);
  const wide = (x1 - x0) / active.length;
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Active cycles of each SM" });
  for (const share of [0, 0.5, 1]) root.append(svg("line", { x1: x0, x2: x1, y1: y0 - share * (y0 - y1), y2: y0 - share * (y0 - y1), class: "grid" }),
    svg("text", { x: x0 - 6, y: y0 - share * (y0 - y1) + 4, "font-size": 12, "text-anchor": "end", class: "faint" }, number(Math.round(share * elapsed))));
  active.forEach((cycles, i) => root.append(svg("rect", { x: x0 + i * wide, y: y0 - cycles / elapsed * (y0 - y1), width: Math.max(0.8, wide - 1), height: cycles / elapsed * (y0 - y1),
    fill: "var(--c1)", opacity: (0.35 + 0.65 * blocks[i] / most).toFixed(2) },
    svg("title", null, "SM " + i + ": active " + number(cycles) + " cycles\n" + number(blocks[i]) + " blocks\n" + number(instructions[i]) + " warp instructions"))));
  root.append(svg("text", { x: x0, y: y0 + 18, "font-size": 12, class: "faint" }, "SM 0"),
    svg("text", { x: x1, y: y0 + 18, "font-size": 12, "text-anchor": "end", class: "faint" }, "SM " + (active.length - 1)));
  const counts = new Map();
  blocks.forEach(n => counts.set(n, (counts.get(n) || 0) + 1));
  const words = [...counts].sort((a, b) => b[0] - a[0]).slice(0, 4).map(([n, of]) => number(of) + " SMs had " + number(n) + (n === 1 ? " block" : " blocks"));
  return el("div", null, el("h3", null, "Active cycles of each SM"), root, el("p", { class: "note" }, words.join(", ") + (counts.size > 4 ? ", the others fewer" : "") + "."));
}
