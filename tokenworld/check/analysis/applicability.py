"""Rules that cannot matter (TW0903): actions without effect, rules that never apply.

The proof is a refutation: conditions never hold together if every value of some enum, truth value
or constant is ruled out. Calculations, folds and other objects are left open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, assert_never

from tokenworld.check.analysis.aliasing import skeleton
from tokenworld.check.analysis.uses import all_mentions, possible_values
from tokenworld.check.draft import Draft
from tokenworld.check.typing.types import can_equal
from tokenworld.model import (
    Action,
    And,
    Assign,
    BoolLiteral,
    BoolType,
    Compare,
    CompositeTerm,
    Draw,
    Effect,
    EnumLiteral,
    EnumType,
    Implies,
    IsType,
    Law,
    LeafTerm,
    Let,
    LifeEffect,
    ListTerm,
    Local,
    LogicTerm,
    Member,
    NestedEffect,
    NoneLiteral,
    Not,
    NumberLiteral,
    NumberTerm,
    NumberType,
    ObjectLiteral,
    ObjectType,
    Or,
    OutputEffect,
    Read,
    Require,
    StateTerm,
    Term,
    TestTerm,
    Watch,
    WriteEffect,
    effects_in,
    is_optional,
    map_children,
)

__all__ = [
    "check_applicability",
    "watched_actions",
]


Values = Callable[[Term], frozenset[int] | None]
"""The values an enum or truth term may have (positions; 0 and 1), ``None`` where any may be."""

_DEPTH: Final = 4
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_NEGATED: Final = {"==": "!=", "!=": "=="}


def conjuncts(condition: Term | None) -> tuple[Term, ...]:
    """The parts of a condition that must all hold."""
    match condition:
        case None:
            return ()
        case And(terms=terms):
            return tuple(part for term in terms for part in conjuncts(term))
        case Not(term=Or(terms=terms)):
            return tuple(
                part for term in terms for part in conjuncts(Not(term, term.type, term.span))
            )
        case Not(term=Not(term=inner)):
            return conjuncts(inner)
        case (
            LeafTerm() | StateTerm() | Not() | Or() | Implies() | TestTerm() | NumberTerm()
            | CompositeTerm()
        ):  # fmt: skip
            return (condition,)
        case _:
            assert_never(condition)


def substituted(term: Term, lets: Mapping[str, Term]) -> Term:
    """The term with the values of ``let`` names in their places."""
    if isinstance(term, Local) and term.name in lets:
        return lets[term.name]
    return map_children(term, lambda inner: substituted(inner, lets))


def never_hold(parts: tuple[Term, ...], draft: Draft, values: Values, depth: int = _DEPTH) -> bool:
    """Whether the parts contradict each other (or one contradicts itself) in every state."""
    facts = _Facts(draft, values)
    for part in parts:
        if not facts.take(part):
            return True
    if depth == 0:
        return False
    return any(
        all(
            never_hold((*_without(parts, part), *conjuncts(choice)), draft, values, depth - 1)
            for choice in _choices(part)
        )
        for part in parts
        if _choices(part)
    )


def _without(parts: tuple[Term, ...], part: Term) -> tuple[Term, ...]:
    return tuple(one for one in parts if one is not part)


def _choices(part: Term) -> tuple[Term, ...]:
    """The cases of a part of which one must hold; empty for a plain part."""
    match part:
        case Or(terms=terms):
            return terms
        case Not(term=And(terms=terms)):
            return tuple(Not(term, term.type, term.span) for term in terms)
        case Implies(left=left, right=right):
            return (Not(left, left.type, left.span), right)
        case (
            LeafTerm() | StateTerm() | Not() | And() | TestTerm() | NumberTerm() | CompositeTerm()
        ):  # fmt: skip
            return ()
        case _:
            assert_never(part)


# ---- what is known of one term ----------------------------------------------------------


@dataclass(slots=True)
class _Known:
    """The values left for a term: positions or names not ruled out, bounds, absence, types."""

    allowed: frozenset[object] | None = None
    excluded: set[object] = field(default_factory=set)
    low: int | None = None
    high: int | None = None
    absent: bool = False
    present: bool = True
    types: list[str] = field(default_factory=list)

    def possible(self) -> bool:
        return self.absent or (self.present and self._some_value())

    def _some_value(self) -> bool:
        if self.allowed is not None:
            return any(self._fits(value) for value in self.allowed)
        if self.low is None or self.high is None or self.high - self.low > 1000:
            return self.low is None or self.high is None or self.low <= self.high
        return any(self._fits(value) for value in range(self.low, self.high + 1))

    def _fits(self, value: object) -> bool:
        if value in self.excluded:
            return False
        if not isinstance(value, int):
            return True
        return not (self.low is not None and value < self.low) and not (
            self.high is not None and value > self.high
        )


class _Facts:
    """Conditions taken one after another; ``take`` says whether they still can hold."""

    def __init__(self, draft: Draft, values: Values) -> None:
        self.draft = draft
        self.values = values
        self.known: dict[object, _Known] = {}
        self.truths: dict[object, bool] = {}

    def take(self, part: Term, positive: bool = True) -> bool:
        match part:
            case Not(term=inner):
                return self.take(inner, not positive)
            case And(terms=terms) if positive:
                return all(self.take(term) for term in terms)
            case BoolLiteral(value=value):
                return value is positive
            case Compare():
                return self._compare(part, positive) and self._truth(part, positive)
            case Member(item=item, collection=ListTerm(items=items)):
                return self._member(item, items, positive)
            case IsType(term=inner, of=of):
                return self._is(inner, of, positive) and self._truth(part, positive)
            case (
                LeafTerm() | StateTerm() | And() | Or() | Implies() | Member() | NumberTerm()
                | CompositeTerm()
            ):  # fmt: skip
                return self._truth(part, positive) and self._bool(part, positive)
            case _:
                assert_never(part)

    def _truth(self, part: Term, positive: bool) -> bool:
        """The same condition is not wanted both true and false."""
        return self.truths.setdefault(skeleton(part), positive) is positive

    def _bool(self, part: Term, positive: bool) -> bool:
        possible = self.values(part) if isinstance(part.type, BoolType) else None
        return possible is None or int(positive) in possible

    def of(self, term: Term) -> _Known:
        key = skeleton(term)
        if key not in self.known:
            self.known[key] = self._fresh(term)
        return self.known[key]

    def _fresh(self, term: Term) -> _Known:
        known = _Known(absent=is_optional(term.type))
        match term.type:
            case EnumType(name=name):
                given = self.values(term)
                every = range(len(self.draft.enums[name].members))
                known.allowed = frozenset(every if given is None else given)
            case BoolType():
                given = self.values(term)
                known.allowed = frozenset((0, 1) if given is None else given)
            case NumberType(low=low, high=high):
                known.low, known.high = low, high
            case _:
                pass
        return known

    def _compare(self, part: Compare, positive: bool) -> bool:
        left, op, right = part.left, str(part.op), part.right
        if _constant(left) is not None and _constant(right) is None:
            left, op, right = right, _MIRRORED[op], left
        value = _constant(right)
        if value is None:
            return True
        if not positive:
            if op not in _NEGATED:
                return self._not_ordered(left, op, value)
            op = _NEGATED[op]
        first = _constant(left)
        if first is not None:
            return _holds(first, op, value)
        return self._bound(self.of(left), op, value)

    def _not_ordered(self, left: Term, op: str, value: object) -> bool:
        """``not x < 3`` is ``x >= 3``, or `none`: a comparison over `none` is false."""
        known = self.of(left)
        absent = known.absent
        turned = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[op]
        if _constant(left) is not None:
            return True
        self._bound(known, turned, value)
        known.absent = absent
        return known.possible()

    def _bound(self, known: _Known, op: str, value: object) -> bool:
        match op:
            case "==" if value is _NONE:
                known.present = False
            case "!=" if value is _NONE:
                known.absent = False
            case "==":
                known.absent = False
                known.allowed = (
                    frozenset({value}) if known.allowed is None else known.allowed & {value}
                )
            case "!=":
                known.excluded.add(value)
            case _ if isinstance(value, int):
                known.absent = False
                _order(known, op, value)
            case _:
                return True
        return known.possible()

    def _member(self, item: Term, items: tuple[Term, ...], positive: bool) -> bool:
        values = [_constant(one) for one in items]
        if any(value is None or value is _NONE for value in values) or _constant(item) is not None:
            return True
        known = self.of(item)
        wanted = frozenset(value for value in values if value is not None)
        if positive:
            known.absent = False
            known.allowed = wanted if known.allowed is None else known.allowed & wanted
        else:
            known.excluded |= wanted
        return known.possible()

    def _is(self, term: Term, of: str, positive: bool) -> bool:
        if not positive:
            return True
        known = self.of(term)
        known.absent = False
        wanted = ObjectType(of)
        fits = all(can_equal(self.draft.types, ObjectType(other), wanted) for other in known.types)
        known.types.append(of)
        return fits and known.possible()


def _order(known: _Known, op: str, value: int) -> None:
    strict = 1 if op in ("<", ">") else 0
    if op in ("<", "<="):
        limit = value - strict
        known.high = limit if known.high is None else min(known.high, limit)
    else:
        limit = value + strict
        known.low = limit if known.low is None else max(known.low, limit)


_NONE: Final = object()


def _constant(term: Term) -> object | None:
    """A constant as something to compare: a position, a scaled number, a name, `none`."""
    match term:
        case EnumLiteral(index=index):
            return index
        case NumberLiteral(value=value):
            return value
        case BoolLiteral(value=truth):
            return int(truth)
        case ObjectLiteral(name=name):
            return name
        case NoneLiteral():
            return _NONE
        case LeafTerm() | StateTerm() | LogicTerm() | TestTerm() | NumberTerm() | CompositeTerm():
            return None
        case _:
            assert_never(term)


def _holds(left: object, op: str, right: object) -> bool:
    if op == "==":
        return left == right
    if op == "!=":
        return left != right
    if not isinstance(left, int) or not isinstance(right, int):
        return False
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]


def check_applicability(draft: Draft) -> None:
    """Actions without effect, and actions, laws and watches that never apply."""
    watched = watched_actions(draft)
    actions = tuple(draft.actions.values())
    draft.each("applies", actions, lambda one: _action(one, one.name in watched, draft), watched)
    draft.each("runs", _conditional(draft), lambda rule: _runs(rule, draft, _open))
    if draft.pedantic:
        _unset(draft)


def _action(action: Action, watched: bool, draft: Draft) -> None:
    if not _refused(action, draft, _open):
        _effective(action, watched, draft)


def watched_actions(draft: Draft) -> frozenset[str]:
    """Actions that some rule asks for with `did` or `busy`: doing them is an effect."""
    if draft.watched is None:
        draft.watched = all_mentions(draft).watched
    return draft.watched


def _conditional(draft: Draft) -> tuple[Law | Watch, ...]:
    """The rules that run by themselves when their condition holds."""
    return (*draft.laws.values(), *draft.watches.values())


def _open(_term: Term) -> frozenset[int] | None:
    return None


# ---- effects ----------------------------------------------------------------------------


def _effective(action: Action, watched: bool, draft: Draft) -> None:
    """An action changes or says something, or it is a plain wait (an import stays as it is)."""
    effects = (*action.body, *action.cancelled)
    if draft.pddl or watched or any(_matters(one, draft) for one in effects):
        return
    waits = not action.params and not action.requires and not action.body
    if waits and not _free(action):
        return
    what = f"`{action.name}` changes nothing and says nothing."
    hint = "Give it an effect, or remove it."
    draft.tell("TW0903", what, action.span, "no effect", hint)


def _free(action: Action) -> bool:
    return isinstance(action.takes, NumberLiteral) and action.takes.value == 0


def _matters(effect: Effect, draft: Draft) -> bool:
    for inner in effects_in((effect,)):
        match inner:
            case Let():
                pass
            case Assign(target=target, op="=", value=value):
                ordered = draft.fluents[target.fluent].ordered
                if ordered or skeleton(value) != skeleton(target):
                    return True
            case Assign(value=NumberLiteral(value=0)):
                pass
            case _ if inner.kind in ("if", "for", "chance", "pick"):
                pass  # what is inside them is among `effects_in`
            case WriteEffect() | NestedEffect() | LifeEffect() | OutputEffect():
                return True
            case _:
                assert_never(inner)
    return False


# ---- conditions -------------------------------------------------------------------------


def _guards(action: Action) -> Iterator[tuple[Require, tuple[Term, ...]]]:
    """Each require with its conjuncts, `let` names replaced by their values."""
    lets: dict[str, Term] = {}
    for guard in action.guards:
        if isinstance(guard, Require):
            yield guard, conjuncts(substituted(guard.condition, lets))
        elif not isinstance(guard.value, Draw):
            lets[guard.name] = substituted(guard.value, lets)


def _refused(action: Action, draft: Draft, values: Values) -> bool:
    """Report the first require that cannot hold together with those before it.

    `require false` in so many words is a deliberate refusal: an action that only explains.
    """
    known: tuple[Term, ...] = ()
    for require, parts in _guards(action):
        if isinstance(require.condition, BoolLiteral):
            return not require.condition.value
        if never_hold((*known, *parts), draft, values):
            alone = never_hold(parts, draft, values)
            why = "never holds" if alone else "excluded by the requires before it"
            what = f"`{action.name}` is always refused: this `require` can never hold."
            if not alone:
                what = f"`{action.name}` is always refused: its requires exclude each other."
            hint = "Correct the condition, or write `require false` to refuse on purpose."
            draft.tell("TW0903", what, require.span, why, hint)
            return True
        known = (*known, *parts)
    return False


def _runs(rule: Law | Watch, draft: Draft, values: Values) -> bool:
    """A law or watch whose condition can never hold is dead."""
    if rule.when is None or not never_hold(conjuncts(rule.when), draft, values):
        return True
    what = f"`{rule.name}` never runs: its condition can never hold."
    draft.tell("TW0903", what, rule.when.span, "never holds", "Correct or remove the rule.")
    return False


# ---- with --pedantic: what nothing ever sets ---------------------------------------------


def _unset(draft: Draft) -> None:
    """Rules that wait for a value which nothing in the program ever sets."""
    known = possible_values(draft)

    def values(term: Term) -> frozenset[int] | None:
        return known.get(term.fluent) if isinstance(term, Read) else None

    for rule in _conditional(draft):
        dead = rule.when is not None and never_hold(conjuncts(rule.when), draft, values)
        if rule.when is not None and dead and not never_hold(conjuncts(rule.when), draft, _open):
            what = f"`{rule.name}` never runs: nothing sets the values that it waits for."
            hint = "Set them in a rule or in the world, or remove the rule."
            draft.tell("TW0903", what, rule.when.span, "never set so", hint)
    for action in draft.actions.values():
        parts = tuple(part for _, some in _guards(action) for part in some)
        if never_hold(parts, draft, values) and not never_hold(parts, draft, _open):
            what = f"`{action.name}` is always refused: nothing sets the values that it needs."
            hint = "Set them in a rule or in the world, or remove the action."
            draft.tell("TW0903", what, action.requires[0].span, "never set so", hint)
