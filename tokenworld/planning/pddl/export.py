"""`tw export --pddl`: a world as a PDDL domain and problem, with a way back for plans.

The readable, lifted form is written wherever every construct has an exact one (language.md §16).
Otherwise the grounded encoding of the planner is written, and each construct that forced it is
named by its line, in the notes and at the top of the files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import Literal, NoReturn

from tokenworld.core.program import lowered
from tokenworld.core.rules import Ending
from tokenworld.diagnostics import Diagnostic, Failure, Severity, Span, closest, in_order
from tokenworld.ground import Command, Instance, LuckyDraw, Raw, Simulator, StateT
from tokenworld.limits import attempt
from tokenworld.model import EnumType, Fluent, NumberType, ObjectType, Program, ValueType
from tokenworld.planning.lower.algebra import Obstacle
from tokenworld.planning.pddl import tree
from tokenworld.planning.pddl.domain import LiftedDomain, lift_domain
from tokenworld.planning.pddl.effects import rounded
from tokenworld.planning.pddl.problem import (
    Stored,
    Values,
    assemble,
    declared_requirements,
    domain_name,
    needed,
)
from tokenworld.planning.pddl.sanitize import sanitized
from tokenworld.planning.pddl.values import Case
from tokenworld.planning.pddl.verbatim import verbatim_domain, verbatim_pair
from tokenworld.planning.pddl.words import (
    Fixed,
    LiftingError,
    Names,
    StepOrigin,
    Vocabulary,
    legal,
    made,
)
from tokenworld.planning.pddl.writes import group
from tokenworld.planning.task import Effect, Operator, Task, Variable
from tokenworld.planning.task import Literal as Condition

Encode = Callable[[str | None], Task]
"""Makes the finite task of a world for a goal; raises `Failure` where it has none."""


@dataclass(frozen=True, slots=True)
class PddlStep:
    """A step of a PDDL plan as a command, with the outcome of chance that it counts on.

    ``outcome`` numbers the outcomes of the action from 1 (0: no chance); ``draws`` lists them in
    full if the grounded form knows them.
    """

    command: Command
    outcome: int = 0
    draws: tuple[LuckyDraw, ...] = ()


@dataclass(frozen=True)
class PddlExport:
    """A pair, notes on dropped or changed parts, and the names with their originals.

    ``renamed`` lists the changes of `sanitize`: the kind, the new name, the old one. ``task`` is
    the source of a grounded pair: its operators are the actions, in the same order.
    """

    pair: tree.PddlPair
    names: Names
    form: Literal["lifted", "grounded"]
    notes: tuple[Diagnostic, ...]
    renamed: tuple[tuple[str, str, str], ...] = ()
    task: Task | None = None

    @cached_property
    def domain(self) -> str:
        """The text of the domain file."""
        return tree.domain_text(self.pair.domain)

    @cached_property
    def problem(self) -> str:
        """The text of the problem file."""
        return tree.problem_text(self.pair.problem)

    def steps(self, plan: str) -> tuple[PddlStep, ...]:
        """The commands of a plan as planners write it, one ``(name arg …)`` per line.

        Forced steps are left out. Raises `Failure` with TW0812 for a step that the pair lacks.
        """
        found: list[PddlStep] = []
        for line in plan.splitlines():
            words = line.partition(";")[0].replace("(", " ").replace(")", " ").split()
            if not words:
                continue
            try:
                command = self.names.command(words[0], tuple(words[1:]))
                origin = self.names.steps[words[0].lower()]
            except (KeyError, IndexError):
                message = f"The plan has a step `{line.strip()}` that the exported task lacks."
                hint = "Give the plan of the pair as it was exported."
                raise Failure(Diagnostic("TW0812", message, hint=hint)) from None
            if command is not None:
                found.append(PddlStep(command, origin.outcome, origin.draws))
        return tuple(found)


def sanitize(export: PddlExport) -> PddlExport:
    """The same pair with names that every planner takes; its plans are read back by `steps`.

    It declares all requirements, so that nothing is left to say about them (TW0809).
    """
    found = sanitized(export.pair)
    return replace(
        export,
        notes=tuple(note for note in export.notes if note.code != "TW0809"),
        names=found.names(export.names),
        pair=found.pair,
        renamed=tuple(found.changes()),
    )


def goal_line(instance: Instance, goal: str | None) -> Ending | None:
    """The named goal line; ``None``: any. Raises `Failure` where the world lacks it."""
    endings = lowered(instance.program).worlds[instance.world.name].endings
    lines = {line.name: line for line in endings if line.ending == "goal"}
    if goal is None or goal in lines:
        return lines[goal] if goal is not None else None
    near = closest(goal, lines)
    meant = f"Did you mean `{near[0]}`?" if near else _known(lines)
    message = f"World `{instance.world.name}` has no goal `{goal}`."
    raise Failure(Diagnostic("TW0201", message, instance.world.span, hint=meant))


def _known(lines: dict[str, Ending]) -> str:
    names = ", ".join(f"`{name}`" for name in lines)
    return f"Name one of {names}." if names else "Add a `goal` line to the world."


def _place(span: Span) -> str:
    """A place by the file's own name, so that the text does not depend on the file's folder."""
    return f"{Path(span.file).name}:{span.line}:{span.column}"


def _note(code: str, message: str, span: Span | None) -> Diagnostic:
    return Diagnostic(code, message, span, severity=Severity.INFO)


def _dropped(instance: Instance) -> Iterator[Diagnostic]:
    """A note for each construct that PDDL lacks and only the interpreter checks."""
    program = instance.program
    lines = [(f"Invariant `{one.name}`", one.span) for one in program.invariants.values()]
    lines += [(f"`conserve {one.name}`", one.span) for one in program.conserves.values()]
    for name, span in lines:
        yield _note("TW0801", f"{name} is left to the interpreter: PDDL has none.", span)
    for fluent in program.fluents.values():
        if fluent.ordered:
            message = f"The order of arrival in `{fluent.name}` is dropped in the PDDL."
            yield _note("TW0806", message, fluent.span)


def _chance(instance: Instance, names: Names) -> Iterator[Diagnostic]:
    for action in instance.program.actions.values():
        count = max((s.outcome for s in names.steps.values() if s.action == action.name), default=0)
        if count:
            message = f"Action `{action.name}` becomes {count} actions: the planner picks the luck."
            yield _note("TW0807", message, action.span)


def _requirements(words: Vocabulary, pair: tree.PddlPair) -> Iterator[Diagnostic]:
    declared = declared_requirements(words)
    known = frozenset(word.lower() for word in declared or ()) | {"strips"}
    missing = [word for word in needed(pair) if declared is not None and word not in known]
    if missing:
        spans = [one.span for one in words.instance.program.pddl if one.key == "requirements"]
        listed = ", ".join(f"`:{word}`" for word in missing)
        message = f"The requirements are kept as declared, though the rules also use {listed}."
        yield _note("TW0809", message, spans[0])


def _comments(instance: Instance, form: str, option: str = "--pddl") -> tuple[str, ...]:
    world = instance.world
    where = Path(world.span.file).name
    return (f"World `{world.name}` of {where}, {form} by `tw export {option}`.",)


def _lifted(domain: LiftedDomain, values: Values) -> PddlExport:
    words = domain.words
    pair = assemble(domain, values, _comments(words.instance, "written"))
    notes = (
        *_dropped(words.instance),
        *_chance(words.instance, words.names),
        *_requirements(words, pair),
    )
    return PddlExport(pair, words.names, "lifted", in_order(notes))


def _verbatim(
    instance: Instance, values: Values, goal: Ending | None, stored: Stored | None
) -> PddlExport | None:
    """The world word for word, if all its constructs are in PDDL."""
    made = verbatim_pair(instance, values, goal, _comments(instance, "written"), stored)
    if made is None:
        return None
    pair, names = made
    notes = (*_dropped(instance), *_requirements(Vocabulary(instance), pair))
    return PddlExport(pair, names, "lifted", in_order(notes))


def export_domain(program: Program) -> str:
    """The domain of a program without worlds; raises `Failure` if PDDL cannot express it as it
    is."""
    found = verbatim_domain(program, ("Written by `tw export --pddl`.",))
    if found is not None:
        return tree.domain_text(found)
    message = "A file without a world is exported only where every rule is PDDL as it stands."
    hint = "Add a `world name { … }` block."
    raise Failure(Diagnostic("TW0801", message, hint=hint))


def _grounded(instance: Instance, task: Task, errors: Iterable[LiftingError]) -> PddlExport:
    """The task in grounded form; the notes and the head of the domain give the reasons."""
    words = Vocabulary(instance)
    reasons = [f"{_place(error.span)}: {error.construct}" for error in errors]
    comments = (
        *_comments(instance, "grounded"),
        "One fact per variable and value, because PDDL has no exact lifted form for",
        *(f"  {reason}" for reason in reasons),
    )
    notes = [
        _note("TW0801", f"The PDDL is grounded: no exact lifted form for {e.construct}.", e.span)
        for e in errors
    ]
    pair = ground_pair(words, task, comments)
    return PddlExport(pair, words.names, "grounded", in_order(notes), task=task)


def export_pddl(
    instance: Instance,
    values: Values,
    goal: str | None,
    encode: Encode | None = None,
    stored: Stored | None = None,
    *,
    compiled: bool = False,
) -> PddlExport:
    """Write one world as PDDL; ``values`` gives the start value of each slot after setup,
    ``stored`` (if it is known) the facts of a relation that hold then.

    ``goal`` names a goal line (``None``: any of them). ``encode`` makes the finite task of the
    world where the lifted form is not exact; without it the constructs that prevent that form are
    raised as `Failure` (TW0801). A goal that the world lacks is a `Failure` too. With ``compiled``,
    as planners need it, the constraints and preferences of an import stay rules.
    """
    line = goal_line(instance, goal)
    rules = compiled and made(instance.program)
    found = None if rules else _verbatim(instance, values, line, stored)
    if found is not None:
        return found
    domain = lift_domain(Vocabulary(instance), line)
    if not domain.errors:
        return _lifted(domain, values)
    if encode is not None:
        return attempt(
            "grounding the world",
            lambda: _grounded(instance, encode(goal), domain.errors),
            lambda: _too_long(domain.errors[0]),
        )
    raise Failure(*(_no_form("PDDL", one) for one in domain.errors))


def export_ppddl(instance: Instance, values: Values, goal: str | None) -> PddlExport:
    """Write one world as PPDDL: draws keep their probabilities, costs and rewards their sum.

    Raises `Failure` (TW0801) with every construct that has no exact lifted form.
    """
    words = Vocabulary(instance, luck=True)
    domain = lift_domain(words, goal_line(instance, goal))
    if domain.errors:
        raise Failure(*(_no_form("PPDDL", one) for one in domain.errors))
    pair = assemble(domain, values, _comments(instance, "written", "--ppddl"))
    notes = (*_dropped(instance), *_rewards(instance), *_rounded(instance))
    return PddlExport(pair, words.names, "lifted", in_order(notes))


def _too_long(error: LiftingError) -> NoReturn:
    """TW0813 with the rule that has no lifted form, where grounding takes too long."""
    message = f"PDDL has no lifted form for {error.construct}, and grounding took too long."
    hint = "Raise `--time-limit`, write the rule in another way, or make the world smaller."
    raise Failure(Diagnostic("TW0813", message, error.span, hint=hint))


def _no_form(what: str, error: LiftingError) -> Diagnostic:
    return Diagnostic("TW0801", f"{what} has no exact lifted form for {error.construct}.",
                      error.span)  # fmt: skip


def _rounded(instance: Instance) -> Iterator[Diagnostic]:
    for term in rounded(instance, lowered(instance.program)):
        message = "The share is written exactly, and play takes the nearest real number."
        yield _note("TW0801", message, term.span)


def _rewards(instance: Instance) -> Iterator[Diagnostic]:
    for line in instance.world.pays:
        message = "A `reward` line of a world is left out: PPDDL pays for actions."
        yield _note("TW0801", message, line.span)


def export_world(
    simulator: Simulator[StateT], state: StateT, goal: str | None, *, compiled: bool = False
) -> PddlExport:
    """Write the world of a simulator from one of its states, grounded where it has to be.

    Raises `Failure` where the goal is unknown or neither form can express the world.
    """
    from tokenworld.planning.lower.encode import Unencodable, encode

    instance = simulator.instance_at(state)

    def task(name: str | None) -> Task:
        found = encode(instance, simulator, state, name, grouped=False)
        if isinstance(found, Unencodable):
            raise Failure(*(_obstacle(one) for one in found.obstacles))
        return found.task

    return export_pddl(instance, partial(simulator.read, state), goal, task, compiled=compiled)


def _obstacle(obstacle: Obstacle) -> Diagnostic:
    message = f"PDDL has no exact form for {obstacle.construct}: {obstacle.reason}."
    return Diagnostic(obstacle.code, message, obstacle.span)


# ---- the grounded form ----------------------------------------------------------------------
# One fact per variable and value. A truth is one fact. Any other variable has one fact for each of
# its values, and exactly one of them holds: ``(thing-at ruby vault)``, ``(energy mira n80)``,
# ``(holder ruby none)``. Actions have no parameters; their names say which command they are.

_FORCED = "step"
_MOST_FACTS = 5_000_000
"""So many facts are some 200 MB of text."""
_NUMBERED = re.compile(r"^o\d+ ")
"""The prefix that makes the names of a task's operators unique; spellings need none."""


