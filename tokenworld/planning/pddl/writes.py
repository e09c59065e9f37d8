"""The writes of one body, whether two of them can meet, and the guards that they need.

The interpreter refuses to give one slot two values, clamps once the sum of all increments, and
refuses what leaves a range or breaks a relation. PDDL promises none of this: a range is guarded by
the regressed bound, clamping is written out by cases, and writes that could give one slot two
values (or be clamped together) have no exact lifted form.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.model import Fluent, NumberType, ObjectType
from tokenworld.planning.pddl import tree
from tokenworld.planning.pddl.values import (
    Case,
    Num,
    Sym,
    Truth,
    V,
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
    symbol_type,
)

_MOST_TOGETHER = 3


@dataclass(frozen=True, slots=True)
class Place:
    """The context of a change: its variables, its conditions, loops and branches around it.

    ``loops`` are the variables of loops (or of a law), as opposed to names for values. ``outcomes``
    lists the draws of chance around it by number with the outcome.
    """

    vars: tuple[tree.Typed, ...] = ()
    conds: tuple[tree.Expr, ...] = ()
    loops: tuple[str, ...] = ()
    outcomes: tuple[tuple[int, int], ...] = ()

    def inside(self, vars_: Sequence[tree.Typed], conds: Sequence[tree.Expr]) -> Place:
        """The place with more variables and conditions."""
        every = (cond for part in conds for cond in tree.top_conjuncts(tree.conj((part,))))
        kept = tuple(dict.fromkeys((*self.conds, *every)))
        return replace(self, vars=(*self.vars, *vars_), conds=kept)

    def within(self, case: Case[V]) -> Place:
        """The place where a case holds."""
        return self.inside(case.vars, case.conds)

    def effect(self, literal: tree.Expr) -> Case[tree.Expr]:
        """A literal under the variables and conditions of the place."""
        return Case(self.vars, self.conds, literal)

    @property
    def unconditional(self) -> bool:
        return not self.vars and not self.conds


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
    value: Num | Truth | bool | None
    span: Span
    low: int | None = None
    high: int | None = None
    options: tuple[Case[Sym], ...] = ()


def alike(conds: Iterable[tree.Expr], names: Mapping[str, str]) -> tuple[tree.Expr, ...]:
    """The conditions with variables renamed."""
    return tuple(tree.rename(cond, names) for cond in conds)


def _apart(write: Write) -> Write:
    """The write with renamed variables, different from all others."""
    names = {var.name: f"{var.name}'" for var in write.place.vars}
    args = tuple(Sym(names.get(arg.text, arg.text), arg.type) for arg in write.args)
    place = replace(write.place, vars=(), conds=alike(write.place.conds, names))
    return replace(write, place=place, args=args)


def _meeting(
    first: Write, second: Write, words: Vocabulary, known: Sequence[tree.Expr]
) -> dict[str, str] | None:
    """The equalities if both write one slot, as a renaming; ``None`` if they cannot.

    Arguments are equal, and so are the values that two facts give one slot of a fluent, and the
    objects that have one value of a ``unique`` fluent.
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
            head, *args, value = (_follow(names, str(word)) for word in fact)
            if not _equated(names, values.setdefault((head, *args), value), value):
                return None
            if head in words.unique and len(args) == 1:
                _equated(names, values.setdefault((head, "of", value), args[0]), args[0])
    return {name: _follow(names, name) for name in names}


def _stored(fact: tree.Expr, words: Vocabulary) -> bool:
    """Return whether a condition is the value of a slot that has one value: ``(f … ?v)``."""
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


def may_meet(
    first: Write, second: Write, words: Vocabulary, known: Sequence[tree.Expr]
) -> dict[str, str] | None:
    """The equalities if both write one slot at once, as a renaming; ``None``: they never do.

    The variables of ``second`` have a prime. ``known`` holds wherever the two are applied.
    """
    outcomes = dict(first.place.outcomes)
    apart = any(outcomes.get(draw, one) != one for draw, one in second.place.outcomes)
    if first.fluent.id != second.fluent.id or apart:
        return None
    other = _apart(second)
    names = _meeting(first, other, words, known)
    if names is None:
        return None
    facts = set(alike((*known, *first.place.conds, *other.place.conds), names))
    return None if any(_refuted(fact, facts, words) for fact in facts) else names


