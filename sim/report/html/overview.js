// The verdict with its gains, warp states, pipelines, what is assumed, and all metrics.

const headline = [
  ["Duration", p => duration(metric(p, "gpu__time_duration.sum")), "gpu__time_duration.sum"],
  ["Elapsed cycles", p => number(metric(p, "gpc__cycles_elapsed.max")), "gpc__cycles_elapsed.max"],
  ["Compute throughput", p => percent(metric(p, "sm__throughput.avg.pct_of_peak_sustained_elapsed")),
   "sm__throughput.avg.pct_of_peak_sustained_elapsed"],
  ["Memory throughput", p => percent(metric(p, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed")),
   "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"],
  ["DRAM", p => quantity(metric(p, "dram__bytes.sum.per_second"), "B/s"), "dram__bytes.sum.per_second",
   p => percent(metric(p, "dram__throughput.avg.pct_of_peak_sustained_elapsed")) + " of its peak"],
  ["Achieved occupancy", p => percent(metric(p, "sm__warps_active.avg.pct_of_peak_sustained_active")),
   "sm__warps_active.avg.pct_of_peak_sustained_active"],
  ["IPC of an SM", p => number(metric(p, "sm__inst_executed.avg.per_cycle_active")), "sm__inst_executed.avg.per_cycle_active"],
  ["Registers per thread", p => number(metric(p, "launch__registers_per_thread")), "launch__registers_per_thread"]
];

// Each headline: its words, its value, the metric, and what is said below it where that depends on the launch.

const limiterTitles = {
  launch: "The launch itself", dram: "DRAM bandwidth", l2: "L2 bandwidth", l2_fabric: "The ways between L2's partitions", network: "The way between SMs and L2",
  l1_data: "L1's data stage", l1_tag: "L1's tag stage", memory_unit: "The SM's memory unit", issue: "Issue slots",
  bank_conflicts: "Bank conflicts", small_grid: "Too small a grid", tail: "The last wave",
  shared_atomics: "Atomics in shared memory", l2_slice: "One slice of L2"
};
function limiterTitle(name) {
  if (limiterTitles[name]) return limiterTitles[name];
  if (name.startsWith("pipe_")) return "Pipe " + name.slice(5);
  if (name.startsWith("latency_")) return "Latency: " + name.slice(8);
  return name;
}
/** The sentence with what limits in bold: at its begin where the sentence names it there, else before it. */
function limiterSentence({ name, sentence }) {
  const title = limiterTitle(name);
  if (sentence.startsWith(title)) return [el("strong", null, title), sentence.slice(title.length)];
  return [el("strong", null, title + ". "), sentence];
}

/** The command that made the document, with gains. */
function commandWithGains(d) {
  const verb = d.command.findIndex(word => ["predict", "simulate", "run"].includes(word));
  if (verb < 0) return null;
  const words = d.command.filter((word, i) => i <= verb || word !== "--warm");
  return shellCommand([...words.slice(0, verb + 1), "--gains", ...words.slice(verb + 1)]);
}

function gainsOf({ prediction: p, document: d }) {
  const now = p.gains_base ?? metric(p, "gpc__cycles_elapsed.max");
  if (!p.gains) {
    const command = p.number === undefined || !data.documents[d].predictions.some(each => each.gains) ? commandWithGains(data.documents[d]) : null;
    return el("p", { class: "note" }, command === null ? "What lifting each limit would bring was not simulated." :
      ["What lifting each limit would bring was not simulated. To have it: ", el("code", null, command)]);
  }
  const rows = p.gains.map(g => ({ ...g, saved: 1 - g.cycles / now })).sort((x, y) => y.saved - x.saved);
  const worth = rows.filter(r => r.saved >= 0.005), rest = rows.filter(r => r.saved < 0.005);
  return el("div", null, el("h3", null, "Simulated again without one limit: the share of the cycles that it costs" + (p.gains_base ? ", with cold caches (" + number(now) + " cycles with all limits)" : "")),
    worth.length ? bars(worth.map(r => ({ label: r.words, share: r.saved, colour: "var(--good)",
      hint: r.key, text: (now / r.cycles).toFixed(2) + "x, " + number(r.cycles) + " cycles" }))) : null,
    rest.length ? el("p", { class: "note" }, "Nothing to gain (under 0.5%): " + rest.map(r => r.words).join("; ") + ".") : null);
}

function verdictSide(entry) {
  const p = entry.prediction;
  return el("div", null, el("h3", null, "What limits it"), el("p", { class: "sentence" },
      limiterSentence(p.limiter)),
    p.accuracy.sampled ? el("p", { class: "note" }, "Sampled: between " + number(p.accuracy.cycles_low) + " and " +
      number(p.accuracy.cycles_high) + " cycles; " + percent(p.accuracy.simulated_share * 100) + " simulated.") : null,
    p.accuracy.note ? el("p", { class: "note" }, p.accuracy.note) : null,
    el("div", { class: "tiles" }, headline.map(([name, text, key, below]) =>
      el("div", { class: "tile", title: key }, el("b", null, text(p)), el("span", null, name + (below ? ", " + below(p) : ""))))),
    gainsOf(entry));
}

/** A against B: the headline numbers in one table. */
function versus(a, b) {
  const rows = headline.map(([name, text, key]) => {
    const x = metric(a.prediction, key), y = metric(b.prediction, key);
    return [name, text(a.prediction), text(b.prediction), x && y ? "x " + (y / x).toFixed(3) : "n/a"];
  });
  const x = metric(a.prediction, "gpu__time_duration.sum"), y = metric(b.prediction, "gpu__time_duration.sum");
  const word = x && y ? (y < x ? "B is " + (x / y).toFixed(2) + " times as fast as A." :
    y > x ? "A is " + (y / x).toFixed(2) + " times as fast as B." : "Both take the same time.") : "";
  return el("div", null, el("p", { class: "sentence" }, word), table(["", "A", "B", "B over A"], rows));
}

function warpStates(entry, chooseStall) {
  const p = entry.prediction;
  const prefix = "smsp__average_warps_issue_stalled_", suffix = "_per_issue_active.ratio";
  const states = Object.keys(stateTexts).map(name => ({ name, value: metric(p, prefix + name + suffix) || 0 }))
    .filter(s => s.value > 0).sort((x, y) => y.value - x.value);
  const total = sum(states, s => s.value);
  if (total === 0) return el("p", { class: "note" }, "No warp ran.");
  return el("div", null, el("p", { class: "note" }, number(total) + " warp-cycles per issued instruction: each state's share, and its cycles. A state's name shows it in the source."),
    bars(states.map(s => ({ label: s.name, share: s.value / states[0].value, colour: stateColour(s.name),
      hint: "waiting for " + stateTexts[s.name], choose: () => chooseStall(s.name),
      text: percent(100 * s.value / total) + " · " + s.value.toFixed(2) }))));
}

function pipelines(entry) {
  const p = entry.prediction;
  const rows = Object.entries(p.metrics).filter(([name, value]) => name.startsWith("foretrace__pipe_") && value !== null)
    .map(([name, value]) => ({ label: "pipe " + name.slice("foretrace__pipe_".length, -4), value, name }));
  for (const [label, name] of [["issue slots", "foretrace__issue_share.pct"], ["memory unit input", "foretrace__memory_unit.pct"],
                               ["L1 data stage", "foretrace__l1_data.pct"], ["L1 tag stage", "foretrace__l1_tag.pct"]])
    rows.push({ label, value: metric(p, name) || 0, name });
  rows.sort((x, y) => y.value - x.value);
  return el("div", null, el("p", { class: "note" }, "Share of the launch's cycles in which each was taken."),
    bars(rows.filter(r => r.value >= 0.05).map(r => ({ label: r.label, share: r.value / 100, hint: r.name, text: percent(r.value),
      colour: r.value >= 60 ? "var(--warn)" : "var(--c1)" }))));
}

function assumptions(entry) {
  const { prediction: p, facts } = entry;
  const count = p.assumed_values + " of the configuration's values are assumed and " + (p.transferred_values ?? 0) +
    " were found on another chip.";
  if (!facts) return el("p", { class: "note" }, count + " The chip's configuration was not there when this page was written.");
  return el("div", null, el("p", null, facts.title + ": " + count),
    el("details", null, el("summary", null, "Each of them, with its range and source"),
      table(["Key", "Value", "Unit", "Kind", "Range", "Source"], facts.assumed.map(v =>
        [v.key, v.value, v.unit, v.kind, v.low === null ? "" : number(v.low) + " to " + number(v.high), v.source]))));
}

/** Where blocks and cycles went over the SMs, as far as the document says. */
function distribution(entry) {
  const p = entry.prediction, elapsed = metric(p, "gpc__cycles_elapsed.max");
  const most = metric(p, "sm__cycles_active.max"), mean = metric(p, "sm__cycles_active.avg");
  const rows = [["busiest SM active", most], ["mean SM active", mean],
                ["mean SM without a warp", metric(p, "foretrace__launch_cycles.avg")],
                ["no warp on any SM", metric(p, "foretrace__launch_cycles.min")]];
  return el("div", null, el("p", { class: "note" }, number(metric(p, "launch__grid_size")) + " blocks on " +
      number(metric(p, "launch__sm_count")) + " SMs, " + number(metric(p, "foretrace__blocks_per_sm")) + " at a time on each: " +
      number(metric(p, "launch__waves_per_multiprocessor")) + " waves."),
    bars(rows.filter(([, v]) => v !== null).map(([label, v]) => ({ label, share: v / elapsed, text: number(v) + " cycles" }))), smStrip(p));
}

function allMetrics(a, b) {
  const names = Object.keys(a.prediction.metrics);
  const filter = el("input", { type: "search", placeholder: "part of a name", "aria-label": "Show metrics whose name holds" });
  const rows = names.map(name => {
    const x = a.prediction.metrics[name], y = b ? b.prediction.metrics[name] : undefined;
    return el("tr", null, el("td", null, name), el("td", { class: "n" }, number(x)), b ? el("td", { class: "n" }, number(y ?? null)) : null,
      b ? el("td", { class: "n" }, x && y ? (y / x).toFixed(3) : "") : null);
  });
  filter.addEventListener("input", () => rows.forEach((row, i) => { row.hidden = !names[i].includes(filter.value.trim()); }));
  return el("details", null, el("summary", null, names.length + " metrics under Nsight Compute's names"), el("div", { class: "controls" }, filter),
    el("div", { class: "wide" }, el("table", null, el("thead", null, el("tr", null, el("th", null, "Metric"), el("th", { class: "n" }, b ? "A" : "Value"),
      b ? el("th", { class: "n" }, "B") : null, b ? el("th", { class: "n" }, "B over A") : null)), el("tbody", null, rows))));
}
