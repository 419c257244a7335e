// Resident warps over registers, shared memory and block size, with where the kernel stands today.

function occupancyChart(points, most, today, label, format) {
  const width = 400, height = 210, x0 = 40, x1 = 390, y0 = 165, y1 = 12;
  const lowest = points[0][0], highest = points[points.length - 1][0];
  const px = x => x0 + (x - lowest) / (highest - lowest) * (x1 - x0), py = w => y0 - w / most * (y0 - y1);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Resident warps over " + label });
  for (let i = 0; i <= 4; ++i) root.append(svg("line", { x1: x0, x2: x1, y1: py(most * i / 4), y2: py(most * i / 4), class: "grid" }),
    svg("text", { x: x0 - 5, y: py(most * i / 4) + 4, "font-size": 11, "text-anchor": "end", class: "faint" }, number(most * i / 4)));
  const step = 2 ** Math.round(Math.log2(highest / 4));
  for (let x = Math.ceil(lowest / step) * step; x <= highest * 1.01; x += step)
    root.append(svg("text", { x: px(Math.min(x, highest)), y: y0 + 16, "font-size": 11, "text-anchor": x >= highest * 0.97 ? "end" : "middle", class: "faint" }, format(Math.min(x, highest))));
  let path = "";
  points.forEach(([x, w], i) => { path += i === 0 ? `M${px(x)} ${py(w)}` : `H${px(x)}V${py(w)}`; });
  root.append(svg("path", { d: path, fill: "none", stroke: "var(--c1)", "stroke-width": 2 }));
  const near = points.reduce((best, q) => q[0] <= today || best === null ? q : best, null);
  const here = points.find(q => q[0] >= today) || near;
  root.append(svg("line", { x1: px(today), x2: px(today), y1: y0, y2: py(here[1]), stroke: "var(--warn)", "stroke-dasharray": "3 3" }),
    svg("circle", { cx: px(today), cy: py(here[1]), r: 6, fill: "var(--warn)", stroke: "var(--card)", "stroke-width": 2 }, svg("title", null, format(today) + ": " + here[1] + " warps")),
    svg("text", { x: (x0 + x1) / 2, y: height - 6, "font-size": 12, "text-anchor": "middle", class: "faint" }, label));
  return root;
}

function occupancySection(entry) {
  const { prediction: p, facts } = entry, m = name => metric(p, name);
  const limits = [["registers", "launch__occupancy_limit_registers"], ["shared memory", "launch__occupancy_limit_shared_mem"],
    ["warps", "launch__occupancy_limit_warps"], ["blocks", "launch__occupancy_limit_blocks"], ["barriers", "launch__occupancy_limit_barriers"]];
  const least = m("foretrace__blocks_per_sm");
  const intro = el("p", null, "Theoretical " + percent(m("sm__maximum_warps_per_active_cycle_pct")) + ", achieved " +
    percent(m("sm__warps_active.avg.pct_of_peak_sustained_active")) + ". Blocks per SM: " + number(least) + ", limited by " +
    (limits.filter(([, name]) => m(name) === least).map(([word]) => word).join(" and ") || "the grid") + ". " + (p.occupancy_next_step || ""));
  const text = table(["Resource", "Blocks per SM it allows"], limits.map(([word, name]) => [word, m(name)]));
  if (!facts) return el("div", null, intro, text);
  const o = facts.occupancy, kibibytes = x => x === 0 ? "0" : number(Math.round(x / 1024)) + " KiB";
  return el("div", null, intro, el("div", { style: "display:grid;grid-template-columns:repeat(auto-fit,minmax(270px,1fr));gap:14px" },
    occupancyChart(o.registers, o.max_warps, o.today.registers, "registers per thread", x => number(Math.round(x))),
    occupancyChart(o.shared, o.max_warps, o.today.shared, "shared memory per block", kibibytes),
    occupancyChart(o.block, o.max_warps, o.today.block, "threads per block", x => number(Math.round(x)))),
    el("p", { class: "note" }, "Warps per SM (of " + o.max_warps + ") over one resource, the others as they are; the mark is today's launch."), text);
}
