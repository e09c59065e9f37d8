"""The context of an expression: visible names, their narrowed types, and what it may use.

Conditions narrow the types of the locals and paths in them (language.md §4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import assert_never

from tokenworld.check.draft import Draft
from tokenworld.check.typing.types import is_subtype, kind_type, type_of_ref
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import (
    ROOT,
    And,
    Binder,
    BoolLiteral,
    Compare,
    CompositeTerm,
    DeriveCall,
    Domain,
    EnumLiteral,
    Implies,
    IntervalRange,
    IsType,
    LeafTerm,
    Local,
    LogicTerm,
    Me,
    NoneLiteral,
    Not,
    NumberLiteral,
    NumberTerm,
    NumberType,
    ObjectKind,
    ObjectLiteral,
    ObjectType,
    Or,
    ParamRead,
    Read,
    StateTerm,
    Term,
    TestTerm,
    TypeRange,
    ValueType,
    without_none,
)
from tokenworld.syntax import nodes as syn

__all__ = [
    "BROKEN",
    "Context",
    "any_type",
    "domain_of",
    "facts_where",
    "formal_binders",
    "fresh_local",
    "given_type",
]


Types = Mapping[str, ObjectKind]
Key = object
"""A local by its name, a path by its parts (`_key_of`)."""
Facts = dict[Key, tuple[ValueType, ...]]
"""The known types of locals and paths: every type that the value has, the first one leading.

