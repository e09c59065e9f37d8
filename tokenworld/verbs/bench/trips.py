"""Round trips of PDDL files: import, export, and both once more.

Every domain, and every problem with its domain, is imported and exported. The result must be the
original up to white space, comments and what `normal` removes (docs/pddl.md), and a second round
trip must change nothing, neither in the text nor in the checked program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tokenworld.diagnostics import Failure, Source
from tokenworld.model import Program
from tokenworld.model.schema import program_to_json
from tokenworld.planning.pddl.export import export_domain
from tokenworld.planning.reader import import_pddl
from tokenworld.session.loading import Loaded, OpenWorld, compile_world
from tokenworld.session.pddl import export, load_imported
from tokenworld.verbs.bench.normal import normal, unordered
from tokenworld.verbs.bench.scores import strict

REORDERED = "same up to the order of effects"


@dataclass(frozen=True)
class Trip:
    """The round trip of one file: its kind, its name, the faults (empty: none), both texts."""

    kind: str
    name: str
    failure: str
    before: str
    after: str


def _export_all(loaded: Loaded) -> list[str]:
    """Return the domain of an imported program, then the problem of each of its worlds."""
    worlds = list(loaded.program.worlds.values())
    if not worlds:
        return [export_domain(loaded.program)]
    found: list[str] = []
    for world in worlds:
        opened = OpenWorld(loaded, world, compile_world(loaded.program, world))
        pair = export(opened, None)
        if pair.form != "lifted":
            raise ValueError("grounded")
        found = [pair.domain, *found[1:], pair.problem]
    return found


def _without_comments(text: str) -> str:
    return re.sub(r";[^\n]*\n", "", text)


def _difference(before: str, after: str) -> str:
    one, other = normal(before), normal(after)
    found = [key for key in sorted(one) if one[key] != other.get(key)]
    if found == [":action"] and unordered(one) == unordered(other):
        return REORDERED
    if set(found) <= {":action", ":derived"} and strict(before, after).f1 == 1:
        return ""  # names of variables alone
    return ", ".join(f"differs in {key}" for key in found)


def trips(domain: Source, problems: Sequence[Source] = ()) -> Iterator[Trip]:
    """Import and export a domain and its problems, twice."""
    sources = [domain, *problems]
    kinds = ["domain", *("problem" for _ in problems)]
    names = [one.name for one in sources]
    try:
        loaded = _imported(sources)
    except Failure as failure:
        first = failure.diagnostics[0]
        why = f"not taken: {first.code} {first.message}"
        for kind, name, source in zip(kinds, names, sources, strict=True):
            yield Trip(kind, name, why, source.text, "")
        return
    try:
        once = _export_all(loaded)
    except Failure as failure:
        first = failure.diagnostics[0]
        why = f"not exported: {first.code} {first.message}"
        for kind, name, source in zip(kinds, names, sources, strict=True):
            yield Trip(kind, name, why, source.text, "")
        return
    again = _imported([Source(f"{index}.pddl", None, text) for index, text in enumerate(once)])
    same = model(loaded.program) == model(again.program)
    twice = _export_all(again)
    for kind, name, source, out, last in zip(kinds, names, sources, once, twice, strict=True):
        why = _difference(source.text, out)
        if not why and not same:
            why = "the model of the second trip differs"
        if not why and _without_comments(out) != _without_comments(last):
            why = "the text of the second trip differs"
        yield Trip(kind, name, why, source.text, out)


def _imported(sources: Sequence[Source]) -> Loaded:
    return load_imported(import_pddl(sources[0], tuple(sources[1:])))


def model(program: Program) -> str:
    """Return the contents of a program in order, without source places."""
    return json.dumps(_unplaced(program_to_json(program)))


def _unplaced(value: Any) -> Any:
    match value:
        case dict():
            return {
                key: _unplaced(part)
                for key, part in value.items()
                if key not in ("span", "sources")
            }
        case list():
            return [_unplaced(part) for part in value]
        case _:
            return value
