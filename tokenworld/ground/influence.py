"""The facts that a body may change, and which rule enables, feeds or blocks which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeGuard, assert_never

from tokenworld.core import Rules, lowered
from tokenworld.core import nodes as core
from tokenworld.core.walk import binder_terms, statements_in
from tokenworld.diagnostics import Span
from tokenworld.model import Body as ModelBody
from tokenworld.model import Create as ModelCreate
from tokenworld.model import Destroy as ModelDestroy
from tokenworld.model import Fluent, ObjectType, Program, World, effects_in, targets_of


def written(program_fluents: Mapping[str, Fluent], body: ModelBody) -> frozenset[str]:
    """The ids of the fluents that a body of the checked model may change (everything, if it
    destroys objects).

    Of an object that it creates only the fields count: the rest depends on its type alone.
    """
    found: set[str] = set()
    for effect in effects_in(body):
        found |= {target.fluent for target in targets_of(effect)}
        if isinstance(effect, ModelDestroy):
            found |= set(program_fluents)
        elif isinstance(effect, ModelCreate):
            found |= {field.fluent for field in effect.fields}
    return frozenset(found)


def changed_in_play(program: Program) -> frozenset[str]:
    """The ids of the fluents that some action, law or birth may change."""
    return lowered(program).changed_in_play


# ---- Which rule enables, feeds or blocks which: the causal structure of a program ----------------
# A rule *enables* another if it may write a value that makes a part of the other's condition
# true, *blocks* it if it may make such a part false, and *feeds* it if it writes a fluent that
# the other's changes are computed from. The analysis is about fluents, not objects, so it
# may show an influence that no binding has, and never misses one.

NodeKind = Literal["action", "law", "watch", "goal", "lose", "stop", "invariant"]
Kind = Literal["enables", "blocks", "feeds"]
Known = bool | int | None

_UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class Node:
    """A rule, or an ending of a world: its needs, its reads, its writes."""

    kind: NodeKind
    name: str
    conditions: tuple[core.Term, ...]
    bodies: tuple[core.Body, ...]
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
    """A part of a condition: it wants ``fluent op value``; ``?`` if that is unknown."""

    fluent: str
    op: str
    values: tuple[Known, ...]


@dataclass(frozen=True, slots=True)
class _Write:
    """A change: ``=`` a constant, ``+`` or ``-`` a step, ``?`` anything."""

    fluent: str
    op: str
    value: Known = None


# ---- nodes ------------------------------------------------------------------------------


def nodes(program: Program, world: World | None) -> tuple[Node, ...]:
    """The rules of a program and the endings of one of its worlds, in order of declaration."""
    rules, found = lowered(program), list[Node]()
    for action in rules.actions.values():
        needs = tuple(one.condition for one in action.requires)
        lets = tuple(one for one in action.guards if isinstance(one, core.Let))
        bodies = (lets, action.body, action.cancelled)
        found.append(Node("action", action.name, needs, bodies, action.span))
    for law in rules.laws.values():
        when = () if law.when is None else (law.when,)
        found.append(Node("law", law.name, when, (law.body,), law.span))
    for watch in rules.watches.values():
        found.append(Node("watch", watch.name, (watch.when,), (watch.body,), watch.span))
    for rule in rules.invariants.values():
        found.append(Node("invariant", rule.name, (rule.condition,), (), rule.span))
    for line in rules.worlds[world.name].endings if world is not None else ():
        found.append(Node(line.ending, line.name, (line.condition,), (), line.span))
    return tuple(found)


def influences(program: Program, world: World | None) -> tuple[Influence, ...]:
    """Every influence between the nodes, sources in order, then targets, then kinds."""
    rules, every = lowered(program), nodes(program, world)
    atoms = {node.title: tuple(_atoms_of(rules, node)) for node in every}
    reads = {node.title: _reads_of(rules, node) for node in every}
    found: list[Influence] = []
    for source in every:
        writes = tuple(dict.fromkeys(w for body in source.bodies for w in _writes(rules, body)))
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


# ---- effects of a write on a condition --------------------------------------------------


def _effects(write: _Write, atom: _Atom) -> tuple[Kind, ...]:
    """Return whether a write can make the atom true, false, or (if that is unknown) both."""
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


def _satisfied(value: Known, atom: _Atom) -> bool:
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

_NEGATED = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_MIRRORED = {"==": "==", "<": ">", "<=": ">="}


def _atoms_of(rules: Rules, node: Node) -> Iterator[_Atom]:
    for condition in node.conditions:
        yield from _atoms(rules, condition, True, frozenset())


def _atoms(
    rules: Rules, term: core.Term, positive: bool, inside: frozenset[str]
) -> Iterator[_Atom]:
    """The atoms of a condition that is wanted true (or false)."""
    match term:
        case core.Call(op="not", args=(inner,)):
            yield from _atoms(rules, inner, not positive, inside)
        case core.Call(op="and" | "or", args=terms):
            for one in terms:
                yield from _atoms(rules, one, positive, inside)
        case core.DeriveCall(derive=name) if term.type.kind == "bool":
            yield from _touched(rules, *term.args)
            if name not in inside:
                value = rules.derives[name].value
                yield from _atoms(rules, value, positive, inside | {name})
        case core.Fold(fold="any" | "all", value=value, where=where):
            parts = ((where, positive == (term.fold == "any")), (value, positive))
            for part, wanted in parts:
                if part is not None:
                    yield from _atoms(rules, part, wanted, inside)
            yield from _touched(rules, *binder_terms(term.binders))
        case core.Read(fluent=fluent, args=args) if term.type.kind == "bool":
            yield _Atom(fluent, "==", (positive,))
            yield from _touched(rules, *args)
        case core.Call(op="==" | "<" | "<=" as op, args=(left, right)):
            yield from _compared(rules, op, left, right, positive)
        case core.Call(op="in", args=(core.Read() as item, core.Members(by="list", items=items))):
            yield from _listed(rules, item, items, positive)
        case (
            core.LeafTerm() | core.Read() | core.Members() | core.Call() | core.Fold()
            | core.Choice() | core.TypeTest() | core.DeriveCall() | core.Text()
        ):  # fmt: skip
            yield from _touched(rules, term)
        case _:
            assert_never(term)


def _listed(
    rules: Rules, item: core.Read, items: tuple[core.Term, ...], positive: bool
) -> Iterator[_Atom]:
    """The atoms of ``item in [...]``."""
    constants = [one.value for one in items if _is_known(one)]
    if len(constants) == len(items):
        yield _Atom(item.fluent, "==" if positive else "!=", tuple(constants))
        yield from _touched(rules, *item.args)
    else:
        yield from _touched(rules, item, *items)


def _compared(
    rules: Rules, op: str, left: core.Term, right: core.Term, positive: bool
) -> Iterator[_Atom]:
    for one, other, sign in ((left, right, op), (right, left, _MIRRORED[op])):
        if isinstance(one, core.Read) and _is_known(other):
            yield _Atom(one.fluent, sign if positive else _NEGATED[sign], (other.value,))
            yield from _touched(rules, *one.args)
            return
    yield from _touched(rules, left, right)


def _is_known(term: core.Term) -> TypeGuard[core.Constant]:
    """Return whether a term is a constant that a slot can be compared with exactly."""
    return isinstance(term, core.Constant) and not isinstance(term.value, float)


def _touched(rules: Rules, *terms: core.Term) -> Iterator[_Atom]:
    """Every fluent that terms read, wanted in no particular way."""
    for fluent in sorted(rules.footprint(terms).read):
        yield _Atom(fluent, _UNKNOWN, ())


# ---- reading bodies ---------------------------------------------------------------------


def _reads_of(rules: Rules, node: Node) -> frozenset[str]:
    """The fluents that a rule's changes are computed from."""
    return rules.footprint((), node.bodies).read


