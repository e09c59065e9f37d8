"""What the rows of a sweep come to together: exact counts, and least, median and most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from tokenworld.ground import Json
from tokenworld.session.rolled import interval
from tokenworld.session.sweeping import Row, Swept
from tokenworld.session.sweeping_cells import What

__all__ = ["Group", "by_param", "by_point", "summary"]

Group = tuple[tuple[str, ...], tuple[Row, ...]]
"""Values of params as authors write them, and the rows that have them."""

_STATUSES = ("done", "limit", "failed", "lost")
_ANSWERS = ("winnable", "unwinnable", "unknown")
_PLACES = ("won", "winnable", "dead", "undecided")
_RUNS = ("runs", "won", "lost", "stopped", "running")


def by_point(found: Swept) -> tuple[Group, ...]:
    """The rows of each combination of values, in the order of the sweep."""
    return _grouped((row.params, row) for row in found.rows)


def by_param(found: Swept, place: int) -> tuple[Group, ...]:
    """The rows of each value of one param, whatever the others are."""
    return _grouped(((row.params[place],), row) for row in found.rows)


def _grouped(pairs: Iterable[tuple[tuple[str, ...], Row]]) -> tuple[Group, ...]:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for key, row in pairs:
        groups.setdefault(key, []).append(row)
    return tuple((key, tuple(rows)) for key, rows in groups.items())


def summary(what: What, rows: Sequence[Row]) -> dict[str, Json]:
    """The rows of a group as one: how many cells have each status, then what was asked."""
    cells = {word: sum(1 for row in rows if row.status == word) for word in _STATUSES}
    found = [row.result for row in rows if row.result]
    match what:
        case "plan":
            more = _plans(found)
        case "rollout":
            more = _runs([one for one in found if "runs" in one])
        case "audit":
            more = _audits(found)
    return {"cells": len(rows), "status": cells, **more}


def _plans(found: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    return {
        **{word: sum(1 for one in found if one["answer"] == word) for word in _ANSWERS},
        "win_with_seed": sum(1 for one in found if one["wins_with_seed"]),
        "ticks": _spread(_numbers(found, "ticks")),
        "commands": _spread(_numbers(found, "commands")),
        "cost": _spread(_numbers(found, "cost")),
    }


def _runs(found: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    sums = {word: sum(_numbers(found, word)) for word in _RUNS}
    low, high = interval(sums["won"], sums["runs"]) if sums["runs"] else (0.0, 1.0)
    share = sums["won"] / sums["runs"] if sums["runs"] else None
    return {
        **sums,
        "share_won": {"share": share, "low": low, "high": high},
        "ended_at": _spread([one for row in found for one in _list(row["ended_at"])]),
    }


def _audits(found: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    return {
        "start": {
            "winnable": sum(1 for one in found if one["start"] in ("won", "winnable")),
            "dead": sum(1 for one in found if one["start"] == "dead"),
            "undecided": sum(1 for one in found if one["start"] == "undecided"),
        },
        **{word: _spread(_numbers(found, word)) for word in ("states", *_PLACES, "commands")},
        "dead_ends": _spread(_numbers(found, "dead_ends")),
    }


def _numbers(found: Iterable[Mapping[str, Json]], name: str) -> list[int]:
    return [value for one in found if isinstance(value := one[name], int)]


def _list(value: Json) -> list[int]:
    return [one for one in value if isinstance(one, int)] if isinstance(value, list) else []


def _spread(values: Sequence[int]) -> Json:
    """Least, median and most; nothing of nothing."""
    if not values:
        return None
    return {"least": min(values), "median": median(values), "most": max(values)}
