"""``tw learn rank``: do rules prefer observed successors to mutants of them?

The protocol of OneLife (Khan et al. 2025) for any world: each recorded successor is ranked among
mutants of it by its log probability under the rules. Ties count as their mean, so that a model that
distinguishes nothing gains nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Annotated, Final, assert_never

from tokenworld import model as m
from tokenworld.diagnostics import Diagnostic, Failure, counted, usage
from tokenworld.engine import Engine, State
from tokenworld.engine.columns import Column
from tokenworld.ground import Json, Raw
from tokenworld.session import open_world
from tokenworld.session.loading import OpenWorld
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_OK, Output
from tokenworld.verbs.records.rows import BadRow, no_rows
from tokenworld.verbs.records.transitions import Transition, transitions

MUTATORS: Final = ("stays", "other value", "elsewhere", "exchanged")
"""A changed slot keeps its value; it gets another one; another slot changes; two objects exchange
the values of an attribute."""
_TRIES: Final = 12
"""Mutants that are drawn for each one that is kept."""
_NOTED: Final = 5
"""Unusable rows that are printed."""


@dataclass
class Ranked:
    """Sums over transitions: how often the observed successor is ranked first, and the reciprocal
    of its rank. ``beaten`` counts for each mutator the mutants that the observed one is preferred
    to, and all."""

    rows: int = 0
    first: float = 0.0
    reciprocal: float = 0.0
    impossible: int = 0
    beaten: dict[str, list[int]] = field(default_factory=lambda: {one: [0, 0] for one in MUTATORS})
    bad: list[BadRow] = field(default_factory=list)

    def take(self, truth: float, others: Sequence[tuple[str, float]]) -> None:
        """Add a transition: its log probability, and those of its mutants by their mutators."""
        above = sum(score > truth for _, score in others)
        ties = sum(score == truth for _, score in others)
        places = range(above + 1, above + ties + 2)
        self.rows += 1
        self.impossible += truth == -inf
        self.first += (above == 0) / len(places)
        self.reciprocal += sum(1 / one for one in places) / len(places)
        for name, score in others:
            self.beaten[name][0] += score < truth
            self.beaten[name][1] += 1

    def to_json(self) -> dict[str, Json]:
        rows = max(1, self.rows)
        beaten: dict[str, Json] = {name: list(one) for name, one in self.beaten.items()}
        return {
            "rows": self.rows,
            "rank_at_1": self.first / rows,
            "mrr": self.reciprocal / rows,
            "impossible": self.impossible,
            "beaten": beaten,
        }


def rank(
    target: opt.World,
    rows: Annotated[tuple[Path, ...], "Files of `tw runs rows` or `tw learn explore`."],
    out: Output,
    *,
    reference: Annotated[
        str | None, "A world that is right: mutants that it allows are left out."
    ] = None,
    distractors: Annotated[int, "Mutants of each observed successor."] = 8,
    most: Annotated[int, "Transitions that are ranked."] = 400,
    seed: opt.Seed = 0,
) -> int:
    """Rank the rows' successors among mutants, and print how often they come first."""
    if not rows:
        hint = "Name files that `tw runs rows` or `tw learn explore` has written."
        raise Failure(Diagnostic("TW0001", "No file of rows is named.", hint=hint))
    if distractors < 1 or most < 1:
        raise usage("There is nothing to rank among.", "Give `--distractors` and `--most` above 0.")
    world, say = open_world(target), out.each_second()
    other = None if reference is None else open_world(reference)
    found = ranks(world, rows, other, distractors, most, seed, say)
    if not found.rows:
        what = "No row has a successor that differs from its state and fits the world."
        raise no_rows(what, found.bad, "Record more play of this world.")
    for line in _told(found):
        out.line(line)
    for one in found.bad[:_NOTED]:
        out.note(f"{one.place}: {one.why}")
    skipped: list[Json] = [f"{one.place}: {one.why}" for one in found.bad]
    out.json({"schema_version": 1, "ok": True, **found.to_json(), "skipped": skipped})
    return EXIT_OK


def ranks(
    world: OpenWorld, rows: Sequence[Path], reference: OpenWorld | None, distractors: int,
    most: int, seed: int, say: Callable[[str], None] = lambda text: None,
) -> Ranked:  # fmt: skip
    """The ranks of the changing transitions of files, at most so many. Mutants that the reference
    world allows are left out, where there is one."""
    found, draw = Ranked(), random.Random(seed)
    truths = None if reference is None else iter(transitions(reference, rows))
    for row in transitions(world, rows):
        truth = None if truths is None else next(truths)
        if isinstance(row, BadRow) or isinstance(truth, BadRow):
            found.bad.append(row if isinstance(row, BadRow) else truth)  # type: ignore[arg-type]
            continue
        if world.engine.same_facts(row.state, row.seen) or found.rows >= most:
            continue
        others = _others(world.engine, row, distractors, draw, _forbidden(reference, truth))
        if others:
            scores = [(name, _score(world.engine, row, state)) for name, state in others]
            found.take(_score(world.engine, row, row.seen), scores)
        say(counted(found.rows, "transition"))
    return found


def _score(engine: Engine, row: Transition, seen: State) -> float:
    """The log probability of a successor; that of an undecided one counts as impossible."""
    try:
        return engine.logp(row.state, row.intent, seen).logp
    except Failure:
        return -inf


