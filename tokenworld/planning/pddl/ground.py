"""The grounded form: the planner's finite task as PDDL, one fact per variable and value.

A truth is one fact. Any other variable has one fact for each of its values, and exactly one of
them holds: ``(thing-at ruby vault)``, ``(energy mira n80)``, ``(holder ruby none)``. Actions have
no parameters; their names say which command they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.ground import Raw
from tokenworld.model import EnumType, Fluent, NumberType, ObjectType, ValueType
from tokenworld.planning.encodings.ir import Effect, Literal, Operator, Task, Variable
from tokenworld.planning.pddl.problem import domain_name, needed
from tokenworld.planning.pddl.tree import (
    FALSE,
    TRUE,
    Expr,
    PddlAction,
    PddlDomain,
    PddlPair,
    PddlProblem,
    Signature,
    Typed,
    conj,
    disj,
    neg,
)
from tokenworld.planning.pddl.words import Fixed, StepOrigin, Vocabulary, legal
from tokenworld.planning.pddl.writes import Guarded, group

__all__ = ["ground_pair"]

_FORCED = "step"
_MOST_FACTS = 5_000_000
"""So many facts are some 200 MB of text."""
_NUMBERED = re.compile(r"^o\d+ ")
"""What makes the names of a task's operators unique; spellings see to that themselves."""


class _Facts:
    """The fact of each value of each variable, spelled once."""

    def __init__(self, words: Vocabulary, task: Task) -> None:
        self._words = words
        self._values: dict[str, str] = {}
        self._heads: dict[str, str] = {}
        self.variables = task.variables
        self.constants: dict[str, None] = {}
        self.signatures: dict[str, Signature] = {}
        self._atoms = [self._spelled(variable) for variable in task.variables]

    def _spelled(self, variable: Variable) -> tuple[Expr, ...]:
        """The fact for each position; a truth has one fact, which false negates."""
        fluent = self._words.instance.program.fluents.get(variable.fluent or "")
        of: ValueType | None = None
        args: tuple[str, ...] = ()
        if fluent is None or variable.kind != "slot":
            fluent, head = None, self._other(variable.name)
        else:
            head, of = self._words.fluents[fluent.id], fluent.type
            args = self._args(fluent, variable.args)
        truth = all(isinstance(value, bool) for value in variable.values)
        values = () if truth else ("value",)
        self._declare(head, fluent, values)
        atom = (head, *args)
        if truth:
            return tuple(atom if value else neg(atom) for value in variable.values)
        return tuple((*atom, self._value(of, value)) for value in variable.values)

    def _declare(self, head: str, fluent: Fluent | None, values: Sequence[str]) -> None:
        formals = [param.name for param in fluent.params] if fluent is not None else []
        names = [f"?{name}" if legal(name) == name else "?x" for name in formals]
        distinct = names if len(set(names)) == len(names) else _numbered(len(names))
        params = (*distinct, *(f"?{value}" for value in values))
        self.signatures[head] = Signature(head, tuple(Typed(name, None) for name in params))

    def _args(self, fluent: Fluent, args: Sequence[Raw]) -> tuple[str, ...]:
        types = (param.type for param in fluent.params)
        return tuple(self._value(of, arg) for of, arg in zip(types, args, strict=True))

    def _other(self, name: str) -> str:
        if name not in self._heads:
            self._heads[name] = self._words.spellings.take("fluent", _short(legal(name)))
        return self._heads[name]

    def _value(self, of: ValueType | None, raw: Raw) -> str:
        match of:
            case EnumType(name=enum) if isinstance(raw, int):
                word = self._words.members[enum][raw]
            case ObjectType() if isinstance(raw, int):
                word = self._words.objects[raw]
            case _:
                word = self._plain(_shown(of, raw))
        self.constants[word] = None
        return word

    def _plain(self, shown: str) -> str:
        if shown not in self._values:
            self._values[shown] = self._words.spellings.take("object", shown)
        return self._values[shown]

    def start(self) -> list[Expr]:
        facts = (atoms[one.initial] for one, atoms in zip(self.variables, self._atoms, strict=True))
        return [fact for fact in facts if not _negative(fact)]

    def condition(self, literal: Literal) -> Expr:
        """The variable has one of some values, whichever way is shorter."""
        variable, positions = literal
        atoms = self._atoms[variable]
        rest = [index for index in range(len(atoms)) if index not in positions]
        if not rest:
            return TRUE
        if not positions:
            return FALSE
        if len(positions) <= len(rest):
            return disj(atoms[index] for index in positions)
        return conj(neg(atoms[index]) for index in rest)

    def size(self, operator: Operator) -> int:
        """How many facts the text of an operator names, about."""
        return len(operator.precondition) + sum(
            len(one.conditions) + len(self._atoms[one.variable]) for one in operator.effects
        )

    def change(self, effect: Effect, known: dict[int, tuple[int, ...]]) -> list[Guarded]:
        """Add the new fact and delete the others that may hold."""
        atoms = self._atoms[effect.variable]
        told = dict(known)
        for variable, positions in effect.conditions:
            told[variable] = tuple(p for p in told.get(variable, positions) if p in positions)
        before = told.get(effect.variable, tuple(range(len(atoms))))
        conds = tuple(self.condition(one) for one in effect.conditions)
        if before == (effect.value,) or FALSE in conds:
            return []
        new = atoms[effect.value]
        literals = [new]
        if not (_negative(new) or any(_negative(atom) for atom in atoms)):
            literals += [neg(atoms[index]) for index in before if index != effect.value]
        return [Guarded((), tuple(c for c in conds if c != TRUE), one) for one in literals]


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


