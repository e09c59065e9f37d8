"""The checked model as JSON: lossless, and the schema names every kind of node."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokenworld.model.schema import program_from_json, program_schema, program_to_json
from tokenworld.session import load_program

WORLDS = sorted((Path(__file__).parents[2] / "domains").glob("*/*.tw"))


@pytest.mark.parametrize("path", WORLDS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_program_survives_json(path: Path) -> None:
    program = load_program(path).program
    text = json.dumps(program_to_json(program))
    assert program_from_json(text) == program


def test_the_schema_covers_terms_and_effects() -> None:
    definitions = program_schema()["$defs"]
    assert {"Action", "Law", "Require", "Read", "Fold", "Chance", "World"} <= set(definitions)
    assert definitions["Read"]["properties"]["kind"]["const"] == "read"
