// A whole program: where its time goes, which kernels take it, and when each launch ran.

/** A kernel's name with that of the operator that called it. */
const titleOf = row => row.kernel + (row.operator ? " [" + row.operator + "]" : "");

/** The program's launches, those that others stand for included: each with the entry whose sections show it. */
function launchesOf(document_) {
  const d = data.programs[document_], byNumber = new Map();
  entries.forEach((entry, i) => { if (entry.document === document_ && entry.prediction.number !== undefined) byNumber.set(entry.prediction.number, i); });
  const own = entries.map((entry, i) => ({ entry, i })).filter(({ entry }) => entry.document === document_).map(({ entry: { prediction: p }, i }) =>
    ({ number: p.number ?? i, kernel: titleOf(p), time: metric(p, "gpu__time_duration.sum") || 0, from: p.start_ns, to: p.end_ns, stream: p.stream ?? 0, device: p.device ?? 0,
       grid: p.grid, block: p.block, limiter: p.limiter.name, shows: i, by: null }));
  const others = (d.represented || []).map(r => ({ number: r.number, kernel: titleOf(r), time: r.duration_ns, from: r.start_ns, to: r.end_ns, stream: r.stream ?? 0, device: r.device ?? 0,
    grid: r.grid, block: r.block, limiter: null, shows: byNumber.get(r.by) ?? null, by: r.by }));
  return [...own, ...others].sort((a, b) => a.number - b.number);
}

const partTexts = [["kernels_ns", "kernels", "var(--c3)"], ["copies_ns", "copies and fills", "var(--c1)"], ["calls_ns", "the host's calls", "var(--c5)"],
                   ["host_ns", "the host's own work", "var(--c4)"], ["gaps_ns", "gaps", "var(--c8)"]];

/** What a time is made of, as one bar. */
function partsBar(words, parts) {
  const whole = Math.max(1e-9, sum(partTexts, ([key]) => parts[key] || 0));
  return el("div", null, el("h3", null, words + ": " + duration(whole)), el("div", { class: "stack" }, partTexts.map(([key, name, colour]) => parts[key] ?
      el("div", { style: "width:" + 100 * parts[key] / whole + "%;background:" + colour, title: name + ": " + duration(parts[key]) }) : null)),
    legend(partTexts.filter(([key]) => parts[key]).map(([key, name, colour]) => [colour, name + " " + duration(parts[key]) + ", " + percent(100 * parts[key] / whole)])));
}

const kernelColours = ["var(--c3)", "var(--c2)", "var(--c4)", "var(--c6)", "var(--c7)"];  // others: copies, calls

/** What limits most of the time of simulated launches, as the summary of run has it; null: none was simulated. */
function limiterOf(launches) {
  const times = new Map();
  for (const launch of launches.filter(each => each.limiter !== null)) times.set(launch.limiter, (times.get(launch.limiter) || 0) + launch.time);
  return [...times].sort(([a, time], [b, other]) => other - time || (a < b ? -1 : 1))[0]?.[0] ?? null;
}

/** Kernels by their share of the time, longest first. */
function kernelsOf(launches) {
  const all = new Map();
  for (const launch of launches) {
    if (!all.has(launch.kernel)) all.set(launch.kernel, { name: launch.kernel, launches: [], time: 0 });
    const kernel = all.get(launch.kernel);
    kernel.launches.push(launch);
    kernel.time += launch.time;
  }
  const kernels = [...all.values()].sort((a, b) => b.time - a.time);
  kernels.forEach((kernel, i) => {
    kernel.colour = kernelColours[i] || "var(--c8)";
    kernel.longest = kernel.launches.reduce((best, each) => each.time > best.time ? each : best);
    kernel.limiter = limiterOf(kernel.launches);
    kernel.shown = kernel.launches.filter(each => each.by === null).reduce((best, each) => best === null || each.time > best.time ? each : best, null) || kernel.longest;
  });
  return kernels;
}

function kernelTable(kernels, choose) {
  const whole = Math.max(1e-9, sum(kernels, kernel => kernel.time));
  const head = ["Kernel", "Share", "", "Launches", "Time", "Mean", "Longest", "What limits it"];
  return el("div", { class: "wide" }, el("table", { class: "kernels" }, el("thead", null, el("tr", null, head.map((text, i) => el("th", { class: [1, 3, 4, 5, 6].includes(i) ? "n" : null, scope: "col" }, text)))),
    el("tbody", null, kernels.slice(0, 40).map(kernel => el("tr", null,
      el("td", { class: "name", title: kernel.name }, kernel.shown.shows === null ? kernel.name : el("button", { onclick: () => choose(kernel.shown.shows), title: kernel.name + "\nA click shows its longest simulated launch below" },
        kernel.name.replaceAll("(anonymous namespace)::", "").replace(/^([A-Za-z_]\w*::)+/, ""))),
      el("td", { class: "n" }, percent(100 * kernel.time / whole)),
      el("td", { class: "share" }, el("div", { class: "track" }, el("div", { class: "fill", style: `width:${100 * kernel.time / whole}%;background:${kernel.colour}` }))),
      el("td", { class: "n" }, number(kernel.launches.length)), el("td", { class: "n" }, duration(kernel.time)), el("td", { class: "n" }, duration(kernel.time / kernel.launches.length)),
      el("td", { class: "n" }, duration(kernel.longest.time)), el("td", null, kernel.limiter === null ? "" : limiterTitle(kernel.limiter)))))),
    kernels.length > 40 ? el("p", { class: "note" }, "The 40 longest of " + kernels.length + " kernels.") : null);
}

