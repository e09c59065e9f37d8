"""What one body writes, whether two writes can meet, and what that asks for.

The interpreter refuses to give one slot two values, clamps once the sum of all increments, and
refuses what leaves a range or breaks a relation. PDDL promises none of this: a range is guarded by
the regressed bound, clamping is written out by cases, and writes that could give one slot two
values (or be clamped together) have no exact lifted form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeVar

from tokenworld.diagnostics import Span
from tokenworld.model import Fluent, NumberType, ObjectType
from tokenworld.planning.pddl.tree import (
    FALSE,
    TRUE,
    Expr,
    Typed,
    conj,
    forall,
    imply,
    neg,
    rename,
    top_conjuncts,
)
from tokenworld.planning.pddl.values import (
    Case,
    Num,
    Sym,
    Truth,
    arithmetic,
    at_least,
    at_most,
    choose_number,
    number,
    sure,
)
from tokenworld.planning.pddl.words import (
    LiftingError,
    Vocabulary,
    sort_of,
    symbol_type,
)

__all__ = [
    "Guarded",
    "Place",
    "Write",
    "check_conflicts",
    "group",
    "number_effects",
    "ranges",
    "relation_guards",
]

V = TypeVar("V")

_MOST_TOGETHER = 3


@dataclass(frozen=True, slots=True)
class Place:
    """Where a change stands: its variables, its conditions, loops and branches around it.

    ``loops`` are the variables of loops (or of a law), as opposed to names for values. ``branch``
    lists the ``if`` around it by number with the side taken.
    """

    vars: tuple[Typed, ...] = ()
    conds: tuple[Expr, ...] = ()
    loops: tuple[str, ...] = ()
    branch: tuple[tuple[int, bool], ...] = ()

    def inside(self, vars_: Sequence[Typed], conds: Sequence[Expr]) -> Place:
        """The place with more variables and conditions."""
        every = (cond for part in conds for cond in top_conjuncts(conj((part,))))
        kept = tuple(dict.fromkeys((*self.conds, *every)))
        return Place((*self.vars, *vars_), kept, self.loops, self.branch)

    def within(self, case: Case[V]) -> Place:
        """The place where a case holds."""
        return self.inside(case.vars, case.conds)

    @property
    def unconditional(self) -> bool:
        return not self.vars and not self.conds


@dataclass(frozen=True, slots=True)
class Guarded:
    """One effect literal with the variables and conditions around it."""

    vars: tuple[Typed, ...]
    conds: tuple[Expr, ...]
    literal: Expr


@dataclass(frozen=True, slots=True)
class Write:
    """A write of one slot per binding. ``how``: set a value, add to a number, or a truth.

    ``low`` and ``high`` bound an increment where they are known (scaled). ``options`` are the cases
    of a symbol's value.
    """

    place: Place
    fluent: Fluent
    args: tuple[Sym, ...]
    how: Literal["set", "add"]
    value: Sym | Num | Truth | bool | None
    span: Span
    low: int | None = None
    high: int | None = None
    options: tuple[Case[Sym], ...] = ()

    def meets_itself(self, valued: frozenset[str], unique: frozenset[str] = frozenset()) -> bool:
        """Whether two rounds of a loop may write one slot.

        ``valued`` names the predicates of fluents whose last argument is their value: where the
        slot determines the others, it determines that one too. Those in ``unique`` are read
        backwards as well, since no two objects share a value.
        """
        known = {arg.text for arg in self.args}
        facts = [cond for cond in self.place.conds if cond[:1] and cond[0] in valued]
        for _ in facts:
            for fact in facts:
                words = [word for word in fact[1:] if isinstance(word, str)]
                if all(word in known or not word.startswith("?") for word in words[:-1]):
                    known.add(words[-1])
                if fact[0] in unique and len(words) == 2 and words[1] in known:
                    known.add(words[0])
        return any(loop not in known for loop in self.place.loops)


def unify(first: Write, second: Write) -> dict[str, str] | None:
    """Variables of ``second`` renamed so that it writes the slot of ``first``, if that works.

    Its other variables get a prime: they are not those of ``first``, whatever they are called.
    """
    own = [var.name for var in second.place.vars]
    found: dict[str, str] = {}
    for one, other in zip(first.args, second.args, strict=True):
        if other.text in own and found.get(other.text, one.text) == one.text:
            found[other.text] = one.text
        elif one.text != found.get(other.text, other.text):
            return None
    return {**{name: f"{name}'" for name in own}, **found}


def _renamed(expr: Expr, names: Mapping[str, str]) -> Expr:
    return rename(expr, lambda head: head, lambda leaf: names.get(leaf, leaf))


def alike(conds: Iterable[Expr], names: Mapping[str, str]) -> tuple[Expr, ...]:
    """The conditions with variables renamed."""
    return tuple(_renamed(cond, names) for cond in conds)


def _apart(write: Write) -> Write:
    """The write with its own variables primed, so that they are nobody else's."""
    names = {var.name: f"{var.name}'" for var in write.place.vars}
    args = tuple(Sym(names.get(arg.text, arg.text), arg.type) for arg in write.args)
    place = replace(write.place, vars=(), conds=alike(write.place.conds, names))
    return replace(write, place=place, args=args)


