"""The reasons of *unwinnable*: the chain of causes, the minimal core, and repairs, as text and
JSON. `session.solving` calls `explain` after the verdict is known."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tokenworld import model as m
from tokenworld.diagnostics import Failure, Span
from tokenworld.ground import Instance, Json, Raw, Simulator, StateT
from tokenworld.planning.ladder import plan
from tokenworld.planning.lower.algebra import Slot
from tokenworld.planning.planners.by_encoding import plan_on
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, find_engine
from tokenworld.planning.proof.causes import Missing, Way, Why
from tokenworld.planning.proof.unsolvable_core import (
    Core,
    Part,
    Variants,
    constant,
    find_core,
    narrows,
    relaxed,
    slot_text,
    start_place,
    together,
    value_shown,
    whens,
)
from tokenworld.planning.verdict import Verdict

# ---- Repairs ------------------------------------------------------------------------------------
# Another number, start value or object, or one condition less. A candidate is a changed program
# (and a body that changes its start state) with the sentence that tells the author what to do.
# `find_repairs` plans one after the other and keeps those that can be won.

RepairKind = Literal["number", "start value", "condition", "object"]
_MOST_VALUES = 12


@dataclass(frozen=True, slots=True)
class Repair:
    """One change to the world after which the goal can be reached in ``ticks``."""

    kind: RepairKind
    text: str
    span: Span
    ticks: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change to try. ``place`` is the place that it changes: one change of each is enough."""

    repair: Repair
    program: m.Program
    place: str
    body: m.Body = ()


# ---- start values -----------------------------------------------------------------------------


def start_values(why: Why, missing: Missing) -> Iterator[Candidate]:
    """Another start value for a slot that a condition looks at, if it would then hold."""
    for held in missing.held:
        fluent = why.instance.program.fluents[held.slot[0]]
        count = 0
        for value in _values(why, fluent):
            with why.analysis.supposing(held.slot, frozenset((value,))):
                helps = not why.never(missing.term, missing.env)
            if helps and count < _MOST_VALUES:
                count += 1
                yield _started(why, fluent, held.slot, value)


def core_values(why: Why, part: Part) -> Iterator[Candidate]:
    """Other start values for a slot of the core."""
    fluent, slot = why.instance.program.fluents[part.name], (part.name, part.args)
    others = [value for value in _values(why, fluent) if value != why.facts.initial(slot)]
    for value in others[:_MOST_VALUES]:
        yield _started(why, fluent, slot, value)


def _values(why: Why, fluent: m.Fluent) -> tuple[Raw, ...]:
    """The values of a fluent; of a wide range the ends and some between."""
    values = why.facts.domain(fluent.type) or ()
    if len(values) <= 4 * _MOST_VALUES or isinstance(fluent.type, m.ObjectType):
        return tuple(values)
    step = len(values) // _MOST_VALUES
    return (*values[::step], values[-1])


def _started(why: Why, fluent: m.Fluent, slot: Slot, value: Raw) -> Candidate:
    instance = why.instance
    shown = value_shown(instance, fluent.type, value)
    span = start_place(instance, fluent, slot[1])
    text = f"let `{slot_text(instance, fluent, slot[1])}` be `{shown}` at the start"
    args = tuple(
        constant(instance, param.type, arg, span)
        for param, arg in zip(fluent.params, slot[1], strict=True)
    )
    target = m.Read(fluent.id, args, fluent.type, span)
    change: m.AddFact | m.RemoveFact | m.Assign
    if isinstance(fluent.type, m.BoolType) and fluent.fluent_kind == "relation":
        change = m.AddFact(target, span) if value else m.RemoveFact(target, span)
    else:
        change = m.Assign(target, "=", constant(instance, fluent.type, value, span), span)
    place = slot_text(instance, fluent, slot[1])
    return Candidate(Repair("start value", text, span), instance.program, place, (change,))


# ---- numbers and conditions -------------------------------------------------------------------


