// The page of a validation: predictions beside what a GPU was measured on, drawn from the document of foretrace validate --json alone. Held-out
// launches that are not in it stand in its sums only.

const partNames = { development: "development", held_out: "held-out", all: "all" };
const partKeys = Object.keys(partNames).filter(key => validation.sets[key]);
const places = (value, count = 2) => value === null || value === undefined ? "-" : value.toFixed(count).replace(/^-(?=[0.]*$)/, "");
const hidden = validation.compared - validation.launches.length;
const hiddenWords = hidden > 0 ? number(hidden) + " launches of held-out kernels stand in the sums alone, not here (--show-held-out)." : null;

/** The columns of an error's statistics, of row => errors. */
const errorColumns = (of, before = "") => [["mean", "mean_abs_pct"], ["median", "median_abs_pct"], ["p90", "p90_abs_pct"], ["worst", "worst_abs_pct"]].map(([title, key]) =>
  ({ title: before ? before + " " + title : title, of: row => of(row)[key], show: row => places(of(row)[key]), n: true, hint: "% of the measured" }))
  .concat([{ title: before ? before + " r" : "r", of: row => of(row).pearson, show: row => places(of(row).pearson, 4), n: true, hint: "Pearson's correlation" }]);

/** The figures over everything, and beside two predictors that need no simulator. */
function summarySection() {
  const all = validation.predictors.all.foretrace, met = validation.rows.filter(row => row.all.met !== null);
  const tiles = [[places(all.elapsed.mean_abs_pct) + "%", "elapsed cycles, mean error of " + number(all.elapsed.launches) + " launches"], [places(all.elapsed.median_abs_pct) + "%", "their median"],
    [places(all.elapsed.p90_abs_pct) + "%", "nine in ten are within"], [places(all.elapsed.worst_abs_pct) + "%", "the worst"], [places(all.elapsed.pearson, 4), "correlation"],
    [places(all.active.mean_abs_pct) + "%", "SM active cycles, mean error"], [met.filter(row => row.all.met).length + " of " + met.length, "criteria met"]];
  const rows = partKeys.flatMap(part => Object.entries(validation.predictors[part]).map(([name, each]) => ({ part, name, ...each })));
  return el("div", null, el("div", { class: "tiles" }, tiles.map(([value, words]) => el("div", { class: "tile" }, el("b", null, value), el("span", null, words)))),
    el("h3", null, "Cycle errors beside two predictors that need no simulator, in percent"),
    sortable("Cycle errors of each predictor", [{ title: "Predictor", of: row => row.name }, { title: "Kernels", of: row => partNames[row.part] },
      { title: "Launches", of: row => row.elapsed.launches, n: true }, ...errorColumns(row => row.elapsed, "Elapsed"), ...errorColumns(row => row.active, "Active")], rows).element,
    Object.entries(validation.predictors.all).filter(([, each]) => each.how).map(([name, each]) => el("p", { class: "note" }, name + ": " + each.how)),
    el("p", { class: "note" }, "Elapsed cycles of launches of 20,000 measured cycles and more, active cycles of 2,000 and more."));
}

function launchTable(choose) {
  const sides = (name, title) => [{ title, of: l => l.metrics[name]?.predicted, show: l => number(whole(l.metrics[name]?.predicted)), n: true, hint: name + ", predicted" },
    { title: "Measured", of: l => l.metrics[name]?.measured, show: l => number(whole(l.metrics[name]?.measured)), n: true, hint: name + ", measured" },
    { title: "Error", of: l => sizeOf(errorOf(l.metrics[name])), show: l => errorCell(errorOf(l.metrics[name])), n: true, hint: "sorted by its size" }];
  const rows = sortable("Launches", [{ title: "Launch", of: l => l.name, show: l => el("button", { class: "pick", onclick: () => choose(l), title: l.kernel }, l.name) }, { title: "Class", of: l => l.class },
    validation.launches.some(l => l.held_out) ? { title: "Kernels", of: l => l.held_out ? "held-out" : "development" } : null, ...sides(kElapsed, "Elapsed"), ...sides(kActive, "SM active"),
    { title: "States", of: l => l.stall_states?.distance, show: l => places(l.stall_states?.distance), n: true, hint: "distance of the warp states: 0 the same, 1 nothing in common" }].filter(Boolean),
    validation.launches, { name: launchId });
  const filter = el("input", { type: "search", placeholder: "part of a launch or class", "aria-label": "Show launches whose name or class holds" });
  const apply = () => rows.show(l => (l.name + " " + l.class).includes(filter.value.trim()));
  filter.addEventListener("input", apply);
  return { element: el("div", null, hiddenWords ? el("p", { class: "note" }, hiddenWords) : null, el("div", { class: "controls" }, filter), rows.element),
    filter: text => { filter.value = text; apply(); } };
}

