// Source beside SASS, each row warm by the chosen measure; a click goes from one to the other and back.

const measures = {
  stalled: { title: "Stalled warp-cycles", short: "Stalled", of: row => sum(Object.entries(row.stalled), ([state, n]) => state === "selected" ? 0 : n) },
  executed: { title: "Executed by warps", short: "Executed", of: row => row.executed },
  sectors: { title: "Sectors per request", of: row => row.sectors, per: row => row.requests, short: "Sect./req." },
  wasted: { title: "Sectors beyond the fewest", short: "Beyond", of: row => Math.max(0, row.sectors - row.ideal_sectors) },
  conflicts: { title: "Bank conflicts (wavefronts beyond the floor)", short: "Conflicts",
               of: row => row.sectors === 0 ? Math.max(0, row.wavefronts - row.ideal_wavefronts) : 0 },
  idle: { title: "Lanes not used", short: "Unused", of: row => 32 * row.executed - row.pred_on }
};
for (const state of Object.keys(stateTexts).filter(s => s !== "selected"))
  measures["stall:" + state] = { title: "Stall: " + state, short: state, of: row => row.stalled[state] || 0 };

/** The measure of several rows together, and the text to show. */
function measured(measure, rows) {
  const value = sum(rows, measure.of);
  if (!measure.per) return { value, text: value ? number(value) : "" };
  const by = sum(rows, measure.per);
  return by && value ? { value: value / by, text: (value / by).toFixed(2) } : { value: 0, text: "" };
}

