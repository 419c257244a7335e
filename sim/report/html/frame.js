// What frames a page: light or dark, its sections with the contents above them, and the words at its foot.

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let own = null;
  const set = () => { document.documentElement.dataset.theme = own || (dark.matches ? "dark" : "light"); };
  dark.addEventListener("change", set);
  set();
  return el("button", { onclick: () => { own = document.documentElement.dataset.theme === "dark" ? "light" : "dark"; set(); } }, "Light or dark");
}

/** A section, and its name among the contents. */
function section(id, title, content, short) {
  document.getElementById("contents").append(el("a", { href: "#" + id }, short || title));
  document.getElementById("main").append(el("section", { id, "aria-labelledby": id + "-title" }, el("h2", { id: id + "-title" }, title), content));
}

/** Who predicted: `d` is the document; `words` and `more` stand behind it. */
function foot(d, words, ...more) {
  document.getElementById("foot").replaceChildren("Predicted by foretrace " + d.foretrace + (d.commit ? ", commit " + d.commit.slice(0, 12) : "") + ". " + words, ...more);
}