def numbers(why: Why, missing: Missing) -> Iterator[Candidate]:
    """Yield repairs that change the constant of a comparison to a value that the slot can reach."""
    term = _authored(why, missing.span)
    if not isinstance(term, m.Compare) or term.op in ("==", "!="):
        return
    literal = next((x for x in (term.left, term.right) if isinstance(x, m.NumberLiteral)), None)
    values = [why.analysis.domain(held.slot) for held in missing.held]
    if literal is None or not values or values[0] is None:
        return
    old_value = literal.value
    reached = [one for one in values[0] if isinstance(one, int)]
    for bound in sorted(reached, key=lambda one: abs(one - old_value))[:_MOST_VALUES]:
        moved = replace(literal, value=bound)
        sides = [moved if one is literal else one for one in (term.left, term.right)]
        changed = replace(term, left=sides[0], right=sides[1])
        if not why.never(why.facts.rules.term(changed), missing.env):
            kind = literal.type
            new, old = (value_shown(why.instance, kind, one) for one in (bound, literal.value))
            text = f"in `{missing.text}`, let the number be {new}, not {old}"
            yield _rewritten(why, "number", text, term, changed)


def _authored(why: Why, span: Span) -> m.Term | None:
    """The conjunct of a require, of a law's condition or of a goal at a place."""
    program = why.instance.program
    terms = [one.condition for action in program.actions.values() for one in action.requires]
    terms += [law.when for law in program.laws.values() if law.when is not None]
    terms += [line.condition for line in why.instance.world.goals]
    return next((one for one in m.conjuncts(terms) if one.span == span), None)


def conditions(why: Why, parts: Sequence[Part], missing: Sequence[Missing]) -> Iterator[Candidate]:
    """A condition left out: those that lack something, then those of the core."""
    program = why.instance.program
    for action in program.actions.values():
        for index, require in enumerate(action.requires):
            terms = tuple(m.conjuncts((require.condition,)))
            lacking = any(one.span == term.span for one in missing for term in terms)
            if lacking and not any(narrows(one) for one in terms):
                part = Part("require", action.name, require.source, require.span, index)
                yield _dropped(why, part)
    for law in program.laws.values():
        for one in missing:
            terms = whens(law)
            if any(term.span == one.span and not narrows(term) for term in terms):
                text = f"drop `{one.text}` from law `{law.name}`"
                kept = [term for term in terms if term.span != one.span]
                when = together(kept, kept[0].span) if kept else None
                laws = {**program.laws, law.name: replace(law, when=when)}
                repair = Repair("condition", text, one.span)
                yield Candidate(repair, replace(program, laws=laws), f"{law.name} {one.text}")
    for part in parts:
        if part.kind in ("ending", "invariant") or _can_go(program, part):
            yield _dropped(why, part)


def _can_go(program: m.Program, part: Part) -> bool:
    """Return whether a require can be removed: the rest of its action keeps its meaning."""
    if part.kind != "require":
        return False
    require = program.actions[part.name].requires[part.index]
    return not any(narrows(one) for one in m.conjuncts((require.condition,)))


def _dropped(why: Why, part: Part) -> Candidate:
    words = {
        "require": f"drop `require {part.text}` of `{part.name}`",
        "ending": f"drop the line `{part.name}: {part.text}`",
        "invariant": f"drop the invariant `{part.name}: {part.text}`",
    }
    program, _ = relaxed(why.instance, (part,))
    repair = Repair("condition", words[part.kind], part.span)
    return Candidate(repair, program, f"{part.name} {part.text}")


def _rewritten(why: Why, kind: RepairKind, text: str, old: m.Term, new: m.Term) -> Candidate:
    """The program with one conjunct of a require or of a law's condition replaced."""
    program = why.instance.program

    def swap(term: m.Term) -> m.Term:
        parts = m.conjuncts((term,))
        return together([new if one == old else one for one in parts], term.span)

    actions = {
        name: replace(
            action,
            guards=tuple(
                replace(one, condition=swap(one.condition)) if isinstance(one, m.Require) else one
                for one in action.guards
            ),
        )
        for name, action in program.actions.items()
    }
    laws = {
        name: law if law.when is None else replace(law, when=swap(law.when))
        for name, law in program.laws.items()
    }
    world = why.instance.world
    endings = tuple(
        replace(one, condition=swap(one.condition)) if one.ending == "goal" else one
        for one in world.endings
    )
    worlds = {**program.worlds, world.name: replace(world, endings=endings)}
    changed = replace(program, actions=actions, laws=laws, worlds=worlds)
    return Candidate(Repair(kind, text, old.span), changed, f"number {old.span}")