class _Facts:
    """The fact of each value of each variable, spelled once."""

    def __init__(self, words: Vocabulary, task: Task) -> None:
        self._words = words
        self._values: dict[str, str] = {}
        self._heads: dict[str, str] = {}
        self.variables = task.variables
        self.constants: dict[str, None] = {}
        self.signatures: dict[str, tree.Signature] = {}
        self._atoms = [self._spelled(variable) for variable in task.variables]

    def _spelled(self, variable: Variable) -> tuple[tree.Expr, ...]:
        """The fact for each position; a truth has one fact, which false negates."""
        fluent = self._words.instance.program.fluents.get(variable.fluent or "")
        of: ValueType | None = None
        args: tuple[str, ...] = ()
        if fluent is None or variable.kind != "slot":
            fluent, head = None, self._other(variable.name)
        else:
            head, of = self._words.fluents[fluent.id], fluent.type
            args = tuple(map(self._value, (param.type for param in fluent.params), variable.args))
        truth = all(isinstance(value, bool) for value in variable.values)
        values = () if truth else ("value",)
        self._declare(head, fluent, values)
        atom = (head, *args)
        if truth:
            return tuple(atom if value else tree.neg(atom) for value in variable.values)
        return tuple((*atom, self._value(of, value)) for value in variable.values)

    def _declare(self, head: str, fluent: Fluent | None, values: Sequence[str]) -> None:
        formals = [param.name for param in fluent.params] if fluent is not None else []
        names = [f"?{name}" if legal(name) == name else "?x" for name in formals]
        if len(set(names)) < len(names):
            names = [f"?x{index + 1}" for index in range(len(names))]
        params = (*names, *(f"?{value}" for value in values))
        self.signatures[head] = tree.Signature(
            head, tuple(tree.Typed(name, None) for name in params)
        )

    def _other(self, name: str) -> str:
        if name not in self._heads:
            self._heads[name] = self._words.spellings.take("fluent", _short(legal(name)))
        return self._heads[name]

    def _value(self, of: ValueType | None, raw: Raw) -> str:
        if isinstance(of, (EnumType, ObjectType)) and raw is not None:
            word = self._words.symbol(of, raw)
        else:
            shown = _shown(of, raw)
            if shown not in self._values:
                self._values[shown] = self._words.spellings.take("object", shown)
            word = self._values[shown]
        self.constants[word] = None
        return word

    def start(self) -> list[tree.Expr]:
        facts = (atoms[one.initial] for one, atoms in zip(self.variables, self._atoms, strict=True))
        return [fact for fact in facts if not _negative(fact)]

    def condition(self, literal: Condition) -> tree.Expr:
        """The variable has one of some values, whichever way is shorter."""
        variable, positions = literal
        atoms = self._atoms[variable]
        rest = [index for index in range(len(atoms)) if index not in positions]
        if not rest:
            return tree.TRUE
        if not positions:
            return tree.FALSE
        if len(positions) <= len(rest):
            return tree.disj(atoms[index] for index in positions)
        return tree.conj(tree.neg(atoms[index]) for index in rest)

    def size(self, operator: Operator) -> int:
        """The approximate number of facts in the text of an operator."""
        return len(operator.precondition) + sum(
            len(one.conditions) + len(self._atoms[one.variable]) for one in operator.effects
        )

    def change(self, effect: Effect, known: dict[int, tuple[int, ...]]) -> list[Case[tree.Expr]]:
        """Add the new fact and delete the others that may hold."""
        atoms = self._atoms[effect.variable]
        held = dict(known)
        for variable, positions in effect.conditions:
            held[variable] = tuple(p for p in held.get(variable, positions) if p in positions)
        before = held.get(effect.variable, tuple(range(len(atoms))))
        conds = tuple(self.condition(one) for one in effect.conditions)
        if before == (effect.value,) or tree.FALSE in conds:
            return []
        literals = [atoms[effect.value]]
        if not any(_negative(atom) for atom in atoms):
            literals += [tree.neg(atoms[index]) for index in before if index != effect.value]
        return [Case((), tuple(c for c in conds if c != tree.TRUE), one) for one in literals]