def absent(fact: tree.Expr, words: Vocabulary) -> tree.Expr | None:
    """The fact ``(f … ?v)`` of ``(not (exists (?v) (f … ?v)))``, if ?v may be any value of f."""
    match fact:
        case ("not", ("exists", (str(var), *kind), (str(head), *args) as held)):
            of = words.valued.get(head)
            plain = of is not None and all(isinstance(arg, str) for arg in args)
            if not plain or of is None or args[-1:] != [var]:
                return None
            any_value = words.types.variable(var, of)[0]
            return held if tree.variables((any_value,)) == (var, *kind) else None
        case _:
            return None


def _refuted(fact: tree.Expr, facts: Collection[tree.Expr], words: Vocabulary) -> bool:
    """Return whether a negation is false: of other facts, ``(= x x)``, or a slot's value."""
    match fact:
        case _ if held := absent(fact, words):
            return fact[1] in facts or any(one[:-1] == held[:-1] for one in facts)
        case ("not", ("=", one, other)) if one == other:
            return True
        case ("not", denied):
            return all(part in facts for part in tree.top_conjuncts(denied))
        case _:
            return False


def _value(write: Write, names: Mapping[str, str]) -> tuple[tree.Expr, ...]:
    """The value of a write as expressions, variables renamed."""
    match write.value:
        case Num(expr=expr) | Truth(expr=expr):
            return alike((expr,), names)
        case bool(truth):
            return (str(truth),)
        case None:
            return tuple(part for case in write.options for part in _case(case, names))


def _case(case: Case[Sym], names: Mapping[str, str]) -> tuple[tree.Expr, ...]:
    """A case with its own variables numbered."""
    own = {var.name: f"?{index}" for index, var in enumerate(case.vars)}
    return alike((*case.conds, case.value.text), {**names, **own})


def group(effects: Iterable[Case[tree.Expr]]) -> tuple[tree.Expr, ...]:
    """Effects in order, neighbours under the same loop and condition joined."""
    found: list[tree.Expr] = []
    for vars_, run in groupby(effects, lambda one: one.vars):
        inner = _whens(run)
        found += [tree.forall(vars_, tree.joined(inner))] if vars_ else inner
    return tuple(found)


def _whens(effects: Iterable[Case[tree.Expr]]) -> list[tree.Expr]:
    """Effects of one loop: plain where there are no conditions, else one ``when`` for several."""
    found: list[tree.Expr] = []
    for conds, run in groupby(effects, lambda one: one.conds):
        literals = [one.value for one in run]
        found += [("when", tree.conj(conds), tree.joined(literals))] if conds else literals
    return found


# ---- slots --------------------------------------------------------------------------------


def _slot(words: Vocabulary, write: Write) -> tuple[tree.Expr, ...]:
    return (words.fluents[write.fluent.id], *(arg.text for arg in write.args))


def _bounds(write: Write) -> tuple[int | None, int | None]:
    of = write.fluent.type
    return (of.low, of.high) if isinstance(of, NumberType) else (None, None)


def _amount(write: Write) -> Num:
    assert isinstance(write.value, Num)
    return write.value


# ---- effects of numbers -------------------------------------------------------------------


def number_effects(words: Vocabulary, write: Write) -> list[Case[tree.Expr]]:
    """The effects of one write of a number, clamping written out by cases."""
    place, slot, value = write.place, _slot(words, write), _amount(write)
    if not write.fluent.clamped:
        literal = ("assign", slot, value.expr) if write.how == "set" else _step(slot, value)
        return [place.effect(literal)]
    clamp = _clamped_set if write.how == "set" else _clamped_add
    found = clamp(write, slot, value)
    return [place.inside((), tests).effect(literal) for tests, literal in found]


def _step(slot: tree.Expr, value: Num) -> tree.Expr:
    if value.constant is not None and value.constant < 0:
        return ("decrease", slot, number(-value.constant).expr)
    if isinstance(value.expr, tuple) and value.expr[:2] == ("-", "0"):
        return ("decrease", slot, value.expr[2])
    return ("increase", slot, value.expr)


def _clamped_set(
    write: Write, slot: tuple[tree.Expr, ...], value: Num
) -> list[tuple[tuple[tree.Expr, ...], tree.Expr]]:
    def put(one: Num) -> tree.Expr:
        return ("assign", slot, one.expr)

    low, high = _bounds(write)
    if low is None or high is None:
        return [((), put(value))]
    if write.low is not None and write.high is not None and low <= write.low <= write.high <= high:
        return [((), put(value))]
    chosen = choose_number("clamp", [value, number(low), number(high)], write.span)
    return [(tests, put(one)) for tests, one in chosen]