function classTable(choose) {
  const most = Math.max(1e-9, ...validation.classes.map(c => c.elapsed.mean_abs_pct || 0));
  return el("div", null, el("p", { class: "note" }, "Cycle errors in percent, launches of every length. A class's name shows its launches." + (hiddenWords ? " Held-out kernels are in no class here." : "")),
    sortable("Errors by class", [{ title: "Class", of: c => c.name, show: c => el("button", { class: "pick", onclick: () => choose(c.name) }, c.name) }, { title: "n", of: c => c.launches, n: true },
      { title: "", of: c => c.elapsed.mean_abs_pct, show: c => el("div", { class: "track", "aria-hidden": "true" }, el("div", { class: "fill",
        style: `width:${100 * (c.elapsed.mean_abs_pct || 0) / most}%;background:${bandColour(c.elapsed.mean_abs_pct || 0)}` })), hint: "elapsed cycles, mean error" },
      ...errorColumns(c => c.elapsed, "Elapsed"), ...errorColumns(c => c.active, "Active")],
      validation.classes, { by: 3, falling: true }).element);
}

function metricTable() {
  const holder = el("div"), filter = el("input", { type: "search", placeholder: "part of a name", "aria-label": "Show metrics whose name holds" });
  let part = "all", rows;
  const apply = () => rows.show(([name]) => name.includes(filter.value.trim()));
  function draw() {
    rows = sortable("Errors of metrics", [{ title: "Metric", of: ([name]) => name }, { title: "n", of: ([, e]) => e.launches, n: true }, ...errorColumns(([, e]) => e)],
      Object.entries(validation.sets[part].metrics));
    holder.replaceChildren(rows.element);
    apply();
  }
  filter.addEventListener("input", apply);
  draw();
  return el("div", null, el("div", { class: "controls" }, filter, partKeys.length < 2 ? null : el("label", null, "Kernels ", el("select", { "aria-label": "Kernels", onchange: event => { part = event.target.value; draw(); } },
    partKeys.map(key => el("option", { value: key, selected: key === part ? "" : null }, `${partNames[key]} (${number(validation.sets[key].launches)} launches)`))))), holder,
    el("p", { class: "note" }, "|predicted - measured| / measured in percent, of the launches that have both."));
}

/** One cell of the criteria: whether it is met, what was reached, of how many. */
function reachedCell(row) {
  if (!row || row.n === 0) return "-";
  return [row.met === null ? null : el("span", { class: row.met ? "met" : "unmet" }, row.met ? "yes" : "NO"), (row.met === null ? "" : " ") + row.reached, / of /.test(row.reached) ? null : el("span", { class: "note" }, " of " + number(row.n))];
}

function criteria() {
  const outside = validation.rows.flatMap(row => { const from = row.all.outside ? row.all : row.development; return from?.outside && Object.keys(from.outside).length ? [[row.name.trim(), from.outside]] : []; });
  return el("div", null, el("div", { class: "wide" }, el("table", { class: "criteria" }, el("thead", null, el("tr", null, ["Asked of launches", "To reach", ...partKeys.map(key => partNames[key])].map(text => el("th", { scope: "col" }, text)))),
    el("tbody", null, validation.rows.map(row => el("tr", null, el("td", { class: row.name.startsWith(" ") ? "note" : null }, row.name.trim()), el("td", null, row.asked || "(reported)"), partKeys.map(key => el("td", null, reachedCell(row[key])))))))),
    outside.length ? el("details", null, el("summary", null, "Launches beyond each tolerance"), outside.map(([name, launches]) => [el("h3", null, name + ": " + Object.keys(launches).length),
      el("p", { class: "note" }, Object.entries(launches).sort((x, y) => (y[1] ?? 0) - (x[1] ?? 0)).map(([launch, error]) => launch + " " + (error === null ? "-" : number(error))).join(", "))])) : null);
}

/** How far each launch's warp states are from the device's, the farthest first. */
function stateDistances(choose) {
  const launches = validation.launches.filter(l => l.stall_states).sort((x, y) => y.stall_states.distance - x.stall_states.distance);
  const told = validation.rows.filter(row => row.name.trim().startsWith("stall states")).map(row => [row.name.trim(), row.asked, reachedCell(row.all)]);
  if (launches.length === 0) return el("div", null, el("p", { class: "note" }, "No launch that may be shown has warp states on both sides."), table(["", "To reach", "Reached"], told));
  const width = 1180, height = 190, x0 = 50, x1 = width - 8, y0 = height - 24, y1 = 10, top = Math.max(0.4, Math.ceil(launches[0].stall_states.distance * 10) / 10), wide = (x1 - x0) / launches.length;
  const py = value => y0 - value / top * (y0 - y1), root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Distance of the warp states of each launch, the farthest first" });
  for (let i = 0; i <= 4; ++i) root.append(svg("line", { x1: x0, x2: x1, y1: py(top * i / 4), y2: py(top * i / 4), class: "grid" }),
    svg("text", { x: x0 - 6, y: py(top * i / 4) + 4, "font-size": 12, "text-anchor": "end", class: "faint" }, (top * i / 4).toFixed(2)));
  launches.forEach((launch, i) => root.append(svg("rect", { x: x0 + i * wide, y: py(launch.stall_states.distance), width: Math.max(0.8, wide - 1), height: y0 - py(launch.stall_states.distance),
    fill: launch.stall_states.distance <= 0.2 ? "var(--c3)" : "var(--c2)", style: "cursor:pointer", onclick: () => choose(launch) }, svg("title", null,
    `${launch.name}: ${launch.stall_states.distance.toFixed(3)}\nmost warp-cycles: ${launch.stall_states.predicted} predicted, ${launch.stall_states.measured} measured`))));
  root.append(svg("line", { x1: x0, x2: x1, y1: py(0.2), y2: py(0.2), stroke: "var(--ink)", "stroke-dasharray": "5 4" }),
    svg("text", { x: x0, y: height - 6, "font-size": 12, class: "faint" }, number(launches.length) + " launches, the farthest first"));
  const other = launches.filter(l => l.stall_states.predicted !== l.stall_states.measured);
  return el("div", null, el("p", { class: "note" }, "Half the sum of the differences of the states' shares: 0 the same, 1 nothing in common. " + (hiddenWords || "")), root, table(["", "To reach", "Reached"], told),
    other.length === 0 ? null : el("details", null, el("summary", null, number(other.length) + " launches whose largest state is another on the device"), sortable("Launches whose largest state differs", [
      { title: "Launch", of: l => l.name, show: l => el("button", { class: "pick", onclick: () => choose(l) }, l.name) }, { title: "Predicted", of: l => l.stall_states.predicted },
      { title: "Measured", of: l => l.stall_states.measured }, { title: "Distance", of: l => l.stall_states.distance, show: l => places(l.stall_states.distance), n: true }], other, { by: 3, falling: true }).element));
}

