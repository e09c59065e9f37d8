"""Python for the joins: one function for each way in which a new tuple can complete a rule.

A function is called with the new tuple and loops over the tuples of the other atoms of its rule,
each looked up in an index by exactly the places that are known there. New facts go to a queue and
are indexed when they leave it, so that no loop sees its relation grow. After the new tuple the most
selective atom comes next; a test comes as soon as its variables are bound.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeGuard, assert_never

from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import ROOT, ObjectType, ValueType, is_optional
from tokenworld.planning.grounding.rules import (
    Amount,
    Arg,
    Atom,
    Const,
    Context,
    Literal,
    Number,
    Operation,
    Range,
    Rule,
    Same,
    Slotted,
    Source,
    Var,
    Widening,
    is_measured,
    variables_in,
)

# ---- The order of a join ------------------------------------------------------------------------


def unified(
    head: Atom | Widening, body: Sequence[Literal], kept: frozenset[Var]
) -> tuple[Atom | Widening, list[Literal]]:
    """A rule without variables that are equal to something else; those ``kept`` stay."""
    known: dict[Var, Arg] = {}
    literals = list(body)
    while (found := _equality(literals, kept)) is not None:
        place, var, value = found
        known = {one: value if to == var else to for one, to in known.items()}
        known[var] = value
        del literals[place]
        literals = [substituted(one, {var: value}) for one in literals]
    if isinstance(head, Atom):
        return Atom(head.relation, _args(head.args, known)), literals
    amount = None if head.amount is None else _amount(head.amount, known)
    return Widening(head.fluent, _args(head.args, known), amount), literals


def _equality(literals: Sequence[Literal], kept: frozenset[Var]) -> tuple[int, Var, Arg] | None:
    for place, one in enumerate(literals):
        if isinstance(one, Same) and one.op == "==" and one.left != one.right:
            for var, value in ((one.left, one.right), (one.right, one.left)):
                if isinstance(var, Var) and var not in kept:
                    return place, var, value
    return None


def substituted(literal: Literal, known: Mapping[Var, Arg]) -> Literal:
    """A literal with variables replaced."""
    match literal:
        case Atom(relation=relation, args=args, absent=absent):
            return Atom(relation, _args(args, known), absent)
        case Same(op=op, left=left, right=right):
            return Same(op, *_args((left, right), known))
        case Range(op=op, left=first, right=second):
            return Range(op, _amount(first, known), _amount(second, known))


def _args(args: tuple[Arg, ...], known: Mapping[Var, Arg]) -> tuple[Arg, ...]:
    return tuple(known.get(one, one) if isinstance(one, Var) else one for one in args)


def _amount(amount: Amount, known: Mapping[Var, Arg]) -> Amount:
    match amount:
        case Number(arg=arg):
            return Number(*_args((arg,), known))
        case Slotted(fluent=fluent, args=args):
            return Slotted(fluent, _args(args, known))
        case Operation(name=name, left=left, right=right):
            return Operation(name, _amount(left, known), _amount(right, known))


def ordered(body: Sequence[Literal], bound: frozenset[Var], fixed: frozenset[str]) -> list[Literal]:
    """The literals in the order to join them, with these variables bound already.

    A test comes as soon as its variables are bound. Of the others, an atom without free variables
    comes first, then one with bound variables, ``fixed`` facts before those that grow, and lists of
    a type last.
    """
    atoms = [_Waiting(one, fixed) for one in body if isinstance(one, Atom) and not one.absent]
    tests = [one for one in body if not (isinstance(one, Atom) and not one.absent)]
    known, found = {one.name for one in bound}, list[Literal]()
    while True:
        if tests:
            waits = {(one.atom.relation, one.atom.args) for one in atoms}
            ready = [one for one in tests if _is_ready(one, known, waits)]
            found += ready
            tests = [one for one in tests if one not in ready]
        if not atoms:
            return found + tests
        best = max(atoms, key=lambda one: one.says(known)) if len(atoms) > 1 else atoms[0]
        atoms.remove(best)
        found.append(best.atom)
        known.update(best.names)


class _Waiting:
    """An atom that is not joined yet, with the names of its variables."""

    __slots__ = ("atom", "fixed", "names")

    def __init__(self, atom: Atom, fixed: frozenset[str]) -> None:
        self.atom = atom
        self.names = [arg.name for arg in atom.args if isinstance(arg, Var)]
        self.fixed = atom.relation in fixed and not atom.relation.startswith(":")

    def says(self, known: set[str]) -> tuple[bool, bool, bool, int]:
        left = 0
        for name in self.names:
            left += name not in known
        return left == 0, len(self.atom.args) > left, self.fixed, -left


def _is_ready(test: Literal, known: set[str], waits: set[tuple[str, tuple[Arg, ...]]]) -> bool:
    if isinstance(test, Range) and waits & _slots(test):
        return False
    return all(one.name in known for one in variables_in(test))


def _slots(part: Range | Amount) -> set[tuple[str, tuple[Arg, ...]]]:
    """The atoms that say that the slots in a comparison are there."""
    match part:
        case Slotted(fluent=fluent, args=args):
            return {(f"#{fluent}", args)}
        case Operation(left=left, right=right) | Range(left=left, right=right):
            return _slots(left) | _slots(right)
        case Number():
            return set()


# ---- Lists of types that other atoms imply ------------------------------------------------------
# Who is at a place is a thing that can be at one: the list of such things need not be joined.


class Implied:
    """Leaves out of rules the lists that the types of fluents see to."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._seen_to: dict[str, tuple[frozenset[str], ...]] = {}
        for fluent in context.program.fluents.values():
            kinds = [param.type for param in fluent.params]
            if not is_measured(fluent.type) and fluent.type.kind != "bool":
                kinds.append(fluent.type)
            lists = tuple(self._lists(kind) for kind in kinds)
            self._seen_to[fluent.id] = self._seen_to[f"#{fluent.id}"] = lists

    def _lists(self, kind: ValueType) -> frozenset[str]:
        if is_optional(kind):
            return frozenset()
        if isinstance(kind, ObjectType):
            known = self._context.program.types.get(kind.name)
            ancestors = () if known is None else known.ancestors
            return frozenset(f":{name}" for name in (*ancestors, ROOT))
        listed = self._context.belongs(kind, Var("x"))
        return frozenset() if listed is None else frozenset((listed.relation,))

    def source(self, source: Source) -> Source:
        return replace(source, ways=tuple(tuple(self._without(way)) for way in source.ways))

    def rule(self, rule: Rule) -> Rule:
        return Rule(rule.head, tuple(self._without(rule.body)))

    def _without(self, body: Sequence[Literal]) -> list[Literal]:
        sure: set[tuple[str, object]] = set()
        for one in body:
            if isinstance(one, Atom) and not one.absent:
                lists = self._seen_to.get(one.relation, ())
                for arg, names in zip(one.args, lists, strict=False):
                    sure.update((name, arg) for name in names)
        return [one for one in body if not _lists(one) or (one.relation, one.args[0]) not in sure]


