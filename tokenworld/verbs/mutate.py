"""``tw mutate``: do the tests of a world notice a small mistake in its rules?

A mutant differs in one place, as a slip of the author would: a require left out, a comparison
turned, two arguments exchanged, an effect forgotten. Prose is not mutated. A mutant is killed when
a scenario, a goal or an invariant of the world notices it, or, where rows are given, a recorded
transition that it answers wrongly.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, assert_never

from tokenworld import model as m
from tokenworld.diagnostics import Diagnostic, Failure, Span, usage
from tokenworld.engine import Engine, EngineSimulator, ForcedLuck, State
from tokenworld.limits import attempt, left
from tokenworld.planning.verdict import PlanStep
from tokenworld.session.loading import (
    Loaded,
    OpenWorld,
    by_other_rules,
    compile_world,
    load_program,
    open_world,
    split_target,
)
from tokenworld.session.players import give_once, random_player
from tokenworld.session.scenarios import run_scenario
from tokenworld.session.session import Session
from tokenworld.session.solving import solve
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, EXIT_UNKNOWN, Output, limit_notes
from tokenworld.verbs.records.answers import all_right
from tokenworld.verbs.records.properties import mapping_beside
from tokenworld.verbs.records.replay import WorldAnswerer
from tokenworld.verbs.records.rows import BadRow, TextRow, read_text_rows

_FLIPPED = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_FOLDS = {"any": "all", "all": "any", "first": "last", "last": "first", "min": "max", "max": "min"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A program with one change: the name of the operator, the change, and its place."""

    operator: str
    what: str
    span: Span
    program: m.Program


@dataclass(frozen=True, slots=True)
class _Change:
    """A changed part, and how it came about."""

    operator: str
    what: str
    span: Span


Changed = tuple[_Change, m.Term]
Node = TypeVar(
    "Node", bound=m.Action | m.Law | m.Derive | m.Require | m.Effect | m.Branch | m.Ending
)


def mutants(program: m.Program) -> Iterator[Mutant]:
    """Every mutant of the actions, laws and derives, in order of declaration."""
    for name, action in program.actions.items():
        for change, new in _of_action(action, program):
            actions = {**program.actions, name: new}
            yield _mutant(change, replace(program, actions=actions))
    for name, law in [one for one in program.laws.items() if not one[1].added]:
        rest = {key: one for key, one in program.laws.items() if key != name}
        gone = _Change("drop law", f"law {name} left out", law.span)
        if not _spoken_of(program, name):
            yield _mutant(gone, replace(program, laws=rest))
        for change, changed in _inside(law, program, "when", "body"):
            yield _mutant(change, replace(program, laws={**program.laws, name: changed}))
    for name, derive in [one for one in program.derives.items() if one[1].over_time is None]:
        for change, turned in _inside(derive, program, "value"):
            yield _mutant(change, replace(program, derives={**program.derives, name: turned}))


def ending_mutants(program: m.Program) -> Iterator[Mutant]:
    """Every mutant of the goals, losses and stops; only `tw judge` uses them."""
    for name, world in program.worlds.items():
        for place, line in enumerate(world.endings):
            before, after = world.endings[:place], world.endings[place + 1 :]
            changed: list[tuple[_Change, tuple[m.Ending, ...]]] = [
                (change, (new,)) for change, new in _inside(line, program, "condition")
            ]
            if line.ending != "goal":
                what = f"{line.ending} {line.name} left out"
                changed.append((_Change("drop ending", what, line.span), ()))
            for change, new in changed:
                turned = replace(world, endings=(*before, *new, *after))
                yield _mutant(change, replace(program, worlds={**program.worlds, name: turned}))


def _mutant(change: _Change, program: m.Program) -> Mutant:
    return Mutant(change.operator, change.what, change.span, program)


def _spoken_of(program: m.Program, law: str) -> bool:
    """Return whether a `conserve … except` names the law, which then must stay."""
    return any(law in rule.exempt for rule in program.conserves.values())


def _of_action(action: m.Action, program: m.Program) -> Iterator[tuple[_Change, m.Action]]:
    for index, guard in enumerate(action.guards):
        before, after = action.guards[:index], action.guards[index + 1 :]
        if isinstance(guard, m.Require):
            text = f"require {guard.source} left out"
            gone = _Change("drop require", text, guard.span)
            yield gone, replace(action, guards=(*before, *after))
        part = "condition" if isinstance(guard, m.Require) else "value"
        for change, new in _inside(guard, program, part):
            yield change, replace(action, guards=(*before, new, *after))
    yield from _inside(action, program, "body", "cancelled")


