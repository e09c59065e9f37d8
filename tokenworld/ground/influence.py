"""Which rule enables, feeds or blocks which: the causal structure of a program.

A rule *enables* another if it may write a value that makes a part of the other's condition true,
*blocks* it if it may make such a part false, and *feeds* it if it writes a fluent that the other's
changes are worked out from. The analysis speaks of fluents, not of objects, so it may show an
influence that no binding has, and never misses one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.model import (
    AddFact,
    And,
    Assign,
    Body,
    BoolLiteral,
    Compare,
    Create,
    DeriveCall,
    Destroy,
    EnumLiteral,
    Fold,
    Implies,
    ListTerm,
    Member,
    NoneLiteral,
    Not,
    NumberLiteral,
    ObjectType,
    Or,
    Program,
    Read,
    RemoveFact,
    Require,
    Swap,
    Term,
    Transfer,
    World,
    body_terms,
    children,
    effects_in,
    fluents_read,
)

__all__ = ["Influence", "Node", "influences", "nodes"]

NodeKind = Literal["action", "law", "watch", "goal", "lose", "stop", "invariant"]
Kind = Literal["enables", "blocks", "feeds"]
Constant = bool | int | None

_UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class Node:
    """A rule, or an ending of a world: what it needs, what it reads, what it writes."""

    kind: NodeKind
    name: str
    conditions: tuple[Term, ...]
    bodies: tuple[Body, ...]
    span: Span

    @property
    def title(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Influence:
    """``source`` may help, hinder or feed ``target`` through the fluents ``by`` (their ids)."""

    source: Node
    target: Node
    kind: Kind
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Atom:
    """A part of a condition: it wants ``fluent op value``; ``?`` where that cannot be told."""

    fluent: str
    op: str
    values: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class _Write:
    """A change: ``=`` a constant, ``+`` or ``-`` a step, ``?`` anything."""

    fluent: str
    op: str
    value: Constant = None


# ---- nodes ------------------------------------------------------------------------------


def nodes(program: Program, world: World | None) -> tuple[Node, ...]:
    """The rules of a program and the endings of one of its worlds, in order of declaration."""
    found: list[Node] = []
    for action in program.actions.values():
        needs = tuple(guard.condition for guard in action.guards if isinstance(guard, Require))
        body: Body = tuple(guard for guard in action.guards if not isinstance(guard, Require))
        node = Node(
            "action", action.name, needs, (body, action.body, action.cancelled), action.span
        )
        found.append(node)
    for law in program.laws.values():
        when = () if law.when is None else (law.when,)
        found.append(Node("law", law.name, when, (law.body,), law.span))
    for watch in program.watches.values():
        found.append(Node("watch", watch.name, (watch.when,), (watch.body,), watch.span))
    for rule in program.invariants.values():
        found.append(Node("invariant", rule.name, (rule.condition,), (), rule.span))
    for line in world.endings if world is not None else ():
        found.append(Node(line.ending, line.name, (line.condition,), (), line.span))
    return tuple(found)


def influences(program: Program, world: World | None) -> tuple[Influence, ...]:
    """Every influence between the nodes, sources in order, then targets, then kinds."""
    every = nodes(program, world)
    atoms = {node.title: tuple(_atoms_of(program, node)) for node in every}
    reads = {node.title: _reads_of(program, node) for node in every}
    found: list[Influence] = []
    for source in every:
        writes = tuple(dict.fromkeys(w for body in source.bodies for w in _writes(program, body)))
        for target in every if writes else ():
            found += _between(source, target, writes, atoms[target.title], reads[target.title])
    return tuple(found)


def _between(
    source: Node,
    target: Node,
    writes: tuple[_Write, ...],
    atoms: tuple[_Atom, ...],
    reads: frozenset[str],
) -> Iterator[Influence]:
    by: dict[Kind, dict[str, None]] = {"enables": {}, "blocks": {}, "feeds": {}}
    for write in writes:
        for atom in atoms:
            if atom.fluent == write.fluent:
                for kind in _effects(write, atom):
                    by[kind][write.fluent] = None
        if write.fluent in reads:
            by["feeds"][write.fluent] = None
    for kind, fluents in by.items():
        if fluents:
            yield Influence(source, target, kind, tuple(fluents))


# ---- what a write does to a condition ---------------------------------------------------


def _effects(write: _Write, atom: _Atom) -> tuple[Kind, ...]:
    """Whether a write can make the atom true, false, or (where it cannot be told) both."""
    if _UNKNOWN in (write.op, atom.op):
        return ("enables", "blocks")
    if write.op == "=":
        return ("enables",) if _satisfied(write.value, atom) else ("blocks",)
    up = write.op == "+"
    if atom.op in (">", ">="):
        return ("enables",) if up else ("blocks",)
    if atom.op in ("<", "<="):
        return ("blocks",) if up else ("enables",)
    return ("enables", "blocks")


def _satisfied(value: Constant, atom: _Atom) -> bool:
    wanted = atom.values
    match atom.op:
        case "==":
            return value in wanted
        case "!=":
            return value not in wanted
    if value is None or wanted[0] is None:
        return False
    first = wanted[0]
    return {"<": value < first, "<=": value <= first, ">": value > first, ">=": value >= first}[
        atom.op
    ]


# ---- reading conditions -----------------------------------------------------------------

_NEGATED = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<", "?": "?"}
_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _atoms_of(program: Program, node: Node) -> Iterator[_Atom]:
    for condition in node.conditions:
        yield from _atoms(program, condition, True, frozenset())


def _atoms(program: Program, term: Term, positive: bool, inside: frozenset[str]) -> Iterator[_Atom]:
    """The atoms of a condition that is wanted true (or false)."""
    match term:
        case Not(term=inner):
            yield from _atoms(program, inner, not positive, inside)
        case And(terms=terms) | Or(terms=terms):
            for one in terms:
                yield from _atoms(program, one, positive, inside)
        case Implies(left=left, right=right):
            yield from _atoms(program, left, not positive, inside)
            yield from _atoms(program, right, positive, inside)
        case DeriveCall(derive=name) if term.type.kind == "bool":
            yield from _touched(program, *term.args)
            if name not in inside:
                value = program.derives[name].value
                yield from _atoms(program, value, positive, inside | {name})
        case Fold(fold="any" | "all", value=value, where=where):
            parts = ((where, positive == (term.fold == "any")), (value, positive))
            for part, wanted in parts:
                if part is not None:
                    yield from _atoms(program, part, wanted, inside)
            yield from _touched(program, *_ranges(term))
        case _:
            yield from _simple(program, term, positive)


def _ranges(term: Fold) -> tuple[Term, ...]:
    known = {id(part) for part in (term.value, term.where) if part is not None}
    return tuple(part for part in children(term) if id(part) not in known)


def _simple(program: Program, term: Term, positive: bool) -> Iterator[_Atom]:
    match term:
        case Read(fluent=fluent, args=args) if term.type.kind == "bool":
            yield _Atom(fluent, "==", (positive,))
            yield from _touched(program, *args)
        case Compare(op=op, left=left, right=right):
            yield from _compared(program, op, left, right, positive)
        case Member(item=Read(fluent=fluent, args=args), collection=ListTerm(items=items)):
            values = [_constant(item) for item in items]
            if all(known for known, _ in values):
                yield _Atom(fluent, "==" if positive else "!=", tuple(v for _, v in values))
                yield from _touched(program, *args)
            else:
                yield from _touched(program, term)
        case _:
            yield from _touched(program, term)


def _compared(
    program: Program, op: str, left: Term, right: Term, positive: bool
) -> Iterator[_Atom]:
    for one, other, sign in ((left, right, op), (right, left, _MIRRORED[op])):
        known, value = _constant(other)
        if isinstance(one, Read) and known:
            yield _Atom(one.fluent, sign if positive else _NEGATED[sign], (value,))
            yield from _touched(program, *one.args)
            return
    yield from _touched(program, left, right)


def _constant(term: Term) -> tuple[bool, Constant]:
    match term:
        case BoolLiteral(value=truth):
            return True, truth
        case NumberLiteral(value=int() as number):
            return True, number
        case EnumLiteral(index=index):
            return True, index
        case NoneLiteral():
            return True, None
        case _:
            return False, None


def _touched(program: Program, *terms: Term) -> Iterator[_Atom]:
    """Every fluent that terms read, wanted in no particular way."""
    for fluent in sorted(fluents_read(terms, program.derives)):
        yield _Atom(fluent, _UNKNOWN, ())


# ---- reading bodies ---------------------------------------------------------------------


def _reads_of(program: Program, node: Node) -> frozenset[str]:
    """The fluents from which a rule's changes are worked out."""
    terms = (term for body in node.bodies for term in body_terms(body))
    return fluents_read(terms, program.derives)