def _lists(literal: Literal) -> TypeGuard[Atom]:
    """Return whether a literal is a test of a type."""
    return isinstance(literal, Atom) and not literal.absent and literal.relation.startswith(":")


# ---- The text of the functions ------------------------------------------------------------------

_CALLS = {"+": "added", "-": "subtracted", "*": "multiplied", "min": "lesser", "max": "greater"}
_DEEPEST = 15
"""Loops within loops in one function."""
_OFTEN = 2
"""More functions than these share the conclusions of their rule."""
_OPPOSITE = {"==": "!=", "!=": "=="}


@dataclass(slots=True)
class Joins:
    """Relations by number, the indexes that some join uses, and who waits for which relation.

    Of ``looked`` ones all tuples are kept, of ``single`` ones all values: their tuples have one.
    """

    numbers: dict[str, int] = field(default_factory=dict)
    indexes: dict[int, dict[tuple[int, ...], int]] = field(default_factory=dict)
    looked: set[int] = field(default_factory=set)
    single: set[int] = field(default_factory=set)
    waiting: dict[int, list[str]] = field(default_factory=dict)
    begin: list[str] = field(default_factory=list)
    apart: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def number(self, relation: str) -> int:
        """The number of a relation."""
        return self.numbers.setdefault(relation, len(self.numbers))

    def index(self, relation: str, known: tuple[int, ...], size: int) -> str:
        """The name of the index by some places; it is made if it is new."""
        number = self.number(relation)
        self.indexes.setdefault(number, {}).setdefault(known, size)
        return f"I{number}_{'_'.join(map(str, known))}"


@frozen
class Written:
    """The text of all functions. ``apart``: for each, the relations that it goes through whole,
    whose sizes multiply."""

    text: str
    joins: Joins


def written(
    sources: Sequence[Source], rules: Sequence[Rule], growing: frozenset[str], fixed: frozenset[str]
) -> Written:
    """The functions of a program; ``growing`` are the relations that rules add to, ``fixed`` those
    that never change."""
    joins = Joins()
    asked = {
        one.relation for rule in rules for one in rule.body if isinstance(one, Atom)
    }  # the heads that some rule waits for
    texts = list[str]()
    for source in sources:
        texts += _source(joins, source, asked, growing, fixed)
    for one in rules:
        kept = frozenset[Var]()
        for rule, start in _started(one.head, one.body, kept, growing):
            texts.append(_function(joins, rule, start, _concluded(joins, rule.head), fixed))
    texts += _filing(joins)
    return Written("\n".join(texts) + "\n", joins)


