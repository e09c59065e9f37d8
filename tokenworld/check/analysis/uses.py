"""Reads and writes of rules, and the terms a program evaluates or prints.

`written_slots` lists the slots that an effect writes; `terms_below` and `effects_below` walk a part
of a program; `mentions` collects the declarations a part names, once per part; `possible_values`
bounds what a stored enum or truth value can ever hold. `check_was` reports a `was` that never
differs (TW0504).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final, assert_never, get_args

from tokenworld import model as m
from tokenworld.check.analysis.aliasing import own_bodies
from tokenworld.check.analysis.intervals import Facts
from tokenworld.check.analysis.substitution import Vocabulary, sorted_fields
from tokenworld.check.draft import Draft
from tokenworld.check.typing.types import can_equal
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import effects_in, fluents_read, slot_writes, subterms, terms_of


@frozen
class Write:
    """A write to a slot; ``args`` is ``None`` if it may be any slot of the fluent.

    ``maybe``: it is in a branch that the path may not have taken. ``facts`` are the facts known at
    its place, ``None`` after that place was left; ``drawn``: a draw decides on it.
    """

    fluent: str
    args: tuple[m.Term, ...] | None
    op: str
    value: m.Term | None
    span: Span
    maybe: bool = False
    facts: Facts | None = None
    drawn: bool = False


def written_slots(effect: m.Effect, draft: Vocabulary) -> Iterator[Write]:
    """The slots that one change writes (not those of nested bodies)."""
    if isinstance(effect, m.Destroy):
        yield from _destroyed(effect.target, effect.span, draft)
    for one in slot_writes(effect):
        value = None if one.op in ("add", "remove") else one.value
        yield Write(one.target.fluent, one.target.args, one.op, value, effect.span)


def _destroyed(target: m.Term, span: Span, draft: Vocabulary) -> Iterator[Write]:
    """Destroying leaves every slot that may hold or belong to the object."""
    for fluent in draft.fluents.values():
        if isinstance(fluent.type, m.ObjectType) and can_equal(
            draft.types, fluent.type, target.type
        ):
            yield Write(fluent.id, None, "destroy", None, span)
        elif any(_held(param.type, target, draft) for param in fluent.params):
            args = (target,) if len(fluent.params) == 1 else None
            yield Write(fluent.id, args, "destroy", None, span)


def _held(kind: m.ValueType, target: m.Term, draft: Vocabulary) -> bool:
    return isinstance(kind, m.ObjectType) and can_equal(draft.types, kind, target.type)


# Sets of classes: this walk meets every node of a program at every check.
_TERMS, _EFFECTS = (frozenset(get_args(get_args(one)[0])) for one in (m.Term, m.Effect))
_CHANGES = frozenset((m.Assign, m.AddFact, m.RemoveFact, m.Transfer))
_ROOTS = _TERMS | _CHANGES


def program_parts(draft: Draft) -> tuple[object, ...]:
    """Everything of a checked draft that holds terms, in the order of the language reference."""
    fluents = draft.memo.of("parts of fluents", (draft.fluents,), lambda: _of_fluents(draft))
    return (
        fluents, tuple(draft.types.values()), tuple(draft.objects.values()),
        tuple(draft.params.values()), tuple(draft.derives.values()),
        tuple(draft.actions.values()), tuple(draft.laws.values()), tuple(draft.births),
        tuple(draft.watches.values()), tuple(draft.invariants.values()),
        tuple(draft.conserves.values()), tuple(draft.called), tuple(draft.scopes),
        tuple(draft.describes), tuple(draft.worlds.values()), tuple(draft.scenarios),
    )  # fmt: skip


def _of_fluents(draft: Draft) -> tuple[object, ...]:
    values = draft.fluents.values()
    return tuple(part for fluent in values for part in (fluent.default, fluent.rows) if part)


def _parts_of(kind: type) -> tuple[str, ...]:
    """The fields of a class of the model in which terms and changes may stand, last ones first."""
    found = _PARTS.get(kind)
    if found is None:
        found = _PARTS[kind] = sorted_fields(kind)[1][::-1]
    return found


_PARTS: dict[type, tuple[str, ...]] = {}


def roots_below(part: object, draft: Draft) -> Iterator[m.Term]:
    """The outermost terms below any part of the model whose values count, in written order.

    A slot that is only written is not among them. A change that is guarded by what it changes (a
    range, `unique`, a containment) reads it: a refusal depends on the old value.
    """
    for one in _below(part, _ROOTS, _ROOTS):
        if type(one) in _TERMS:
            yield one
        else:
            yield from _of_change(one, draft)


def _below(part: object, wanted: frozenset[type], closed: frozenset[type]) -> Iterator[Any]:
    """The nodes of ``wanted`` classes in written order; ``closed`` ones are not entered."""
    todo: list[Any] = [part]
    while todo:
        one = todo.pop()
        kind = type(one)
        if kind in wanted:
            yield one
        if kind is tuple:
            todo += one[::-1]
        elif kind not in closed:
            todo += [getattr(one, name) for name in _parts_of(kind)]


def _of_change(
    part: m.Assign | m.AddFact | m.RemoveFact | m.Transfer, draft: Draft
) -> Iterator[m.Term]:
    match part:
        case m.Assign(target=target, op=op, value=value):
            if op != "=" and _ranged(draft.fluents.get(target.fluent)):
                yield target
            yield from _of_target(target, draft)
            yield value
        case m.AddFact(target=target) | m.RemoveFact(target=target):
            yield from _of_target(target, draft)
        case m.Transfer(amount=amount, source=source, target=target):
            yield from (amount, source)
            yield from _of_target(target, draft)
        case _:
            assert_never(part)


def terms_below(part: object, draft: Draft) -> Iterator[m.Term]:
    """Every term below any part of the model whose value counts, subterms included."""
    for root in roots_below(part, draft):
        yield from subterms(root)


def nodes_below(part: object, kinds: tuple[type, ...]) -> Iterator[Any]:
    """Every node of some classes below any part of the model, texts included."""
    return _below(part, frozenset(kinds), frozenset())


def effects_below(part: object) -> Iterator[m.Effect]:
    """Every change below any part of the model, nested ones included, in written order."""
    return _below(part, _EFFECTS, _TERMS)


def _of_target(target: m.Read, draft: Draft) -> Iterator[m.Term]:
    """The arguments of a written slot, and the slot itself where a constraint guards it."""
    fluent = draft.fluents.get(target.fluent)
    if fluent is not None and (fluent.unique or fluent.nested or fluent.acyclic):
        yield target
    yield from target.args


def _ranged(fluent: m.Fluent | None) -> bool:
    """Return whether adding to a fluent may be refused, so that the old value matters."""
    if fluent is None or fluent.clamped or not isinstance(fluent.type, m.NumberType):
        return False
    return fluent.type.low is not None


_NOTHING = frozenset[str]()


@frozen
class Mentions:
    """Names that the terms and changes of a part mention.

    ``written`` leaves out slots that are only cleared with a destroyed object, ``watched`` are the
    actions in `did` and `busy`.
    """

    fluents: frozenset[str] = _NOTHING
    derives: frozenset[str] = _NOTHING
    params: frozenset[str] = _NOTHING
    names: frozenset[str] = _NOTHING
    watched: frozenset[str] = _NOTHING
    events: frozenset[str] = _NOTHING
    written: frozenset[str] = _NOTHING


def mentions(part: object, draft: Draft) -> Mentions:
    """The names that one part of the model mentions, cached by its identity."""
    return draft.memo.of("mentions", (part,), lambda: _look(part, draft))


def all_mentions(draft: Draft) -> Mentions:
    """The names that the whole program mentions, local names excluded."""
    parts = [
        one
        for part in program_parts(draft)
        for one in (part if isinstance(part, tuple) else (part,))
        if one is not None
    ]
    found = draft.memo.each("mentions of parts", parts, lambda part: mentions(part, draft))
    return draft.memo.whole("all mentions", found, lambda: _joined(found))


def _joined(found: list[Mentions]) -> Mentions:
    names = ("fluents", "derives", "params", "watched", "events", "written")
    return Mentions(
        **{name: _NOTHING.union(*(getattr(one, name) for one in found)) for name in names}
    )


_NAMED: Final[dict[type, tuple[str, str]]] = {
    **dict.fromkeys((m.Read, m.InverseOf, m.ClosureOf), ("fluents", "fluent")),
    m.DeriveCall: ("derives", "derive"),
    m.ParamRead: ("params", "name"),
    m.Local: ("names", "name"),
}
"""The field of `Mentions` that counts a term, and the field of the term with the name."""


def _look(part: object, draft: Draft) -> Mentions:
    said = defaultdict[str, set[str]](set)
    for term in terms_below(part, draft):
        named = _NAMED.get(type(term))
        if named is not None:
            said[named[0]].add(getattr(term, named[1]))
        elif isinstance(term, m.BuiltinCall) and term.name in ("did", "busy") and term.detail:
            said["watched"].add(term.detail)
    effects = tuple(effects_below(part))
    said["events"].update(one.event for one in effects if isinstance(one, m.Emit))
    said["written"].update(
        write.fluent
        for one in effects
        for write in written_slots(one, draft)
        if write.op != "destroy"
    )
    return Mentions(**{name: frozenset(names) for name, names in said.items()})


def possible_values(draft: Draft) -> dict[str, frozenset[int]]:
    """For each enum or truth fluent whose writes are all constants: the positions it may have.

    Fluents that some calculation, exchange or recorded state sets are left out, and so is
    everything in a program without a world: who uses it may set anything.
    """
    if not draft.worlds or any(world.start for world in draft.worlds.values()):
        return {}
    found: dict[str, set[int]] = {
        key: _implicit(fluent)
        for key, fluent in draft.fluents.items()
        if isinstance(fluent.type, (m.BoolType, m.EnumType)) and fluent.fluent_kind != "table"
    }
    for key, value in _values(draft):
        if key not in found:
            continue
        known = _constants(value)
        if known is None:
            del found[key]
        else:
            found[key] |= known
    return {key: frozenset(values) for key, values in found.items()}


def _implicit(fluent: m.Fluent) -> set[int]:
    """The value without any writing: the default, else false or the first member."""
    if fluent.default is not None:
        return set()
    return set() if isinstance(fluent.type, m.EnumType) and fluent.type.optional else {0}


def _values(draft: Draft) -> Iterator[tuple[str, m.Term | None]]:
    """Every value that is written to a fluent; ``None`` where it is not in the text."""
    for fluent in draft.fluents.values():
        if fluent.default is not None:
            yield fluent.id, fluent.default
    for part in program_parts(draft):
        for item in part if isinstance(part, tuple) else ():
            if isinstance(item, m.ObjectKind):
                yield from _fields(item.defaults)
            elif isinstance(item, m.ObjectDecl):
                yield from _fields(item.fields)
        for effect in effects_below(part):
            if isinstance(effect, m.Create):
                yield from _fields(effect.fields)
            elif isinstance(effect, m.Destroy):
                yield from ((one.fluent, None) for one in written_slots(effect, draft))
            for write in slot_writes(effect):
                yield write.target.fluent, write.value if write.sets else None


def _fields(fields: tuple[m.FieldValue, ...]) -> Iterator[tuple[str, m.Term]]:
    for field in fields:
        yield field.fluent, field.value


def _constants(value: m.Term | None) -> set[int] | None:
    match value:
        case m.EnumLiteral(index=index):
            return {index}
        case m.BoolLiteral(value=truth):
            return {int(truth)}
        case m.NoneLiteral():
            return set()
        case m.Choose(then=then, otherwise=otherwise):
            one, other = _constants(then), _constants(otherwise)
            return None if one is None or other is None else one | other
        case (
            m.LeafTerm() | m.StateTerm() | m.LogicTerm() | m.TestTerm() | m.NumberTerm()
            | m.ListTerm() | m.Fold() | m.BuiltinCall() | m.TemplateTerm() | None
        ):  # fmt: skip
            return None
        case _:
            assert_never(value)


Rule = m.Action | m.Law | m.Birth


def fluents_written(bodies: Iterable[m.Body], words: Vocabulary) -> frozenset[str]:
    """The fluents that bodies change; a new object changes everything that objects of it have."""
    found: set[str] = set()
    for body in bodies:
        for effect in effects_in(body):
            found |= {write.fluent for write in written_slots(effect, words)}
            if isinstance(effect, m.Create) and effect.of in words.types:
                found |= set(words.types[effect.of].attributes)
    return frozenset(found)


def written_by(rule: Rule, draft: Draft) -> frozenset[str]:
    """The fluents that a rule may change."""
    return draft.memo.of("written", (rule,), lambda: fluents_written(own_bodies(rule), draft))


def check_was(draft: Draft) -> None:
    """Report a `was` whose fluents nothing writes before the read: it never differs (TW0504)."""
    rows = draft.memo.each("past of laws", tuple(draft.laws.values()), _past_of)
    laws = [(law, past) for law, past in zip(draft.laws.values(), rows, strict=True) if past]
    rows = draft.memo.each("past of watches", tuple(draft.watches.values()), _past_of)
    watches = [past for past in rows if past]
    if not laws and not watches:
        return
    rules: tuple[Rule, ...] = (*draft.actions.values(), *draft.births)
    everywhere = frozenset[str]().union(*(written_by(rule, draft) for rule in rules))
    for law, past in laws:
        earlier = [other for other in draft.laws.values() if _before(other, law, draft)]
        _tell(past, everywhere.union(*(written_by(other, draft) for other in earlier)), draft)
    always = everywhere.union(*(written_by(law, draft) for law in draft.laws.values()))
    for past in watches:
        _tell(past, always, draft)


def _past_of(rule: m.Law | m.Watch) -> tuple[m.Term, ...]:
    """The terms with `was` that a rule reads."""
    return tuple(_reads_of_past(rule))


def _reads_of_past(rule: m.Law | m.Watch) -> Iterator[m.Term]:
    if rule.when is not None:
        yield from _past(rule.when)
    if isinstance(rule, m.Law):
        for effect in effects_in(rule.body):
            for term in terms_of(effect):
                yield from _past(term)


def _before(other: m.Law, law: m.Law, draft: Draft) -> bool:
    """Return whether a law may have acted before another one reads, in one tick."""
    order = [*draft.phases, ""]
    if other.phase == law.phase:
        return law.phase in draft.phases and draft.phases[law.phase].order != "simultaneous"
    return order.index(other.phase) < order.index(law.phase)


def _tell(past: tuple[m.Term, ...], written: frozenset[str], draft: Draft) -> None:
    for part in past:
        read = fluents_read([part], draft.derives)
        if read and not (read & written):
            name = draft.text(part.span).removeprefix("was ")
            what = f"Nothing changes `{name}` before this, so `was` never differs from it."
            draft.tell("TW0504", what, part.span, "never changes", "Leave out `was`.")


def _past(term: m.Term) -> Iterator[m.Term]:
    """The outermost parts of a term that read the start of the tick."""
    for part in subterms(term):
        if isinstance(part, (m.Read, m.InverseOf, m.ClosureOf, m.DeriveCall)) and part.was:
            yield part
