// A few warps cycle by cycle: what foretrace timeline recorded. Wheel, drag or keys zoom and move.

const stageColours = { issue: "var(--c3)", operands: "var(--c5)", executes: "var(--c3)", queue: "var(--c2)", "address generation": "var(--c7)",
  "l1 tags": "var(--c4)", "l1 data stage": "var(--c4)", network: "var(--c1)", l2: "var(--c7)", "between partitions": "var(--c6)",
  "queue of dram": "var(--c6)", dram: "var(--c6)", "fill of l1": "var(--c4)", written: "var(--c3)" };

function timelineSection(recorded) {
  const rows = recorded.timeline.slice(0, 400);
  if (rows.length === 0) return el("p", { class: "note" }, "The timeline holds no instruction.");
  const startOf = row => Math.min(row.issued, ...row.states.map(s => s.from)), endOf = row => Math.max(row.issued + 1, row.written ?? 0, ...row.stages.map(s => s.to));
  const first = Math.min(...rows.map(startOf)), last = Math.max(...rows.map(endOf));
  let from = first, to = last;
  const rowHeight = 15, labels = 330, width = 1180, top = 22, height = top + rows.length * rowHeight + 6;
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, style: `min-width:900px`, tabindex: 0, role: "img",
    "aria-label": "Timeline: plus and minus zoom, the arrow keys move, 0 shows all" });
  const at = cycle => labels + (cycle - from) / (to - from) * (width - labels - 8);
  const colours = {};
  const colourOf = name => colours[name] ||= stageColours[name.toLowerCase().replaceAll("_", " ")] || stateColours[name] || "var(--c8)";

  function span(y, s, isState) {
    const a = Math.max(labels, at(s.from)), b = Math.min(width - 8, at(s.to));
    if (b <= labels || a >= width - 8) return null;
    return svg("rect", { x: a, y: y + (isState ? 4 : 1), width: Math.max(0.8, b - a), height: rowHeight - (isState ? 9 : 3), fill: colourOf(s.name), opacity: isState ? 0.75 : 1 },
      svg("title", null, s.name + ": cycles " + number(s.from) + " to " + number(s.to)));
  }
  function draw() {
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
    root.replaceChildren(...parts.filter(Boolean));
  }
  function zoom(factor, centre) {
    const span_ = Math.max(20, Math.min(last - first, (to - from) * factor)), share = (centre - from) / (to - from);
    from = Math.max(first, Math.min(last - span_, centre - share * span_)); to = from + span_;
    draw();
  }
  const shift = by => { const w = to - from; from = Math.max(first, Math.min(last - w, from + by * w)); to = from + w; draw(); };
  root.addEventListener("wheel", event => { if (!event.ctrlKey && !event.shiftKey) return; event.preventDefault();
    const box = root.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * width;
    zoom(event.deltaY > 0 ? 1.3 : 1 / 1.3, from + Math.max(0, (x - labels) / (width - labels - 8)) * (to - from)); }, { passive: false });
  let held = null;
  root.addEventListener("pointerdown", event => { held = event.clientX; root.setPointerCapture(event.pointerId); });
  root.addEventListener("pointermove", event => { if (held === null) return; shift(-(event.clientX - held) / root.getBoundingClientRect().width); held = event.clientX; });
  root.addEventListener("pointerup", () => { held = null; });
  root.addEventListener("keydown", event => {
    const middle = (from + to) / 2, act = { "+": () => zoom(1 / 1.5, middle), "=": () => zoom(1 / 1.5, middle), "-": () => zoom(1.5, middle),
      ArrowLeft: () => shift(-0.2), ArrowRight: () => shift(0.2), 0: () => { from = first; to = last; draw(); } }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  draw();
  const names = Object.keys(colours);
  const button = (text, act) => el("button", { onclick: act }, text);
  return el("div", null, el("p", { class: "note" }, recorded.kernel + " on " + recorded.arch + ", SM " + rows[0].sm + ". Thin bars: what the warp waits for before the issue; thick bars: the stages afterwards." +
      (recorded.timeline.length > rows.length ? " The first " + rows.length + " instructions of " + recorded.timeline.length + "." : "")),
    el("div", { class: "controls" }, button("Zoom in", () => zoom(1 / 1.5, (from + to) / 2)), button("Zoom out", () => zoom(1.5, (from + to) / 2)), button("All", () => { from = first; to = last; draw(); }),
      el("span", { class: "note" }, "Ctrl and the wheel zoom, dragging moves; with the focus here + - 0 and the arrow keys do.")),
    el("div", { class: "lanes" }, root),
    el("div", { class: "legend" }, names.map(name => el("span", null, el("i", { style: "background:" + colours[name] }), name))));
}
