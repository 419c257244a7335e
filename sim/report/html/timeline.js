// A few warps cycle by cycle: what foretrace timeline recorded. Wheel, drag or keys zoom and move.

const stageColours = { issue: "var(--c3)", operands: "var(--c5)", executes: "var(--c3)", queue: "var(--c2)", "address generation": "var(--c7)",
  "l1 tags": "var(--c4)", "l1 data stage": "var(--c4)", network: "var(--c1)", l2: "var(--c7)", "between partitions": "var(--c6)",
  "queue of dram": "var(--c6)", dram: "var(--c6)", "fill of l1": "var(--c4)", written: "var(--c3)" };

function timelineSection(recorded) {
  const rows = recorded.timeline.slice(0, 400);
  if (rows.length === 0) return el("p", { class: "note" }, "The timeline holds no instruction.");
  const startOf = row => Math.min(row.issued, ...row.states.map(s => s.from)), endOf = row => Math.max(row.issued + 1, row.written ?? 0, ...row.stages.map(s => s.to));
  const first = Math.min(...rows.map(startOf)), last = Math.max(...rows.map(endOf));
  const rowHeight = 15, labels = 330, width = 1180, top = 22, height = top + rows.length * rowHeight + 6;
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, style: `min-width:900px`, tabindex: 0, role: "img",
    "aria-label": "Timeline: plus and minus zoom, the arrow keys move, 0 shows all" });
  let at = null;  // where a cycle stands
  const colours = {};
  const colourOf = name => colours[name] ||= stageColours[name.toLowerCase().replaceAll("_", " ")] || stateColours[name] || "var(--c8)";

  function span(y, s, isState) {
    const a = Math.max(labels, at(s.from)), b = Math.min(width - 8, at(s.to));
    if (b <= labels || a >= width - 8) return null;
    return svg("rect", { x: a, y: y + (isState ? 4 : 1), width: Math.max(0.8, b - a), height: rowHeight - (isState ? 9 : 3), fill: colourOf(s.name), opacity: isState ? 0.75 : 1 },
      svg("title", null, s.name + ": cycles " + number(s.from) + " to " + number(s.to)));
  }
  const zoomed = zoomable(root, { first, last, least: 20, labels, width }, (from, to) => {
    at = cycle => labels + (cycle - from) / (to - from) * (width - labels - 8);
    const parts = [];
    const step = 10 ** Math.floor(Math.log10((to - from) / 4)), nice = (to - from) / step > 20 ? step * 5 : (to - from) / step > 8 ? step * 2 : step;
    for (let c = Math.ceil(from / nice) * nice; c <= to; c += nice) parts.push(svg("line", { x1: at(c), x2: at(c), y1: top - 4, y2: height, class: "grid" }),
      svg("text", { x: at(c), y: 12, "font-size": 11, "text-anchor": "middle", class: "faint" }, number(c)));
    let warp = null;
    rows.forEach((row, i) => {
      const y = top + i * rowHeight, instruction = recorded.instructions[row.instruction], name = row.block + "." + row.warp;
      if (name !== warp && i > 0) parts.push(svg("line", { x1: 0, x2: width, y1: y - 1, y2: y - 1, class: "grid" }));
      warp = name;
      parts.push(svg("text", { x: 4, y: y + 11, "font-size": 11, class: "faint" }, name),
        svg("text", { x: 44, y: y + 11, "font-size": 11, "font-family": "monospace" }, instruction.sass.length > 40 ? instruction.sass.slice(0, 39) + "…" : instruction.sass));
      row.states.forEach(s => parts.push(span(y, s, true)));
      row.stages.forEach(s => parts.push(span(y, s, false)));
    });
    return parts;
  });
  const names = Object.keys(colours);
  return el("div", null, el("p", { class: "note" }, recorded.kernel + " on " + recorded.arch + ", SM " + rows[0].sm + ". Thin bars: what the warp waits for before the issue; thick bars: the stages afterwards." +
      (recorded.timeline.length > rows.length ? " The first " + rows.length + " instructions of " + recorded.timeline.length + "." : "")),
    zoomed.controls,
    el("div", { class: "lanes" }, root),
    el("div", { class: "legend" }, names.map(name => el("span", null, el("i", { style: "background:" + colours[name] }), name))));
}
