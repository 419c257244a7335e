// Elements, numbers and the data that all sections share.

const data = JSON.parse(document.getElementById("data").textContent);

function build(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}
const el = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** 12345.678 -> "12,346"; small numbers keep three digits. */
function number(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "n/a";
  const size = Math.abs(x);
  if (Number.isInteger(x) || size >= 1000) return Math.round(x).toLocaleString("en-US");
  return size >= 100 ? x.toFixed(0) : size >= 10 ? x.toFixed(1) : x.toPrecision(3).replace(/\.?0+$/, "");
}
const percent = x => x === null || x === undefined ? "n/a" : (x >= 99.95 ? "100" : x.toFixed(x < 10 ? 1 : 0)) + "%";

/** With a prefix: quantity(3.3e12, "B/s") -> "3.3 TB/s". */
function quantity(x, unit) {
  if (x === null || x === undefined) return "n/a";
  let i = 0;
  const prefixes = ["", "K", "M", "G", "T", "P"];
  while (Math.abs(x) >= 1000 && i < prefixes.length - 1) { x /= 1000; ++i; }
  return number(Number(x.toPrecision(3))) + " " + prefixes[i] + unit;
}
/** counted(32768, "loads") -> "32.8K loads" */
const counted = (x, word) => quantity(x, "").replace(/ (\w?)$/, "$1") + " " + word;
function duration(ns) {
  if (ns === null) return "n/a";
  const units = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];
  const [name, scale] = units.find(([, s]) => ns >= s) || units[3];
  return number(ns / scale) + " " + name;
}
/** A metric by its name; null: the document has none. */
const metric = (p, name) => p.metrics[name] ?? null;
const seconds = p => (metric(p, "gpu__time_duration.sum") || 0) * 1e-9;
/** A command as a shell takes it. */
const shellCommand = words => words.map(word => /^[\w@%+=:,.\/^-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'").join(" ");
const baseName = file => file === null ? "" : file.slice(file.lastIndexOf("/") + 1);
const sum = (list, of) => list.reduce((all, each) => all + of(each), 0);

/**
 * What zooms and moves `root`, whose axis goes from `first` to `last` right of `labels`, down to `least` of it; draw(from, to) gives its children.
 * Wheel, drag, keys, and the buttons that are returned as `controls`.
 */
function zoomable(root, { first, last, least, labels, width }, children) {
  let from = first, to = last;
  // What had the focus has it again when it is drawn anew.
  const draw = () => {
    const held = root.contains(document.activeElement) ? document.activeElement : null, key = held?.getAttribute("data-key");
    root.replaceChildren(...children(from, to).filter(Boolean));
    if (held && held !== root) (root.querySelector(`[data-key="${key}"]`) || root).focus();
  };
  function zoom(factor, centre) {
    const span = Math.max(least, Math.min(last - first, (to - from) * factor)), share = (centre - from) / (to - from);
    from = Math.max(first, Math.min(last - span, centre - share * span)); to = from + span;
    draw();
  }
  const shift = by => { const w = to - from; from = Math.max(first, Math.min(last - w, from + by * w)); to = from + w; draw(); };
  const all = () => { from = first; to = last; draw(); }, middle = () => (from + to) / 2;
  root.addEventListener("wheel", event => { if (!event.ctrlKey && !event.shiftKey) return; event.preventDefault();
    const box = root.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * width;
    zoom(event.deltaY > 0 ? 1.3 : 1 / 1.3, from + Math.max(0, (x - labels) / (width - labels - 8)) * (to - from)); }, { passive: false });
  let held = null;
  root.addEventListener("pointerdown", event => { held = event.clientX; });
  root.addEventListener("pointermove", event => { if (held === null || event.clientX === held) return;
    if (event.buttons === 0) { held = null; return; }
    root.setPointerCapture(event.pointerId); shift(-(event.clientX - held) / root.getBoundingClientRect().width); held = event.clientX; });
  root.addEventListener("pointerup", () => { held = null; });
  root.addEventListener("keydown", event => {
    const act = { "+": () => zoom(1 / 1.5, middle()), "=": () => zoom(1 / 1.5, middle()), "-": () => zoom(1.5, middle()),
      ArrowLeft: () => shift(-0.2), ArrowRight: () => shift(0.2), 0: all }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  draw();
  const button = (text, act) => el("button", { onclick: act }, text);
  return { controls: el("div", { class: "controls" }, button("Zoom in", () => zoom(1 / 1.5, middle())), button("Zoom out", () => zoom(1.5, middle())), button("All", all),
    el("span", { class: "note" }, "Ctrl and the wheel zoom, dragging moves; with the focus here + - 0 and the arrow keys do.")) };
}

/** A step of 1, 2 or 5 times a power of ten that divides `whole` in at most `parts`. */
function niceStep(whole, parts) {
  const base = 10 ** Math.floor(Math.log10(Math.max(1, whole / parts)));
  return [1, 2, 5, 10].map(f => f * base).find(s => whole / s <= parts) || 10 * base;
}

const legend = items => el("div", { class: "legend" }, items.map(([colour, text]) => el("span", null, el("i", { style: "background:" + colour }), text)));

/** Rows of label, bar and value. rows: [{ label, share (0..1), text, colour, hint, choose }] */
function bars(rows) {
  return el("div", { class: "bars" }, rows.map(row => [
    row.choose ? el("button", { onclick: row.choose, title: row.hint }, row.label)
               : el("span", { title: row.hint }, row.label),
    el("div", { class: "track" }, el("div", { class: "fill",
      style: "width:" + Math.max(0, Math.min(1, row.share)) * 100 + "%;background:" + (row.colour || "var(--c1)") })),
    el("span", { class: "v" }, row.text)]));
}

/** A table of plain cells; numbers to the right. head: [name...], rows: [[cell...]...] */
function table(head, rows) {
  const numeric = head.map((_, i) => rows.length > 0 && rows.every(row => typeof row[i] === "number" || row[i] === "n/a"));
  const cell = (tag, content, i) => el(tag, { class: numeric[i] ? "n" : null, scope: tag === "th" ? "col" : null },
    typeof content === "number" ? number(content) : content);
  return el("div", { class: "wide" }, el("table", null, el("thead", null, el("tr", null, head.map((h, i) => cell("th", h, i)))),
    el("tbody", null, rows.map(row => el("tr", null, row.map((c, i) => cell("td", c, i)))))));
}

const stateTexts = {
  barrier: "the other warps of their block at a barrier", branch_resolving: "a branch's target",
  dispatch_stall: "the dispatch port", drain: "their last stores to leave the SM",
  gmma: "asynchronous matrix operations", imc_miss: "a constant that was not cached",
  lg_throttle: "room in the queue of local and global accesses", long_scoreboard: "data from L1, L2 or DRAM",
  math_pipe_throttle: "a busy arithmetic pipe", membar: "a memory fence",
  mio_throttle: "room in the queue of shared-memory and special instructions", misc: "something else",
  no_instruction: "instructions that were not in the cache", not_selected: "their turn: another warp was selected",
  selected: "nothing: they issue", short_scoreboard: "results from shared memory or a special pipe",
  sleeping: "the end of a sleep", tex_throttle: "room in the texture queue",
  wait: "results of fixed-latency instructions"
};
const stateColours = {
  long_scoreboard: "var(--c1)", short_scoreboard: "var(--c7)", mio_throttle: "var(--c2)", lg_throttle: "var(--c5)",
  barrier: "var(--c4)", math_pipe_throttle: "var(--c6)", selected: "var(--c3)", wait: "var(--c8)"
};
const stateColour = state => stateColours[state] || "var(--c8)";
