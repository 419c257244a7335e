"""The schema can refuse: each change to a good document must be a fault. refuse_documents.py REPOSITORY DOCUMENT"""

import copy
import json
import pathlib
import sys

import jsonschema


def changes():
    def prediction(key, value):
        return lambda document: document["predictions"][0].__setitem__(key, value)

    yield "schema 3", lambda document: document.__setitem__("schema", 3)
    yield "no command", lambda document: document.pop("command")
    yield "unknown key", prediction("extra", 1)
    yield "simulated in another way", prediction("simulated", "guessed")
    yield "stream by name", prediction("stream", "main")
    yield "grid of two", prediction("grid", [1, 2])
    yield "hash cut short", prediction("code_sha256", "abc")
    yield "metric as text", lambda document: document["predictions"][0]["metrics"].__setitem__("dram__bytes_read.sum", "12")
    yield "metric missing", lambda document: document["predictions"][0]["metrics"].pop("dram__bytes_read.sum")
    yield "metric of no unit we know", lambda document: document["predictions"][0]["metrics"].__setitem__("Cycles", 1)
    yield "sentence without an end", lambda document: document["predictions"][0]["limiter"].__setitem__("sentence", "So")
    yield "state missing", lambda document: document["predictions"][0]["instructions"][0]["stalled"].pop("wait")
    yield "offset between instructions", lambda document: document["predictions"][0]["instructions"][0].__setitem__("offset", 8)


def main() -> int:
    schema = json.loads((pathlib.Path(sys.argv[1]) / "docs" / "json_schema.json").read_text())
    good = json.loads(pathlib.Path(sys.argv[2]).read_text())
    validator = jsonschema.Draft202012Validator(schema)
    if not validator.is_valid(good):
        print(f"{sys.argv[2]} does not fit the schema as it is")
        return 1
    missed = 0
    for name, change in changes():
        document = copy.deepcopy(good)
        change(document)
        if validator.is_valid(document):
            print(f"the schema accepts: {name}")
            missed += 1
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