def _meeting(
    first: Write, second: Write, words: Vocabulary, known: Sequence[Expr] = ()
) -> dict[str, str] | None:
    """What must be equal if both write one slot, as a renaming; ``None`` if they cannot.

    Arguments are equal, and so are the values that two facts give one slot of a fluent.
    """
    names: dict[str, str] = {}
    for one, other in zip(first.args, second.args, strict=True):
        same = _follow(names, one.text) == _follow(names, other.text)
        if not same and words.types.disjoint(one.type, other.type):
            return None
        if not _equated(names, one.text, other.text):
            return None
    conds = (*known, *first.place.conds, *second.place.conds)
    facts = [fact for fact in conds if _stored(fact, words)]
    for _ in facts:  # each round but the last makes two words equal
        values: dict[tuple[str, ...], str] = {}
        for fact in facts:
            *slot, value = (_follow(names, str(word)) for word in fact)
            if not _equated(names, values.setdefault(tuple(slot), value), value):
                return None
    return {name: _follow(names, name) for name in names}


def _stored(fact: Expr, words: Vocabulary) -> bool:
    """Whether a condition is the value of a slot: ``(f … ?v)``, where each slot has one value."""
    flat = isinstance(fact, tuple) and all(isinstance(word, str) for word in fact)
    return flat and fact[:1] != () and fact[0] in words.valued


def _equated(names: dict[str, str], left: str, right: str) -> bool:
    """Make two words equal; false if they are two constants."""
    left, right = _follow(names, left), _follow(names, right)
    if left != right and right.startswith("?"):
        names[right] = left
    elif left != right:
        names[left] = right
    return left == right or left.startswith("?") or right.startswith("?")


def _follow(names: Mapping[str, str], word: str) -> str:
    while word in names:
        word = names[word]
    return word


def may_meet(first: Write, second: Write, words: Vocabulary, known: Sequence[Expr]) -> bool:
    """Whether both may write one slot at once; ``known`` holds wherever they are applied."""
    if first.fluent.id != second.fluent.id:
        return False
    sides = dict(first.place.branch)
    if any(sides.get(number, side) != side for number, side in second.place.branch):
        return False
    other = _apart(second)
    names = _meeting(first, other, words, known)
    if names is None:
        return False
    facts = set(alike((*known, *first.place.conds, *other.place.conds), names))
    return not any(neg(fact) in facts or _never(fact) for fact in facts)


def _never(fact: Expr) -> bool:
    """``(not (= x x))``."""
    match fact:
        case ("not", ("=", one, other)):
            return one == other
        case _:
            return False


def agree(first: Write, second: Write, words: Vocabulary) -> bool:
    """Whether the two write the same value wherever they meet, as the sides of a swap do."""
    meeting = _meeting(first, _apart(second), words)
    if meeting is None or first.how != "set" or second.how != "set":
        return False
    own = {var.name: f"{var.name}'" for var in second.place.vars}
    inner = {name: meeting.get(word, word) for name, word in own.items()}
    value = _value(first, meeting)
    return bool(value) and value == _value(second, {**meeting, **inner})


def _value(write: Write, names: Mapping[str, str]) -> tuple[Expr, ...]:
    """The value of a write as expressions, variables renamed; empty where it is not known."""
    match write.value:
        case Sym(text=text):
            return alike((text,), names)
        case Num(expr=expr) | Truth(expr=expr):
            return alike((expr,), names)
        case bool(truth):
            return (str(truth),)
        case None:
            return tuple(part for case in write.options for part in _case(case, names))


def _case(case: Case[Sym], names: Mapping[str, str]) -> tuple[Expr, ...]:
    """A case with its own variables numbered."""
    own = {var.name: f"?{index}" for index, var in enumerate(case.vars)}
    return alike((*case.conds, case.value.text), {**names, **own})


