"""The modes in which the writes of a body may be executed, proved from its reads and writes.

- ``direct``: each write goes into the row at once. No slot is read behind it, none written twice.
- ``pend``: all values first, then all writes, none of them in a loop. Two writes of one fluent
  are compared when they run: where they meet in one slot, the tick is left to the log.
- ``log``: writes are collected, merged by slot and committed. Always right.

A body reads one state, so the first two need a proof; where there is none the log is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from tokenworld.core import Rules
from tokenworld.core.nodes import (
    Actor,
    Body,
    Constant,
    Create,
    DeriveCall,
    Describe,
    Destroy,
    Emit,
    Fold,
    For,
    If,
    Let,
    Members,
    ObjectName,
    ParamValue,
    Read,
    Require,
    Reward,
    Say,
    Statement,
    Term,
    Variable,
    Write,
)
from tokenworld.core.rules import Law
from tokenworld.core.walk import statements_in, subterms, terms_in
from tokenworld.engine.rows.layout import Slots
from tokenworld.model import is_optional

__all__ = ["Mode", "Modes", "most_written", "sums_written"]

Mode = Literal["direct", "pend", "log"]


@dataclass
class Modes:
    """Chooses the mode of each body of a program."""

    slots: Slots
    rules: Rules

    def of(self, body: Body) -> Mode:
        """The mode of a body that is run for one binding."""
        every = list(statements_in(body))
        if any(map(_needs_log, every)):
            return "log"
        writes = [one for one in every if isinstance(one, Write)]
        if not all(map(self._plain, writes)):
            return "log"
        reads = self.rules.footprint((), (body,)).reads
        names = _introduced(body, ())
        once = max(most_written(body).values(), default=0) <= 1
        alone = once and len(names) == len(set(names)) and _apart(body, frozenset())
        if alone and not reads & {one.target.fluent for one in writes}:
            return "direct"
        return "log" if any(isinstance(one, For) for one in every) else "pend"

    def _plain(self, write: Write) -> bool:
        """Whether a write changes one slot that surely is there, and touches no other's shape but
        a list of children or a place that something is nested in."""
        store = self.slots.by_id[write.target.fluent]
        fluent = store.column.fluent
        moving = any(
            one.type.kind == "object" and one.type.name in self.slots.moving
            for one in fluent.params
        )
        number = write.op == "+" and is_optional(fluent.type)
        return not (moving or number or fluent.unique or fluent.acyclic or fluent.symmetric)

    def own(self, laws: Sequence[Law]) -> bool:
        """Whether each binding of laws that read one state reads and writes slots of its own, so
        that they may be carried out one after the other."""
        touched = {law.name: law.footprint for law in laws}
        for law in laws:
            writes = touched[law.name].writes
            others = [touched[one.name] for one in laws if one is not law]
            if any(writes & (one.reads | one.writes) for one in others):
                return False
            if self.of(law.body) == "log" or (law.params and not self._own(law, writes)):
                return False
        return True

    def _own(self, law: Law, writes: frozenset[str]) -> bool:
        """Whether one law reads and writes its written fluents at its own arguments only."""
        names = tuple(one.name for one in law.params)
        given = (*terms_in(law.body), *(() if law.when is None else (law.when,)))
        terms = [part for one in given for part in subterms(one)]
        called = [one.derive for one in terms if isinstance(one, DeriveCall)]
        inside = self.rules.footprint([self.rules.derives[name].value for name in called])
        if inside.reads & writes or set(names) & set(_introduced(law.body, terms)):
            return False
        if any(isinstance(one, Members) and one.fluent in writes for one in terms):
            return False
        places = [one.args for one in terms if isinstance(one, Read) and one.fluent in writes]
        places += [one.target.args for one in statements_in(law.body) if isinstance(one, Write)]
        return all(_variables(args) == names for args in places)


def _introduced(body: Body, terms: Iterable[Term]) -> list[str]:
    """The names that a body and its folds introduce."""
    found = [x.name for one in terms if isinstance(one, Fold) for x in one.binders]
    for one in statements_in(body):
        if isinstance(one, Let):
            found += one.names
        elif isinstance(one, For):
            found += (x.name for x in one.binders)
    return found


def _needs_log(statement: Statement) -> bool:
    """Whether a statement needs a log: it creates, destroys, or outputs a value that may be missing
    (texts are computed only if somebody asks for them)."""
    match statement:
        case Create() | Destroy():
            return True
        case Emit(args=args):
            return not all(map(_is_plain, args))
        case Reward(amount=amount):
            return not _is_plain(amount)
        case Let() | Write() | If() | For() | Require() | Say() | Describe():
            return False
        case _:
            assert_never(statement)


def _is_plain(term: Term) -> bool:
    """Whether a term has a value in every state."""
    plain = (Constant, Variable, Actor, ObjectName, ParamValue, Read)
    return all(isinstance(one, plain) for one in subterms(term))


def _variables(args: tuple[Term, ...]) -> tuple[str, ...]:
    return tuple(one.name if isinstance(one, Variable) else "" for one in args)


def most_written(body: Body) -> Counter[str]:
    """The largest number of writes of each fluent on one path through a body."""
    found = Counter[str]()
    for one in body:
        if isinstance(one, Write):
            found[one.target.fluent] += 1
        elif isinstance(one, If):
            found += most_written(one.then) | most_written(one.otherwise)
        elif isinstance(one, For):
            found += most_written(one.body)
    return found


def _apart(body: Body, loops: frozenset[str]) -> bool:
    """Whether writes inside loops reach a slot of their own in every round."""
    for one in body:
        if isinstance(one, Write) and not loops <= set(_variables(one.target.args)):
            return False
        if isinstance(one, If) and not (_apart(one.then, loops) and _apart(one.otherwise, loops)):
            return False
        if isinstance(one, For):
            if any(isinstance(x.domain, Members) and x.domain.by == "list" for x in one.binders):
                return False
            if not _apart(one.body, loops | {x.name for x in one.binders}):
                return False
    return True


def sums_written(rules: Rules) -> dict[str, frozenset[str]]:
    """The conserved sums, each with the titles of the rules whose writes may change it."""
    titled = {f"action {name}": one.footprint for name, one in rules.actions.items()}
    titled |= {f"law {name}": one.footprint for name, one in rules.laws.items()}
    return {
        name: frozenset(
            title
            for title, touched in titled.items()
            if one.footprint.asks or one.footprint.reads & touched.writes
        )
        for name, one in rules.conserves.items()
    }
