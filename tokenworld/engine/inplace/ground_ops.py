"""Ground actions as bits, for worlds that are played in place for long (see `live`).

Where an action asks for facts and their opposites and changes nothing but facts, each ground action
is a case of numbers: the facts it names have a bit each, and what it does to them follows from
these bits alone. A world that plays on keeps the facts as one number beside its state; a tick then
looks up what the bits of one command come to, and the state is told of the changes when somebody
asks for it. Commands get their bits after they were played a few times the plain way.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tokenworld.engine.births import creates_in_play
from tokenworld.engine.compile import Code
from tokenworld.engine.delta import RawChange
from tokenworld.engine.layout import Column, Key
from tokenworld.engine.state import State
from tokenworld.engine.trail import Trail
from tokenworld.ground import Command, Raw, conjuncts
from tokenworld.model import (
    Action,
    AddFact,
    Assign,
    BoolLiteral,
    Compare,
    DescribeEffect,
    Destroy,
    Effect,
    Local,
    Not,
    ObjectLiteral,
    Read,
    RemoveFact,
    Require,
    Say,
    Term,
    effects_in,
    is_optional,
)

__all__ = ["GroundOps", "Operator"]

USES = 3
"""Times that a command is played the plain way before it gets bits."""
MOST = 4096
"""Commands and facts that have bits at most."""

_SETTING = (AddFact, RemoveFact, Assign)

Journal = list[RawChange]
Outcome = tuple[int, Journal | None]
"""The bits that change, and the changes; no changes: the command is refused."""


class _Cases(dict[int, Outcome]):
    """What a ground action comes to by the bits of its facts, worked out when first met.

    ``needs`` and ``lacks`` are the bits that must be set and must not be; ``effects`` the facts
    that it sets or clears, in the order of its body.
    """

    def __init__(
        self, title: str, needs: int, lacks: int, effects: list[tuple[int, Column, Key, bool]]
    ) -> None:
        super().__init__()
        self._title, self._needs, self._lacks, self._effects = title, needs, lacks, effects

    def __missing__(self, bits: int) -> Outcome:
        flip, journal = 0, Journal()
        for bit, column, key, value in self._effects:
            if bool(bits & bit) != value:
                flip |= bit
                journal.append((column, key, not value, value, self._title))
        holds = bits & self._needs == self._needs and not bits & self._lacks
        made = self[bits] = (flip, journal) if holds else (0, None)
        return made


Operator = tuple[int, dict[int, Outcome], Command]
"""The bits of all facts that a command names, what it comes to, and the command itself."""


@dataclass(slots=True)
class GroundOps:
    """The ground actions with bits of one engine, which all its live worlds share.

    ``operators`` are found by the identity of the command, which they keep alive. The dict is
    replaced, never changed, when a fact gets a bit: who holds one knows the bits it speaks of.
    """

    code: Code
    operators: dict[int, Operator] = field(default_factory=dict)
    slots: list[tuple[Column, Key]] = field(default_factory=list)
    _bits: dict[tuple[int, Key], int] = field(default_factory=dict)
    _uses: dict[int, int] = field(default_factory=dict)
    _fit: dict[str, bool] = field(default_factory=dict)
    _first: tuple[Trail | None, int, int] = (None, -1, 0)

    @classmethod
    def of(cls, code: Code) -> GroundOps | None:
        """``None`` for worlds in which objects come or go."""
        program = code.emitter.instance.program
        bodies = [one.body for one in program.actions.values()]
        ends = any(isinstance(one, Destroy) for body in bodies for one in effects_in(body))
        return None if ends or creates_in_play(program) else cls(code)

    def met(self, command: Command) -> None:
        """Note that a command was played the plain way; after a few times it gets bits."""
        if self._fit.get(command.action) is False:
            return
        number = id(command)
        uses = self._uses.get(number, 0) + 1
        if uses < USES:
            if len(self._uses) > MOST:
                self._uses.clear()
            self._uses[number] = uses
            return
        self._uses.pop(number, None)
        if len(self.operators) >= MOST or len(self.slots) >= MOST:
            return
        made = self._operator(command)
        if made is not None:
            self.operators = {**self.operators, number: made}

    def begun(self, state: State) -> int | None:
        """The bits of a state in which one world after another begins; ``None`` the first time."""
        trail, count, bits = self._first
        if trail is not state.trail:
            self._first = (state.trail, -1, 0)
            return None
        if not self.operators:
            return None
        if count != len(self.slots):
            bits = self.bits_of(state)
            self._first = (trail, len(self.slots), bits)
        return bits

    def bits_of(self, state: State) -> int:
        """The bits of all facts in a state."""
        bits = 0
        for number, (column, key) in enumerate(self.slots):
            if state.get(column, key):
                bits |= 1 << number
        return bits

    def changed(self, bits: int, journal: Journal) -> int:
        """The bits after changes that were made the plain way."""
        for column, key, _, new, _ in journal:
            bit = self._bits.get((column.index, key), 0)
            bits = bits | bit if new else bits & ~bit
        return bits

    # ---- grounding ------------------------------------------------------------------------------

    def _operator(self, command: Command) -> Operator | None:
        action = self.code.actions[command.action].action
        if action.name not in self._fit:
            self._fit[action.name] = _fits(self.code, action)
        if not self._fit[action.name]:
            return None
        return _Grounding(self, action, command).operator()

    def bit(self, column: Column, key: Key) -> int:
        """The bit of a fact."""
        place = (column.index, key)
        if place not in self._bits:
            self._bits[place] = 1 << len(self.slots)
            self.slots.append((column, key))
        return self._bits[place]


class _Grounding:
    """One ground action on its way to bits."""

    def __init__(self, ops: GroundOps, action: Action, command: Command) -> None:
        self._ops, self._action, self._command = ops, action, command
        self._layout = ops.code.emitter.layout
        params = (one.name for one in action.params)
        self._values: dict[str, Raw] = dict(zip(params, command.args, strict=True))

    def operator(self) -> Operator | None:
        """``None`` where it can never be executed, or sets a fact twice."""
        needs = lacks = 0
        for part in conjuncts(one.condition for one in self._action.requires):
            wanted, atom = _signed(part)
            if isinstance(atom, Compare):
                same = self._value(atom.left) == self._value(atom.right)
                if (same == (atom.op == "==")) != wanted:
                    return None
                continue
            assert isinstance(atom, Read)
            bit = self._ops.bit(*self._slot(atom))
            needs, lacks = (needs | bit, lacks) if wanted else (needs, lacks | bit)
        effects = self._effects()
        if effects is None:
            return None
        names = needs | lacks
        for bit, *_ in effects:
            names |= bit
        cases = _Cases(f"action {self._action.name}", needs, lacks, effects)
        return names, cases, self._command

    def _effects(self) -> list[tuple[int, Column, Key, bool]] | None:
        """What each fact becomes, in the order in which the body first names them: one that is both
        added and removed holds. ``None`` where one is set twice."""
        found: dict[int, tuple[int, Column, Key, bool]] = {}
        assigned = set[int]()
        for effect in self._action.body:
            if not isinstance(effect, _SETTING):
                continue
            column, key = self._slot(effect.target)
            bit, value = self._ops.bit(column, key), _truth(effect)
            if bit in found:
                if isinstance(effect, Assign) or bit in assigned:
                    return None
                value = value or found[bit][3]
            if isinstance(effect, Assign):
                assigned.add(bit)
            found[bit] = (bit, column, key, value)
        return list(found.values())

    def _slot(self, read: Read) -> tuple[Column, Key]:
        column = self._layout.by_id[read.fluent]
        return column, column.key(tuple([self._value(arg) for arg in read.args]))

    def _value(self, term: Term) -> Raw:
        if isinstance(term, Local):
            return self._values[term.name]
        assert isinstance(term, ObjectLiteral)
        return self._ops.code.emitter.instance.numbers[term.name]


# ---- which actions ------------------------------------------------------------------------------


def _fits(code: Code, action: Action) -> bool:
    """Whether an action asks for facts and their opposites and changes facts alone."""
    by_id, numbers = code.emitter.layout.by_id, code.emitter.instance.numbers

    def named(term: Term) -> bool:
        known = isinstance(term, ObjectLiteral) and term.name in numbers
        return known or (isinstance(term, Local) and not is_optional(term.type))

    def fact(term: Term) -> bool:
        return (
            isinstance(term, Read)
            and not term.was
            and by_id[term.fluent].truth
            and not by_id[term.fluent].shaped
            and by_id[term.fluent].default is False
            and all(map(named, term.args))
        )

    def condition(term: Term) -> bool:
        _, atom = _signed(term)
        if isinstance(atom, Compare):
            return atom.op in ("==", "!=") and named(atom.left) and named(atom.right)
        return fact(atom)

    def change(effect: Effect) -> bool:
        if not _writes(effect):
            return True
        return isinstance(effect, _SETTING) and _is_fact(effect) and fact(effect.target)

    return (
        all(isinstance(guard, Require) for guard in action.guards)
        and all(map(condition, conjuncts(one.condition for one in action.requires)))
        and all(map(change, action.body))
    )


def _writes(effect: Effect) -> bool:
    return not isinstance(effect, (Say, DescribeEffect))


def _is_fact(effect: AddFact | RemoveFact | Assign) -> bool:
    known = not isinstance(effect, Assign) or isinstance(effect.value, BoolLiteral)
    return known and (not isinstance(effect, Assign) or effect.op == "=")


def _truth(effect: AddFact | RemoveFact | Assign) -> bool:
    if isinstance(effect, Assign):
        return isinstance(effect.value, BoolLiteral) and effect.value.value
    return isinstance(effect, AddFact)


def _signed(term: Term) -> tuple[bool, Term]:
    """A condition without its negations, and whether it must hold."""
    wanted = True
    while isinstance(term, Not):
        wanted, term = not wanted, term.term
    return wanted, term
