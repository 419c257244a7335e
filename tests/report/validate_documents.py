"""Checks JSON documents against their schema: validate_documents.py REPOSITORY FILE_OR_DIRECTORY...

A document with "predictions" is held against docs/json_schema.json, one with "against" against docs/comparison_schema.json,
one with "rows" against docs/validation_schema.json, and one with "frozen_metrics" against docs/frozen_schema.json.
Fails when a document does not fit, is of neither kind, or when there is none at all.
"""

import json
import pathlib
import sys

import jsonschema


def main() -> int:
    repository = pathlib.Path(sys.argv[1])
    validators = {}
    for key, name in (("predictions", "json_schema.json"), ("against", "comparison_schema.json"),
                      ("rows", "validation_schema.json"), ("frozen_metrics", "frozen_schema.json")):
        schema = json.loads((repository / "docs" / name).read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        validators[key] = jsonschema.Draft202012Validator(schema)
    files = []
    for argument in map(pathlib.Path, sys.argv[2:]):
        files += sorted(argument.glob("*.json")) if argument.is_dir() else [argument]
    faults = 0
    for file in files:
        try:
            document = json.loads(file.read_text())
        except (OSError, ValueError) as error:
            print(f"{file}: {error}")
            faults += 1
            continue
        kinds = [key for key in validators if key in document]
        if len(kinds) != 1:
            print(f"{file}: neither a result, a comparison, a validation nor frozen predictions")
            faults += 1
            continue
        for error in validators[kinds[0]].iter_errors(document):
            print(f"{file}: {error.json_path}: {error.message[:300]}")
            faults += 1
    print(f"{len(files)} documents, {faults} faults")
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
