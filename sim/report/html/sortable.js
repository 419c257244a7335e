// Tables whose columns sort: a click on a column's title, or Enter with the focus on it.

/** How two cells stand to each other; what is not there stands last whichever way the column is sorted. */
function inOrder(x, y, falling) {
  const none = value => value === null || value === undefined || Number.isNaN(value);
  if (none(x) || none(y)) return none(x) - none(y);
  const before = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
  return falling ? -before : before;
}

/**
 * columns: [{ title, of: row => what it is sorted by, show: row => what stands in the cell (of()'s value without it), n: whether numbers, hint }].
 * `by`: the column that it is sorted by at first, `falling`: from the highest down; without `by`, in the order of the rows. `name`: row => the id of its tr.
 * Gives { element, show(kept) }: only the rows that kept(row) wants are shown.
 */
function sortable(label, columns, rows, { by = null, falling = false, name = () => null } = {}) {
  const body = el("tbody");
  const shown = rows.map((row, i) => ({ row, i, tr: el("tr", { id: name(row) }, columns.map(column =>
    el("td", { class: column.n ? "n" : null }, column.show ? column.show(row) : column.n ? number(column.of(row)) : column.of(row)))) }));
  const heads = columns.map((column, c) => el("th", { class: column.n ? "n" : null, scope: "col", title: column.hint },
    el("button", { onclick: () => sort(c, by === c ? !falling : column.n === true) }, column.title)));
  let kept = () => true;
  const draw = () => body.replaceChildren(...shown.filter(each => kept(each.row)).map(each => each.tr));
  function sort(c, down) {
    by = c; falling = down;
    shown.sort((a, b) => (c === null ? 0 : inOrder(columns[c].of(a.row), columns[c].of(b.row), falling)) || a.i - b.i);
    heads.forEach((head, i) => i === c ? head.setAttribute("aria-sort", falling ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
    draw();
  }
  sort(by, falling);
  const element = el("div", { class: "lanes", tabindex: 0, role: "region", "aria-label": label },
    el("table", { class: "measured sortable" }, el("thead", null, el("tr", null, heads)), body));
  return { element, show: wanted => { kept = wanted; draw(); } };
}
