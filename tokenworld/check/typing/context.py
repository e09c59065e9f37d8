"""The context of an expression: visible names, their narrowed types, and its rights.

Conditions narrow the types of the locals and paths in them (language.md §4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import assert_never

from tokenworld import model as m
from tokenworld.check.draft import Draft
from tokenworld.check.typing.types import is_subtype, kind_type, type_of_ref
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import without_none
from tokenworld.syntax import nodes as syn

Types = Mapping[str, m.ObjectKind]
Key = object
"""A local by its name, a path by its parts (`_key_of`)."""
Facts = dict[Key, tuple[m.ValueType, ...]]
"""The known types of locals and paths: every type that the value has, the first one leading.

Several types stand beside each other where none is a subtype of another: after `x is A` and
`x is B` of two mixins, or the common ancestors after `x is A or x is B`.
"""


def _key_of(term: m.Term) -> Key | None:
    """The key of a local or a path such as ``b.at`` in `Facts`; ``None`` for any other term.

    A path must be read from the present state; terms about the past have no key, and neither have
    calculated ones.
    """
    match term:
        case m.Local(name=name):
            return name
        case (
            m.Read(fluent=name, args=args, was=False)
            | m.DeriveCall(derive=name, args=args, was=False)
        ):
            keys = tuple(_key_of(arg) for arg in args)
            return None if None in keys else (type(term), name, keys)
        case m.BoolLiteral(value=value) | m.NumberLiteral(value=value):
            return (type(term), value)
        case m.EnumLiteral(enum=enum, index=index):
            return (type(term), enum, index)
        case m.ObjectLiteral(name=name) | m.ParamRead(name=name):
            return (type(term), name)
        case m.Me():
            return (type(term),)
        case (
            m.NoneLiteral() | m.StateTerm() | m.LogicTerm() | m.TestTerm() | m.NumberTerm()
            | m.CompositeTerm()
        ):  # fmt: skip
            return None
        case _:
            assert_never(term)


def _known(term: m.Term, kind: m.ValueType, types: Types) -> Facts:
    """The fact that a term has a type, as far as it has a key."""
    key = _key_of(term)
    if key is None:
        return {}
    if isinstance(term, m.Local):
        return {key: (kind,)}
    return {key: _narrowed((without_none(term.type),), (kind,), types)}


def facts_where(term: m.Term, types: Types, *, holds: bool = True) -> Facts:
    """The narrower types of locals and paths where ``term`` holds, or where it does not."""
    match term:
        case (
            m.Compare(op=op, left=value, right=m.NoneLiteral())
            | m.Compare(op=op, left=m.NoneLiteral(), right=value)
        ) if op == ("!=" if holds else "=="):
            return _known(value, without_none(value.type), types)
        case m.IsType(term=value, of=of) if holds:
            return _known(value, m.ObjectType(of), types)
        case m.And(terms=terms) | m.Or(terms=terms):
            parts = [facts_where(part, types, holds=holds) for part in terms]
            return (_all if isinstance(term, m.And) == holds else _some)(parts, types)
        case m.Implies(left=left, right=right):
            parts = [
                facts_where(left, types, holds=not holds),
                facts_where(right, types, holds=holds),
            ]
            return (_some if holds else _all)(parts, types)
        case m.Not(term=inner):
            return facts_where(inner, types, holds=not holds)
        case m.LeafTerm() | m.StateTerm() | m.TestTerm() | m.NumberTerm() | m.CompositeTerm():
            return {}
        case _:
            assert_never(term)


def _narrowed(
    before: tuple[m.ValueType, ...], fact: tuple[m.ValueType, ...], types: Types
) -> tuple[m.ValueType, ...]:
    """The types of a value with the types ``before`` once ``fact`` holds too."""
    if not all(isinstance(kind, m.ObjectType) for kind in (*before, *fact)):
        return fact
    names = [kind.name for kind in (*fact, *before) if isinstance(kind, m.ObjectType)]
    return tuple(m.ObjectType(name) for name in _nearest(names, types))


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


def _common(every: list[tuple[m.ValueType, ...]], types: Types) -> tuple[m.ValueType, ...]:
    if all(kinds == every[0] for kinds in every):
        return every[0]
    if not all(isinstance(kind, m.ObjectType) for kinds in every for kind in kinds):
        return ()
    names = [[kind.name for kind in kinds if isinstance(kind, m.ObjectType)] for kinds in every]
    ancestors = [above for name in names[0] if name in types for above in types[name].ancestors]
    shared = [
        one
        for one in dict.fromkeys(ancestors)
        if all(any(is_subtype(types, name, one) for name in each) for each in names)
    ]
    return tuple(m.ObjectType(name) for name in _nearest(shared, types))


BROKEN = m.ObjectType("", optional=True)
"""The type of a name whose value could not be checked: its uses are not reported too."""


@frozen
class Context:
    """The surroundings of an expression.

    ``names`` are the locals with their (narrowed) types, ``also`` further types of locals that
    have several, ``paths`` the types of paths that a condition has narrowed. ``world`` is the
    world whose objects are visible, but for the ``unborn`` ones.
    ``was``: the start of the tick may be read. ``me``: somebody acts. ``over_time``: all states up
    to now may be asked about.
    """

    draft: Draft
    names: Mapping[str, m.ValueType] = field(default_factory=dict)
    world: str | None = None
    was: bool = True
    me: bool = True
    over_time: bool = False
    also: Mapping[str, tuple[m.ValueType, ...]] = field(default_factory=dict)
    unborn: frozenset[str] = frozenset()
    paths: Mapping[Key, tuple[m.ValueType, ...]] = field(default_factory=dict)

    def bind(self, name: str, value_type: m.ValueType) -> Context:
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
        """The same context for another state: facts about paths are dropped, because paths may
        differ."""
        return replace(self, paths={}) if self.paths else self

    def seen(self, term: m.Term) -> m.Term:
        """A path with the type that it is known to have here."""
        kinds = self.paths.get(_key_of(term)) if self.paths else None
        return replace(term, type=kinds[0]) if kinds else term

    def further(self, term: m.Term) -> tuple[m.ValueType, ...]:
        """The other types that a local or path is known to have."""
        if isinstance(term, m.Local):
            return self.also.get(term.name, ())
        return self.paths.get(_key_of(term), ())[1:] if self.paths else ()

    def quoted(self, term: m.Term) -> str:
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
        hint = "Leave it away: it is known in each action. Elsewhere, choose another name."
        draft.stop("TW0203", what, name.span, "named again", hint)


MOST_PARAMETERS = 128
"""Of one rule: published planning domains have actions with up to 31."""


TypeOf = Callable[[Draft, syn.TypeRef | None], m.ValueType]


def formal_binders(
    ctx: Context, formals: tuple[syn.Formal, ...], of: TypeOf = kind_type
) -> tuple[m.Binder, ...]:
    """The parameters of a rule as binders over types and ranges.

    ``of`` checks their types: `kind_type` accepts types with a list of values, `given_type` also
    truths and reals, `any_type` each type of a fluent.
    """
    seen: dict[str, syn.Formal] = {}
    found: list[m.Binder] = []
    for formal in formals:
        if formal.name.value in seen:
            ctx.draft.twice("parameter", formal.name, seen[formal.name.value].span)
        seen[formal.name.value] = formal
        fresh_local(formal.name, ctx)
        kind = of(ctx.draft, formal.kind)
        typed = formal.kind is not None
        found.append(m.Binder(formal.name.value, domain_of(kind), kind, formal.span, typed))
    if len(found) > MOST_PARAMETERS:
        what = f"A rule has at most {MOST_PARAMETERS} parameters."
        ctx.draft.stop("TW0302", what, formals[MOST_PARAMETERS].span, hint="Split the rule.")
    return tuple(found)


def given_type(draft: Draft, kind: syn.TypeRef | None) -> m.ValueType:
    """The type of a parameter of a derive: each use names its value."""
    scalar = isinstance(kind, syn.PrimitiveType)
    return any_type(draft, kind) if scalar else kind_type(draft, kind)


def any_type(draft: Draft, kind: syn.TypeRef | None) -> m.ValueType:
    """The type of a parameter of an effect; without one, any object."""
    return m.ObjectType(m.ROOT) if kind is None else type_of_ref(draft, kind)


def domain_of(kind: m.ValueType) -> m.Domain:
    """The values that a variable of a type ranges over."""
    if isinstance(kind, m.NumberType):
        return m.IntervalRange(kind.low or 0, kind.high or 0)
    return m.TypeRange(kind)
