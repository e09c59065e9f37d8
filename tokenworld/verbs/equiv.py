"""``tw equiv``: do two domains behave alike on given problems?

Two states are alike if the same actions with the same arguments are possible, each with the same
results, and the goal holds in both or in neither. States are compared by their facts and values, by
name, without regard to case. The answer is the first difference on a shortest way from the start.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Annotated, Literal, assert_never

from tokenworld.core import lowered
from tokenworld.diagnostics import Diagnostic, Failure, Source, counted, read_source
from tokenworld.engine import EngineSimulator, State
from tokenworld.ground import Command, show_value, slots
from tokenworld.model import Fluent, Program, World
from tokenworld.planning.pddl.export import export_domain
from tokenworld.planning.reader import import_pddl
from tokenworld.planning.search.interpreted import gaps
from tokenworld.session.loading import Loaded, compile_world, load_program, split_target
from tokenworld.session.pddl import is_pddl, load_imported, load_pddl
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, EXIT_UNKNOWN, Output

_WALK = 100
"""Steps of a random walk at most."""

Facts = frozenset[tuple[str, tuple[str, ...], object]]
Call = tuple[str, tuple[str, ...]]
Answer = Literal["equivalent", "no difference found", "different"]


# ---- one side -----------------------------------------------------------------------------------


class Side:
    """One of the two worlds, with names that both have.

    A world whose endings are all goals continues after them, as a PDDL task does.
    """

    def __init__(self, program: Program, world: World) -> None:
        goals_only = all(line.ending == "goal" for line in world.endings)
        open_ended = replace(world, outcomes="live") if goals_only else world
        self.engine = compile_world(program, open_ended)
        self.simulator = EngineSimulator(self.engine, self.engine.start())
        rules, fluents = lowered(program), program.fluents.values()
        changing = frozenset(program.fluents) if rules.creates else rules.changed_in_play
        self._moving = [one for one in fluents if one.id in changing]
        self._fixed = [one for one in fluents if one.id not in changing]
        self._known: dict[object, Facts] = {}
        self._still: Facts = frozenset()

    @property
    def exact(self) -> bool:
        """Return whether all outcomes were listed."""
        simulator = self.simulator
        return not gaps(simulator.instance, simulator.unlisted) and not simulator.short_of

    def start(self) -> State:
        return self.engine.start()

    def facts(self, state: State) -> Facts:
        """The true facts, and the values that are not `none`."""
        key = self.simulator.key(state)
        found = self._known.get(key)
        if found is None:
            if not self._known:
                self._still = frozenset(self._holding(state, self._fixed))
            found = self._still.union(self._holding(state, self._moving))
            self._known[key] = found
        return found

    def _holding(self, state: State, fluents: Sequence[Fluent]) -> Facts:
        instance = self.simulator.instance_at(state)
        names = [one.name for one in instance.objects]
        found: set[tuple[str, tuple[str, ...], object]] = set()
        for fluent in fluents:
            kinds = [param.type for param in fluent.params]
            for args in slots(instance, fluent):
                raw = self.simulator.read(state, fluent.id, args)
                value = show_value(instance.program, names, fluent.type, raw)
                if value is None or value is False:
                    continue
                shown = (
                    str(show_value(instance.program, names, of, arg)).lower()
                    for of, arg in zip(kinds, args, strict=True)
                )
                plain = value.lower() if isinstance(value, str) else value
                found.add((fluent.name.lower(), tuple(shown), plain))
        return frozenset(found)

    def results(self, state: State) -> dict[Call, tuple[State, ...]]:
        """The possible calls, each with its results."""
        instance = self.simulator.instance_at(state)
        names = [one.name for one in instance.objects]
        found: dict[Call, tuple[State, ...]] = {}
        for command in self.simulator.commands(state):
            reached = self.simulator.successors(state, command)
            if reached:
                call = self._call(command, names)
                found[call] = tuple(one.state for one in reached)
        return found

    def _call(self, command: Command, names: Sequence[str]) -> Call:
        if command.is_pass:
            return "tw-pass", ()
        program = self.simulator.instance.program
        params = program.actions[command.action].params
        shown = (
            str(show_value(program, names, param.type, arg)).lower()
            for param, arg in zip(params, command.args, strict=True)
        )
        return command.action.lower(), tuple(shown)


# ---- the comparison -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference of worlds: the way there, the call (``None``: the state itself), both
    outcomes.

    An outcome is ``None`` where the call is not possible, else what becomes true and false, once
    for each result of chance.
    """

    path: tuple[Call, ...]
    call: Call | None
    left: tuple[str, ...] | None
    right: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Comparison:
    answer: Answer
    states: int
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class _Pair:
    """A state of each side that were reached in the same way and are alike."""

    left: State
    right: State
    facts: Facts
    path: tuple[Call, ...]


