"""What PDDL does not promise about writes, said as conditions: ranges, uniqueness, no cycles.

A range is guarded by the regressed bound, clamping is written out by cases, and writes that could
give one slot two values (or be clamped together) have no exact lifted form.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from tokenworld.model import NumberType, ObjectType
from tokenworld.planning.pddl.cases import Case, Num, Sym
from tokenworld.planning.pddl.numbers import arithmetic, at_least, at_most, choose_number, number
from tokenworld.planning.pddl.terms import symbol_type
from tokenworld.planning.pddl.tree import FALSE, TRUE, Expr, Typed, conj, forall, imply, neg
from tokenworld.planning.pddl.vocabulary import LiftingError, Vocabulary, sort_of
from tokenworld.planning.pddl.writes import Guarded, Write, agree, alike, may_meet, unify

__all__ = ["check_conflicts", "number_effects", "ranges", "relation_guards"]

_MOST_TOGETHER = 3


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
    valued = frozenset(
        words.fluents[fluent.id]
        for fluent in words.instance.program.fluents.values()
        if sort_of(fluent.type) == "symbol"
    )
    unique = frozenset(
        words.fluents[fluent.id]
        for fluent in words.instance.program.fluents.values()
        if fluent.unique
    )
    for write in writes:
        if _differs(write, write) and write.meets_itself(valued, unique):
            raise LiftingError(f"rounds that may write `{write.fluent.name}` twice", write.span)
    for first, second in combinations(writes, 2):
        if first.partner and first.partner == second.partner:
            continue
        if not _differs(first, second) or agree(first, second, words.types):
            continue
        if may_meet(first, second, words.types, known):
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
        case value:
            return value


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
        others = [
            other for other in adds[index + 1 :] if may_meet(write, other, words.types, known)
        ]
        before = [other for other in adds[:index] if may_meet(other, write, words.types, known)]
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
            assert isinstance(case.value, Sym)
            tests = [_unique(write, case.value, words)] if fluent.unique else []
            tests += _no_cycle(write, case.value, words) if chained else []
            conds = (*write.place.conds, *case.conds)
            found += [forall(case.vars, imply(conj(conds), test)) for test in tests]
    return found


def _options(write: Write) -> tuple[Case, ...]:
    """The cases of the new value: of a set symbol, or the second end of an added pair."""
    if write.value is True and write.how == "add":
        return (Case((), (), write.args[-1]),)
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
