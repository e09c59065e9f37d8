"""The border: the checked model as JSON, and JSON or TOML from outside as dataclasses.

pydantic is imported on first use, here and by `types.ByKind`: that takes 50 ms of CPU, more than
the checker may take (ADR 0003). So files that every command reads have a hand-written reader, whose
errors give the reason.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cache
from itertools import chain
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


def names_of(kind: Any) -> set[str]:
    """All names of fields in a dataclass and in those that it holds."""
    return set(_names_in(_adapter(kind).json_schema()))


def _names_in(schema: object) -> Iterator[str]:
    if isinstance(schema, list):
        yield from chain.from_iterable(map(_names_in, schema))
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        yield from chain.from_iterable(map(_names_in, schema.values()))


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


class Misfit(ValueError):
    """The first part of a value that does not fit: a clause, with the keys that lead to it."""

    def __init__(self, clause: str, path: tuple[str, ...], *, unknown: bool = False) -> None:
        super().__init__(clause)
        self.path, self.unknown = path, unknown


def shaped(kind: type[T], found: object) -> T:
    """Read JSON or TOML values as a dataclass; its fields and config define the allowed form.

    Raises `Misfit`, a `ValueError`, with the first part that does not fit.
    """
    from pydantic import ValidationError

    try:
        value: T = _adapter(cast(Hashable, kind)).validate_python(found)
    except ValidationError as error:
        first = error.errors()[0]
        path = tuple(str(step) for step in first["loc"])
        wrong = _WANTED.get(first["type"]) or f"does not fit: {first['msg'].lower()}"
        clause = f"`{'.'.join(path)}` {wrong}" if path else f"it {wrong}"
        raise Misfit(clause, path, unknown=first["type"] == _UNKNOWN) from None
    return value


_UNKNOWN = "unexpected_keyword_argument"