def conditional(conds: Sequence[Expr], literals: Sequence[Expr]) -> list[Expr]:
    """Effects under conditions: plain if there are none, else one ``when``."""
    if not conds:
        return list(literals)
    body: Expr = literals[0] if len(literals) == 1 else ("and", *literals)
    return [("when", conj(conds), body)]


def group(effects: Sequence[Guarded]) -> tuple[Expr, ...]:
    """Effects in order, neighbours under the same loop and condition joined."""
    found: list[Expr] = []
    index = 0
    while index < len(effects):
        vars_ = effects[index].vars
        run: list[Guarded] = []
        while index < len(effects) and effects[index].vars == vars_:
            run.append(effects[index])
            index += 1
        inner = _whens(run)
        if vars_:
            found.append(forall(vars_, inner[0] if len(inner) == 1 else ("and", *inner)))
        else:
            found += inner
    return tuple(found)


def _whens(effects: Sequence[Guarded]) -> list[Expr]:
    found: list[Expr] = []
    index = 0
    while index < len(effects):
        conds = effects[index].conds
        literals: list[Expr] = []
        while index < len(effects) and effects[index].conds == conds:
            literals.append(effects[index].literal)
            index += 1
        found += conditional(conds, literals)
    return found


# ---- slots --------------------------------------------------------------------------------


def _slot(words: Vocabulary, write: Write) -> tuple[Expr, ...]:
    return (words.fluents[write.fluent.id], *(arg.text for arg in write.args))


def _bounds(write: Write) -> tuple[int | None, int | None]:
    of = write.fluent.type
    return (of.low, of.high) if isinstance(of, NumberType) else (None, None)


def _amount(write: Write) -> Num:
    assert isinstance(write.value, Num)
    return write.value


# ---- effects of numbers -------------------------------------------------------------------


def number_effects(words: Vocabulary, write: Write) -> list[Guarded]:
    """The effects of one write of a number, clamping written out by cases."""
    place, slot, value = write.place, _slot(words, write), _amount(write)
    if not write.fluent.clamped:
        literal = ("assign", slot, value.expr) if write.how == "set" else _step(slot, value)
        return [Guarded(place.vars, place.conds, literal)]
    clamp = _clamped_set if write.how == "set" else _clamped_add
    found: list[Guarded] = []
    for tests, literal in clamp(write, slot, value):
        inner = place.inside((), tests)
        found.append(Guarded(inner.vars, inner.conds, literal))
    return found


def _step(slot: Expr, value: Num) -> Expr:
    if value.constant is not None and value.constant < 0:
        return ("decrease", slot, number(-value.constant).expr)
    if isinstance(value.expr, tuple) and value.expr[:2] == ("-", "0"):
        return ("decrease", slot, value.expr[2])
    return ("increase", slot, value.expr)


def _clamped_set(
    write: Write, slot: tuple[Expr, ...], value: Num
) -> list[tuple[tuple[Expr, ...], Expr]]:
    def put(one: Num) -> Expr:
        return ("assign", slot, one.expr)

    low, high = _bounds(write)
    if low is None or high is None:
        return [((), put(value))]
    if write.low is not None and write.high is not None and low <= write.low <= write.high <= high:
        return [((), put(value))]
    chosen = choose_number("clamp", [value, number(low), number(high)], write.span)
    return [(tests, put(one)) for tests, one in chosen]


def _clamped_add(
    write: Write, slot: tuple[Expr, ...], value: Num
) -> list[tuple[tuple[Expr, ...], Expr]]:
    low, high = _bounds(write)
    found: list[tuple[tuple[Expr, ...], Expr]] = []
    tests: tuple[Expr, ...] = ()
    for limit, up in ((high, True), (low, False)):
        if limit is not None and _may(write, up):
            over = _reaches(Num(slot), value, limit, up)
            found.append(((*tests, over), ("assign", slot, number(limit).expr)))
            tests = (*tests, neg(over))
    return [*found, (tests, _step(slot, value))]


def _may(write: Write, up: bool) -> bool:
    """Whether an increment may be positive (``up``) or negative."""
    constant = _amount(write).constant
    if constant is not None:
        return constant > 0 if up else constant < 0
    return (write.high is None or write.high > 0) if up else (write.low is None or write.low < 0)