def _source(
    joins: Joins,
    source: Source,
    asked: Collection[str],
    growing: frozenset[str],
    fixed: frozenset[str],
) -> Iterator[str]:
    """The functions of an action or a law. What follows from it is written once where many find it:
    a call for each new binding takes less time than compiling the same lines again and again."""
    follow = [line for atom in source.always for line in _added(joins, atom).split("\n")]
    number = joins.number(source.head.relation)
    if source.head.relation in asked:
        follow.append(f"queue(({number}, k))")
    kept = frozenset(source.params)
    every = [one for way in source.ways for one in _started(source.head, way, kept, growing)]
    if follow and len(every) > _OFTEN:
        spoken = frozenset[Var]().union(*map(variables_in, source.always))
        names = ", ".join(["k", *(_value(one) for one in source.params if one in spoken)])
        yield "\n".join([f"def then{number}({names}):", *(f" {line}" for line in follow)])
        follow = [f"then{number}({names})"]
    end = [f"k = {tuple_text(source.params)}", f"if k not in K{number}:", f" K{number}[k] = None"]
    end += [f" {line}" for line in follow]
    for rule, start in every:
        yield _function(joins, rule, start, end, fixed)


def _started(
    head: Atom | Widening, body: Sequence[Literal], kept: frozenset[Var], growing: frozenset[str]
) -> Iterator[tuple[Rule, int | None]]:
    """A rule once for each of its atoms that can be new, or once at the beginning."""
    new_head, literals = unified(head, body, kept)
    rule = Rule(new_head, tuple(dict.fromkeys(literals)))
    places: list[int | None] = [
        place
        for place, one in enumerate(rule.body)
        if isinstance(one, Atom) and not one.absent and one.relation in growing
    ]
    for place in places or [None]:
        yield rule, place


def _concluded(joins: Joins, head: Atom | Widening) -> list[str]:
    if isinstance(head, Atom):
        return _added(joins, head).split("\n")
    amount = "None" if head.amount is None else amount_text(head.amount)
    number = joins.number(f"#{head.fluent}")
    return [f"widen({head.fluent!r}, {number}, {tuple_text(head.args)}, {amount})"]


def _added(joins: Joins, atom: Atom) -> str:
    number = joins.number(atom.relation)
    made = f"t = {tuple_text(atom.args)}"
    return f"{made}\nif t not in K{number}:\n K{number}[t] = None\n queue(({number}, t))"


# ---- one function -------------------------------------------------------------------------------


def _function(
    joins: Joins, rule: Rule, start: int | None, end: Sequence[str], fixed: frozenset[str]
) -> str:
    writer = _Writer(joins, f"f{len(joins.apart)}", fixed)
    rest = list(rule.body)
    if start is None:
        joins.begin.append(writer.name)
    else:
        first = rest.pop(start)
        assert isinstance(first, Atom)
        joins.waiting.setdefault(joins.number(first.relation), []).append(writer.name)
        writer.opened(first)
    for literal in ordered(rest, frozenset(writer.bound), fixed):
        writer.joined(literal)
    joins.apart.append((writer.name, tuple(writer.apart)))
    return "\n".join([*writer.lines, *(f"{writer.indent}{line}" for line in end)])


