"""Executes the code of a notebook in one namespace, as a kernel would: notebook.py FORETRACE REPOSITORY NOTEBOOK. Needs no Jupyter, but nvcc."""

import ast
import json
import os
import pathlib
import sys

FORETRACE, REPOSITORY, NOTEBOOK = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def main() -> None:
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(REPOSITORY / "python"))
    os.environ["FORETRACE"] = FORETRACE
    os.chdir(NOTEBOOK.parent)
    names = {"__name__": "__main__"}
    for number, cell in enumerate(json.loads(NOTEBOOK.read_text())["cells"]):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]), f"cell {number}")
        shown = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"cell {number}", "exec"), names)
        if shown is not None:  # what the notebook would show
            value = eval(compile(ast.Expression(shown.value), f"cell {number}", "eval"), names)
            if value is not None:
                assert not hasattr(value, "_repr_html_") or "<" in value._repr_html_(), f"cell {number} shows nothing"
    tiles = {chip: min(names["tiles"], key=lambda tile: names["found"][tile, chip].duration) for chip in names["chips"]}
    print(f"{NOTEBOOK.name}: {tiles}")


if __name__ == "__main__":
    main()