def _short(name: str) -> str:
    """Runs of numbers by their ends: ``fuel-in-1-2-3-4`` becomes ``fuel-in-1-to-4``."""
    found: list[str] = []
    for word, run in groupby(enumerate(name.split("-")), _step_of):
        words = [one for _, one in run]
        found += [words[0], "to", words[-1]] if word is not None and len(words) > 2 else words
    return "-".join(found)


def _step_of(place: tuple[int, str]) -> int | None:
    """Equal for neighbours that count upwards by one, ``None`` for words."""
    index, word = place
    return int(word) - index if word.isdecimal() else None


def _negative(fact: tree.Expr) -> bool:
    return isinstance(fact, tuple) and fact[:1] == ("not",)


def _shown(of: ValueType | None, raw: Raw) -> str:
    """A word for a number, a truth or `none`: ``n80``, ``n-5``, ``true``."""
    if raw is None:
        return "none"
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, (int, float)):
        whole = isinstance(of, NumberType) or isinstance(raw, int)
        return f"n{raw}" if whole else f"n{str(raw).replace('.', 'p')}"
    return str(raw)


# ---- operators ------------------------------------------------------------------------------


def _name(words: Vocabulary, operator: Operator) -> str:
    """A spelling for an operator, with the way back to its command."""
    command = operator.command
    word = words.spellings.take("action", _NUMBERED.sub("", operator.name) or _FORCED)
    if command is None:
        origin = StepOrigin(None)
    else:
        args = tuple(Fixed(arg) for arg in command.args)
        origin = StepOrigin(command.action, args, 0, operator.draws)
    words.names.steps[word.lower()] = origin
    return word