def _forbidden(
    reference: OpenWorld | None, row: Transition | None
) -> Callable[[Mapping[str, Json]], bool]:
    """Return a test whether the reference world can never reach a state; without a reference it is
    always true, so every mutant counts."""

    def impossible(shown: Mapping[str, Json]) -> bool:
        if reference is None or row is None:
            return True
        try:
            seen = reference.engine.restored({**shown, "world": reference.world.name})
        except Failure:  # a state that the reference has no place for
            return True
        return _score(reference.engine, row, seen) == -inf

    return impossible


def _others(
    engine: Engine, row: Transition, distractors: int, draw: random.Random,
    impossible: Callable[[Mapping[str, Json]], bool],
) -> list[tuple[str, State]]:  # fmt: skip
    """Mutants of an observed successor, each once."""
    found: dict[str, tuple[str, State]] = {}
    mine = engine.hash(row.seen)
    for name, state in mutants(engine, row, draw, _TRIES * distractors):
        key = engine.hash(state)
        if key != mine and key not in found and impossible(engine.json(state)):
            found[key] = name, state
        if len(found) == distractors:
            break
    return list(found.values())


# ---- mutants ----------------------------------------------------------------------------------


def mutants(
    engine: Engine, row: Transition, draw: random.Random, tries: int
) -> Iterator[tuple[str, State]]:
    """Yield successors that were not observed, each made by one of the mutators in turn."""
    slots = list(_slots(engine, row.seen))
    changed = [one for one in slots if _value(row.state, one) != _value(row.seen, one)]
    for at in range(tries if slots else 0):
        name = MUTATORS[at % len(MUTATORS)]
        found = _mutant(name, engine, row, slots, changed, draw)
        if found is not None:
            yield name, found


Slot = tuple[Column, tuple[Raw, ...]]


def _slots(engine: Engine, state: State) -> Iterator[Slot]:
    """The slots of attributes of all objects."""
    for column in engine.layout.columns:
        fluent = column.fluent
        if fluent.fluent_kind == "attribute" and not fluent.static:
            owner = fluent.params[0].type
            assert isinstance(owner, m.ObjectType)
            yield from ((column, (one,)) for one in state.live.get(owner.name, ()))


def _value(state: State, slot: Slot) -> Raw | None:
    column, args = slot
    one = args[0]
    if not isinstance(one, int) or one >= len(state.kinds) or state.kinds[one] is None:
        return None
    return state.get(column, column.key(args))


def _mutant(
    name: str, engine: Engine, row: Transition, slots: Sequence[Slot], changed: Sequence[Slot],
    draw: random.Random,
) -> State | None:  # fmt: skip
    if name == "exchanged":
        return _exchanged(engine, row.seen, draw.choice(slots), slots, draw)
    among = slots if name == "elsewhere" else changed
    if not among:
        return None
    slot = draw.choice(among)
    if name == "stays":
        return _put(engine, row.seen, slot, _value(row.state, slot))
    domain = _domain(engine, row.seen, slot)
    return _put(engine, row.seen, slot, draw.choice(domain)) if domain else None


def _exchanged(
    engine: Engine, state: State, slot: Slot, slots: Sequence[Slot], draw: random.Random
) -> State | None:
    """The state in which two objects have each other's value of an attribute."""
    mine = _value(state, slot)
    others = [one for one in slots if one[0] is slot[0] and _value(state, one) != mine]
    if not others:
        return None
    other = draw.choice(others)
    half = _put(engine, state, slot, _value(state, other))
    return None if half is None else _put(engine, half, other, mine)


def _put(engine: Engine, state: State, slot: Slot, value: Raw | None) -> State | None:
    """The state with another value; ``None`` where the slot does not take it."""
    column, args = slot
    try:
        return engine.put(state, column.fluent.id, args, value)
    except Failure:
        return None


def _domain(engine: Engine, state: State, slot: Slot) -> list[Raw]:
    """Return the values of a slot; of a wide range only those near the present one, and none
    without an end."""
    kind, program = slot[0].fluent.type, engine.instance.program
    match kind:
        case m.BoolType():
            return [False, True]
        case m.EnumType(name=name):
            return list(range(len(program.enums[name].members)))
        case m.ObjectType(name=name):
            return list(state.live.get(name, ()))
        case m.NumberType(low=low, high=high):
            now = _value(state, slot)
            if not isinstance(now, int):
                return []
            near = (now - 2, now - 1, now + 1, now + 2)
            return [x for x in near if (low is None or low <= x) and (high is None or x <= high)]
        case m.RealType() | m.TextType() | m.NoneType() | m.CollectionType():
            return []
        case _:
            assert_never(kind)


def _told(found: Ranked) -> Iterator[str]:
    rows = found.rows
    yield f"{counted(rows, 'transition')}: observed first in {found.first / rows:.1%} (Rank@1)"
    yield f"mean reciprocal rank {found.reciprocal / rows:.3f}, {found.impossible} impossible"
    yield f"{'mutant':<14}{'preferred to':>16}"
    for name, (right, every) in found.beaten.items():
        yield f"{name:<14}{f'{right} of {every}':>16}"
