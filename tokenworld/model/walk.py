"""Walking terms and bodies: children, subterms, changes, rebuilding, and the terms that decide."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from operator import attrgetter, is_
from typing import Any, Final, Literal, TypeVar, assert_never, cast

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model.effects import (
    AddFact,
    Assign,
    Body,
    Chance,
    Create,
    DescribeEffect,
    Destroy,
    Draw,
    DrawChance,
    DrawPick,
    DrawUniform,
    Effect,
    Emit,
    For,
    If,
    Let,
    LifeEffect,
    NestedEffect,
    OutputEffect,
    Pick,
    RemoveFact,
    Reward,
    Say,
    Swap,
    Transfer,
    WriteEffect,
)
from tokenworld.model.program import Program
from tokenworld.model.rules import Action, Atom, Require
from tokenworld.model.terms import (
    And,
    Arithmetic,
    Binder,
    BoolLiteral,
    BuiltinCall,
    Choose,
    ClosureOf,
    CollectionRange,
    Compare,
    CompositeTerm,
    DeriveCall,
    EnumLiteral,
    Fold,
    Implies,
    InverseOf,
    IsType,
    LeafTerm,
    ListTerm,
    Local,
    LogicTerm,
    Me,
    Member,
    Negate,
    NoneLiteral,
    Not,
    NumberLiteral,
    NumberTerm,
    ObjectLiteral,
    Or,
    ParamRead,
    Read,
    Rescale,
    Slot,
    StateTerm,
    Template,
    TemplateTerm,
    Term,
    TestTerm,
    ToReal,
)
from tokenworld.model.types import CollectionType, ObjectType
from tokenworld.model.vocabulary import Derive
from tokenworld.model.worlds import World

Change = Callable[[Term], Term]


def binder_terms(binders: Iterable[Binder]) -> Iterator[Term]:
    """The collections that binders range over."""
    for binder in binders:
        if isinstance(binder.domain, CollectionRange):
            yield binder.domain.collection


def _fold_parts(term: Fold) -> tuple[Term, ...]:
    parts = (*binder_terms(term.binders), term.where, term.value)
    return tuple(part for part in parts if part is not None)


def slot_terms(template: Template) -> tuple[Term, ...]:
    """The terms in the slots of a text, in written order."""
    return tuple(part.term for part in template.parts if isinstance(part, Slot))


def _slot_terms(term: TemplateTerm) -> tuple[Term, ...]:
    return slot_terms(term.template)


_LEAVES = (
    BoolLiteral, NumberLiteral, EnumLiteral, NoneLiteral, ObjectLiteral, ParamRead, Local, Me,
)  # fmt: skip
_FIELDS: Final[dict[type, tuple[str, ...]]] = {
    **dict.fromkeys(_LEAVES, ()),
    **dict.fromkeys((InverseOf, ClosureOf), ("of",)),
    **dict.fromkeys((Not, Negate, IsType, Rescale, ToReal), ("term",)),
    **dict.fromkeys((Implies, Compare, Arithmetic), ("left", "right")),
    Member: ("item", "collection"),
    Choose: ("condition", "then", "otherwise"),
}
"""The fields that hold a direct subterm each, by class."""
_LISTS: Final[dict[type, str]] = {
    **dict.fromkeys((Read, DeriveCall, BuiltinCall), "args"),
    **dict.fromkeys((And, Or), "terms"),
    ListTerm: "items",
}
"""The field that holds all direct subterms, by class."""


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Term, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda term: ()
    (part,) = map(attrgetter, names)
    return lambda term: (part(term),)


_PARTS: Final[dict[type, Callable[[Any], tuple[Term, ...]]]] = {
    **{kind: _getter(names) for kind, names in _FIELDS.items()},
    **{kind: attrgetter(name) for kind, name in _LISTS.items()},
    Fold: _fold_parts,
    TemplateTerm: _slot_terms,
}
"""The direct subterms by class: every pass walks every term, and a chain of cases is slow. A class
that is missing here is a `KeyError`: no reader passes over a term that it does not know."""


def children(term: Term) -> tuple[Term, ...]:
    """The direct subterms in written order (ranges of binders included)."""
    return _PARTS[type(term)](term)


def subterms(term: Term) -> Iterator[Term]:
    """The term itself and everything below it, parents first."""
    todo = [term]
    while todo:
        one = todo.pop()
        yield one
        todo += _PARTS[type(one)](one)[::-1]


def conjuncts(terms: Iterable[Term]) -> Iterator[Term]:
    """The parts of conditions that must all hold, in written order."""
    for term in terms:
        if isinstance(term, And):
            yield from conjuncts(term.terms)
        else:
            yield term


def deep_subterms(terms: Iterable[Term], derives: Mapping[str, Derive]) -> Iterator[Term]:
    """Every subterm, those of the derives that are called included, each derive once."""
    todo, seen = list(terms), set[str]()
    for term in todo:  # grows while it is walked
        for part in subterms(term):
            yield part
            if isinstance(part, DeriveCall) and part.derive not in seen:
                seen.add(part.derive)
                if part.derive in derives:
                    todo.append(derives[part.derive].value)


_READING = (Read, DeriveCall, Fold, ParamRead, InverseOf, ClosureOf, BuiltinCall)


def atoms_of(
    condition: Term, text: Callable[[Span], str], lets: Collection[str] = ()
) -> tuple[Atom, ...]:
    """Reads, derives, folds, params and ``lets`` of a condition, outermost first, each text once.

    ``text`` is the source text of a place. Subterms that use variables bound inside the condition
    have no single value and are left out, and so are collections: the fold over them tells more.
    """
    found: dict[str, Term] = {}

    def collect(term: Term, bound: frozenset[str]) -> None:
        inner = bound
        if isinstance(term, Fold):
            inner = bound | {binder.name for binder in term.binders}
        telling = isinstance(term, _READING) or (isinstance(term, Local) and term.name in lets)
        if telling and not _uses(term, bound) and not isinstance(term.type, CollectionType):
            found.setdefault(text(term.span), term)
        for child in children(term):
            collect(child, inner)

    collect(condition, frozenset())
    return tuple(Atom(text, term) for text, term in found.items())


def _uses(term: Term, names: frozenset[str]) -> bool:
    return any(isinstance(part, Local) and part.name in names for part in subterms(term))


def fluents_read(terms: Iterable[Term], derives: Mapping[str, Derive]) -> frozenset[str]:
    """The fluents that terms read, through derives."""
    reads = (Read, InverseOf, ClosureOf)
    return frozenset(
        part.fluent for part in deep_subterms(terms, derives) if isinstance(part, reads)
    )


def _map_binders(binders: tuple[Binder, ...], change: Change) -> tuple[Binder, ...]:
    def one(binder: Binder) -> Binder:
        if not isinstance(binder.domain, CollectionRange):
            return binder
        domain = replace(binder.domain, collection=change(binder.domain.collection))
        return replace(binder, domain=domain)

    return tuple(one(binder) for binder in binders)


def map_children(term: Term, change: Change) -> Term:
    """The same term with each direct subterm replaced by ``change(subterm)``.

    Where nothing changes, it is the very same term.
    """
    parts = children(term)
    changed = tuple([change(part) for part in parts])
    if all(map(is_, parts, changed)):
        return term
    given = iter(changed)
    return _rebuilt(term, lambda _: next(given))


def _rebuilt(term: Any, change: Change) -> Term:
    """The same term with its subterms changed, each once and in written order."""
    kind, changed = type(term), dict[str, object]()
    if kind is Fold:
        changed["binders"] = _map_binders(term.binders, change)  # first: they are written first
        given = [name for name in ("where", "value") if getattr(term, name) is not None]
        changed |= {name: change(getattr(term, name)) for name in given}
    elif kind is TemplateTerm:
        parts = tuple(
            replace(part, term=change(part.term)) if isinstance(part, Slot) else part
            for part in term.template.parts
        )
        changed["template"] = replace(term.template, parts=parts)
    elif kind in _LISTS:
        changed[_LISTS[kind]] = tuple([change(part) for part in _PARTS[kind](term)])
    else:
        changed |= {name: change(getattr(term, name)) for name in _FIELDS[kind]}
    found: Term = replace(term, **changed)
    return found


PartT = TypeVar("PartT")
_CHANGEABLE: dict[type, tuple[str, ...]] = {}
"""By class, the fields in which nodes may stand: neither types of values nor places."""


def copied(part: PartT, change: Callable[[Any], Any]) -> PartT:
    """Any part of the model with each node replaced by ``change(node)``, inner ones first."""
    if isinstance(part, tuple):
        return cast(PartT, tuple([copied(one, change) for one in part]))
    if isinstance(part, dict):
        return cast(PartT, {key: copied(one, change) for key, one in part.items()})
    kind = type(part)
    if kind not in _CHANGEABLE:
        parts = fields(cast(Any, part)) if is_dataclass(part) and kind is not Span else ()
        _CHANGEABLE[kind] = tuple(one.name for one in parts if one.name not in ("type", "span"))
    names = _CHANGEABLE[kind]
    if not names:
        return part
    changed = {name: copied(getattr(part, name), change) for name in names}
    if any(getattr(part, name) is not one for name, one in changed.items()):
        part = cast(PartT, replace(cast(Any, part), **changed))
    return cast(PartT, change(part))


def _both(effect: If) -> tuple[Body, ...]:
    return (effect.then, effect.otherwise)


def _once(effect: For) -> tuple[Body, ...]:
    return (effect.body,)


def _by_chance(effect: Chance) -> tuple[Body, ...]:
    return (*(branch.body for branch in effect.branches), effect.otherwise)


def _picked(effect: Pick) -> tuple[Body, ...]:
    return (effect.body, effect.otherwise)


def _no_bodies(effect: Effect) -> tuple[Body, ...]:
    return ()


_FLAT = (
    Let, Assign, AddFact, RemoveFact, Create, Destroy, Transfer, Swap, Emit, Say, DescribeEffect,
    Reward,
)  # fmt: skip
_BODIES: Final[dict[type, Callable[[Any], tuple[Body, ...]]]] = {
    **dict.fromkeys(_FLAT, _no_bodies),
    If: _both, For: _once, Chance: _by_chance, Pick: _picked,
}  # fmt: skip
"""The nested bodies by class; a class that is missing here is a `KeyError`, as in `_PARTS`."""


def bodies(effect: Effect) -> tuple[Body, ...]:
    """The nested bodies of a change, in written order."""
    return _BODIES[type(effect)](effect)


def effects_in(body: Body) -> Iterator[Effect]:
    """Every change of a body, nested ones included, in written order."""
    for effect in body:
        yield effect
        for inner in bodies(effect):
            yield from effects_in(inner)


def binders_of(effect: Effect) -> tuple[Binder, ...]:
    """The variables that a change binds itself: in a loop, a pick, or a `let` of a pick."""
    match effect:
        case For(binders=binders) | Pick(binders=binders) | Let(value=DrawPick(binders=binders)):
            return binders
        case Let() | If() | Chance() | WriteEffect() | LifeEffect() | OutputEffect():
            return ()
        case _:
            assert_never(effect)


@frozen
class SlotWrite:
    """One write of a change: the slot, how it is written, and the value.

    The value is assigned (``=``, and a truth for ``add`` and ``remove``), added or subtracted.
    """

    target: Read
    op: Literal["=", "+=", "-=", "add", "remove"]
    value: Term

    @property
    def sets(self) -> bool:
        """Return whether the slot has the value afterwards, independent of its former value."""
        return self.op not in ("+=", "-=")


def slot_writes(effect: Effect) -> tuple[SlotWrite, ...]:
    """The writes of one change to slots that it names (not those of nested bodies).

    All values are read on the state before the body; what creating and destroying objects writes
    is not listed.
    """
    match effect:
        case Assign(target=target, op=op, value=value):
            return (SlotWrite(target, op, value),)
        case AddFact(target=target):
            return (SlotWrite(target, "add", BoolLiteral(True, target.type, target.span)),)
        case RemoveFact(target=target):
            return (SlotWrite(target, "remove", BoolLiteral(False, target.type, target.span)),)
        case Transfer(amount=amount, source=source, target=target):
            return (SlotWrite(source, "-=", amount), SlotWrite(target, "+=", amount))
        case Swap(left=left, right=right):
            return (SlotWrite(left, "=", right), SlotWrite(right, "=", left))
        case Let() | NestedEffect() | LifeEffect() | OutputEffect():
            return ()
        case _:
            assert_never(effect)


def targets_of(effect: Effect) -> tuple[Read, ...]:
    """The slots that one change names as its targets (not those of nested bodies)."""
    return tuple([one.target for one in slot_writes(effect)])


def _present(*terms: Term | None) -> tuple[Term, ...]:
    return tuple(term for term in terms if term is not None)


def _let_terms(value: Term | Draw) -> tuple[Term, ...]:
    match value:
        case DrawChance(probability=probability):
            return (probability,)
        case DrawPick(binders=binders, where=where, weight=weight):
            return (*binder_terms(binders), *_present(where, weight))
        case DrawUniform(low=low, high=high):
            return (low, high)
        case LeafTerm() | StateTerm() | LogicTerm() | TestTerm() | NumberTerm() | CompositeTerm():
            return (value,)
        case _:
            assert_never(value)


def terms_of(effect: Effect) -> tuple[Term, ...]:
    """The terms a change evaluates itself (not those of nested bodies).

    Targets count by their arguments only: writing a slot does not read it. Prose is left out:
    it is rendered on the state after the body and never counts as a read.
    """
    match effect:
        case Let(value=value):
            return _let_terms(value)
        case Assign(target=target, value=assigned):
            return (*target.args, assigned)
        case AddFact(target=target) | RemoveFact(target=target):
            return target.args
        case If(condition=condition):
            return (condition,)
        case For(binders=binders, where=where):
            return (*binder_terms(binders), *_present(where))
        case Chance(branches=branches):
            return tuple(branch.probability for branch in branches)
        case Pick(binders=binders, where=where, weight=weight):
            return (*binder_terms(binders), *_present(where, weight))
        case Create(fields=fields):
            return tuple(field.value for field in fields)
        case Destroy(target=destroyed):
            return (destroyed,)
        case Transfer(amount=amount, source=source, target=target):
            return (amount, *source.args, *target.args)
        case Swap(left=left, right=right):
            return (left, right)
        case Emit(args=args):
            return args
        case Reward(amount=amount):
            return (amount,)
        case Say() | DescribeEffect():
            return ()
        case _:
            assert_never(effect)


# ---- deciding ------------------------------------------------------------------------------------
# The terms by which rules decide what happens: conditions, values and arguments, not texts.
#
# Two states that agree on the slots these read behave alike; other slots are only kept or shown.


def body_terms(body: Body) -> Iterator[Term]:
    """The terms that the changes of a body evaluate, nested ones included."""
    for effect in effects_in(body):
        yield from terms_of(effect)


def guard_terms(action: Action) -> Iterator[Term]:
    """The conditions of an action's requires and the values of the lets between them."""
    for guard in action.guards:
        match guard:
            case Require(condition=condition):
                yield condition
            case Let():
                yield from terms_of(guard)
            case _:
                assert_never(guard)