# ---- objects ----------------------------------------------------------------------------------


def objects(why: Why, way: Way) -> Iterator[Candidate]:
    """An object of a type that has none, in every place where its first reference may point."""
    instance = why.instance
    for of in way.empty:
        if of not in instance.program.types:
            continue
        name = _fresh(instance, of)
        places = [None, *_places(instance, of)]
        for field in places:
            yield _added(instance, name, of, field)


def _fresh(instance: Instance, of: str) -> str:
    name = of.lower()
    while name in instance.numbers or name in instance.program.objects:
        name += "_2"
    return name


def _places(instance: Instance, of: str) -> Iterator[m.FieldValue]:
    """Values of the attributes of a type that point at objects."""
    program, span = instance.program, instance.world.span
    for key in program.types[of].attributes:
        kind = program.fluents[key].type
        if isinstance(kind, m.ObjectType):
            for number in instance.members[kind.name]:
                yield m.FieldValue(key, constant(instance, kind, number, span), span)


def _added(instance: Instance, name: str, of: str, field: m.FieldValue | None) -> Candidate:
    program, world = instance.program, instance.world
    fields = () if field is None else (field,)
    declared = m.ObjectDecl(name, of, None, (), fields, world.name, world.span)
    inside = ""
    if field is not None:
        fluent = program.fluents[field.fluent]
        value = getattr(field.value, "name", "")
        inside = f" {{ {fluent.name} = {value} }}"
    text = f"add `object {name}: {of}{inside}`"
    changed = replace(program, objects={**program.objects, name: declared})
    return Candidate(Repair("object", text, world.span), changed, f"object {of}")


Plan = Callable[[m.Program, m.Body, float], Verdict | None]
MOST_TRIED = 60
_MOST_UNDECIDED = 2
"""After so many changed worlds that were not decided in time, the others are not tried."""


def find_repairs(
    why: Why,
    missing: Sequence[Missing],
    core: Core | None,
    *,
    plan: Plan,
    seconds: float,
    most: int = 1,
    tries: int = MOST_TRIED,
) -> tuple[Repair, ...]:
    """Up to ``most`` single changes that make the goal reachable, of the first ``tries``, the
    smallest kind first.

    ``plan`` plans a changed program from its start state, changed by a body, within some seconds;
    ``None`` where it cannot even begin. A single change is looked for only as long as plans answer.
    """
    end, found = time.monotonic() + seconds, list[Repair]()
    seen: set[str] = set()
    tried = undecided = 0
    for one in _candidates(why, missing, core):
        left = end - time.monotonic()
        if left <= 0 or len(found) >= most or tried >= tries:
            break
        if most == 1 and undecided >= _MOST_UNDECIDED:
            break
        if one.repair.text in seen or one.place in seen:
            continue
        seen.add(one.repair.text)
        tried += 1
        verdict = plan(one.program, one.body, max(left / 2, min(left, 1.0)))
        undecided += verdict is not None and verdict.answer == "unknown"
        if verdict is not None and verdict.answer == "winnable":
            seen.add(one.place)
            found.append(replace(one.repair, ticks=verdict.ticks))
    return tuple(found)


def _candidates(why: Why, missing: Sequence[Missing], core: Core | None) -> Iterator[Candidate]:
    """The changes to try: numbers, start values, conditions, objects; deepest causes first.

    Changes of the goal itself come last: a goal made trivial is hardly a repair.
    """
    every = list(_deepest_first(missing, 0))
    inner = [one for depth, one in every if depth > 0]
    goal = [one for depth, one in every if depth == 0]
    for one in inner:
        yield from numbers(why, one)
    for one in inner:
        yield from start_values(why, one)
    given_away: list[Candidate] = []
    if core is not None:
        asked = why.goal_slots(core.goal)
        for part in core.parts:
            if part.kind == "fact":
                found = core_values(why, part)
                if (part.name, part.args) in asked:
                    given_away += found
                else:
                    yield from found
    yield from conditions(why, core.parts if core is not None else (), inner)
    for way in _ways(missing):
        yield from objects(why, way)
    for one in goal:
        yield from numbers(why, one)
        yield from start_values(why, one)
    yield from given_away