def _writes(rules: Rules, body: core.Body) -> Iterator[_Write]:
    lets = dict[str, object]()
    for one in statements_in(body):
        match one:
            case core.Let(names=names, value=value):
                lets |= dict.fromkeys(names, value)
            case core.Write(target=target, op="+", value=value):
                yield _Write(target.fluent, _step(value, lets))
            case core.Write(target=target, value=value):
                if _is_known(value):
                    yield _Write(target.fluent, "=", value.value)
                else:
                    yield _Write(target.fluent, _UNKNOWN)
            case core.Create(of=of):
                kind = rules.program.types.get(of)
                yield from (_Write(key, _UNKNOWN) for key in (kind.attributes if kind else ()))
                yield from _births(rules, of)
            case core.Destroy():
                yield from (_Write(key, _UNKNOWN) for key in rules.program.fluents)
            case (
                core.If()
                | core.For()
                | core.Require()
                | core.Say()
                | core.Emit()
                | core.Describe()
                | core.Reward()
            ):
                pass
            case _:
                assert_never(one)


def _births(rules: Rules, of: str) -> Iterator[_Write]:
    """The writes of the `birth` rules where an object of a type is created."""
    for birth in rules.births:
        kind = birth.param.type
        if isinstance(kind, ObjectType) and rules.program.is_subtype(of, kind.name):
            yield from _writes(rules, birth.body)


def _step(value: core.Term, lets: Mapping[str, object]) -> str:
    """The direction of a step: by the sign of a constant, or of an amount, which is none below
    zero; ``lets`` are the values of names."""
    match value:
        case core.Call(op="neg", args=(inner,)):
            return {"+": "-", "-": "+"}.get(_step(inner, lets), _UNKNOWN)
        case core.Constant(value=int() as amount):
            return "+" if amount >= 0 else "-"
        case core.Variable(name=name):
            named = lets.get(name)
            return "+" if isinstance(named, core.Call) and named.op == "amount" else _UNKNOWN
        case (
            core.LeafTerm() | core.Read() | core.Members() | core.Call() | core.Fold()
            | core.Choice() | core.TypeTest() | core.DeriveCall() | core.Text()
        ):  # fmt: skip
            return _UNKNOWN
        case _:
            assert_never(value)
