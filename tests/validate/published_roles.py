"""A row that a configuration names as its source judges nothing.

Each document of validate/published says its role; a row of one that judges names what it is ("RRZE gpu-stream A100-40 scale"). A
configuration may not cite the same: a citation of the source that narrows itself to another chip, benchmark or kind is no conflict,
one that is as wide or wider is.
"""
import json
import pathlib
import re
import sys

REPOSITORY = pathlib.Path(sys.argv[1])


def words(text):
    return [word.strip(".,:;()") for word in text.split()]


def conflict(row, citation, vocabulary):
    """`citation`: source and remark, as a configuration has them. Other chips, kinds and benchmarks keep them apart."""
    row, cited = words(row), words(citation)
    if cited[0] != row[0] or (len(row) > 1 and row[1] not in cited):
        return False
    return all(word in row for word in cited if word in vocabulary)


def self_test():
    vocabulary = {"RRZE", "gpu-stream", "A100-40", "A100-80", "read", "scale"}
    row = "RRZE gpu-stream A100-40 scale"
    assert conflict(row, "RRZE gpu-stream A100-40 scale 88% of peak", vocabulary)
    assert conflict(row, "RRZE gpu-stream: all of it", vocabulary)
    assert not conflict(row, "RRZE gpu-stream A100-40 read 96% of peak", vocabulary)
    assert not conflict(row, "RRZE gpu-stream A100-80 scale", vocabulary)
    assert not conflict(row, "RRZE gpu-latency A100-40", vocabulary | {"gpu-latency"})
    assert not conflict(row, "JAR gpu-stream", vocabulary)
    assert conflict("LBM", "LBM 1304 GB/s", {"LBM"})


def main():
    self_test()
    rows, vocabulary, roles = [], set(), set()
    for path in sorted((REPOSITORY / "validate/published").glob("*.json")):
        document = json.loads(path.read_text())
        role = document.get("role")
        if role not in ("calibrates", "judges"):
            sys.exit(f"{path}: role {role!r}: expected calibrates or judges")
        roles.add(role)
        for launch in document["launches"]:
            vocabulary.update(words(launch["row"]))
            if role == "judges":
                rows.append((path.name, launch["name"], launch["row"]))
    if roles != {"calibrates", "judges"} or len(rows) < 20:
        sys.exit("validate/published: expected rows that calibrate and at least 20 that judge")
    wrong = []
    for path in sorted((REPOSITORY / "configs").rglob("*.toml")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for citation in re.findall(r"docs/sources\.md:([^;\"]+)", line):
                for document, name, row in rows:
                    if conflict(row, citation, vocabulary):
                        wrong.append(f"{path.relative_to(REPOSITORY)}:{number} rests on {row}, by which {document} judges ({name})")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(rows)} rows judge, and no configuration rests on one of them")


main()
