"""Learned rules as JSON, to be kept in a journal."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from tokenworld.ground import Json
from tokenworld.verbs.learn.propose.covering import Rule, Rules
from tokenworld.verbs.learn.propose.templates import Template
from tokenworld.verbs.learn.propose.terms import Exists, Predicate, Term

_CLASSES: Final = {one.__name__: one for one in (Rules, Rule, Template, Predicate, Exists, Term)}


def packed(found: Any) -> Json:
    """Return rules, or a part of them, as JSON: an object of a class as a list with its name, a
    tuple as one without."""
    if type(found) in _CLASSES.values():
        parts = (packed(getattr(found, one.name)) for one in fields(found))
        return [type(found).__name__, *parts]
    if isinstance(found, tuple):
        return ["", *map(packed, found)]
    assert found is None or isinstance(found, (bool, int, float, str))
    return found


def unpacked(shown: Json) -> Any:
    """Return the value that `packed` wrote."""
    if not isinstance(shown, list):
        return shown
    name, *parts = shown
    values = map(unpacked, parts)
    return tuple(values) if name == "" else _CLASSES[str(name)](*values)
