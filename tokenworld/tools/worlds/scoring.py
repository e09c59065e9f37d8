"""Is a predicted state the recorded one? Twice: as the paper asks, and strictly.

**The paper's scorer** (Wang et al. 2024, `evaluate` of the published code) looks, for every object
of the target, at the object of the same ``uuid``: each property of the target must be equal, and
the names in ``contains`` as a sorted list. It does not look at objects and properties that are in
the prediction alone, at names and types, at the order of contents and objects, nor at the counter
of numbers. **Strict** looks at all of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Difference", "Objects", "published", "same_score", "strict", "unequal"]

Objects = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing of a state that is otherwise than recorded.

    ``what`` is a property, or a part of the object (``contains``, ``name``, ``type``), or empty for
    the object as a whole; ``uuid`` is ``None`` where the state as a whole is meant.
    """

    uuid: int | None
    name: str
    what: str
    wanted: Any
    found: Any


def same(one: object, other: object) -> bool:
    """Equal JSON values: numbers by value, truths only with truths, maps in any order."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def _by_uuid(objects: Objects) -> dict[object, Mapping[str, Any]]:
    return {one["uuid"]: one for one in objects if "uuid" in one}


# ---- the paper's scorer ---------------------------------------------------------------------


def published(found: Objects, wanted: Objects) -> bool:
    """Whether the paper's scorer finds no error; a malformed prediction is an error."""
    if found is wanted:
        return True
    try:
        known = _by_uuid(found)
        return all(_passes(known.get(one["uuid"]), one) for one in wanted)
    except (TypeError, KeyError, AttributeError):
        return False


def _passes(found: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> bool:
    if found is None or "properties" not in found or "contains" not in found:
        return False
    held = found["properties"]
    for key, value in wanted["properties"].items():
        if key not in held or held[key] != value:
            return False
    return sorted(found["contains"]) == sorted(wanted["contains"])


def same_score(found: Mapping[str, Any], wanted: Mapping[str, Any], *, strictly: bool) -> bool:
    """Whether score, over and won are as recorded; strictly, a truth is no number."""
    if found is wanted:
        return True
    if len(found) != len(wanted):
        return False
    for key, value in wanted.items():
        if key not in found or found[key] != value or (strictly and not same(found[key], value)):
            return False
    return True


# ---- strict -----------------------------------------------------------------------------------


def strict(found: Objects, next_id: int | None, wanted: Objects, wanted_id: int) -> bool:
    """Whether nothing at all differs. A prediction without a counter is not asked for it."""
    if found is wanted:
        return next_id is None or next_id == wanted_id
    return next(unequal(found, next_id, wanted, wanted_id), None) is None


def unequal(
    found: Objects, next_id: int | None, wanted: Objects, wanted_id: int
) -> Iterator[Difference]:
    """What differs, object by object in recorded order, then what is too much, then the order."""
    known, listed = _by_uuid(found), {one["uuid"] for one in wanted}
    for one in wanted:
        other = known.get(one["uuid"])
        if other is None:
            yield Difference(one["uuid"], one["name"], "", "is there", "is missing")
        elif other is not one:
            yield from _unequal(other, one)
    for other in found:
        if other.get("uuid") not in listed:
            name = str(other.get("name", "?"))
            yield Difference(other.get("uuid"), name, "", "is not there", "is there")
    orders = [one.get("uuid") for one in found], [one["uuid"] for one in wanted]
    if orders[0] != orders[1]:
        yield Difference(None, "", "order of objects", orders[1], orders[0])
    if next_id is not None and next_id != wanted_id:
        yield Difference(None, "", "max_UUID", wanted_id, next_id)


def _unequal(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[Difference]:
    uuid, name = wanted["uuid"], wanted["name"]
    if found == wanted and _alike(found.get("properties"), wanted["properties"]):
        return
    for part in ("name", "type"):
        if found.get(part) != wanted[part]:
            yield Difference(uuid, name, part, wanted[part], found.get(part))
    mine, theirs = found.get("properties", {}), wanted["properties"]
    for key in {**theirs, **mine}:
        if key not in mine or key not in theirs or not same(mine[key], theirs[key]):
            values = (held.get(key, "is missing") for held in (theirs, mine))
            yield Difference(uuid, name, key, *values)
    if found.get("contains") != wanted["contains"]:
        yield Difference(uuid, name, "contains", wanted["contains"], found.get("contains"))


def _alike(found: object, wanted: Mapping[str, Any]) -> bool:
    """Whether equal properties are equal as JSON too: in Python a truth equals 0 or 1."""
    if not isinstance(found, dict):
        return False
    for key, value in wanted.items():
        kind = type(value)
        if kind is not type(found[key]) and (kind is bool or type(found[key]) is bool):
            return False
        if kind is list or kind is dict:
            return False
    return True