def _inside(node: Node, program: m.Program, *parts: str) -> Iterator[tuple[_Change, Node]]:
    """The node with one change in one of its ``parts``: terms or bodies, in this order."""
    for name in parts:
        part: Any = getattr(node, name)
        if part is None or isinstance(part, m.Draw):
            continue
        changed: Iterator[tuple[_Change, Any]] = (
            bodies(part, program) if isinstance(part, tuple) else terms(part, program)
        )
        for change, new in changed:
            yield change, replace(node, **{name: new})


# ---- terms ------------------------------------------------------------------------------


def terms(term: m.Term, program: m.Program) -> Iterator[Changed]:
    """The term with one change, at its root or below."""
    yield from _root(term, program)
    for place, child in enumerate(m.children(term)):
        for change, new in terms(child, program):
            yield change, _with_child(term, place, new)


def _with_child(term: m.Term, place: int, new: m.Term) -> m.Term:
    """The term with its child number ``place`` replaced.

    `map_children` visits a fold's range, filter and value in another order than `children` lists
    them, so the child is compared by identity.
    """
    old = m.children(term)[place]
    done = False

    def change(child: m.Term) -> m.Term:
        nonlocal done
        if child is old and not done:
            done = True
            return new
        return child

    return m.map_children(term, change)


def _root(term: m.Term, program: m.Program) -> Iterator[Changed]:
    match term:
        case m.Compare(op=op):
            what = f"{op} became {_FLIPPED[op]}"
            yield _Change("flip comparison", what, term.span), replace(term, op=_FLIPPED[op])  # type: ignore[arg-type]
        case m.And(terms=parts):
            yield (
                _Change("and to or", "and became or", term.span),
                m.Or(parts, term.type, term.span),
            )
        case m.Or(terms=parts):
            yield (
                _Change("or to and", "or became and", term.span),
                m.And(parts, term.type, term.span),
            )
        case m.Not(term=inner):
            yield _Change("drop not", "not left out", term.span), inner
        case m.BoolLiteral(value=value):
            what = f"{str(value).lower()} became {str(not value).lower()}"
            yield _Change("flip truth", what, term.span), replace(term, value=not value)
        case m.NumberLiteral() | m.EnumLiteral():
            yield from _literal(term, program)
        case m.Arithmetic(op="+" | "-" as op):
            other: Literal["+", "-"] = "-" if op == "+" else "+"
            yield (
                _Change("plus to minus", f"{op} became {other}", term.span),
                replace(term, op=other),
            )
        case m.Fold(fold=fold) if fold in _FOLDS:
            what = f"{fold} became {_FOLDS[fold]}"
            if fold not in ("any", "all") or term.value is not None:
                yield _Change("other fold", what, term.span), replace(term, fold=_FOLDS[fold])  # type: ignore[arg-type]
        case m.Read(args=args) | m.DeriveCall(args=args) if len(args) == 2:
            if args[0].type == args[1].type and args[0] != args[1]:
                change = _Change("swap arguments", "two arguments changed places", term.span)
                yield change, replace(term, args=(args[1], args[0]))
        case (
            m.LeafTerm() | m.StateTerm() | m.Implies() | m.Member() | m.IsType() | m.NumberTerm()
            | m.CompositeTerm()
        ):  # fmt: skip
            return
        case _:
            assert_never(term)


def _literal(term: m.NumberLiteral | m.EnumLiteral, program: m.Program) -> Iterator[Changed]:
    """The next number, the next member."""
    if isinstance(term, m.NumberLiteral):
        if isinstance(term.type, m.NumberType) and isinstance(term.value, int):
            value = term.value + 1
            kind = replace(term.type, low=value, high=value)
            change = _Change("other number", "a number became greater by one", term.span)
            yield change, replace(term, value=value, type=kind)
        return
    members = program.enums[term.enum].members
    if len(members) > 1 and isinstance(term.type, m.EnumType):
        index = (term.index + 1) % len(members)
        what = f"{term.member} became {members[index]}"
        yield (
            _Change("other member", what, term.span),
            replace(term, index=index, member=members[index]),
        )


# ---- bodies -----------------------------------------------------------------------------