def _negative(fact: Expr) -> bool:
    return isinstance(fact, tuple) and fact[:1] == ("not",)


def _numbered(count: int) -> list[str]:
    return [f"?x{index + 1}" for index in range(count)]


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


def _action(words: Vocabulary, facts: _Facts, operator: Operator, costs: bool) -> PddlAction:
    known = dict(operator.precondition)
    effects = [one for effect in operator.effects for one in facts.change(effect, known)]
    literals = group(effects)
    if costs and operator.cost:
        literals = (*literals, ("increase", ("total-cost",), str(operator.cost)))
    precondition = conj(facts.condition(literal) for literal in operator.precondition)
    return PddlAction(_name(words, operator), (), precondition, literals)


def _actions(words: Vocabulary, facts: _Facts, task: Task, costs: bool) -> Iterator[PddlAction]:
    """The actions, as long as they are not too many words."""
    written = 0
    for operator in task.operators:
        written += facts.size(operator)
        if written > _MOST_FACTS:
            raise _too_long(words, operator)
        yield _action(words, facts, operator, costs)


def _too_long(words: Vocabulary, operator: Operator) -> Failure:
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


def ground_pair(words: Vocabulary, task: Task, comments: tuple[str, ...]) -> PddlPair:
    """The PDDL pair of a task; the spellings and the way back go to ``words``."""
    facts = _Facts(words, task)
    costs = len({operator.cost for operator in task.operators}) > 1
    actions = tuple(_actions(words, facts, task, costs))
    name = domain_name(words)
    constants = tuple(Typed(word, None) for word in facts.constants)
    functions = (Signature("total-cost", ()),) if costs else ()
    signatures = tuple(facts.signatures.values())
    domain = PddlDomain(name, (), (), constants, signatures, functions, (), actions, comments)
    start = facts.start() + ([("=", ("total-cost",), "0")] if costs else [])
    problem = PddlProblem(
        legal(words.instance.world.name),
        name,
        (),
        tuple(start),
        conj(facts.condition(literal) for literal in task.goal),
        ("total-cost",) if costs else None,
        comments,
    )
    pair = PddlPair(domain, problem)
    return PddlPair(replace(domain, requirements=needed(pair)), problem)
