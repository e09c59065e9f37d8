"""The mapping file beside a world: what its records call otherwise, or show in another form.

A record shows an object's attributes and one-object functions under their own names, as they are.
Only what differs from that is written down, in ``mapping.toml``. Nothing here knows a game.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenworld.diagnostics import Diagnostic, Failure, read_source

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["MAPPING_FILE", "RecordMapping", "ShownAs", "mapping_beside", "read_mapping"]

MAPPING_FILE = "mapping.toml"
"""The name of a mapping file; it lies beside the world's file."""


@dataclass(frozen=True, slots=True)
class ShownAs:
    """How a property of the records is made, where it is not the fluent of its own name.

    Exactly one of: ``value`` (another fluent or derive of the object), ``items`` (a list of
    several), ``entries`` (a map: the values of these fluents of the object and a key, alone or as
    a list), ``constant`` (always this JSON value). ``keys`` names the enum or type that the keys of
    a map are of; ``having`` a truth of the object and a key that says which keys are shown (without
    it: those whose first value is not `none`). ``present`` and ``filled`` name truths of the
    object: without the one the property is missing, without the other it is null. ``nothing`` is
    shown for a `none` inside a list.
    """

    value: str | None = None
    items: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    keys: str | None = None
    having: str | None = None
    constant: Any = None
    present: str | None = None
    filled: str | None = None
    nothing: str | None = None


@dataclass(frozen=True, slots=True)
class RecordMapping:
    """The exceptions of one game.

    ``name``: the derive that gives an object's recorded name (without it: its printed name).
    ``label``: the text attribute that keeps a recorded name without its ``(ID: n)``. ``types``:
    recorded types by their name in the world. ``hidden``: fluents that no record shows.
    ``root``: the object that holds everything and that the records leave out. ``parts``: types
    whose contents are listed behind them and not named in ``contains``, with their number.
    ``properties``: by name, or ``Type.name`` where types differ in it.
    """

    game: str
    name: str | None = None
    label: str | None = None
    root: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    parts: Mapping[str, int] = field(default_factory=dict)
    properties: Mapping[str, ShownAs] = field(default_factory=dict)
    path: str = ""


@cache
def _adapter() -> TypeAdapter[RecordMapping]:
    from pydantic import ConfigDict, TypeAdapter, with_config

    strict = with_config(ConfigDict(extra="forbid"))
    strict(ShownAs)
    return TypeAdapter(strict(RecordMapping))


def read_mapping(path: Path) -> RecordMapping:
    """The mapping of a file; `Failure` (TW0001, TW0006) where there is none, or it is not one."""
    from pydantic import ValidationError

    source = read_source(path)
    try:
        found = {**tomllib.loads(source.text), "path": str(path)}
        return _adapter().validate_python(found)
    except tomllib.TOMLDecodeError as error:
        raise _unfit(path, f"it is no TOML ({error})") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise _unfit(path, f"at `{where}`: {first['msg'].lower()}") from None


def mapping_beside(world: Path) -> RecordMapping:
    """The mapping that lies beside a world's file."""
    return read_mapping(world.parent / MAPPING_FILE)


def _unfit(path: Path, why: str) -> Failure:
    message = f"`{path}` is no mapping of records: {why}."
    hint = "Write it as docs/textgames.md tells, under “The mapping file”."
    return Failure(Diagnostic("TW0006", message, hint=hint))