def bodies(body: m.Body, program: m.Program) -> Iterator[tuple[_Change, m.Body]]:
    """The body with one change: an effect left out or altered, here or further in."""
    for place, effect in enumerate(body):
        before, after = body[:place], body[place + 1 :]
        if isinstance(effect, (m.Say, m.DescribeEffect)):
            continue
        if not _named(effect):
            what = f"{effect.kind} left out"
            yield _Change("drop effect", what, effect.span), (*before, *after)
        for change, new in _effects(effect, program):
            yield change, (*before, new, *after)


def _named(effect: m.Effect) -> bool:
    """Return whether the effect brings a name that later ones may use."""
    return effect.kind in ("let", "create")


def _effects(effect: m.Effect, program: m.Program) -> Iterator[tuple[_Change, m.Effect]]:
    match effect:
        case m.Assign(op=op):
            if op != "=":
                other: Literal["+=", "-="] = "-=" if op == "+=" else "+="
                change = _Change("turn step", f"{op} became {other}", effect.span)
                yield change, replace(effect, op=other)
            yield from _inside(effect, program, "value")
        case m.Transfer(source=source, target=target):
            turned = replace(effect, source=target, target=source)
            yield _Change("turn transfer", "transfer goes the other way", effect.span), turned
        case m.If():
            yield from _inside(effect, program, "condition", "then", "otherwise")
        case m.For():
            yield from _inside(effect, program, "body")
        case m.Pick():
            yield from _inside(effect, program, "otherwise", "body")
        case m.Chance():
            yield from _inside(effect, program, "otherwise")
            for index, branch in enumerate(effect.branches):
                before, after = effect.branches[:index], effect.branches[index + 1 :]
                for change, new in _inside(branch, program, "body"):
                    yield change, replace(effect, branches=(*before, new, *after))
        case m.Let():
            yield from _inside(effect, program, "value")
        case m.WriteEffect() | m.LifeEffect() | m.OutputEffect():
            return
        case _:
            assert_never(effect)


Verdict = Literal["scenario", "goal", "row", "invariant", "start", "checker", "survived"]
"""The test that noticed a mutant first; ``start``: the world cannot begin; ``checker``: the change
removes a narrowing that a later line needs, so that no checked program has this form."""

ILL_TYPED = (TypeError, KeyError, IndexError, AttributeError, AssertionError)
"""The exceptions of evaluating a rule once the checker's promises are broken."""

_MOST_NAMED = 5
_SEARCHED = 500
"""States in which a mutant of a world without a way to its goal may have one."""
_WALK, _WALKS = 200, 60
"""Random ticks in which an invariant may notice a mutant, in so many walks at most."""


@dataclass(frozen=True, slots=True)
class GoalPlan:
    """The steps that reach a goal of a world by the rules as they are."""

    world: str
    goal: str
    steps: tuple[PlanStep, ...]


class Judge:
    """Holds mutants of one sound program against its own tests.

    `Failure` (TW0703) where scenarios fail on the program itself: such a one notices nothing.

    Scenarios are run without their checks `winnable`, which a plan of the original stands in for: a
    mutant under which that plan fails is noticed by the goal. `unwinnable` looks for a goal among
    the first `_SEARCHED` states. Invariants and conserved sums are
    tried on a short random walk that breaks none of them in the original.
    """

    def __init__(
        self, loaded: Loaded, plans: Sequence[GoalPlan], rows: RecordedRows | None = None
    ) -> None:
        self._loaded, self._plans, self._rows = loaded, plans, rows
        program = loaded.program
        self._scenarios = tuple(_without_winnable(one) for one in program.scenarios)
        _sound(loaded, self._scenarios)
        self._sound_walks = tuple(
            name for name in program.worlds if not self._breaks(loaded.program, name)
        )

    def judge(self, program: m.Program) -> Verdict:
        """Name the test that notices that ``program`` is not the original."""
        try:
            if not all(self._passes(program, one) for one in self._scenarios):
                return "scenario"
            if not all(self._reaches(program, plan) for plan in self._plans):
                return "goal"
            if self._rows is not None and not self._rows.are_right_by(program):
                return "row"
            if any(self._breaks(program, name) for name in self._sound_walks):
                return "invariant"
        except Failure:
            return "start"
        except ILL_TYPED:
            return "checker"
        return "survived"

    def _open(self, program: m.Program) -> Loaded:
        return Loaded(program, self._loaded.sources, ())

    def _passes(self, program: m.Program, scenario: m.Scenario) -> bool:
        return run_scenario(self._open(program), scenario, states=_SEARCHED).ok

    def _reaches(self, program: m.Program, plan: GoalPlan) -> bool:
        engine = compile_world(program, program.worlds[plan.world])
        return _wins(engine, engine.start(), plan)

    def _breaks(self, program: m.Program, name: str) -> bool:
        """Return whether random play breaks an invariant or a conserved sum."""
        if not (program.invariants or program.conserves):
            return False
        engine = compile_world(program, program.worlds[name])
        world = OpenWorld(self._open(program), program.worlds[name], engine)
        left = _WALK
        for seed in range(_WALKS):
            broken, ticks = _walk(world, seed, left)
            left -= ticks
            if broken or left <= 0:
                return broken
        return False


