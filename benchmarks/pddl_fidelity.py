"""How faithful are `tw import` and `tw export --pddl`? A round trip over folders of PDDL files.

    python -m benchmarks.pddl_fidelity FOLDER [FOLDER …] [--verbose]

Every domain, and every problem with its domain, is imported and exported. The result must be the
original up to white space, comments and what `pddl_normal` removes (docs/pddl.md), and a second
round trip must change nothing, neither in the text nor in the checked program. Then come two scores
of the domains (`pddl_score`): how many have F1 = 1 as Text2World defines it, and how many
have it in the strict sense.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.pddl_normal import normal, unordered
from benchmarks.pddl_score import score, strict
from tokenworld.diagnostics import Failure, Source, read_source
from tokenworld.model import Program
from tokenworld.model.schema import program_to_json
from tokenworld.planning.pddl.export import export_domain
from tokenworld.planning.reader import import_pddl
from tokenworld.session.loading import Loaded, OpenWorld, compile_world
from tokenworld.session.pddl import export, load_imported

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
    """The domain of an imported program, then the problem of each of its worlds."""
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
    return ", ".join(f"differs in {key}" for key in found)


def trips(domain: Path, problems: list[Path]) -> Iterator[Trip]:
    """Import and export a domain and its problems, twice."""
    sources = [read_source(domain), *(read_source(path) for path in problems)]
    kinds = ["domain", *("problem" for _ in problems)]
    names = [f"{path.parent.name}/{path.name}" for path in (domain, *problems)]
    try:
        loaded = _imported(sources)
    except Failure as failure:
        first = failure.diagnostics[0]
        why = f"not taken: {first.code} {first.message}"
        for kind, name, source in zip(kinds, names, sources, strict=True):
            yield Trip(kind, name, why, source.text, "")
        return
    once = _export_all(loaded)
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
    """The contents of a program in order, without source places."""
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


def pairs(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Every domain in a folder and below, with the problems beside it that name it."""
    for place in sorted({path.parent for path in folder.rglob("*.pddl")}):
        files = sorted(place.glob("*.pddl"))
        domains = [path for path in files if _is_domain(path)]
        problems = [path for path in files if path not in domains]
        for domain in domains:
            mine = problems
            if len(domains) > 1:
                number = re.search(r"p\d+", domain.name)
                key = number.group() if number else domain.name
                mine = [path for path in problems if path.name.startswith(key)]
            yield domain, mine


def _is_domain(path: Path) -> bool:
    head = re.sub(r";[^\n]*", "", path.read_text(encoding="utf-8"))
    return re.search(r"\(\s*define\s*\(\s*domain", head, re.IGNORECASE) is not None


def is_perfect(trip: Trip) -> bool:
    """Whether a domain came back with every F1 score 1, as Text2World defines them."""
    return bool(trip.after) and score(trip.before, trip.after).perfect


def is_strict(trip: Trip) -> bool:
    """The same including types, costs, order of parameters and additional actions."""
    return bool(trip.after) and strict(trip.before, trip.after).f1 == 1


def main(arguments: list[str]) -> int:
    verbose = "--verbose" in arguments
    folders = [Path(one) for one in arguments if not one.startswith("--")]
    if not folders:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    reasons: Counter[str] = Counter()
    print(f"{'folder':<20} {'domains':>14} {'problems':>14} {'F1 = 1':>14} {'strict':>14}")
    for folder in folders:
        found = [trip for domain, mine in pairs(folder) for trip in trips(domain, mine)]
        domains = [one for one in found if one.kind == "domain"]
        problems = [one for one in found if one.kind == "problem"]
        counts = [
            f"{sum(not one.failure for one in domains)} of {len(domains)}",
            f"{sum(not one.failure for one in problems)} of {len(problems)}",
            f"{sum(is_perfect(one) for one in domains)} of {len(domains)}",
            f"{sum(is_strict(one) for one in domains)} of {len(domains)}",
        ]
        print(f"{folder.name:<20}", *(f"{count:>14}" for count in counts))
        for one in (one for one in found if one.failure):
            reasons[re.sub(r"`[^`]*`|\d+", "…", one.failure)] += 1
            if verbose:
                print(f"    {one.name}: {one.failure}")
    for reason, count in reasons.most_common():
        print(f"{count:>5} × {reason}")
    return 1 if any("differs" in reason for reason in reasons) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