def rule_terms(program: Program, world: World) -> Iterator[Term]:
    """The terms of actions, laws, births, invariants, conserved sums and endings.

    Derived facts are not followed, and watches, awards and scores decide nothing here.
    """
    for action in program.actions.values():
        yield from guard_terms(action)
        yield from (t for t in (action.takes, action.until, action.cost) if t is not None)
        for body in (action.notes, action.body, action.cancelled):
            yield from body_terms(body)
    for law in program.laws.values():
        yield from () if law.when is None else (law.when,)
        yield from body_terms(law.body)
    for birth in program.births:
        yield from body_terms(birth.body)
    yield from (one.condition for one in program.invariants.values())
    yield from (one.value for one in program.conserves.values())
    yield from (line.condition for line in world.endings)


def telling_terms(program: Program, world: World) -> tuple[Term, ...]:
    """The terms that affect later states: those of rules, endings and awards, and all that these
    read: derived facts, the score, names in texts."""
    binders = [one.params for one in program.actions.values()]
    binders += [one.params for one in program.laws.values()]
    found: list[Term] = [
        *rule_terms(program, world),
        *(term for params in binders for term in binder_terms(params)),
        *(one.when for one in world.awards),
    ]
    asked = set[object]()
    for term in found:  # grows while it is walked
        for part in subterms(term):
            what = _asked_by(part)
            if what is not None and what not in asked:
                asked.add(what)
                found += _asked_terms(program, world, what)
    return tuple(found)