class RecordedRows:
    """Recorded transitions of one game, which a mutant of its world may answer wrongly.

    `Failure` where a row cannot be used (TW0006), or where the world itself answers one wrongly
    (TW0703): such a row notices nothing.
    """

    def __init__(self, target: str, files: Sequence[Path]) -> None:
        self._world = open_world(target, scenarios=False)
        self._mapping = mapping_beside(split_target(target)[0])
        found: dict[Hashable, TextRow] = {}
        for row in (row for path in files for row in read_text_rows(path)):
            why = row.why if isinstance(row, BadRow) else self._foreign(row)
            if isinstance(row, BadRow) or why:
                hint = "`tw conform` lists all rows that cannot be used."
                raise usage(f"Rows cannot judge mutants: {row.place}: {why}.", hint)
            states = map(id, (row.before, row.acted, row.ticked))
            found.setdefault(
                (*states, row.action, row.task, row.score_before, row.score_after), row
            )
        self._rows = tuple(found.values())
        if wrong := next(self._wrong(self._world), None):
            raise Failure(
                Diagnostic(
                    "TW0703",
                    f"Mutants cannot be judged: the world answers {wrong.place} wrongly.",
                    hint="Mend them first: `tw conform --strict` says what went wrong.",
                )
            )

    def _foreign(self, row: TextRow) -> str:
        known = self._mapping.game
        return "" if row.game == known else f"it is a row of `{row.game}`, not of `{known}`"

    def are_right_by(self, program: m.Program) -> bool:
        """Return whether a program answers every row strictly right."""
        changed = by_other_rules(self._world, replace(program, scenarios=()))
        try:
            return next(self._wrong(changed), None) is None
        except Failure:
            return False  # a recorded state is none of this world

    def _wrong(self, world: OpenWorld) -> Iterator[TextRow]:
        """The rows that a world answers wrongly."""
        answerer = WorldAnswerer(world, self._mapping)
        for row in self._rows:
            if not all_right(row, answerer.answers(row)):
                yield row


def _sound(loaded: Loaded, scenarios: Iterable[m.Scenario]) -> None:
    """`Failure` (TW0703) that names the scenarios that fail."""
    red = [one for one in scenarios if not run_scenario(loaded, one, states=_SEARCHED).ok]
    if not red:
        return
    many = f"{len(red)} scenarios fail" if len(red) > 1 else "a scenario fails"
    named = ", ".join(f"`{one.title}`" for one in red[:_MOST_NAMED])
    more = ", …" if len(red) > _MOST_NAMED else ""
    raise Failure(
        Diagnostic(
            "TW0703",
            f"Mutants cannot be judged: {many} on the rules as they are ({named}{more}).",
            red[0].span,
            "fails before anything is changed",
            hint="Mend it first: `tw test` says what went wrong.",
        )
    )


def _walk(world: OpenWorld, seed: int, ticks: int) -> tuple[bool, int]:
    """Return whether a random walk breaks something, and after how many ticks it or the world
    ended."""
    session = Session(world, seed, operator=True)
    for number, intent in enumerate(islice(random_player(session), ticks)):
        outcomes = give_once(session, intent, "random")
        if any(one.breach is not None for one in outcomes):
            return True, number
        if outcomes[-1].status == "halted":
            return False, number
    return False, ticks


def _without_winnable(scenario: m.Scenario) -> m.Scenario:
    steps = tuple(
        replace(step, checks=tuple(c for c in step.checks if not isinstance(c, m.WinnableCheck)))
        if isinstance(step, m.Expect)
        else step
        for step in scenario.steps
    )
    return replace(scenario, steps=steps)


def goal_plans(program: m.Program, seconds: float) -> list[GoalPlan]:
    """A plan for every goal of every world that one is found for."""
    worlds = program.worlds.values()
    return [
        one for world in worlds for one in _plans(compile_world(program, world), world, seconds)
    ]