def _deepest_first(missing: Sequence[Missing], depth: int) -> Iterator[tuple[int, Missing]]:
    for one in missing:
        for way in one.ways:
            yield from _deepest_first(way.lacks, depth + 1)
        yield depth, one


def _ways(missing: Sequence[Missing]) -> Iterator[Way]:
    for one in missing:
        for way in one.ways:
            yield from _ways(way.lacks)
            yield way


# ---- The explanation ----------------------------------------------------------------------------

_CORE_STATES = 10_000
"""Most states of a world whose core is searched without `--why`: a core takes tens of proofs."""

_MOST_LINES = 12
"""Lines of a reason that is not asked for; verdict and proof are three more."""

_ENCODED = 5
"""Most changed worlds that are encoded for a planner beside a verdict."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one goal line is out of reach.

    ``missing``: its conjuncts that never hold; empty where each may hold for itself. ``core`` is
    ``None`` where it was not asked for, or not found in time.
    """

    goal: str
    missing: tuple[Missing, ...]
    core: Core | None
    repairs: tuple[Repair, ...]

    def placed(self, place: Callable[[Span], Span]) -> Explanation:
        """The explanation with other places, for rules that were made from another text."""

        def missing(one: Missing) -> Missing:
            return replace(one, span=place(one.span), ways=tuple(map(way, one.ways)))

        def way(one: Way) -> Way:
            return replace(one, span=place(one.span), lacks=tuple(map(missing, one.lacks)))

        core = self.core
        if core is not None:
            parts = tuple(replace(one, span=place(one.span)) for one in core.parts)
            core = replace(core, parts=parts)
        repairs = tuple(replace(one, span=place(one.span)) for one in self.repairs)
        return replace(self, missing=tuple(map(missing, self.missing)), core=core, repairs=repairs)

    def to_json(self) -> dict[str, Json]:
        core: Json = None
        if self.core is not None:
            core = {
                "oracle": self.core.oracle,
                "minimal": self.core.minimal,
                "untried": self.core.unsure,
                "parts": [_part_json(one) for one in self.core.parts],
            }
        return {
            "goal": self.goal,
            "missing": [_missing_json(one) for one in self.missing],
            "core": core,
            "repairs": [
                {"kind": r.kind, "text": r.text, "place": _place(r.span), "ticks": r.ticks}
                for r in self.repairs
            ],
        }


def explain(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str,
    variants: Variants[StateT],
    *,
    seconds: float,
    full: bool,
) -> Explanation:
    """Explain an unwinnable goal line. ``full``: with the core and several repairs.

    The core takes at most half of ``seconds``, a quarter if not ``full``; repairs take the rest.
    Not ``full``, it is left out where a world is too large for it.
    """
    end = time.monotonic() + seconds
    why = Why(simulator, state, variants.quote)
    missing, core = why.goal(goal), None
    if full or (not missing and (variants.states or 0) <= _CORE_STATES):
        share = seconds / (2 if full else 4)
        core = find_core(simulator, state, goal, variants, seconds=share)

    by_planner = variants.states is None and find_engine(FAST_DOWNWARD).ready

    def replan(program: m.Program, body: m.Body, limit: float) -> Verdict | None:
        try:
            other, start = variants.rebuild(program, body)
            if by_planner:  # our own search has not seen the end of the world itself
                return plan_on(other, start, goal, "E", seconds=limit)
            return plan(other, start, goal, time_limit=limit)
        except Failure:
            return None

    repairs: tuple[Repair, ...] = ()
    if why.sound:
        left = max(end - time.monotonic(), 0.0)
        most, tries = (3, MOST_TRIED) if full else (1, _ENCODED if by_planner else MOST_TRIED)
        repairs = find_repairs(
            why, missing, core, plan=replan, seconds=left, most=most, tries=tries
        )
    return Explanation(goal, missing, core, repairs)


# ---- for programs -----------------------------------------------------------------------------


def _place(span: Span) -> str:
    return f"{span.file}:{span.line}"


def _part_json(part: Part) -> dict[str, Json]:
    return {"kind": part.kind, "of": part.name, "text": part.text, "place": _place(part.span)}