def compare(left: Side, right: Side, *, limit: int, walks: int) -> Comparison:
    """All reachable states up to ``limit``; where there are more, random walks besides."""
    here, there = left.start(), right.start()
    facts = left.facts(here)
    found = _unlike(left, right, here, there, ())
    if found is not None:
        return Comparison("different", 1, found)
    first = _Pair(here, there, facts, ())
    seen = {_key(left, right, first)}
    queue = deque([first])
    while queue and len(seen) <= limit:
        pair = queue.popleft()
        for step in _steps(left, right, pair):
            if isinstance(step, Difference):
                return Comparison("different", len(seen), step)
            key = _key(left, right, step)
            if key not in seen:
                seen.add(key)
                queue.append(step)
    if not queue and left.exact and right.exact:
        return Comparison("equivalent", len(seen))
    return _walk(left, right, first, seen, walks)


def _walk(left: Side, right: Side, first: _Pair, seen: set[object], walks: int) -> Comparison:
    """Walks that go where the exploration did not come; the same ones every time."""
    random = Random(0)
    for _ in range(walks):
        pair = first
        for _ in range(_WALK):
            steps = list(_steps(left, right, pair))
            parted = next((step for step in steps if isinstance(step, Difference)), None)
            if parted is not None:
                return Comparison("different", len(seen), parted)
            onward = [step for step in steps if isinstance(step, _Pair)]
            if not onward:
                break
            pair = random.choice(onward)
            seen.add(_key(left, right, pair))
    return Comparison("no difference found", len(seen))


def _key(left: Side, right: Side, pair: _Pair) -> object:
    return left.simulator.key(pair.left), right.simulator.key(pair.right)


def _steps(left: Side, right: Side, pair: _Pair) -> Iterator[_Pair | Difference]:
    """The successors on both sides, in the order of names; ends with the first difference."""
    one, other = left.results(pair.left), right.results(pair.right)
    for call in sorted(one.keys() | other.keys()):
        path = (*pair.path, call)
        mine = {left.facts(state): state for state in one.get(call, ())}
        theirs = {right.facts(state): state for state in other.get(call, ())}
        if mine.keys() != theirs.keys():
            shown = (_outcome(pair.facts, mine), _outcome(pair.facts, theirs))
            yield Difference(pair.path, call, *shown)
            return
        for facts in sorted(mine, key=_sorted):
            found = _unlike(left, right, mine[facts], theirs[facts], path)
            if found is not None:
                yield found
                return
            yield _Pair(mine[facts], theirs[facts], facts, path)


def _unlike(
    left: Side, right: Side, here: State, there: State, path: tuple[Call, ...]
) -> Difference | None:
    """The difference of two states: facts, or whether the goal is reached."""
    one, other = left.facts(here), right.facts(there)
    if one != other:
        only = (tuple(_shown(one - other)), tuple(_shown(other - one)))
        return Difference(path, None, *only)
    won = left.simulator.won(here, None), right.simulator.won(there, None)
    if won[0] != won[1]:
        said = {True: ("the goal is reached",), False: ("the goal is not reached",)}
        return Difference(path, None, said[won[0]], said[won[1]])
    return None


def _sorted(facts: Facts) -> list[str]:
    return sorted(map(str, facts))


def _shown(facts: Facts) -> Iterator[str]:
    for name, args, value in sorted(facts, key=str):
        atom = f"{name}({', '.join(args)})"
        yield atom if value is True else f"{atom} = {value}"


def _outcome(before: Facts, after: dict[Facts, State]) -> tuple[str, ...] | None:
    if not after:
        return None
    found: list[str] = []
    for facts in sorted(after, key=_sorted):
        news = [f"+ {fact}" for fact in _shown(facts - before)]
        gone = [f"- {fact}" for fact in _shown(before - facts)]
        found.append(", ".join((*news, *gone)) or "nothing changes")
    return tuple(found)


_EXITS = {"equivalent": EXIT_OK, "no difference found": EXIT_UNKNOWN, "different": EXIT_NEGATIVE}


# ---- comparison ---------------------------------------------------------------------------------


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
    return side_of(domain_source(target), read_source(problem))


def domain_source(target: str) -> Source:
    """Return a PDDL domain; a `.tw` file is converted to one."""
    if is_pddl(target):
        return read_source(Path(target))
    path, _ = split_target(target)
    return Source(str(path), path, export_domain(load_program(path).program))


def side_of(domain: Source, problem: Source) -> Side:
    """Return a PDDL domain with a problem; raises `Failure` if one of them cannot be read."""
    loaded = load_imported(import_pddl(domain, (problem,)))
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
    first: Annotated[str, "A PDDL domain or a `.tw` FILE[:world]."],
    second: Annotated[str, "Another one."],
    problems: Annotated[tuple[Path, ...], "PDDL problems for both."],
    out: Output,
    *,
    limit: Annotated[int, "States to explore at most."] = 10000,
    walks: Annotated[int, "Random walks beyond the limit."] = 100,
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
    count = counted(found.states, "state")
    match found.answer:
        case "equivalent":
            out.line(f"{name}: equivalent (exhaustive: {count})")
        case "no difference found":
            out.line(f"{name}: no difference found ({count}, partial)")
        case "different":
            out.line(f"{name}: different")
        case _:
            assert_never(found.answer)
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
