"""Shared code of the tests of the syntax tree: walks, and comparison without places."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Source
from tokenworld.syntax import parse_source
from tokenworld.syntax.nodes import File, Node

TEXTS = Path(__file__).parent / "texts"
_ROOT = Path(__file__).parents[2]


def programs() -> list[Path]:
    """All complete programs: the fixtures, the worlds, and the design's examples."""
    folders = [TEXTS, _ROOT / "domains", _ROOT / "rules", _ROOT.parent / "shared/design/examples"]
    return sorted(path for folder in folders if folder.is_dir() for path in folder.rglob("*.tw"))


def parse(text: str) -> File:
    """The file of a text without mistakes."""
    file, problems = parse_source(Source("t.tw", None, text))
    assert problems == ()
    return file


def problems(text: str) -> tuple[Diagnostic, ...]:
    """The diagnostics of a text."""
    return parse_source(Source("t.tw", None, text))[1]


def walk(value: object) -> Iterator[Node]:
    """All nodes of a tree, parents first."""
    if isinstance(value, tuple):
        for part in value:
            yield from walk(part)
    elif isinstance(value, Node):
        yield value
        for field in dataclasses.fields(value):
            yield from walk(getattr(value, field.name))


def bare(value: object) -> object:
    """A tree as nested tuples without spans and without the way names are quoted."""
    if isinstance(value, tuple):
        return tuple(bare(part) for part in value)
    if not isinstance(value, Node):
        return value
    kept = [f.name for f in dataclasses.fields(value) if f.name not in ("span", "raw")]
    return (type(value).__name__, *(bare(getattr(value, name)) for name in kept))
