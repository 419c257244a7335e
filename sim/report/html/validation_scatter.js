// Predicted against measured, one mark per launch, and beside it the launch that was chosen.

const validation = data.validation;
const kElapsed = "gpc__cycles_elapsed.max", kActive = "sm__cycles_active.avg", statePrefix = "smsp__average_warps_issue_stalled_", stateSuffix = "_per_issue_active.ratio";
const bands = [[25, "var(--c5)", 0.17], [10, "var(--c3)", 0.35]];  // percent, the wider one below

/** (predicted - measured) / |measured| in percent; null: a side is missing, or only the measured one is 0. */
function errorOf(sides) {
  if (!sides || sides.predicted === null || sides.measured === null) return null;
  if (sides.measured === 0) return sides.predicted === 0 ? 0 : null;
  return 100 * (sides.predicted - sides.measured) / Math.abs(sides.measured);
}
/** Its size, to sort by. */
const sizeOf = error => error === null ? null : Math.abs(error);
const signed = error => error === null ? "-" : (error > 0 ? "+" : "") + error.toFixed(2) + "%";
const bandColour = error => Math.abs(error) <= 10 ? "var(--c3)" : Math.abs(error) <= 25 ? "var(--c5)" : "var(--c2)";
const errorCell = error => error === null ? "-" : el("span", { class: Math.abs(error) > 25 ? "far" : Math.abs(error) > 10 ? "near" : null }, signed(error));
/** Without its fraction; a number that is not there stays so. */
const whole = x => x === null || x === undefined ? null : Math.round(x);
const launchId = launch => "launch-" + launch.name.replace(/[^\w-]/g, "_");

/** The metrics that a picture can have on logarithmic axes: cycles first. */
function scatterMetrics() {
  const names = Object.keys(validation.metrics).filter(name => validation.launches.some(l => l.metrics[name]?.predicted > 0 && l.metrics[name].measured > 0));
  return [kElapsed, kActive].filter(name => names.includes(name)).concat(names.filter(name => name !== kElapsed && name !== kActive));
}

/** Shares of the warp states that one side of a launch has, the largest first on either side. */
function statesOf(launch) {
  const states = Object.keys(stateTexts).map(name => ({ name, ...launch.metrics[statePrefix + name + stateSuffix] }));
  const total = side => sum(states, s => s[side] || 0);
  const predicted = total("predicted"), measured = total("measured");
  if (!(predicted > 0 && measured > 0)) return [];
  return states.map(s => ({ name: s.name, predicted: (s.predicted || 0) / predicted, measured: (s.measured || 0) / measured }))
    .filter(s => s.predicted >= 0.005 || s.measured >= 0.005).sort((x, y) => Math.max(y.predicted, y.measured) - Math.max(x.predicted, x.measured));
}

/** Everything about one launch: both sides of its cycles, its warp states, and all metrics. */
function launchDetail(launch) {
  const cycles = [[kElapsed, "Elapsed cycles"], [kActive, "SM active cycles"], ["gpu__time_duration.sum", "Duration, ns"]].filter(([name]) => launch.metrics[name]);
  const states = statesOf(launch), stalls = launch.stall_states;
  const names = Object.keys(launch.metrics);
  return el("div", null, el("p", null, el("strong", null, launch.name), " ", el("span", { class: "note" }, launch.class + (launch.held_out ? ", held-out" : "") + ", " + launch.kernel)),
    cycles.length ? table(["", "Predicted", "Measured", "Error"], cycles.map(([name, title]) => [title, whole(launch.metrics[name].predicted) ?? "n/a", whole(launch.metrics[name].measured) ?? "n/a",
      errorCell(errorOf(launch.metrics[name]))])) : null,
    states.length ? [el("h3", null, "Warp states" + (stalls ? ", distance " + stalls.distance.toFixed(2) : "")),
      el("div", { class: "bars both" }, states.map(s => [el("span", { title: "waiting for " + stateTexts[s.name] }, s.name),
        el("div", null, ["predicted", "measured"].map(side => el("div", { class: "track", title: side + ": " + percent(100 * s[side]) },
          el("div", { class: "fill", style: `width:${100 * s[side]}%;background:var(--${side === "predicted" ? "a" : "b"})` })))),
        el("span", { class: "v" }, percent(100 * s.predicted) + " · " + percent(100 * s.measured))])),
      legend([["var(--a)", "predicted"], ["var(--b)", "measured"]])] : null,
    el("details", null, el("summary", null, names.length + " metrics of this launch"), sortable("Metrics of " + launch.name, [
      { title: "Metric", of: name => name }, { title: "Predicted", of: name => launch.metrics[name].predicted, n: true },
      { title: "Measured", of: name => launch.metrics[name].measured, n: true },
      { title: "Error", of: name => sizeOf(errorOf(launch.metrics[name])), show: name => errorCell(errorOf(launch.metrics[name])), n: true }], names).element));
}

