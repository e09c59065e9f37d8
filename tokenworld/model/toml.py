"""TOML files from outside as dataclasses: every fault is told at its line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TypeVar

from tokenworld.diagnostics import Diagnostic, Failure, Source, Span, did_you_mean, read_source
from tokenworld.model.schema import Misfit, names_of, shaped

T = TypeVar("T")


def read_toml(kind: type[T], path: Path, message: str, hint: str, /, **given: object) -> T:
    """A TOML file as a dataclass, which gets ``given`` as well.

    Raises `Failure`: TW0001 without the file, TW0006 at the line that does not fit, with
    ``message``, a clause about the fault, and ``hint`` or the key that is most like an unknown one.
    """
    source = read_source(path)
    try:
        found = {**tomllib.loads(source.text), **given}
        return shaped(kind, found)
    except Misfit as misfit:
        place, why = _place_of(source, misfit.path), str(misfit)
        if misfit.unknown:
            hint = did_you_mean(misfit.path[-1], sorted(names_of(kind))) or hint
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place, why = _place_in(source, str(error)), f"it is no TOML ({error})"
    raise Failure(Diagnostic("TW0006", f"{message}: {why}.", place, hint=hint))


def _place_in(source: Source, error: str) -> Span:
    """The place that a message of the parser names: `at line 8, column 6`, or `at end of …`."""
    found = re.search(r"line (\d+), column (\d+)", error)
    if found is None:
        return source.span(len(source.text), len(source.text))
    lines = source.text.split("\n")[: int(found[1]) - 1]
    at = sum(len(line) + 1 for line in lines) + int(found[2]) - 1
    return source.span(at, min(at + 1, len(source.text)))


_TABLE = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]")
_KEY = re.compile(r"""\s*([\w."'-]+)\s*=""")


def _place_of(source: Source, path: tuple[str, ...]) -> Span:
    """The key or table of a file that leads furthest along a path; else the start of the file."""
    best, place, at = 0, source.span(0, 0), 0
    table: tuple[str, ...] = ()
    for line in source.text.split("\n"):
        if header := _TABLE.match(line):
            named = table = _parts(header[1])
        elif header := _KEY.match(line):
            named = (*table, *_parts(header[1]))
        if header and named == path[: len(named)] and len(named) > best:
            best, place = len(named), source.span(at + header.start(1), at + header.end(1))
        at += len(line) + 1
    return place


def _parts(key: str) -> tuple[str, ...]:
    return tuple(part.strip(" \"'") for part in key.split("."))
