// The page: which results are shown, and the sections in the order in which one asks.

/** Every prediction of the one or two documents: { prediction, facts, title, document }. */
const entries = data.documents.flatMap((document_, d) => document_.predictions.map((prediction, i) => {
  const set = prediction.set.length ? " " + prediction.set.join(" ") : "";
  const from = data.documents.length > 1 ? (d === 0 ? "A: " : "B: ") : "";
  return { prediction, facts: data.facts[d][i], document: d,
           title: from + (prediction.number === undefined ? "" : "#" + prediction.number + " ") + (prediction.launch || prediction.kernel) + " on " + prediction.arch + set };
}));

const chosen = { a: 0, b: data.documents.length > 1 ? partnerOf(0) : variantOf(0) };

/** The same launch on another chip, or with other values of it; -1: there is none. */
function variantOf(index) {
  if (entries.length === 0) return -1;
  const a = entries[index].prediction, same = (p, keys) => keys.every(key => JSON.stringify(p[key]) === JSON.stringify(a[key]));
  return entries.findIndex(({ prediction: p }, i) => i !== index && p.number === undefined && same(p, ["launch", "kernel", "grid", "block"]) && !same(p, ["arch", "set"]));
}

/** The prediction of the second document that is the same launch, by kernel and grid; else its first. */
function partnerOf(index) {
  const a = entries[index].prediction, others = entries.map((e, i) => ({ e, i })).filter(({ e }) => e.document === 1);
  const same = (p, keys) => keys.every(key => JSON.stringify(p[key]) === JSON.stringify(a[key]));
  for (const keys of [["kernel", "grid", "block", "arch"], ["kernel", "grid", "block"], ["kernel"]]) {
    const found = others.find(({ e }) => same(e.prediction, keys));
    if (found) return found.i;
  }
  return others.length ? others[0].i : -1;
}

function head() {
  const a = entries[chosen.a].prediction, command = data.documents[entries[chosen.a].document].command ?? [], program = data.programs[entries[chosen.a].document]?.program;
  const title = program && command.includes("--") ? command.slice(command.indexOf("--") + 1).map(baseName).join(" ") : a.kernel;
  const dimensions = d => "(" + d.join(", ") + ")";
  const pick = (label, key, none) => entries.length < 2 ? null : el("label", null, label + " ", el("select", { "aria-label": label,
    onchange: event => { chosen[key] = Number(event.target.value); render(); } },
    none ? el("option", { value: -1 }, "nothing") : null,
    entries.map((entry, i) => el("option", { value: i, selected: chosen[key] === i ? "" : null }, entry.title))));
  document.title = title + " on " + a.arch + " - Foretrace";
  document.getElementById("head").replaceChildren(el("h1", null, title), el("div", { class: "controls" }, pick("Show", "a", false), pick("beside", "b", true), themeButton),
    el("p", { class: "sub" }, (title === a.kernel ? "" : a.kernel + ", ") + dimensions(a.grid) + " blocks of " + dimensions(a.block) + " threads" + (a.cluster.some(x => x > 1) ? ", clusters of " + dimensions(a.cluster) : "") + " on " + (entries[chosen.a].facts?.title || a.arch) +
      (a.set.length ? " with " + a.set.join(" ") : "") + ", " + (a.warm ? "warm" : "cold") + " caches, SM at " + (a.clock_hz.sm / 1e6).toFixed(0) + " MHz"));
}

/** The same view of A and, where there is one, of B beside it. */
function sides(shown, view, stacked) {
  return el("div", { class: shown.length > 1 && !stacked ? "sides two" : "sides" }, shown.map((entry, i) => el("div", { class: "side" },
    shown.length > 1 ? el("p", null, el("span", { class: "tag " + "ab"[i] }, "AB"[i]), " " + entry.title.replace(/^[AB]: /, "")) : null, view(entry))));
}

function render() {
  document.getElementById("contents").replaceChildren();
  document.getElementById("main").replaceChildren();
  head();
  const shown = [chosen.a, chosen.b].filter(i => i >= 0).map(i => entries[i]);
  const source = sourceSection(shown);
  const chooseStall = state => { source.choose("stall:" + state); document.getElementById("source").scrollIntoView(); };
  const measured = measuredSection(shown[0]);
  const program = programSection(shown[0].document, i => { chosen.a = i; render(); document.getElementById("verdict").scrollIntoView(); });
  if (program) section("program", "Program", program);
  section("verdict", program ? "Verdict on " + shown[0].title.replace(/^[AB]: /, "") : "Verdict", [shown.length > 1 ? versus(...shown) : null, sides(shown, verdictSide)], "Verdict");
  if (measured) section("measured", "Beside Nsight Compute", measured);
  if (shown.length > 1) section("changes", "What changed in the code", changesSection(...shown));
  section("memory", "Memory chart", sides(shown, memoryChart, true));
  section("roofline", "Roofline", sides(shown, roofline, true));
  section("occupancy", "Occupancy", sides(shown, occupancySection, true));
  section("source", "Source and SASS", source.element);
  source.show();
  section("states", "Warp states", sides(shown, entry => warpStates(entry, chooseStall)));
  section("pipelines", "Pipelines", sides(shown, pipelines));
  section("over-time", "Over time", sides(shown, overTime, true));
  if (data.timeline) section("timeline", "Timeline", timelineSection(data.timeline));
  section("distribution", "SMs and waves", sides(shown, distribution));
  section("assumed", "What is assumed about the chip", sides(shown, assumptions, true), "Assumptions");
  section("metrics", "All metrics", allMetrics(...shown), "Metrics");
  const d = data.documents[entries[chosen.a].document];
  foot(d, "No GPU was used.",
    el("details", null, el("summary", null, "The command"), el("code", null, shellCommand(d.command))));
}

const themeButton = theme();
if (entries.length === 0) document.getElementById("main").append(el("p", null, "The document holds no prediction."));
else render();
