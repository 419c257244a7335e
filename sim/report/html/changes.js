// What changed between A and B: their code lined up, and, beside Nsight Compute's CSV, measured against predicted.

/** Pairs of indices [i, j] that stand side by side in two lists of keys; -1: nothing on that side. The longest common subsequence. */
function lineUp(a, b) {
  let begin = 0, end = 0;
  while (begin < a.length && begin < b.length && a[begin] === b[begin]) ++begin;
  while (end < a.length - begin && end < b.length - begin && a[a.length - 1 - end] === b[b.length - 1 - end]) ++end;
  const n = a.length - begin - end, m = b.length - begin - end, pairs = [];
  for (let i = 0; i < begin; ++i) pairs.push([i, i]);
  if (n * m <= 2.5e7) {
    const best = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
    for (let i = n - 1; i >= 0; --i) for (let j = m - 1; j >= 0; --j)
      best[i][j] = a[begin + i] === b[begin + j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    let i = 0, j = 0;
    while (i < n || j < m) {
      if (i < n && j < m && a[begin + i] === b[begin + j]) pairs.push([begin + i++, begin + j++]);
      else if (j === m || (i < n && best[i + 1][j] >= best[i][j + 1])) pairs.push([begin + i++, -1]);
      else pairs.push([-1, begin + j++]);
    }
  } else {  // too long for the table: all of A, then all of B
    for (let i = 0; i < n; ++i) pairs.push([begin + i, -1]);
    for (let j = 0; j < m; ++j) pairs.push([-1, begin + j]);
  }
  for (let i = end; i > 0; --i) pairs.push([a.length - i, b.length - i]);
  return pairs;
}

/** An instruction with its registers and predicates unnamed: the allocator's choice is no change of the code. */
const plainOf = sass => sass.replace(/\b(UR|UP|R|P|B|SB)\d+/g, "$1").replace(/\.reuse/g, "");
const opcodeOf = sass => sass.replace(/^@!?U?P\w+\s+/, "").split(/\s/)[0];

function sassLines(p) {
  return p.instructions.map(row => ({ key: opcodeOf(row.sass), text: row.sass, plain: plainOf(row.sass), stalled: measures.stalled.of(row), executed: row.executed }));
}

/** Lines of the file that most stalls stand in; nothing where its text is not there. */
function sourceLines(p) {
  const heat = new Map();
  for (const row of p.instructions) if (row.file !== null) heat.set(row.file, (heat.get(row.file) || 0) + measures.stalled.of(row));
  const file = [...heat.keys()].sort((x, y) => heat.get(y) - heat.get(x)).find(f => data.sources[f] !== undefined);
  if (file === undefined) return null;
  const lines = data.sources[file].split("\n").map(text => ({ key: text.trim(), text, plain: text.trim(), stalled: 0, executed: 0 }));
  for (const row of p.instructions) if (row.file === file && lines[row.line - 1]) {
    lines[row.line - 1].stalled += measures.stalled.of(row);
    lines[row.line - 1].executed += row.executed;
  }
  return lines;
}

function changesSection(a, b) {
  const pane = el("div", { class: "pane tall", tabindex: 0, "aria-label": "Code of A and B lined up" }), note = el("p", { class: "note" });
  const kinds = { SASS: [sassLines(a.prediction), sassLines(b.prediction)], Source: [sourceLines(a.prediction), sourceLines(b.prediction)] };
  const kind = el("select", { "aria-label": "What is lined up", onchange: () => draw() }, el("option", null, "SASS"),
    kinds.Source[0] && kinds.Source[1] ? el("option", null, "Source") : null);
  const all = el("input", { type: "checkbox", onchange: () => draw() });
  const warmth = share => share > 0 ? `background:rgba(var(--hot),${(0.06 + 0.62 * share).toFixed(3)})` : null;

  function draw() {
    const [left, right] = kinds[kind.value], pairs = lineUp(left.map(l => l.key), right.map(l => l.key));
    const most = Math.max(1, ...left.map(l => l.stalled), ...right.map(l => l.stalled));
    const changed = ([i, j]) => i < 0 || j < 0 || left[i].plain !== right[j].plain;
    const near = pairs.map((_, k) => all.checked || pairs.slice(Math.max(0, k - 2), k + 3).some(changed));
    const rows = [];
    let hidden = 0;
    const flush = () => { if (hidden) rows.push(el("tr", { class: "gap" }, el("td", { colspan: 6 }, number(hidden) + " equal"))); hidden = 0; };
    pairs.forEach(([i, j], k) => {
      if (!near[k]) { ++hidden; return; }
      flush();
      const x = left[i], y = right[j], mark = !x ? "only-b" : !y ? "only-a" : x.plain !== y.plain ? "other" : null;
      rows.push(el("tr", { class: mark }, el("td", { class: "n", style: x ? warmth(x.stalled / most) : null }, x && x.stalled ? number(x.stalled) : ""), el("td", { class: x ? null : "none" }, x ? x.text : ""),
        el("td", { class: "mark" }, { "only-a": "−", "only-b": "+", other: "~" }[mark] || ""),
        el("td", { class: "n", style: y ? warmth(y.stalled / most) : null }, y && y.stalled ? number(y.stalled) : ""), el("td", { class: y ? null : "none" }, y ? y.text : "")));
    });
    flush();
    const word = kind.value === "SASS" ? "instructions" : "lines";
    note.textContent = number(pairs.filter(([i, j]) => i >= 0 && j >= 0 && left[i].plain === right[j].plain).length) + " " + word + " are equal" + (word === "lines" ? ", " : " but for registers, ") +
      number(pairs.filter(([i, j]) => i >= 0 && j >= 0 && left[i].plain !== right[j].plain).length) + " have other operands, " + number(pairs.filter(([, j]) => j < 0).length) + " are only in A, " +
      number(pairs.filter(([i]) => i < 0).length) + " only in B. Beside each: its stalled warp-cycles.";
    pane.replaceChildren(rows.length && pairs.some(changed) || all.checked ? el("table", null, el("thead", null, el("tr", null, el("th", { class: "n" }, "Stalled"), el("th", null, "A"), el("th", null, ""), el("th", { class: "n" }, "Stalled"), el("th", null, "B"))),
      el("tbody", null, rows)) : el("p", { class: "note pad" }, "The code is the same on both sides."));
  }
  draw();
  return el("div", null, el("div", { class: "controls" }, el("label", null, "Line up ", kind), el("label", null, all, " all lines")), note, pane);
}

/** The prediction beside what ncu measured; null where the page was not made with --ncu. */
function measuredSection(entry) {
  const comparison = data.comparison, p = entry.prediction;
  if (!comparison || comparison.against !== "measurement") return null;
  const same = l => l.kernel === p.kernel && JSON.stringify(l.grid) === JSON.stringify(p.grid) && JSON.stringify(l.block) === JSON.stringify(p.block);
  const launch = comparison.launches.find(l => same(l) && l.arch === p.arch) || comparison.launches.find(same);
  if (!launch) return el("p", { class: "note" }, "This launch is not in " + baseName(comparison.measured) + ".");
  const rows = Object.entries(launch.metrics).map(([name, m]) => ({ name, ...m }));
  const known = rows.filter(r => r.error_pct !== null), worst = Math.max(1, ...known.map(r => Math.abs(r.error_pct)));
  const time = launch.metrics["gpu__time_duration.sum"] || launch.metrics["gpc__cycles_elapsed.max"];
  const order = el("select", { "aria-label": "Order", onchange: () => draw() }, el("option", { value: "as" }, "as Nsight Compute has them"), el("option", { value: "error" }, "by error"));
  const body = el("tbody");
  function draw() {
    const sorted = order.value === "error" ? [...rows].sort((x, y) => Math.abs(y.error_pct ?? -1) - Math.abs(x.error_pct ?? -1)) : rows;
    body.replaceChildren(...sorted.map(r => el("tr", null, el("td", null, r.name), el("td", { class: "n" }, number(r.measured)), el("td", { class: "n" }, number(r.predicted)),
      el("td", { class: "n" }, r.error_pct === null ? "n/a" : (r.error_pct > 0 ? "+" : "") + r.error_pct.toFixed(1) + "%"),
      el("td", null, errorBar(r.error_pct, Math.min(worst, 50))))));
  }
  draw();
  return el("div", null, el("p", { class: "sentence" }, time && time.error_pct !== null ? "Predicted " + Math.abs(time.error_pct).toFixed(1) + "% " + (time.error_pct > 0 ? "too slow." : "too fast.") : "", launch.note ? " " + launch.note + "." : ""),
    el("p", { class: "note" }, "Measured: " + baseName(comparison.measured) + ". " + number(known.filter(r => Math.abs(r.error_pct) <= 5).length) + " of " + number(known.length) +
      " metrics are within 5%, " + number(known.filter(r => Math.abs(r.error_pct) <= 1).length) + " within 1%."),
    el("div", { class: "controls" }, el("label", null, "Order ", order)),
    el("div", { class: "lanes" }, el("table", { class: "measured" }, el("thead", null, el("tr", null, ["Metric", "Measured", "Predicted", "Error", ""].map((h, i) => el("th", { class: i > 0 && i < 4 ? "n" : null, scope: "col" }, h)))), body)));
}

/** To the right of the middle: too much, to the left: too little. */
function errorBar(error, most) {
  if (error === null) return null;
  const share = Math.min(1, Math.abs(error) / most) * 50;
  return svg("svg", { viewBox: "0 0 100 12", class: "error", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("line", { x1: 50, x2: 50, y1: 0, y2: 12, class: "grid" }),
    svg("rect", { x: error > 0 ? 50 : 50 - share, y: 2, width: share, height: 8, fill: Math.abs(error) > 20 ? "var(--warn)" : Math.abs(error) > 5 ? "var(--c5)" : "var(--c3)" }));
}