def _reaches(slot: Num, delta: Num, limit: int, up: bool) -> Expr:
    """``slot + delta`` is at or beyond a limit."""
    compare = at_least if up else at_most
    if delta.constant is not None:
        return compare(slot, number(limit - delta.constant))
    if isinstance(delta.expr, tuple) and delta.expr[:2] == ("-", "0"):
        taken = Num(delta.expr[2])
        right = taken if limit == 0 else Num(("+", number(limit).expr, taken.expr))
        return compare(slot, right)
    return compare(Num(("+", slot.expr, delta.expr)), number(limit))


# ---- conflicts ----------------------------------------------------------------------------


def check_conflicts(writes: Sequence[Write], words: Vocabulary, known: Sequence[Expr]) -> None:
    """Raise `LiftingError` where writes might give one slot two values or clamp together."""
    unique = frozenset(
        words.fluents[fluent.id]
        for fluent in words.instance.program.fluents.values()
        if fluent.unique
    )
    for write in writes:
        if _differs(write, write) and write.meets_itself(words.valued, unique):
            raise LiftingError(f"rounds that may write `{write.fluent.name}` twice", write.span)
    for first, second in combinations(writes, 2):
        if not _differs(first, second) or agree(first, second, words):
            continue
        if may_meet(first, second, words, known):
            raise LiftingError(f"two writes of `{first.fluent.name}` that may meet", second.span)


def _differs(first: Write, second: Write) -> bool:
    """Whether two writes of one slot could contradict each other."""
    if first.fluent.id != second.fluent.id:
        return False
    if sort_of(first.fluent.type) == "number" and first.how == second.how == "add":
        low, high = _bounds(first)
        clamped = first.fluent.clamped and first is not second
        return clamped or (first is second and (low is not None or high is not None))
    if first.how == second.how == "add":
        return False
    fixed = _fixed(first)
    return fixed is None or fixed != _fixed(second)


def _fixed(write: Write) -> str | bool | None:
    """The value of a write if it is the same in every round."""
    own = {var.name for var in write.place.vars}
    match write.value:
        case Sym(text=text):
            return None if text in own else text
        case Num(constant=constant, expr=expr):
            return None if constant is None else str(expr)
        case bool(truth):
            return truth
        case Truth() | None:
            return None


# ---- ranges -------------------------------------------------------------------------------


def ranges(writes: Sequence[Write], words: Vocabulary, known: Sequence[Expr]) -> list[Expr]:
    """The conditions under which no unclamped number leaves its range."""
    found: list[Expr] = []
    mine = [w for w in writes if isinstance(w.value, Num) and not w.fluent.clamped]
    for write in mine:
        if write.how == "set":
            found += _set_guard(write)
    adds = [write for write in mine if write.how == "add" and _bounds(write) != (None, None)]
    for index, write in enumerate(adds):
        others = [other for other in adds[index + 1 :] if may_meet(write, other, words, known)]
        before = [other for other in adds[:index] if may_meet(other, write, words, known)]
        found += _add_guards(write, before, others, words)
    return found


def _set_guard(write: Write) -> list[Expr]:
    low, high = _bounds(write)
    value, tests = _amount(write), []
    if low is not None and not (write.low is not None and write.low >= low):
        tests.append(at_least(value, number(low)))
    if high is not None and not (write.high is not None and write.high <= high):
        tests.append(at_most(value, number(high)))
    return _guarded(write.place.vars, write.place.conds, tests)


def _guarded(vars_: Sequence[Typed], conds: Sequence[Expr], tests: Sequence[Expr]) -> list[Expr]:
    open_ = [test for test in tests if test not in conds and test != TRUE]
    return [forall(vars_, imply(conj(conds), test)) for test in open_]


def _add_guards(
    write: Write, before: Sequence[Write], after: Sequence[Write], words: Vocabulary
) -> list[Expr]:
    """The guards of one increment alone, and of it with those after it that it may meet."""
    cluster = [write, *before, *after]
    if len(cluster) == 1:
        return _guarded(write.place.vars, write.place.conds, _in_range([write], words))
    if len(cluster) == 2 and all(one.place.unconditional for one in cluster):
        return _plain_pair(write, (before or after)[0], bool(after), words)
    return _joined(write, before, after, words)


def _plain_pair(write: Write, other: Write, first: bool, words: Vocabulary) -> list[Expr]:
    """Two increments without conditions: alone unless their slots are one."""
    same = conj(
        ("=", one.text, two.text)
        for one, two in zip(write.args, other.args, strict=True)
        if one.text != two.text
    )
    found = _guarded((), (neg(same),), _in_range([write], words)) if same != TRUE else []
    if first:
        conds = () if same == TRUE else (same,)
        found += _guarded((), conds, _in_range([write, other], words))
    return found


