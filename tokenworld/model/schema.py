"""The checked model as JSON: the public contract of what a program is.

pydantic reads the node classes here, and only here: validating costs more than the checker may
take (ADR 0003), so it stands at the border and is imported on first use.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tokenworld.model.program import Program

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["program_from_json", "program_schema", "program_to_json"]


@cache
def _adapter() -> TypeAdapter[Program]:
    from pydantic import TypeAdapter

    return TypeAdapter(Program)


def program_to_json(program: Program) -> dict[str, Any]:
    """A program as JSON values; every node names its ``kind``."""
    found: dict[str, Any] = _adapter().dump_python(program, mode="json")
    return found


def program_from_json(text: str | bytes) -> Program:
    """The program of a JSON text; raises pydantic's `ValidationError` where it is none."""
    return _adapter().validate_json(text)


def program_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of a program."""
    return _adapter().json_schema()