/** The picture itself. marks: [{ launch, x, y, error }] in the order of x; chosen and faded say how each looks. */
function scatterPicture(metric, marks, { chosen, faded, choose }) {
  const size = 620, x0 = 74, x1 = size - 12, y0 = size - 52, y1 = 12, all = marks.flatMap(m => [m.x, m.y]);
  const first = Math.floor(Math.log10(Math.min(...all))), last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...all))));
  const share = value => (Math.log10(value) - first) / (last - first), px = value => x0 + share(value) * (x1 - x0), py = value => y0 - share(value) * (y0 - y1);
  const low = 10 ** first, high = 10 ** last, clip = "scatter-frame";
  const parts = [svg("defs", null, svg("clipPath", { id: clip }, svg("rect", { x: x0, y: y1, width: x1 - x0, height: y0 - y1 }))),
    svg("rect", { x: x0, y: y1, width: x1 - x0, height: y0 - y1, fill: "none", class: "grid" })];
  for (const [width, colour, opacity] of bands) {
    const up = 1 + width / 100, down = 1 - width / 100;
    parts.push(svg("polygon", { points: [[low, low * up], [high, high * up], [high, high * down], [low, low * down]].map(([x, y]) => px(x) + "," + py(y)).join(" "),
      fill: colour, opacity, "clip-path": `url(#${clip})` }));
  }
  for (let decade = first; decade <= last; ++decade) {
    const value = 10 ** decade, words = decade >= 6 ? quantity(value, "").trim() : decade < 0 ? String(value) : number(value);
    parts.push(svg("line", { x1: px(value), x2: px(value), y1: y0, y2: y1, class: "grid" }), svg("line", { x1: x0, x2: x1, y1: py(value), y2: py(value), class: "grid" }),
      svg("text", { x: px(value), y: y0 + 18, "font-size": 12, "text-anchor": decade === last ? "end" : "middle", class: "faint" }, words),
      svg("text", { x: x0 - 6, y: py(value) + (decade === last ? 10 : 4), "font-size": 12, "text-anchor": "end", class: "faint" }, words));
  }
  parts.push(svg("line", { x1: px(low), y1: py(low), x2: px(high), y2: py(high), stroke: "var(--faint)", "stroke-dasharray": "5 4" }),
    svg("text", { x: (x0 + x1) / 2, y: size - 10, "font-size": 13, "text-anchor": "middle", class: "faint" }, "measured"),
    svg("text", { x: 14, y: (y0 + y1) / 2, "font-size": 13, "text-anchor": "middle", class: "faint", transform: `rotate(-90 14 ${(y0 + y1) / 2})` }, "predicted"));
  const mark = m => svg("circle", { cx: px(m.x).toFixed(1), cy: py(m.y).toFixed(1), r: m.launch === chosen ? 8 : 4.5, fill: bandColour(m.error), class: "mark", opacity: faded(m.launch) ? 0.13 : 0.8,
    stroke: m.launch === chosen ? "var(--ink)" : null, "stroke-width": m.launch === chosen ? 2 : null, onclick: () => choose(m.launch) },
    svg("title", null, `${m.launch.name} (${m.launch.class}${m.launch.held_out ? ", held-out" : ""})\n${number(m.y)} predicted, ${number(m.x)} measured, ${signed(m.error)}`));
  parts.push(...marks.filter(m => m.launch !== chosen).map(mark), ...marks.filter(m => m.launch === chosen).map(mark));
  return parts;
}

