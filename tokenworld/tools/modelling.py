"""``tw model`` and ``tw schema``: the checked program for other programs."""

from __future__ import annotations

from tokenworld.model.schema import program_schema, program_to_json
from tokenworld.session.loading import load_program, split_target
from tokenworld.tools.output import EXIT_OK, Output

__all__ = ["model", "schema"]


def model(file: str, out: Output) -> int:
    """The checked model of a file; its errors if it is not sound."""
    loaded = load_program(split_target(file)[0])
    out.json({"schema_version": 1, "program": program_to_json(loaded.program)})
    return EXIT_OK


def schema(out: Output) -> int:
    """The JSON schema of what ``tw model`` prints under ``program``."""
    out.json(program_schema())
    return EXIT_OK