def _writes(program: Program, body: Body) -> Iterator[_Write]:
    for effect in effects_in(body):
        match effect:
            case Assign(target=target, op="=", value=value):
                known, constant = _constant(value)
                yield _Write(target.fluent, "=" if known else _UNKNOWN, constant)
            case Assign(target=target, op=op, value=value):
                yield _Write(target.fluent, _step(op, value))
            case AddFact(target=target):
                yield _Write(target.fluent, "=", True)
            case RemoveFact(target=target):
                yield _Write(target.fluent, "=", False)
            case Transfer(source=source, target=target):
                yield _Write(source.fluent, "-")
                yield _Write(target.fluent, "+")
            case Swap(left=left, right=right):
                yield from (_Write(one.fluent, _UNKNOWN) for one in (left, right))
            case Create(of=of):
                keys = program.types[of].attributes if of in program.types else ()
                yield from (_Write(key, _UNKNOWN) for key in keys)
                yield from _births(program, of)
            case Destroy():
                yield from (_Write(key, _UNKNOWN) for key in program.fluents)
            case _:
                pass


def _births(program: Program, of: str) -> Iterator[_Write]:
    """What the `birth` rules write where an object of a type is created."""
    for birth in program.births:
        kind = birth.param.type
        if isinstance(kind, ObjectType) and program.is_subtype(of, kind.name):
            yield from _writes(program, birth.body)


def _step(op: str, value: Term) -> str:
    """The direction of ``+=`` or ``-=``; only a constant's sign is known."""
    known, amount = _constant(value)
    if not known or amount is None:
        return _UNKNOWN
    return "+" if (amount >= 0) == (op == "+=") else "-"