def _joined(
    write: Write, before: Sequence[Write], after: Sequence[Write], words: Vocabulary
) -> list[Expr]:
    """Increments of one slot under different conditions: each set of them that may be active."""
    if len(before) + len(after) >= _MOST_TOGETHER:
        raise LiftingError(f"many increments of `{write.fluent.name}`", write.span)
    named = {other: unify(write, other) for other in (*before, *after)}
    if any(names is None for names in named.values()) or any(
        _own_variables(one) for one in (write, *named)
    ):
        raise LiftingError(f"increments of `{write.fluent.name}` that may meet", write.span)
    conds = {other: alike(other.place.conds, names or {}) for other, names in named.items()}
    found: list[Expr] = []
    for size in range(len(after) + 1):
        for together in combinations(after, size):
            idle = [other for other in named if other not in together]
            tests = [neg(conj(conds[other])) for other in idle]
            every = [*write.place.conds, *(c for one in together for c in conds[one]), *tests]
            sums = _in_range([write, *together], words, {k: v or {} for k, v in named.items()})
            found += _guarded(write.place.vars, every, sums)
    return found


def _own_variables(write: Write) -> bool:
    """Whether a write has variables beside those that name its slot."""
    names = {arg.text for arg in write.args}
    return any(var.name not in names for var in write.place.vars)


def _in_range(
    together: Sequence[Write], words: Vocabulary, named: dict[Write, dict[str, str]] | None = None
) -> list[Expr]:
    """The sum of some increments of one slot stays within the bounds."""
    first = together[0]
    low, high = _bounds(first)
    total = number(0)
    for one in together:
        expr = alike([_amount(one).expr], (named or {}).get(one, {}))[0]
        amount = _amount(one) if one is first else Num(expr, _amount(one).constant)
        total = arithmetic("+", total, amount, one.span)
    slot, found = Num(_slot(words, first)), []
    if high is not None and any(_may(one, True) for one in together):
        found.append(_reaches(slot, total, high, False))
    if low is not None and any(_may(one, False) for one in together):
        found.append(_reaches(slot, total, low, True))
    return found


# ---- uniqueness and cycles ------------------------------------------------------------------


def relation_guards(writes: Sequence[Write], words: Vocabulary) -> list[Expr]:
    """The generated requires `unique` and `cycle` (language.md §6)."""
    found: list[Expr] = []
    for write in writes:
        fluent = write.fluent
        chained = (fluent.nested or fluent.acyclic) and _may_cycle(write, words)
        options = _options(write) if fluent.unique or chained else ()
        if not options:
            continue
        alone = sum(other.fluent.id == fluent.id for other in writes) == 1
        if not alone or write.place.vars or fluent.symmetric:
            raise LiftingError(f"this write of `{fluent.name}`", write.span)
        for case in options:
            value = case.value
            tests = [_unique(write, value, words)] if fluent.unique else []
            tests += _no_cycle(write, value, words) if chained else []
            conds = (*write.place.conds, *case.conds)
            found += [forall(case.vars, imply(conj(conds), test)) for test in tests]
    return found


def _options(write: Write) -> tuple[Case[Sym], ...]:
    """The cases of the new value: of a set symbol, or the second end of an added pair."""
    if write.value is True and write.how == "add":
        return (sure(write.args[-1]),)
    return write.options


def _no_cycle(write: Write, value: Sym, words: Vocabulary) -> list[Expr]:
    """The new value is not the object itself, and does not lead to it."""
    start = write.args[0]
    chain = (words.closure(write.fluent), value.text, start.text)
    same: Expr = FALSE if start.is_constant and value.is_constant else ("=", start.text, value.text)
    return [neg(TRUE if start.text == value.text else same), neg(chain)]


def _may_cycle(write: Write, words: Vocabulary) -> bool:
    fluent = write.fluent
    target = fluent.params[1].type if fluent.fluent_kind == "relation" else fluent.type
    return not words.types.disjoint(symbol_type(fluent.params[0].type), symbol_type(target))


def _unique(write: Write, value: Sym, words: Vocabulary) -> Expr:
    holder = write.args[0]
    of = symbol_type(write.fluent.params[0].type)
    assert isinstance(of, ObjectType)
    var, _ = words.types.variable("?other", of)
    other = (words.fluents[write.fluent.id], var.name, value.text)
    return forall((var,), imply(neg(("=", var.name, holder.text)), neg(other)))