Several types stand beside each other where none is a subtype of another: after `x is A` and
`x is B` of two mixins, or the common ancestors after `x is A or x is B`.
"""


def _key_of(term: Term) -> Key | None:
    """The key of a local or a path such as ``b.at`` in `Facts`; ``None`` for any other term.

    A path is read from one state: the past is none, and neither is what is calculated.
    """
    match term:
        case Local(name=name):
            return name
        case (
            Read(fluent=name, args=args, was=False) | DeriveCall(derive=name, args=args, was=False)
        ):
            keys = tuple(_key_of(arg) for arg in args)
            return None if None in keys else (type(term), name, keys)
        case BoolLiteral(value=value) | NumberLiteral(value=value):
            return (type(term), value)
        case EnumLiteral(enum=enum, index=index):
            return (type(term), enum, index)
        case ObjectLiteral(name=name) | ParamRead(name=name):
            return (type(term), name)
        case Me():
            return (type(term),)
        case (
            NoneLiteral() | StateTerm() | LogicTerm() | TestTerm() | NumberTerm() | CompositeTerm()
        ):  # fmt: skip
            return None
        case _:
            assert_never(term)


def _known(term: Term, kind: ValueType, types: Types) -> Facts:
    """The fact that a term has a type, as far as it has a key."""
    key = _key_of(term)
    if key is None:
        return {}
    if isinstance(term, Local):
        return {key: (kind,)}
    return {key: _narrowed((without_none(term.type),), (kind,), types)}


def facts_where(term: Term, types: Types, *, holds: bool = True) -> Facts:
    """The narrower types of locals and paths where ``term`` holds, or where it does not."""
    match term:
        case (
            Compare(op=op, left=value, right=NoneLiteral())
            | Compare(op=op, left=NoneLiteral(), right=value)
        ) if op == ("!=" if holds else "=="):
            return _known(value, without_none(value.type), types)
        case IsType(term=value, of=of) if holds:
            return _known(value, ObjectType(of), types)
        case And(terms=terms) | Or(terms=terms):
            parts = [facts_where(part, types, holds=holds) for part in terms]
            return (_all if isinstance(term, And) == holds else _some)(parts, types)
        case Implies(left=left, right=right):
            parts = [
                facts_where(left, types, holds=not holds),
                facts_where(right, types, holds=holds),
            ]
            return (_some if holds else _all)(parts, types)
        case Not(term=inner):
            return facts_where(inner, types, holds=not holds)
        case LeafTerm() | StateTerm() | TestTerm() | NumberTerm() | CompositeTerm():
            return {}
        case _:
            assert_never(term)


def _narrowed(
    before: tuple[ValueType, ...], fact: tuple[ValueType, ...], types: Types
) -> tuple[ValueType, ...]:
    """The types of a value with the types ``before`` once ``fact`` holds too."""
    if not all(isinstance(kind, ObjectType) for kind in (*before, *fact)):
        return fact
    names = [kind.name for kind in (*fact, *before) if isinstance(kind, ObjectType)]
    return tuple(ObjectType(name) for name in _nearest(names, types))


def _nearest(names: list[str], types: Types) -> list[str]:
    """The types that no other one implies, each once."""
    kept = dict.fromkeys(names)
    return [
        name
        for name in kept
        if not any(other != name and is_subtype(types, other, name) for other in kept)
    ]


def _all(parts: list[Facts], types: Types) -> Facts:
    """The facts of a conjunction: those of every part."""
    facts: Facts = {}
    for part in parts:
        for name, kinds in part.items():
            facts[name] = _narrowed(facts[name], kinds, types) if name in facts else kinds
    return facts


def _some(parts: list[Facts], types: Types) -> Facts:
    """The facts of a disjunction: the nearest types common to all parts."""
    facts: Facts = {}
    for name in parts[0]:
        every = [part[name] for part in parts if name in part]
        common = _common(every, types) if len(every) == len(parts) else ()
        if common:
            facts[name] = common
    return facts


def _common(every: list[tuple[ValueType, ...]], types: Types) -> tuple[ValueType, ...]:
    if all(kinds == every[0] for kinds in every):
        return every[0]
    if not all(isinstance(kind, ObjectType) for kinds in every for kind in kinds):
        return ()
    names = [[kind.name for kind in kinds if isinstance(kind, ObjectType)] for kinds in every]
    ancestors = [above for name in names[0] if name in types for above in types[name].ancestors]
    shared = [
        one
        for one in dict.fromkeys(ancestors)
        if all(any(is_subtype(types, name, one) for name in each) for each in names)
    ]
    return tuple(ObjectType(name) for name in _nearest(shared, types))


BROKEN = ObjectType("", optional=True)
"""The type of a name whose value could not be checked: its uses are not reported too."""


@frozen
class Context:
    """The surroundings of an expression.

    ``names`` are the locals with their (narrowed) types, ``also`` further types of locals that
    have several, ``paths`` the types of paths that a condition has narrowed. ``world`` is the
    world whose objects are visible, but for the ``unborn`` ones.
    ``was``: the start of the tick may be read. ``me``: somebody acts.
    """

    draft: Draft
    names: Mapping[str, ValueType] = field(default_factory=dict)
    world: str | None = None
    was: bool = True
    me: bool = True
    also: Mapping[str, tuple[ValueType, ...]] = field(default_factory=dict)
    unborn: frozenset[str] = frozenset()
    paths: Mapping[Key, tuple[ValueType, ...]] = field(default_factory=dict)

    def bind(self, name: str, value_type: ValueType) -> Context:
        """The same place with one more local."""
        return replace(self, names={**self.names, name: value_type}, also={**self.also, name: ()})

    def narrow(self, facts: Facts) -> Context:
        """The same place where some locals and paths are known to have narrower types."""
        names, also, paths = dict(self.names), dict(self.also), dict(self.paths)
        for name, fact in facts.items():
            if not isinstance(name, str):
                paths[name] = _narrowed(paths.get(name, ()), fact, self.draft.types)
                continue
            if name not in names or names[name] is BROKEN:
                continue
            before = (without_none(names[name]), *also.get(name, ()))
            names[name], *rest = _narrowed(before, fact, self.draft.types)
            also[name] = tuple(rest)
        return replace(self, names=names, also=also, paths=paths) if facts else self

    def other_state(self) -> Context:
        """The same place read on another state: what was known of paths may hold no more."""
        return replace(self, paths={}) if self.paths else self

    def seen(self, term: Term) -> Term:
        """A path with the type that it is known to have here."""
        kinds = self.paths.get(_key_of(term)) if self.paths else None
        return replace(term, type=kinds[0]) if kinds else term

    def further(self, term: Term) -> tuple[ValueType, ...]:
        """The other types that a local or path is known to have."""
        if isinstance(term, Local):
            return self.also.get(term.name, ())
        return self.paths.get(_key_of(term), ())[1:] if self.paths else ()

    def quoted(self, term: Term) -> str:
        """The source text of a term."""
        return self.draft.text(term.span)


def fresh_local(name: syn.Name, ctx: Context) -> None:
    """Report a local that would hide another one, or the acting object (TW0203)."""
    draft = ctx.draft
    if name.value in ctx.names:
        what = f"`{name.value}` is already the name of something here."
        draft.stop("TW0203", what, name.span, "named again", "Choose another name.")
    if draft.actor is not None and draft.actor_name in draft.candidates(name):
        what = f"`{name.value}` is the acting object."
        draft.stop("TW0203", what, name.span, "named again", "Choose another name.")


MOST_PARAMETERS = 32
"""Of one rule: published planning domains have actions with two dozen."""


TypeOf = Callable[[Draft, syn.TypeRef | None], ValueType]


def formal_binders(
    ctx: Context, formals: tuple[syn.Formal, ...], of: TypeOf = kind_type
) -> tuple[Binder, ...]:
    """The parameters of a rule as binders over types and ranges.

    ``of`` says which types they may have: `kind_type` what has a list of values, `given_type` also
    truths and reals, `any_type` whatever a fluent may have.
    """
    seen: dict[str, syn.Formal] = {}
    found: list[Binder] = []
    for formal in formals:
        if formal.name.value in seen:
            ctx.draft.twice("parameter", formal.name, seen[formal.name.value].span)
        seen[formal.name.value] = formal
        fresh_local(formal.name, ctx)
        kind = of(ctx.draft, formal.kind)
        typed = formal.kind is not None
        found.append(Binder(formal.name.value, domain_of(kind), kind, formal.span, typed))
    if len(found) > MOST_PARAMETERS:
        what = f"A rule has at most {MOST_PARAMETERS} parameters."
        ctx.draft.stop("TW0302", what, formals[MOST_PARAMETERS].span, hint="Split the rule.")
    return tuple(found)


def given_type(draft: Draft, kind: syn.TypeRef | None) -> ValueType:
    """The type of a parameter of a derive: each use names its value."""
    scalar = isinstance(kind, syn.PrimitiveType)
    return any_type(draft, kind) if scalar else kind_type(draft, kind)


def any_type(draft: Draft, kind: syn.TypeRef | None) -> ValueType:
    """The type of a parameter of an effect; without one, any object."""
    return ObjectType(ROOT) if kind is None else type_of_ref(draft, kind)


def domain_of(kind: ValueType) -> Domain:
    """The values that a variable of a type ranges over."""
    if isinstance(kind, NumberType):
        return IntervalRange(kind.low or 0, kind.high or 0)
    return TypeRange(kind)