def _missing_json(missing: Missing) -> dict[str, Json]:
    return {
        "condition": missing.text,
        "place": _place(missing.span),
        "holds": {one.name: one.values for one in missing.held},
        "rules": [_way_json(one) for one in missing.ways],
    }


def _way_json(way: Way) -> dict[str, Json]:
    return {
        "kind": way.kind,
        "name": way.name,
        "rule": way.shown,
        "place": _place(way.span),
        "no_object_of": list(way.empty),
        "lacks": [_missing_json(one) for one in way.lacks],
    }


# ---- for people -------------------------------------------------------------------------------


def explanation_lines(found: Explanation, *, full: bool) -> tuple[str, ...]:
    """The explanation in plain lines: the chain of causes, the core if ``full``, repairs.

    If not ``full``, no more than `_MOST_LINES`.
    """
    lines: list[str] = []
    for missing in found.missing:
        lines += _missing_lines(missing, 0, f"nothing ever makes `{missing.text}` true", full)
    if not found.missing:
        lines.append(f"goal `{found.goal}`: each part can be had for itself, not all at once")
    core = [] if found.core is None else _core_lines(found.core)
    repairs = []
    for repair in found.repairs:
        ticks = "1 tick is" if repair.ticks == 1 else f"{repair.ticks:,} ticks are"
        repairs.append(f"it would help to {repair.text}: then {ticks} enough")
    chain = _once(lines)
    if not full:
        chain = _nearest(chain, _MOST_LINES - len(repairs))
        core = core[: _MOST_LINES - len(repairs) - len(chain)]
    return (*chain, *core, *repairs)


def _nearest(lines: Sequence[str], most: int) -> Sequence[str]:
    """The lines nearest to the goal: of too many, the deepest are left out, the last ones first."""
    kept = list(lines)
    while len(kept) > max(most, 1):
        deepest = max(_depth(line) for line in kept)
        last = max(at for at, line in enumerate(kept) if _depth(line) == deepest)
        del kept[last]
    return kept


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _once(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines without repeated lines and the lines below those."""
    seen, kept, below = set[str](), list[str](), None
    for line in lines:
        depth = _depth(line)
        if below is not None and depth > below:
            continue
        below = depth if line.strip() in seen else None
        if below is None:
            seen.add(line.strip())
            kept.append(line)
    return kept


def _missing_lines(missing: Missing, depth: int, begin: str, full: bool) -> list[str]:
    indent = "  " * depth
    held = "; ".join(f"`{one.name}` is only ever {one.values}" for one in missing.held)
    why = f": {held}" if held else ""
    lines = [f"{indent}{begin} ({_place(missing.span)}){why}"]
    ways = missing.ways if full else missing.ways[:1]
    for way in ways:
        lines += _way_lines(way, depth + 1, full)
    return lines


def _way_lines(way: Way, depth: int, full: bool) -> list[str]:
    indent = "  " * depth
    if way.empty:
        types = " and no ".join(f"`{one}`" for one in way.empty)
        return [
            f"{indent}{way.kind} `{way.shown}` would, but there is no {types} ({_place(way.span)})"
        ]
    lines: list[str] = []
    for one in way.lacks if full else way.lacks[:2]:
        begin = f"{way.kind} `{way.shown}` would, and needs `{one.text}`"
        lines += _missing_lines(one, depth, begin, full)
    return lines


def _core_lines(core: Core) -> list[str]:
    how = "minimal" if core.minimal else f"reduced; time ran out with {core.unsure} parts untried"
    lines = [f"core ({how}, by {core.oracle}): without any of these it could not be proved"]
    if not core.minimal:
        lines = [f"core ({how}, by {core.oracle}):"]
    for part in core.parts:
        lines.append(f"  {_WORDS[part.kind].format(part=part)} ({_place(part.span)})")
    return lines


_WORDS = {
    "goal": "goal {part.name}: {part.text}",
    "ending": "ending {part.name}: {part.text}",
    "invariant": "invariant {part.name}: {part.text}",
    "law": "law {part.name} happens by itself",
    "when": "law {part.name} when {part.text}",
    "require": "{part.name}: require {part.text}",
    "fluent": "start values of {part.text}",
    "fact": "start: {part.text}",
}