def _clamped_add(
    write: Write, slot: tuple[tree.Expr, ...], value: Num
) -> list[tuple[tuple[tree.Expr, ...], tree.Expr]]:
    low, high = _bounds(write)
    found: list[tuple[tuple[tree.Expr, ...], tree.Expr]] = []
    tests: tuple[tree.Expr, ...] = ()
    for limit, up in ((high, True), (low, False)):
        if limit is not None and _may(write, up):
            over = _reaches(Num(slot), value, limit, up)
            found.append(((*tests, over), ("assign", slot, number(limit).expr)))
            tests = (*tests, tree.neg(over))
    return [*found, (tests, _step(slot, value))]


def _may(write: Write, up: bool) -> bool:
    """Return whether an increment may be positive (``up``) or negative."""
    constant = _amount(write).constant
    if constant is not None:
        return constant > 0 if up else constant < 0
    return (write.high is None or write.high > 0) if up else (write.low is None or write.low < 0)


def _reaches(slot: Num, delta: Num, limit: int, up: bool) -> tree.Expr:
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


def check_conflicts(writes: Sequence[Write], words: Vocabulary, known: Sequence[tree.Expr]) -> None:
    """Raise `LiftingError` where writes might give one slot two values or clamp together."""
    for write in writes:
        if _clash(write, write, words, known):
            raise LiftingError(f"rounds that may write `{write.fluent.name}` twice", write.span)
    for first, second in combinations(writes, 2):
        if _clash(first, second, words, known):
            raise LiftingError(f"two writes of `{first.fluent.name}` that may meet", second.span)


def _clash(first: Write, second: Write, words: Vocabulary, known: Sequence[tree.Expr]) -> bool:
    """Return whether two writes, or one in two rounds of a loop, may contradict each other."""
    added = [one.how == "add" for one in (first, second)]
    if all(added):
        bounded = _bounds(first) != (None, None)
        if not (bounded if first is second else first.fluent.clamped):
            return False
    names = may_meet(first, second, words, known)
    if names is None:
        return False
    if first is second and all(_one_round(loop, names) for loop in first.place.loops):
        return False
    own = {var.name: names.get(f"{var.name}'", f"{var.name}'") for var in second.place.vars}
    return any(added) or _value(first, names) != _value(second, {**names, **own})


def _one_round(loop: str, names: Mapping[str, str]) -> bool:
    """Return whether two rounds have one value of a loop variable."""
    return names.get(loop, loop) == names.get(f"{loop}'", f"{loop}'")


# ---- ranges -------------------------------------------------------------------------------


def ranges(
    writes: Sequence[Write], words: Vocabulary, known: Sequence[tree.Expr]
) -> list[tree.Expr]:
    """The conditions under which no unclamped number leaves its range."""
    found: list[tree.Expr] = []
    mine = [w for w in writes if isinstance(w.value, Num) and not w.fluent.clamped]
    for write in mine:
        if write.how == "set":
            found += _set_guard(write)
    adds = [write for write in mine if write.how == "add" and _bounds(write) != (None, None)]
    for index, write in enumerate(adds):
        before = [one for one in adds[:index] if may_meet(one, write, words, known) is not None]
        after = [one for one in adds[index + 1 :] if may_meet(write, one, words, known) is not None]
        found += _add_guards(write, before, after, words)
    return found


def _set_guard(write: Write) -> list[tree.Expr]:
    low, high = _bounds(write)
    value, tests = _amount(write), []
    if low is not None and not (write.low is not None and write.low >= low):
        tests.append(at_least(value, number(low)))
    if high is not None and not (write.high is not None and write.high <= high):
        tests.append(at_most(value, number(high)))
    return _guarded(write.place.vars, write.place.conds, tests)


def _guarded(
    vars_: Sequence[tree.Typed], conds: Sequence[tree.Expr], tests: Sequence[tree.Expr]
) -> list[tree.Expr]:
    if tree.FALSE in conds:
        return []
    open_ = [test for test in tests if test not in conds and test != tree.TRUE]
    return [tree.forall(vars_, tree.imply(tree.conj(conds), test)) for test in open_]