/** The section: { element, choose(launch), ofClass(name or "") }. */
function scatterSection() {
  const metrics = scatterMetrics();
  if (metrics.length === 0) return { element: el("p", { class: "note" }, "No launch whose numbers may be shown has one on both sides."), choose: () => {}, ofClass: () => {} };
  const size = 620, beside = el("div", { "aria-live": "polite" }), says = el("p", { class: "note" });
  const root = svg("svg", { viewBox: `0 0 ${size} ${size}`, tabindex: 0, role: "img", "aria-label": "Predicted against measured; the arrow keys go from launch to launch, Enter goes to its row" });
  let metric_ = metrics[0], class_ = "", chosen = null;
  const marksOf = () => validation.launches.filter(l => l.metrics[metric_]?.predicted > 0 && l.metrics[metric_].measured > 0)
    .map(launch => ({ launch, x: launch.metrics[metric_].measured, y: launch.metrics[metric_].predicted, error: errorOf(launch.metrics[metric_]) })).sort((a, b) => a.x - b.x);
  const faded = launch => class_ !== "" && launch.class !== class_;
  function draw() {
    const marks = marksOf(), kept = marks.filter(m => !faded(m.launch)), within = most => kept.filter(m => Math.abs(m.error) <= most).length;
    root.replaceChildren(...scatterPicture(metric_, marks, { chosen, faded, choose }));
    says.replaceChildren(`${number(kept.length)} launches${class_ ? " of " + class_ : ""}: ${number(within(10))} within 10%, ${number(within(25))} within 25%, ${number(kept.length - within(25))} beyond.`);
  }
  function choose(launch) { chosen = launch; beside.replaceChildren(launchDetail(launch)); draw(); }
  root.addEventListener("keydown", event => {
    const marks = marksOf().filter(m => !faded(m.launch)), at = marks.findIndex(m => m.launch === chosen);
    const to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, Home: 0, End: marks.length - 1 }[event.key];
    if (to !== undefined) { event.preventDefault(); if (marks[to]) choose(marks[to].launch); }
    if (event.key === "Enter" && chosen) document.getElementById(launchId(chosen))?.querySelector("button")?.focus();
  });
  const classes = [...new Set(validation.launches.map(l => l.class))].sort();
  const ofMetric = el("select", { "aria-label": "Metric", onchange: event => { metric_ = event.target.value; draw(); } }, metrics.map(name => el("option", { value: name }, name)));
  const ofClassBox = el("select", { "aria-label": "Class", onchange: event => { class_ = event.target.value; draw(); } }, el("option", { value: "" }, "all classes"), classes.map(name => el("option", { value: name }, name)));
  const worst = marksOf().reduce((most, m) => most === null || Math.abs(m.error) > Math.abs(most.error) ? m : most, null);
  choose(worst.launch);
  const element = el("div", null, el("div", { class: "controls" }, el("label", null, "Metric ", ofMetric), el("label", null, "Class ", ofClassBox)), el("div", { class: "sides two" },
    el("div", { class: "side" }, root, legend([["var(--c3)", "within 10%"], ["var(--c5)", "within 25%"], ["var(--c2)", "beyond"]]), says,
      el("p", { class: "note" }, "A click on a mark shows the launch; with the focus here the arrow keys go from one to the next, and Enter to its row.")), el("div", { class: "side" }, beside)));
  return { element, choose, ofClass: name => { class_ = name; ofClassBox.value = name; draw(); } };
}