/** entries: one, or two whose heat stands side by side. */
function sourceSection(shown) {
  const first = shown[0].prediction;
  const files = [...new Set(shown.flatMap(e => e.prediction.instructions.map(row => row.file)).filter(f => f !== null))];
  const state = { measure: "stalled", file: null, byValue: false, side: 0, line: null, offset: null };
  const heatOf = file => sum(first.instructions.filter(row => row.file === file), measures.stalled.of);
  files.sort((a, b) => heatOf(b) - heatOf(a));
  state.file = files[0] ?? null;

  const measure = el("select", { "aria-label": "Heat by", onchange: () => { state.measure = measure.value; draw(); } },
    Object.entries(measures).filter(([key, m]) => !key.startsWith("stall:") || shown.some(e => e.prediction.instructions.some(row => m.of(row) > 0)))
      .map(([key, m]) => el("option", { value: key }, m.title)));
  const file = el("select", { "aria-label": "Source file", onchange: () => { state.file = file.value; state.line = null; draw(); } },
    files.map(f => el("option", { value: f }, baseName(f))));
  const sort = el("button", { "aria-pressed": "false", onclick: () => { state.byValue = !state.byValue;
    sort.setAttribute("aria-pressed", String(state.byValue)); sort.textContent = state.byValue ? "Sorted by heat" : "Sort by heat"; draw(); } }, "Sort by heat");
  const side = shown.length > 1 ? el("select", { "aria-label": "SASS of", onchange: () => { state.side = Number(side.value); state.offset = null; draw(); } },
    el("option", { value: 0 }, "SASS of A"), el("option", { value: 1 }, "SASS of B")) : null;
  const hint = el("span", { class: "note" }, "Click or press Enter on a line to find it on the other side.");
  const left = el("div", { class: "pane", tabindex: 0, "aria-label": "Source" }), right = el("div", { class: "pane", tabindex: 0, "aria-label": "SASS" });

  /** What holds an instruction up most, and all that does, longest first. */
  function stallsOf(row) {
    const all = Object.entries(row.stalled).filter(([state, n]) => state !== "selected" && n > 0).sort((a, b) => b[1] - a[1]);
    const total = sum(all, ([, n]) => n);
    return { main: all.length ? all[0][0] : "", all: all.map(([state, n]) => state + " " + percent(100 * n / total)).join("\n") };
  }
  const warmth = share => share > 0 ? `background:rgba(var(--hot),${(0.06 + 0.62 * share).toFixed(3)})` : null;
  function move(event, choose) {
    const row = event.currentTarget;
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); }
    const next = event.key === "ArrowDown" ? row.nextElementSibling : event.key === "ArrowUp" ? row.previousElementSibling : null;
    if (next) { event.preventDefault(); next.focus(); }
  }
  function fill(pane, head, rows, chosen) {
    const kept = pane.scrollTop;
    const body = rows.map(row => el("tr", { tabindex: -1, "data-key": row.key, class: row.chosen ? "chosen" : null, title: row.hint,
      onclick: row.choose, onkeydown: event => move(event, row.choose) }, row.cells));
    if (body.length) body[0].setAttribute("tabindex", "0");
    pane.replaceChildren(el("table", null, el("thead", null, el("tr", null, head.map(h => el("th", { class: h.n ? "n" : null, scope: "col" }, h.text)))), el("tbody", null, body)));
    const hottest = rows.reduce((best, row, i) => row.chosen && (best < 0 || row.heat > rows[best].heat) ? i : best, -1);
    const goTo = body[hottest];
    pane.scrollTop = chosen && goTo ? Math.max(0, goTo.offsetTop - pane.clientHeight / 2) : kept;
  }

  function drawSource(goTo) {
    const m = measures[state.measure], text = state.file === null ? undefined : data.sources[state.file];
    const lines = new Map();
    shown.forEach((entry, which) => entry.prediction.instructions.forEach(row => {
      if (row.file !== state.file || row.line === null) return;
      if (!lines.has(row.line)) lines.set(row.line, shown.map(() => []));
      lines.get(row.line)[which].push(row);
    }));
    const texts = text === undefined ? null : text.split("\n");
    const numbers = texts ? texts.map((_, i) => i + 1) : [...lines.keys()].sort((a, b) => a - b);
    const values = new Map(numbers.map(n => [n, (lines.get(n) || shown.map(() => [])).map(rows => measured(m, rows))]));
    const most = Math.max(1e-9, ...[...values.values()].flat().map(v => v.value));
    if (state.byValue) numbers.sort((a, b) => Math.max(...values.get(b).map(v => v.value)) - Math.max(...values.get(a).map(v => v.value)));
    const here = shown[state.side].prediction.instructions.find(row => row.offset === state.offset);
    const rows = numbers.filter(n => !state.byValue || lines.has(n)).map(n => ({ key: n, heat: Math.max(...values.get(n).map(v => v.value)),
      chosen: state.line === n || (here !== undefined && here.file === state.file && here.line === n),
      choose: () => { state.line = n; state.offset = null; drawSource(false); drawSass(true); },
      cells: [el("td", { class: "n" }, n), ...values.get(n).map(v => el("td", { class: "n", style: warmth(v.value / most) }, v.text)),
              el("td", null, texts ? texts[n - 1] : "")] }));
    const name = m.short || m.title;
    fill(left, [{ text: "Line", n: true }, ...shown.map((_, i) => ({ text: shown.length > 1 ? name + " " + "AB"[i] : name, n: true })), { text: texts ? baseName(state.file) : "Source: not there when this page was written" }], rows, goTo);
  }

  function drawSass(goTo) {
    const m = measures[state.measure], rows = shown[state.side].prediction.instructions.map(row => ({ row, v: measured(m, [row]) }));
    const most = Math.max(1e-9, ...rows.map(r => r.v.value));
    if (state.byValue) rows.sort((a, b) => b.v.value - a.v.value);
    fill(right, [{ text: "Offset", n: true }, { text: m.short || m.title, n: true }, { text: "Main stall" }, { text: "Line", n: true }, { text: "SASS" }], rows.map(({ row, v }) => ({
      key: row.offset, heat: v.value, hint: stallsOf(row).all, chosen: state.offset === row.offset || (state.line !== null && row.file === state.file && row.line === state.line),
      choose: () => { state.offset = row.offset; state.line = null;
        if (row.file !== null && row.file !== state.file) { state.file = row.file; file.value = row.file; }
        drawSass(false); drawSource(true); },
      cells: [el("td", { class: "n" }, row.offset.toString(16).padStart(4, "0")), el("td", { class: "n", style: warmth(v.value / most) }, v.text),
              el("td", { class: "state" }, stallsOf(row).main), el("td", { class: "n" }, row.line ?? ""), el("td", null, row.sass)] })), goTo);
  }
  function draw() { drawSource(state.line !== null); drawSass(state.offset !== null); }

  draw();
  // The hottest line is where one looks first.
  const hottest = first.instructions.reduce((best, row) => best === null || measures.stalled.of(row) > measures.stalled.of(best) ? row : best, null);
  if (hottest && hottest.line !== null && hottest.file === state.file) { state.line = hottest.line; }
  return { element: el("div", null, el("div", { class: "controls" }, el("label", null, "Heat by ", measure), files.length > 1 ? el("label", null, "File ", file) : null, side, sort, hint),
      el("div", { class: "code" }, left, right)),
    show: () => { drawSource(true); drawSass(true); },
    choose: key => { if (![...measure.options].some(o => o.value === key)) return; state.measure = key; measure.value = key; draw(); } };
}