def _action(words: Vocabulary, facts: _Facts, operator: Operator, costs: bool) -> tree.PddlAction:
    known = dict(operator.precondition)
    effects = [one for effect in operator.effects for one in facts.change(effect, known)]
    literals = group(effects)
    if costs and operator.cost:
        literals = (*literals, ("increase", ("total-cost",), str(operator.cost)))
    precondition = tree.conj(facts.condition(literal) for literal in operator.precondition)
    return tree.PddlAction(_name(words, operator), (), precondition, literals)


def _actions(
    words: Vocabulary, facts: _Facts, task: Task, costs: bool
) -> Iterator[tree.PddlAction]:
    """The actions, as long as they are not too many words."""
    written = 0
    for operator in task.operators:
        written += facts.size(operator)
        if written > _MOST_FACTS:
            raise _too_many_facts(words, operator)
        yield _action(words, facts, operator, costs)


def _too_many_facts(words: Vocabulary, operator: Operator) -> Failure:
    """TW0813 with the rule at which the text grows too long."""
    program, world = words.instance.program, words.instance.world
    command = operator.command
    action = None if command is None else program.actions.get(command.action)
    rule, place = (
        (f"`{_NUMBERED.sub('', operator.name)}`", world.span)
        if action is None
        else (f"the action `{action.name}`", action.span)
    )
    message = f"The grounded PDDL would hold more than {_MOST_FACTS:,} facts: {rule} is too much."
    hint = "Give its numbers fewer values, or the world fewer objects."
    return Failure(Diagnostic("TW0813", message, place, "it is written out here", hint=hint))


def ground_pair(words: Vocabulary, task: Task, comments: tuple[str, ...]) -> tree.PddlPair:
    """The PDDL pair of a task; the spellings and the way back go to ``words``."""
    facts = _Facts(words, task)
    costs = len({operator.cost for operator in task.operators}) > 1
    actions = tuple(_actions(words, facts, task, costs))
    name = domain_name(words)
    constants = tuple(tree.Typed(word, None) for word in facts.constants)
    functions = (tree.Signature("total-cost", ()),) if costs else ()
    signatures = tuple(facts.signatures.values())
    domain = tree.PddlDomain(name, (), (), constants, signatures, functions, (), actions, comments)
    start = facts.start() + ([("=", ("total-cost",), "0")] if costs else [])
    problem = tree.PddlProblem(
        legal(words.instance.world.name),
        name,
        (),
        tuple(start),
        tree.conj(facts.condition(literal) for literal in task.goal),
        ("total-cost",) if costs else None,
        comments,
    )
    pair = tree.PddlPair(domain, problem)
    return tree.PddlPair(replace(domain, requirements=needed(pair)), problem)