class _Writer:
    """Writes one function, line by line; ``bound`` are the variables that have values so far."""

    def __init__(self, joins: Joins, name: str, fixed: frozenset[str]) -> None:
        self._joins, self._fixed = joins, fixed
        self.name, self.indent, self._leave = name, " ", "return"
        self.lines = [f"def {name}(t):"]
        self.bound: set[Var] = set()
        self.apart: list[str] = []
        self._depth = self._parts = 0

    def opened(self, atom: Atom) -> None:
        """The new tuple, taken apart."""
        for place, arg in enumerate(atom.args):
            if isinstance(arg, Var) and arg not in self.bound:
                self._write(f"{_value(arg)} = t[{place}]")
                self.bound.add(arg)
            else:
                self._write(f"if t[{place}] != {_value(arg)}: {self._leave}")

    def joined(self, literal: Literal) -> None:
        match literal:
            case Atom(absent=True):
                self._lacking(literal)
            case Atom():
                self._found(literal)
            case Same():
                self._same(literal)
            case Range(op=op, left=left, right=right):
                self._unless(f"compares({op!r}, {amount_text(left)}, {amount_text(right)})")
            case _:
                assert_never(literal)

    def _write(self, line: str) -> None:
        self.lines.append(f"{self.indent}{line}")

    def _unless(self, condition: str) -> None:
        self._write(f"if not ({condition}): {self._leave}")

    def _lacking(self, atom: Atom) -> None:
        if atom.relation in self._fixed and variables_in(atom) <= self.bound:
            self._write(f"if {self._among(atom, 'in')}: {self._leave}")

    def _among(self, atom: Atom, word: str) -> str:
        """Return the code of the test whether a fact is ``in`` its relation."""
        if len(atom.args) != 1:
            return f"{tuple_text(atom.args)} {word} {self._relation(atom)}"
        number = self._joins.number(atom.relation)
        self._joins.single.add(number)
        return f"{_value(atom.args[0])} {word} V{number}"

    def _relation(self, atom: Atom) -> str:
        number = self._joins.number(atom.relation)
        self._joins.looked.add(number)
        return f"R{number}"

    def _found(self, atom: Atom) -> None:
        known = tuple(
            place
            for place, arg in enumerate(atom.args)
            if isinstance(arg, Const) or arg in self.bound
        )
        free = [place for place in range(len(atom.args)) if place not in known]
        if not free:
            self._write(f"if {self._among(atom, 'not in')}: {self._leave}")
            return
        if known:
            index = self._joins.index(atom.relation, known, len(atom.args))
            key = [_value(atom.args[place]) for place in known]
            whole = key[0] if len(key) == 1 else f"({', '.join(key)})"
            where = f"{index}.get({whole}, ())"
            one = len(free) == 1
        else:
            where, one = self._relation(atom), False
            self.apart.append(atom.relation)
        self._loop([atom.args[place] for place in free], where, one)

    def _loop(self, args: Sequence[Arg], where: str, one: bool) -> None:
        names, same = list[str](), list[tuple[str, str]]()
        for place, arg in enumerate(args):
            assert isinstance(arg, Var)
            if arg in self.bound:  # twice in one atom
                names.append(f"again{place}")
                same.append((f"again{place}", _value(arg)))
            else:
                names.append(_value(arg))
                self.bound.add(arg)
        if self._depth == _DEEPEST:
            self._go_on(names)
        self._depth += 1
        self._write(f"for {names[0] if one else ', '.join(names) + ','} in {where}:")
        self.indent, self._leave = self.indent + " ", "continue"
        for left, right in same:
            self._unless(f"{left} == {right}")

    def _go_on(self, names: Sequence[str]) -> None:
        """Python nests some twenty loops and no more: the rest is a function of its own."""
        self._parts += 1
        name = f"{self.name}_{self._parts}"
        known = ", ".join(sorted({_value(var) for var in self.bound} - set(names)))
        self._write(f"{name}({known})")
        self.lines.append(f"def {name}({known}):")
        self.indent, self._leave, self._depth = " ", "return", 0

    def _same(self, test: Same) -> None:
        left, right = _value(test.left), _value(test.right)
        if test.op in _OPPOSITE:
            self._write(f"if {left} {_OPPOSITE[test.op]} {right}: {self._leave}")
        else:
            there = [
                f"{_value(one)} is not None"
                for one in (test.left, test.right)
                if not isinstance(one, Const)
            ]
            known = all(one != Const(None) for one in (test.left, test.right))
            self._unless(" and ".join([*there, f"{left} {test.op} {right}"]) if known else "False")


def _value(arg: Arg) -> str:
    return repr(arg.value) if isinstance(arg, Const) else f"v_{arg.name}"


def tuple_text(args: Sequence[Arg]) -> str:
    """A tuple of values and variables, as Python."""
    return f"({', '.join(map(_value, args))}{',' if len(args) == 1 else ''})"


def amount_text(amount: Amount) -> str:
    """The range of an amount, as Python."""
    match amount:
        case Number(arg=arg):
            return f"({_value(arg)}, {_value(arg)})"
        case Slotted(fluent=fluent, args=args):
            return f"ranges[{fluent!r}][{tuple_text(args)}]"
        case Operation(name=name, left=left, right=right):
            return f"{_CALLS[name]}({amount_text(left)}, {amount_text(right)})"


# ---- filing ------------------------------------------------------------------------------------


def _filing(joins: Joins) -> Iterator[str]:
    """Write for each relation the code that stores a new tuple."""
    for number in range(len(joins.numbers)):
        lines = [f"def file{number}(t):"]
        if number in joins.looked:
            lines.append(f" R{number}[t] = None")
        if number in joins.single:
            lines.append(f" V{number}.add(t[0])")
        for known, size in joins.indexes.get(number, {}).items():
            free = [place for place in range(size) if place not in known]
            key = _places(known) if len(known) > 1 else f"t[{known[0]}]"
            rest = _places(free) if len(free) > 1 else f"t[{free[0]}]"
            name = f"I{number}_{'_'.join(map(str, known))}"
            lines.append(f" {name}[{key}].append({rest})")
        yield "\n".join([*lines, " pass"])


def _places(places: Sequence[int]) -> str:
    return f"({', '.join(f't[{place}]' for place in places)})"