def _asked_by(part: Term) -> tuple[str, str] | None:
    """The declaration elsewhere in the program that a term needs."""
    match part:
        case DeriveCall(derive=name):
            return "derive", name
        case BuiltinCall(name="score"):
            return "score", ""
        case TemplateTerm(template=template) if any(objects_named(slot_terms(template))):
            return "names", ""
        case LeafTerm() | StateTerm() | LogicTerm() | TestTerm() | NumberTerm() | CompositeTerm():
            return None
        case _:
            assert_never(part)


def _asked_terms(program: Program, world: World, what: tuple[str, str]) -> Iterator[Term]:
    match what:
        case ("derive", name):
            yield program.derives[name].value
        case ("score", _):
            yield from () if world.score is None else (world.score,)
            yield from (one.amount for one in world.awards)
        case _:
            yield from (one.name for one in program.called)


def objects_named(terms: Iterable[Term]) -> Iterator[str]:
    """Yield the object types of terms, and of the elements of collections."""
    for term in terms:
        kind = term.type.element if isinstance(term.type, CollectionType) else term.type
        if isinstance(kind, ObjectType):
            yield kind.name


def calls(terms: Iterable[Term], *names: str) -> bool:
    """Return whether one of these built-in functions is called; derived facts are not followed."""
    return any(
        isinstance(part, BuiltinCall) and part.name in names
        for term in terms
        for part in subterms(term)
    )


def looks_back(terms: Iterable[Term]) -> bool:
    """Return whether a value at the start of the tick is read; derived facts are not followed."""
    return any(getattr(part, "was", False) for term in terms for part in subterms(term))


def is_default(term: Term) -> bool:
    """Return whether a choice is written ``x otherwise y``."""
    if not isinstance(term, Choose) or not isinstance(term.condition, Compare):
        return False
    tested = term.condition
    return isinstance(tested.right, NoneLiteral) and tested.span == term.then.span


def is_draw(effect: Effect) -> bool:
    """Return whether a change draws (``by least`` and ``by most`` do not, and are counted too)."""
    return is_drawn(effect) or isinstance(effect, (Chance, Pick))


def is_drawn(effect: object) -> bool:
    """Return whether it names a value that is drawn."""
    return isinstance(effect, Let) and isinstance(effect.value, Draw)


def may_draw(body: Body) -> bool:
    """Return whether something in a body draws."""
    return any(is_draw(effect) for effect in effects_in(body))
