"""``tw equiv``: do two domains behave alike on given problems?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure, Source, read_source
from tokenworld.model import World
from tokenworld.planning.pddl.export import export_domain
from tokenworld.planning.reader import import_pddl
from tokenworld.session.importing import is_pddl, load_imported, load_pddl
from tokenworld.session.loading import Loaded, load_program, split_target
from tokenworld.tools.comparing import Answer, Call, Comparison, Side, compare
from tokenworld.tools.output import EXIT_NEGATIVE, EXIT_OK, EXIT_UNKNOWN, Output

__all__ = ["equivalence"]

_EXITS = {"equivalent": EXIT_OK, "no difference found": EXIT_UNKNOWN, "different": EXIT_NEGATIVE}


# ---- what is compared ---------------------------------------------------------------------------


def _sides(first: str, second: str, problems: tuple[Path, ...]) -> Iterator[tuple[str, Side, Side]]:
    """The pairs of worlds to compare, with a name for each."""
    if problems:
        for problem in problems:
            pair = [_on_problem(target, problem) for target in (first, second)]
            yield str(problem), pair[0], pair[1]
        return
    one, other = _own_worlds(first), _own_worlds(second)
    matched = list(_matched(one, other))
    if not matched:
        message = f"`{first}` and `{second}` have no worlds with the same objects."
        hint = "Give a PDDL problem for both, or name worlds with the same objects."
        raise Failure(Diagnostic("TW0005", message, hint=hint))
    for mine, theirs in matched:
        yield mine.name, Side(one[0].program, mine), Side(other[0].program, theirs)


def _on_problem(target: str, problem: Path) -> Side:
    """A domain with a problem; a `.tw` file takes part as the PDDL domain that it is."""
    if is_pddl(target):
        loaded = load_pddl(Path(target), (problem,))
    else:
        path, _ = split_target(target)
        domain = Source(str(path), path, export_domain(load_program(path).program))
        loaded = load_imported(import_pddl(domain, (read_source(problem),)))
    return Side(loaded.program, next(iter(loaded.program.worlds.values())))


def _own_worlds(target: str) -> tuple[Loaded, tuple[World, ...]]:
    if is_pddl(target):
        return load_pddl(Path(target), ()), ()
    path, name = split_target(target)
    loaded = load_program(path)
    worlds = tuple(loaded.program.worlds.values())
    if name is not None and name not in loaded.program.worlds:
        raise Failure(Diagnostic("TW0005", f"`{path}` has no world `{name}`."))
    return loaded, tuple(world for world in worlds if name in (None, world.name))


def _matched(
    one: tuple[Loaded, tuple[World, ...]], other: tuple[Loaded, tuple[World, ...]]
) -> Iterator[tuple[World, World]]:
    """Worlds of one name, else the only two, if their objects have the same names."""
    theirs = {world.name.lower(): world for world in other[1]}
    alone = len(one[1]) == len(other[1]) == 1
    for world in one[1]:
        twin = theirs.get(world.name.lower()) or (other[1][0] if alone else None)
        if twin is not None and _objects(one[0], world) == _objects(other[0], twin):
            yield world, twin


def _objects(loaded: Loaded, world: World) -> set[str]:
    every = loaded.program.objects.values()
    return {one.name.lower() for one in every if one.world in (None, world.name)}


# ---- the verb -----------------------------------------------------------------------------------


def equivalence(
    first: str, second: str, problems: tuple[Path, ...], out: Output, *, limit: int, walks: int
) -> int:
    """The answer over all problems and its exit code: 0 equivalent, 1 different, 3 neither."""
    told: list[dict[str, object]] = []
    worst: Answer = "equivalent"
    for name, left, right in _sides(first, second, problems):
        found = compare(left, right, limit=limit, walks=walks)
        told.append({"world": name, **_json(found)})
        _tell(name, found, (first, second), out)
        if found.answer == "different" or worst == "equivalent":
            worst = found.answer
        if worst == "different":
            break
    out.json({"schema_version": 1, "answer": worst, "worlds": told})
    return _EXITS[worst]


def _json(found: Comparison) -> dict[str, object]:
    parted = found.difference
    shown = None if parted is None else {
        "path": [_spelled(call) for call in parted.path],
        "call": None if parted.call is None else _spelled(parted.call),
        "left": None if parted.left is None else list(parted.left),
        "right": None if parted.right is None else list(parted.right),
    }  # fmt: skip
    return {"answer": found.answer, "states": found.states, "difference": shown}


def _spelled(call: Call) -> str:
    return f"({' '.join((call[0], *call[1]))})"


def _tell(name: str, found: Comparison, files: tuple[str, str], out: Output) -> None:
    count = "1 state" if found.states == 1 else f"{found.states} states"
    match found.answer:
        case "equivalent":
            out.line(f"{name}: equivalent (exhaustive: {count})")
        case "no difference found":
            out.line(f"{name}: no difference found ({count}, partial)")
        case "different":
            out.line(f"{name}: different")
    parted = found.difference
    if parted is None:
        return
    way = " ".join(_spelled(call) for call in parted.path)
    out.line(f"  state: after {way}" if way else "  state: the start")
    if parted.call is not None:
        out.line(f"  action: {_spelled(parted.call)}")
    for file, outcome in zip(files, (parted.left, parted.right), strict=True):
        lines = ("not possible",) if outcome is None else outcome or ("nothing more",)
        for line in lines:
            out.line(f"  {file}: {line}")
