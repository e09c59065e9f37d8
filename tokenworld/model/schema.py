"""The border: the checked model as JSON, and JSON or TOML from outside as dataclasses.

pydantic is imported on first use, here and by `types.ByKind`: that takes 50 ms of CPU, more than
the checker may take (ADR 0003). So what every command reads has a reader of its own, which says
why.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tokenworld.model.program import Program

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
CLOSED = {"extra": "forbid"}
"""As ``__pydantic_config__`` of a dataclass: a key that is no field of it does not fit."""


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def program_to_json(program: Program) -> dict[str, Any]:
    """A program as JSON values; every node names its ``kind``."""
    found: dict[str, Any] = _adapter(Program).dump_python(program, mode="json")
    return found


def program_from_json(text: str | bytes) -> Program:
    """The program of a JSON text; raises pydantic's `ValidationError` where it is none."""
    found: Program = _adapter(Program).validate_json(text)
    return found


def program_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of a program."""
    return _adapter(Program).json_schema()


_WANTED = {
    "string_type": "is no text",
    "int_type": "is no whole number",
    "list_type": "is no list",
    "tuple_type": "is no list",
    "dict_type": "is no table of keys and values",
    "dataclass_type": "is no table of keys and values",
    "missing": "is missing",
    "unexpected_keyword_argument": "is no key that is known here",
}


def shaped(kind: type[T], found: object) -> T:
    """JSON or TOML values as a dataclass, whose fields and config say what must be there.

    Raises `ValueError` with the first thing that does not fit, as a clause.
    """
    from pydantic import ValidationError

    try:
        value: T = _adapter(cast(Hashable, kind)).validate_python(found)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(step) for step in first["loc"])
        wrong = _WANTED.get(first["type"]) or f"does not fit: {first['msg'].lower()}"
        raise ValueError(f"`{path}` {wrong}" if path else f"it {wrong}") from None
    return value