/** Published numbers: a metric of its own for each, and the aim is 10%. */
function anchors() {
  const rows = validation.launches.flatMap(launch => Object.entries(launch.metrics).map(([name, sides]) => ({ launch, name, ...sides, error: errorOf(sides) }))).filter(row => row.predicted !== null);
  return el("div", null, el("p", { class: "sentence" }, rows.filter(row => row.error !== null && Math.abs(row.error) <= 10).length + " of " + rows.length + " within 10% (aim: 8 in 10)"),
    sortable("Published numbers", [{ title: "Launch", of: row => row.launch.name, show: row => el("span", { title: row.launch.kernel }, row.launch.name) }, { title: "Metric", of: row => row.name },
      { title: "Predicted", of: row => row.predicted, show: row => places(row.predicted, 1), n: true }, { title: "Published", of: row => row.measured, show: row => places(row.measured, 1), n: true },
      { title: "Error", of: row => sizeOf(row.error), show: row => errorCell(row.error), n: true }], rows).element);
}

/** What is not compared, and why. */
function leftOut() {
  const failed = Object.entries(validation.failed), reasons = new Map();
  for (const name of validation.left_out) reasons.set(validation.left_out_why[name], [...reasons.get(validation.left_out_why[name]) || [], name]);
  if (failed.length === 0 && reasons.size === 0) return null;
  return el("div", null, failed.length ? [el("h3", null, "NOT COMPARED: " + failed.length), table(["Launch", "Why"], failed)] : null,
    [...reasons].map(([why, names]) => el("details", null, el("summary", null, `${names.length} left out: ${why}`), el("p", { class: "note" }, names.join(", ")))));
}

function renderValidation() {
  const title = validation.arch + (validation.source ? " beside published numbers" : " beside a measured GPU"), count = key => number(validation.sets[key]?.launches ?? 0);
  document.title = title + " - Foretrace";
  document.getElementById("head").replaceChildren(el("h1", null, title), el("div", { class: "controls" }, theme()), el("p", { class: "sub" }, validation.device + ", " + validation.date.slice(0, 10) +
    (validation.source ? ", published in " + validation.source : "") + "; " + (validation.frozen ? "predictions frozen " + validation.frozen : "predictions made for this page") + ". " + number(validation.compared) +
    " launches compared" + (partKeys.length > 1 ? ` (${count("development")} development, ${count("held_out")} held-out)` : "") + ", " + validation.left_out.length + " left out."));
  const go = id => document.getElementById(id).scrollIntoView();
  if (validation.source) {
    section("published", "Published numbers", anchors(), "Published");
    section("scatter", "Predicted against published", scatterSection().element);
  } else {
    const scatter = scatterSection(), choose = launch => { scatter.choose(launch); go("scatter"); };
    const launches = launchTable(choose);
    section("summary", "How far off", summarySection(), "Summary");
    section("scatter", "Predicted against measured", scatter.element);
    section("launches", "Launches", launches.element);
    section("classes", "Errors by class", classTable(name => { scatter.ofClass(name); launches.filter(name); go("launches"); }), "Classes");
    section("metrics", "Errors of metrics", metricTable(), "Metrics");
    section("criteria", "Acceptance criteria", criteria(), "Criteria");
    section("states", "Distance of the warp states", stateDistances(choose), "Warp states");
  }
  const without = leftOut();
  if (without) section("left-out", "Left out", without);
  foot(validation, "Configuration " + validation.config_sha256.slice(0, 12) + "." + (partKeys.length > 1 ? " Errors of development kernels may be looked at; held-out kernels are the result." : ""));
}

renderValidation();