/** A kernel's or an operator's name as there is room for it: without namespaces, what it was made from, and its kind. */
function shortName(name) {
  const plain = name.replace(/ \[.*$/, "").replaceAll("(anonymous namespace)::", "").replace(/^operator\//, "");
  const end = plain.search(/[<(]/), whole = end > 0 ? plain.slice(0, end) : plain;
  return name.startsWith("operator/") ? whole : whole.slice(whole.lastIndexOf("::") < 0 ? 0 : whole.lastIndexOf("::") + 2);
}

const rowTitles = { calls: name => name + ", calls", ranges: name => name + ", ranges", gpu: name => name, engine: name => "engine " + name };
const rowFills = { calls: "var(--c5)", ranges: "var(--soft)", gpu: "var(--c1)", engine: "var(--c1)" };

/** Rows of the time line: what --perfetto wrote, or a row of launches per stream of each GPU. */
function timeRows(launches, trace) {
  if (trace) {
    const byNumber = new Map(launches.map(launch => [launch.number, launch]));
    return trace.rows.map(row => ({ title: rowTitles[row.group](row.name), fill: rowFills[row.group], border: row.group === "ranges", spans: row.spans.map(([from, length, name, launch]) =>
      ({ from, to: from + length, name: trace.names[name], launch: byNumber.get(launch) ?? null })) }));
  }
  const placed = launches.filter(launch => launch.from !== undefined && launch.from !== null);
  const keyOf = launch => launch.device + "." + launch.stream, several = new Set(placed.map(launch => launch.device)).size > 1;
  const keys = [...new Map(placed.map(launch => [keyOf(launch), launch])).values()].sort((a, b) => a.device - b.device || a.stream - b.stream);
  return keys.map(key => ({ title: (several ? "GPU " + key.device + ", " : "") + (key.stream === 0 ? "default stream" : "stream " + key.stream), fill: "var(--c8)",
    spans: placed.filter(launch => keyOf(launch) === keyOf(key)).map(launch => ({ from: launch.from, to: launch.to, name: launch.kernel, launch })) }));
}

/** The program's time line: calls and ranges of host threads, streams with their launches, copy engines. */
function lanes(launches, kernels, choose, trace) {
  const rows = timeRows(launches, trace);
  if (rows.length === 0) return null;
  const first = 0, last = Math.max(...rows.map(row => row.spans.reduce((most, span) => Math.max(most, span.to), 0))), width = 1180, labels = 150, top = 22, lane = 24;
  const height = top + rows.length * lane + 6;
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, style: "min-width:900px", tabindex: 0, role: "group",
    "aria-label": "The program's time: plus and minus zoom, the arrow keys move, 0 shows all; Tab goes to a launch, the arrow keys to the next, Enter shows it" });
  // One launch is a stop of the Tab key; the arrow keys go on from it, along its lane or to the nearest of the next.
  function next(box, key) {
    const boxes = [...root.querySelectorAll("rect.launch")], here = boxes.indexOf(box), y = each => Number(each.getAttribute("y")), x = each => Number(each.getAttribute("x"));
    if (key === "ArrowRight" || key === "ArrowLeft") {
      const other = boxes[here + (key === "ArrowRight" ? 1 : -1)];
      return other && y(other) === y(box) ? other : null;
    }
    const further = boxes.filter(each => key === "ArrowDown" ? y(each) > y(box) : y(each) < y(box));
    const nearest = (a, b) => Math.abs(y(a) - y(box)) - Math.abs(y(b) - y(box)) || Math.abs(x(a) - x(box)) - Math.abs(x(b) - x(box));
    return further.sort(nearest)[0] ?? null;
  }
  function canBeChosen(box, launch) {
    build(box, { class: "launch", role: "button", "data-key": launch.number, tabindex: launch === stop ? 0 : -1, style: "cursor:pointer",
      "aria-label": "Launch " + launch.number + ", " + launch.kernel + ", " + duration(launch.time), onclick: () => choose(launch.shows),
      onkeydown: event => {
        const arrow = event.key.startsWith("Arrow");
        if (!arrow && event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault(); event.stopPropagation();
        if (!arrow) { choose(launch.shows); return; }
        const other = next(box, event.key);
        if (!other) return;
        box.setAttribute("tabindex", "-1"); other.setAttribute("tabindex", "0"); other.focus();
      },
      onfocus: () => { stop = launch; } }, []);
  }
  let stop = rows.flatMap(row => row.spans).find(span => span.launch && span.launch.shows !== null)?.launch;
  const colourOf = new Map(kernels.map(kernel => [kernel.name, kernel.colour]));
  function boxOf(row, span, a, b, y) {
    const launch = span.launch, box = svg("rect", { x: a, y: y + 3, width: Math.max(1, b - a), height: lane - 8, fill: launch ? colourOf.get(launch.kernel) || "var(--c8)" : row.fill,
      stroke: row.border ? "var(--c8)" : null, opacity: launch && launch.by !== null ? 0.55 : 1 },
    svg("title", null, (launch ? "#" + launch.number + " " + launch.kernel : span.name) + "\n" + duration(span.from) + " to " + duration(span.to) + ": " + duration(span.to - span.from) +
      (launch ? "\n" + duration(launch.time) + " alone" : "") + (launch && launch.by !== null ? "\nas launch #" + launch.by : "")));
    if (launch && launch.shows !== null) canBeChosen(box, launch);
    return box;
  }
  const zoomed = zoomable(root, { first, last, least: 100, labels, width }, (from, to) => {
    const at = time => labels + (time - from) / (to - from) * (width - labels - 8), parts = [], step = niceStep(to - from, 8);
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) parts.push(svg("line", { x1: at(t), x2: at(t), y1: top - 4, y2: height, class: "grid" }),
      svg("text", { x: at(t), y: 12, "font-size": 11, "text-anchor": at(t) > width - 40 ? "end" : "middle", class: "faint" }, t === 0 ? "0" : duration(t)));
    rows.forEach((row, i) => {
      const y = top + i * lane;
      parts.push(svg("text", { x: 4, y: y + 15, "font-size": 12, class: "faint" }, row.title), svg("line", { x1: labels, x2: width - 8, y1: y + lane - 1, y2: y + lane - 1, class: "grid" }));
      let drawn = -1;
      for (const span of row.spans) {
        const a = Math.max(labels, at(span.from)), b = Math.min(width - 8, at(span.to));
        if (b < labels || a > width - 8 || b < drawn + 0.3) continue;  // what a pixel cannot tell apart is one
        drawn = b;
        const text = shortName(span.name);
        parts.push(boxOf(row, span, a, b, y));
        if (b - a > 6.6 * text.length) parts.push(svg("text", { x: (a + b) / 2, y: y + 15, "font-size": 11, "text-anchor": "middle", style: (row.border ? "" : "fill:var(--card);") + "pointer-events:none" }, text));
      }
    });
    const boxes = parts.filter(part => part.classList.contains("launch"));
    if (boxes.length && !boxes.some(box => box.tabIndex === 0)) boxes[0].setAttribute("tabindex", "0");
    return parts;
  });
  const named = kernels.slice(0, kernelColours.length).map(kernel => [kernel.colour, shortName(kernel.name) + (kernel.name.match(/ \[.*$/)?.[0] ?? "")]);
  return el("div", null, el("h3", null, trace ? "The program's time line" : "Launches over the program's time"), zoomed.controls, el("div", { class: "lanes" }, root),
    legend(named.concat(kernels.length > kernelColours.length ? [["var(--c8)", "other kernels"]] : [], trace ? [["var(--c1)", "copies and fills"], ["var(--c5)", "the host's calls"]] : [])),
    el("p", { class: "note" }, "A click on a launch, or Enter, shows it below." + (launches.some(launch => launch.by !== null) ? " Pale launches have the time of others that are like them." : "") + (trace ? "" : " Copies, calls and ranges are shown too where foretrace run --html has --perfetto FILE, which is for ui.perfetto.dev as well.")));
}

function programSection(document_, choose) {
  const program = data.programs[document_]?.program;
  if (!program) return null;
  const launches = launchesOf(document_), kernels = kernelsOf(launches), line = program.time_line;
  const tiles = [["Program", line ? duration(line.duration_ns) : "n/a"], ["Kernels, each alone", duration(program.duration_ns)], ["Launches", number(program.launches)],
                 ["Simulated", number(program.simulated)], ["Kernels", number(kernels.length)], ["Faults", number(program.faults)]];
  const between = program.duration_low_ns < program.duration_high_ns ? el("p", { class: "note" }, "Kernels between " + duration(program.duration_low_ns) + " and " + duration(program.duration_high_ns) +
    " in nine cases of ten: " + number(program.represented) + " launches have the time of others that are like them.") : null;
  return el("div", null, el("div", { class: "tiles" }, tiles.map(([name, text]) => el("div", { class: "tile" }, el("b", null, text), el("span", null, name)))), between,
    line ? partsBar("What the time line is made of, with " + line.host_title, line.time) : null, line ? partsBar("What its critical path is made of", line.critical_path) : null,
    lanes(launches, kernels, choose, data.traces[document_]), el("h3", null, "Kernels by their time"), kernelTable(kernels, choose));
}
