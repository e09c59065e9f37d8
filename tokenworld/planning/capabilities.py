"""The capability matrix of `tw plan --explain`: the constructs that each way of planning takes.

Three ways: our own search on the interpreter, encoding E (SAS+), and lifted PDDL. Each way is
tried, and each of its refusals is listed with the declaration that contains it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from tokenworld.diagnostics import Failure, Span
from tokenworld.ground import (
    Instance,
    Json,
    Raw,
    Simulator,
    StateT,
    count_bindings,
    parameter_domains,
)
from tokenworld.planning.lower.encode import Unencodable, encode
from tokenworld.planning.search.interpreted import gaps

WAYS = ("own search", "E", "lifted PDDL")
_Refusal = tuple[Span, str]
_MARKS = {True: "yes", False: "no", None: "-"}


@dataclass(slots=True)
class Construct:
    """A declaration of the program with the refusals of each way that refuses a part of it.

    ``untried`` are ways that did not reach it, because they refused something before.
    """

    kind: str
    name: str
    span: Span
    refusals: dict[str, list[str]] = field(default_factory=dict)
    untried: tuple[str, ...] = ()

    def takes(self, way: str) -> bool | None:
        """Return whether a way of planning takes it; ``None`` where that was not tried."""
        if way in self.refusals:
            return False
        return None if way in self.untried else True

    def to_json(self) -> dict[str, Json]:
        return {
            "kind": self.kind,
            "name": self.name,
            "place": f"{self.span.file}:{self.span.line}",
            "takes": {way: self.takes(way) for way in WAYS},
            "reasons": {way: list(found) for way, found in self.refusals.items()},
        }


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The matrix. ``remarks`` are about a way as a whole: that its search proves nothing."""

    constructs: tuple[Construct, ...]
    remarks: tuple[str, ...]

    def placed(self, place: Callable[[Span], Span]) -> Capabilities:
        """The matrix with other places, for rules that were made from another text."""
        moved = tuple(replace(one, span=place(one.span)) for one in self.constructs)
        return replace(self, constructs=moved)

    def to_json(self) -> dict[str, Json]:
        return {
            "schema_version": 1,
            "ways": list(WAYS),
            "constructs": [one.to_json() for one in self.constructs],
            "remarks": list(self.remarks),
        }


def capabilities(simulator: Simulator[StateT], state: StateT, goal: str | None) -> Capabilities:
    """Try each way on a world for ``goal`` (any if ``None``) and list its refusals by place."""
    instance = simulator.instance_at(state)
    constructs = sorted(_constructs(instance), key=lambda one: (one.span.file, one.span.start))
    remarks: list[str] = []
    _note(constructs, "own search", _own(instance, simulator.unlisted))
    encoding = encode(instance, simulator, state, goal)
    if isinstance(encoding, Unencodable):
        found = [(one.span, f"{one.construct}: {one.reason}") for one in encoding.obstacles]
        _note(constructs, "E", found)
        for one in constructs:
            one.untried = ("E",)
        remarks.append("E: `-` was not tried, because of what E refuses in this world")
        remarks.append("own search: the width search takes the same, and looks for a plan here")
    _note(constructs, "lifted PDDL", _lifted(simulator, state, instance, goal))
    return Capabilities(tuple(constructs), tuple(remarks))


# ---- declarations -----------------------------------------------------------------------------


def _constructs(instance: Instance) -> Iterator[Construct]:
    program, world = instance.program, instance.world
    for fluent in program.fluents.values():
        yield Construct(fluent.fluent_kind, fluent.id, fluent.span)
    for derive in program.derives.values():
        yield Construct("derive", derive.name, derive.span)
    for phase in program.phases.values():
        yield Construct("phase", phase.name, phase.span)
    for action in program.actions.values():
        yield Construct("action", action.name, action.span)
    for law in program.laws.values():
        yield Construct("law", law.name, law.span)
    for invariant in program.invariants.values():
        yield Construct("invariant", invariant.name, invariant.span)
    for conserve in program.conserves.values():
        yield Construct("conserve", conserve.name, conserve.span)
    yield Construct("world", world.name, world.span)
    for line in world.endings:
        yield Construct(line.ending, line.name, line.span)


def _note(constructs: list[Construct], way: str, refusals: Iterable[_Refusal]) -> None:
    """Add each refusal to the declaration that contains it: the last one before it."""
    for span, reason in refusals:
        before = [
            one for one in constructs if one.span.file == span.file and one.span.start <= span.start
        ]
        owner = before[-1] if before else next(one for one in constructs if one.kind == "world")
        reasons = owner.refusals.setdefault(way, [])
        if reason not in reasons:
            reasons.append(reason)


# ---- ways -------------------------------------------------------------------------------------


def _own(instance: Instance, unlisted: frozenset[str]) -> Iterator[_Refusal]:
    """Draws without a list of outcomes, actions with too many bindings (``unlisted``)."""
    for name in sorted(unlisted):
        action = instance.program.actions[name]
        count = count_bindings(parameter_domains(instance, action.params))
        yield action.span, f"it has {count:,} bindings, too many to list, and is never tried"
    for gap in gaps(instance):
        if gap.span is not None:
            yield gap.span, "it draws a real number, which has no list of outcomes"


def _lifted(
    simulator: Simulator[StateT], state: StateT, instance: Instance, goal: str | None
) -> list[_Refusal]:
    from tokenworld.planning.pddl.export import export_pddl

    def values(fluent: str, args: tuple[Raw, ...]) -> Raw:
        return simulator.read(state, fluent, args)

    try:
        export_pddl(instance, values, goal, compiled=True)
    except Failure as failure:
        world = instance.world.span
        return [(one.span or world, one.message.rstrip(".")) for one in failure.diagnostics]
    return []


# ---- for people -------------------------------------------------------------------------------


def capability_lines(found: Capabilities) -> tuple[str, ...]:
    """The matrix with a mark per way, and below it each refusal with its reason."""
    rows = [
        (f"{one.kind} {one.name}", f"{one.span.file}:{one.span.line}") for one in found.constructs
    ]
    wide = max(len(title) for title, _ in rows)
    far = max(len(place) for _, place in rows)
    lines = [f"{'construct':<{wide}}  {'place':<{far}}  {'  '.join(WAYS)}"]
    for one, (title, place) in zip(found.constructs, rows, strict=True):
        marks = (_MARKS[one.takes(way)].ljust(len(way)) for way in WAYS)
        lines.append(f"{title:<{wide}}  {place:<{far}}  {'  '.join(marks)}".rstrip())
    for one, (title, place) in zip(found.constructs, rows, strict=True):
        for way in WAYS:
            lines += [f"{way}: {title} ({place}): {why}" for why in one.refusals.get(way, ())]
    return (*lines, *found.remarks)