def _add_guards(
    write: Write, before: Sequence[Write], after: Sequence[Write], words: Vocabulary
) -> list[tree.Expr]:
    """The guards of one increment with each set of those after it that may be active with it."""
    if len(before) + len(after) >= _MOST_TOGETHER:
        raise LiftingError(f"many increments of `{write.fluent.name}`", write.span)
    named = {other: _named_alike(write, other) for other in (*before, *after)}
    if named and any(_own_variables(one) for one in (write, *named)):
        raise LiftingError(f"increments of `{write.fluent.name}` that may meet", write.span)
    conds = {other: _active(write, other, names) for other, names in named.items()}
    found: list[tree.Expr] = []
    for size in range(len(after) + 1):
        for together in combinations(after, size):
            idle = [tree.neg(conds[other]) for other in named if other not in together]
            active = (part for one in together for part in tree.top_conjuncts(conds[one]))
            sums = _in_range([write, *together], words, named)
            found += _guarded(write.place.vars, [*write.place.conds, *active, *idle], sums)
    return found


def _named_alike(first: Write, second: Write) -> dict[str, str]:
    """The variables of ``second`` that name its slot, by those that name the slot of ``first``."""
    own = {var.name for var in second.place.vars}
    pairs = zip(second.args, first.args, strict=True)
    return {other.text: one.text for other, one in pairs if other.text in own}


def _active(first: Write, second: Write, names: Mapping[str, str]) -> tree.Expr:
    """The condition under which ``second`` writes the slot of ``first``."""
    pairs = zip(first.args, alike((arg.text for arg in second.args), names), strict=True)
    same = [("=", one.text, other) for one, other in pairs if one.text != other]
    return tree.conj((*alike(second.place.conds, names), *same))


def _own_variables(write: Write) -> bool:
    """Return whether a write has variables beside those that name its slot."""
    names = {arg.text for arg in write.args}
    return any(var.name not in names for var in write.place.vars)


def _in_range(
    together: Sequence[Write], words: Vocabulary, named: Mapping[Write, Mapping[str, str]]
) -> list[tree.Expr]:
    """The sum of some increments of one slot stays within the bounds."""
    first = together[0]
    low, high = _bounds(first)
    total = number(0)
    for one in together:
        (expr,) = alike([_amount(one).expr], named.get(one, {}))
        total = arithmetic("+", total, Num(expr, _amount(one).constant), one.span)
    slot, found = Num(_slot(words, first)), []
    if high is not None and any(_may(one, True) for one in together):
        found.append(_reaches(slot, total, high, False))
    if low is not None and any(_may(one, False) for one in together):
        found.append(_reaches(slot, total, low, True))
    return found


# ---- uniqueness and cycles ------------------------------------------------------------------


def relation_guards(writes: Sequence[Write], words: Vocabulary) -> list[tree.Expr]:
    """The generated requires `unique` and `cycle` (language.md §6)."""
    found: list[tree.Expr] = []
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
            found += [tree.forall(case.vars, tree.imply(tree.conj(conds), test)) for test in tests]
    return found


def _options(write: Write) -> tuple[Case[Sym], ...]:
    """The cases of the new value: of a set symbol, or the second end of an added pair."""
    if write.value is True and write.how == "add":
        return (sure(write.args[-1]),)
    return write.options


def _no_cycle(write: Write, value: Sym, words: Vocabulary) -> list[tree.Expr]:
    """The new value is not the object itself, and does not lead to it."""
    start = write.args[0]
    chain = (words.closure(write.fluent), value.text, start.text)
    same: tree.Expr = (
        tree.FALSE if start.is_constant and value.is_constant else ("=", start.text, value.text)
    )
    return [tree.neg(tree.TRUE if start.text == value.text else same), tree.neg(chain)]


def _may_cycle(write: Write, words: Vocabulary) -> bool:
    fluent = write.fluent
    target = fluent.params[1].type if fluent.fluent_kind == "relation" else fluent.type
    return not words.types.disjoint(symbol_type(fluent.params[0].type), symbol_type(target))


def _unique(write: Write, value: Sym, words: Vocabulary) -> tree.Expr:
    holder = write.args[0]
    of = symbol_type(write.fluent.params[0].type)
    assert isinstance(of, ObjectType)
    var, _ = words.types.variable("?other", of)
    other = (words.fluents[write.fluent.id], var.name, value.text)
    return tree.forall((var,), tree.imply(tree.neg(("=", var.name, holder.text)), tree.neg(other)))