def _plans(engine: Engine, world: m.World, seconds: float) -> list[GoalPlan]:
    """The same for one world."""
    found = []
    for line in world.goals:
        state = engine.start()
        verdict = solve(engine, state, line.name, time_limit=seconds)
        plan = GoalPlan(world.name, line.name, verdict.steps)
        if verdict.answer == "winnable" and _wins(engine, state, plan):
            found.append(plan)
    return found


def _wins(engine: Engine, state: State, plan: GoalPlan) -> bool:
    """Return whether the plan reaches its goal without a refusal, with the luck that it counts
    on."""
    simulator = EngineSimulator(engine, state)
    for step in plan.steps:
        state, outcomes = engine.play(state, step.command, ForcedLuck(step.draws))
        if outcomes[-1].status not in ("executed", "waiting"):
            return False
    return simulator.won(state, plan.goal)


_PLANNING = 30.0
"""Seconds for the plan of each goal."""

Judged = list[tuple[Mutant, Verdict]]


def mutate(
    file: Annotated[str, "A file whose rules are changed."],
    out: Output,
    *,
    sample: Annotated[int | None, "Judge this many mutants only."] = None,
    seed: Annotated[int, "The seed that draws the sample."] = 0,
    least: Annotated[float, "Percent that must be noticed, for exit code 0."] = 0.0,
    rows: Annotated[
        tuple[Path, ...], opt.Option(many=True), "Recorded rows of a text game that judge too."
    ] = (),
    time_limit: opt.Whole = None,
) -> int:
    """Judge the mutants of a file's own rules; 1 if fewer than ``least`` percent are noticed.

    ``rows`` are files of recorded transitions of the file's world, which judge too. ``sample``
    judges that many mutants, drawn with ``seed``. 3 if not all were judged in time.
    """
    path = split_target(file)[0]
    loaded = load_program(path)
    own = {one.name for one in loaded.sources if one.path == path}
    every = [one for one in mutants(loaded.program) if one.span.file in own]
    chosen = every if sample is None else sampled(every, sample, seed)
    judged: Judged = []
    recorded = RecordedRows(file, rows) if rows else None
    attempt("judging mutants", lambda: _judge(loaded, chosen, judged, recorded, out), lambda: None)
    _tell(judged, len(every), out)
    noticed = sum(verdict != "survived" for _, verdict in judged)
    share = 100 * noticed / len(judged) if judged else 100.0
    out.json(
        {
            "schema_version": 1,
            "file": str(Path(file)),
            "mutants": len(every),
            "judged": len(judged),
            "noticed": noticed,
            "verdicts": dict(sorted(Counter(verdict for _, verdict in judged).items())),
            "survivors": [_survivor(one) for one, verdict in judged if verdict == "survived"],
        }
    )
    if notes := limit_notes():
        out.diagnostics(notes)
        return EXIT_UNKNOWN
    return EXIT_OK if share >= least else EXIT_NEGATIVE


def sampled(every: Sequence[Mutant], most: int, seed: int) -> Sequence[Mutant]:
    """So many of the mutants at most, drawn with ``seed``, in their order."""
    if most >= len(every):
        return every
    return [every[index] for index in sorted(random.Random(seed).sample(range(len(every)), most))]


def _judge(
    loaded: Loaded, chosen: Sequence[Mutant], judged: Judged, rows: RecordedRows | None, out: Output
) -> None:
    """Judge one mutant after the other; ``judged`` takes them as they come."""
    judge = Judge(loaded, goal_plans(loaded.program, left(_PLANNING)), rows)
    say = out.each_second()
    for number, mutant in enumerate(chosen):
        say(f"{number} of {len(chosen)} mutants")
        judged.append((mutant, judge.judge(mutant.program)))


def _tell(judged: Judged, total: int, out: Output) -> None:
    for mutant, verdict in judged:
        if verdict == "survived":
            out.line(f"survived: {mutant.span}: {mutant.operator}: {mutant.what}")
    counts = Counter(verdict for _, verdict in judged)
    noticed = len(judged) - counts["survived"]
    by = ", ".join(f"{number} by {name}" for name, number in sorted(counts.items())
                   if name != "survived")  # fmt: skip
    share = f"{noticed} of {len(judged)}"
    out.line(f"{share} mutants noticed ({by or 'none'}); {total} in all")


def _survivor(mutant: Mutant) -> dict[str, str]:
    return {"operator": mutant.operator, "what": mutant.what, "place": str(mutant.span)}
