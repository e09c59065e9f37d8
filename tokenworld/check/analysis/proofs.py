"""The proofs pass: ``conserve`` and ``invariant`` lines, proved, left to run time, or broken.

A line is *proved* where no body that may run can break it, *checked at run time* otherwise. A rule
that provably breaks a line is an error (TW0506). The writes of each body are collected once; a line
meets only the bodies that write a fluent it reads, or that create or destroy objects it counts.

An invariant is checked for each object that a way through the rule writes: the slots it reads get
their new values, and the conditions known before, the invariant included, must imply it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from tokenworld import model as m
from tokenworld.check.analysis.aliasing import Knowledge, skeleton
from tokenworld.check.analysis.conserved import (
    Amount,
    Made,
    Outcome,
    Work,
    amount_of,
    net_change,
    outcomes,
    touches,
    works,
)
from tokenworld.check.analysis.intervals import Facts, Translator
from tokenworld.check.analysis.linear import Interval
from tokenworld.check.analysis.substitution import Rulebook, inlined, substituted
from tokenworld.check.analysis.uses import fluents_written
from tokenworld.check.draft import Draft, Memo
from tokenworld.check.typing.types import can_equal
from tokenworld.diagnostics import Related, Span
from tokenworld.diagnostics.frozen import frozen


@frozen
class _Reach:
    """The writes of a body: fluents, and the types of objects that it creates or destroys."""

    written: frozenset[str]
    lives: tuple[m.ObjectType, ...]


@frozen
class _Needs:
    """The reads of a line: fluents, and the types of objects that it iterates over."""

    read: frozenset[str]
    counted: tuple[m.ObjectType, ...]


@frozen
class Concerns:
    """The bodies of a program, indexed by their changes; ``lives`` are positions and types."""

    book: Rulebook
    memo: Memo
    works: tuple[Work, ...]
    reaches: list[_Reach]
    writers: dict[str, list[int]]
    lives: list[tuple[int, tuple[m.ObjectType, ...]]]

    @classmethod
    def of(cls, book: Rulebook, memo: Memo) -> Concerns:
        """Look at every body that is not empty."""
        if not book.conserves and not book.invariants:
            return cls(book, memo, (), [], {}, [])
        start = Facts(Translator(book))
        rules: tuple[m.Action | m.Law, ...] = (*book.actions.values(), *book.laws.values())
        each = memo.each("works", rules, lambda rule: works(rule, start))
        bodies = tuple([work for some in each for work in some if work.body])
        reaches = memo.each("reach", [work.body for work in bodies], lambda one: _reach(one, book))
        writers, lives = memo.whole("reached", reaches, lambda: _index(reaches))
        return cls(book, memo, bodies, reaches, writers, lives)

    def about(
        self, lines: Sequence[m.Conserve | m.Invariant]
    ) -> Iterator[tuple[m.Conserve | m.Invariant, tuple[Work, ...]]]:
        """Yield each line with the bodies that may change a fluent or a population that it
        reads."""
        needs = self.memo.each("needs", lines, lambda line: _needs(line, self.book))
        parts = (*needs, *self.reaches)
        met = self.memo.whole("met", parts, lambda: [self._met(one) for one in needs])
        for line, positions in zip(lines, met, strict=True):
            yield line, tuple([self.works[position] for position in positions])

    def _met(self, needs: _Needs) -> list[int]:
        """The positions of the bodies that may change a fluent that a line needs, in order."""
        found = {position for fluent in needs.read for position in self.writers.get(fluent, ())}
        for position, kinds in self.lives:
            if any(
                can_equal(self.book.types, kind, one) for kind in kinds for one in needs.counted
            ):
                found.add(position)
        return sorted(found)


_Lives = list[tuple[int, tuple[m.ObjectType, ...]]]


def _index(reaches: list[_Reach]) -> tuple[dict[str, list[int]], _Lives]:
    writers: dict[str, list[int]] = {}
    lives: _Lives = []
    for position, reach in enumerate(reaches):
        for fluent in reach.written:
            writers.setdefault(fluent, []).append(position)
        if reach.lives:
            lives.append((position, reach.lives))
    return writers, lives


def _reach(body: m.Body, book: Rulebook) -> _Reach:
    lives = (_made_or_lost(effect) for effect in m.effects_in(body))
    written = fluents_written([body], book)
    return _Reach(written, tuple(kind for kind in lives if kind is not None))


def _made_or_lost(effect: object) -> m.ObjectType | None:
    if isinstance(effect, m.Create):
        return m.ObjectType(effect.of)
    if isinstance(effect, m.Destroy):
        kind = effect.target.type
        return kind if isinstance(kind, m.ObjectType) else None
    return None


def _needs(line: m.Conserve | m.Invariant, book: Rulebook) -> _Needs:
    term, kinds = (
        line.value if isinstance(line, m.Conserve) else line.condition,
        list[m.ObjectType](),
    )
    if isinstance(line, m.Invariant):
        kinds = [one.type for one in line.params if isinstance(one.type, m.ObjectType)]
    return _Needs(m.fluents_read((term,), book.derives), (*kinds, *_folded(term)))


def _folded(term: m.Term) -> Iterator[m.ObjectType]:
    for part in m.subterms(term):
        if isinstance(part, m.Fold):
            for binder in part.binders:
                if isinstance(binder.domain, m.TypeRange) and isinstance(binder.type, m.ObjectType):
                    yield binder.type


Answer = Literal["kept", "broken", "open"]
_PLAIN = ("read", "local", "object_literal", "enum_literal", "number_literal", "bool_literal",
          "none_literal", "param_read", "not", "and", "or", "implies", "compare", "member", "list",
          "arithmetic", "negate", "rescale", "choose", "is_type", "builtin")  # fmt: skip
"""Terms whose value depends on the slots they read, and on nothing else of the state."""
_BUILTINS = ("abs", "min", "max", "clamp", "toward", "sign", "floor", "round", "next", "prev")


class _Unclear(Exception):
    """A slot gets a value that cannot be told."""


def opened(term: m.Term, book: Rulebook) -> m.Term:
    """A condition with its derives written out, where that is the same."""
    if isinstance(term, m.DeriveCall) and not any(m.is_optional(arg.type) for arg in term.args):
        found = inlined(term, book.derives)
        if found is not None:
            return opened(found, book)
    return m.map_children(term, lambda part: opened(part, book))


def effect_on(invariant: m.Invariant, outcome: Outcome, once: bool, book: Rulebook) -> Answer:
    """The effect of one way through a rule on an invariant: kept, broken or open.

    ``once``: no slot is written by another binding or rule in the same evaluation.
    """
    condition = opened(invariant.condition, book)
    read = {part.fluent for part in m.subterms(condition) if isinstance(part, m.Read)}
    made = [one for one in outcome.made if _concerns(one, read)]
    if not made:
        return "kept"
    lives = any(isinstance(one.effect, (m.Create, m.Destroy)) for one in made)
    owners = _owners(invariant, condition, made, book)
    if not owners and not lives:
        return "kept"
    if not once or lives or any(one.loops for one in made):
        return "open"
    answers: set[Answer] = set()
    for owner in owners:
        try:
            answers.add(_answer(condition, invariant, owner, outcome, book))
        except _Unclear:
            answers.add("open")
    return "broken" if "broken" in answers else "open" if "open" in answers else "kept"


def understood(invariant: m.Invariant, book: Rulebook) -> bool:
    """Return whether `effect_on` handles an invariant: at most one variable, a condition over
    slots."""
    return len(invariant.params) <= 1 and _plain(opened(invariant.condition, book))


def _plain(term: m.Term) -> bool:
    return all(
        part.kind in _PLAIN
        and not (isinstance(part, m.BuiltinCall) and part.name not in _BUILTINS)
        and not (isinstance(part, m.Read) and not all(arg.kind in _NAMED for arg in part.args))
        for part in m.subterms(term)
    )


_NAMED = ("local", "object_literal", "enum_literal", "number_literal")


def _concerns(made: Made, read: set[str]) -> bool:
    if isinstance(made.effect, (m.Create, m.Destroy)):
        return True
    return any(target.fluent in read for target in m.targets_of(made.effect))


def _owners(
    invariant: m.Invariant, condition: m.Term, made: list[Made], book: Rulebook
) -> list[m.Term | None]:
    """The objects for which the condition may have changed, each term once.

    ``None`` stands for any: a condition may also read slots of named objects.
    """
    if not invariant.params:
        return [None]
    param, kind = invariant.params[0].name, invariant.params[0].type
    found: dict[object, m.Term | None] = {}
    for part in m.subterms(condition):
        if isinstance(part, m.Read) and not any(_is(arg, param) for arg in part.args):
            found[None] = None
    for one in made:
        for target in m.targets_of(one.effect):
            for arg in target.args:
                term = one.facts.open(arg)
                if can_equal(book.types, term.type, kind):
                    found.setdefault(skeleton(term), term)
    return list(found.values())


def _is(term: m.Term, name: str) -> bool:
    return isinstance(term, m.Local) and term.name == name


def _answer(
    condition: m.Term,
    invariant: m.Invariant,
    owner: m.Term | None,
    outcome: Outcome,
    book: Rulebook,
) -> Answer:
    names = {invariant.params[0].name: owner} if owner is not None else {}
    before = substituted(condition, names)
    held = outcome.facts.given(before)
    if held.impossible:
        return "kept"  # never reached while the invariant holds
    known = outcome.facts.knowledge(book)
    after = _after(before, outcome, known, book)
    if outcome.facts.given(after).impossible:
        return "broken"
    return "kept" if held.proves(after) else "open"


def _after(term: m.Term, outcome: Outcome, known: Knowledge, book: Rulebook) -> m.Term:
    """A term with the new values of the slots it reads."""
    if isinstance(term, m.Read):
        return _new_value(term, outcome, known, book)
    return m.map_children(term, lambda part: _after(part, outcome, known, book))


def _new_value(read: m.Read, outcome: Outcome, known: Knowledge, book: Rulebook) -> m.Term:
    fluent = book.fluents[read.fluent]
    value: m.Term = read
    steps = 0
    for made in outcome.made:
        for write in m.slot_writes(made.effect):
            if write.target.fluent != read.fluent:
                continue
            args = tuple(made.facts.open(arg) for arg in write.target.args)
            if skeleton(args) == skeleton(read.args):
                steps += 1
                value = _written(value, write, made.facts)
            elif not known.different(args, read.args):
                raise _Unclear
    if steps > 1 and fluent.clamped:
        raise _Unclear
    return _stopped(value, fluent) if steps else read


def _written(value: m.Term, write: m.SlotWrite, facts: Facts) -> m.Term:
    """The value of a slot after one more write to it."""
    kind, given = value.type, facts.open(write.value)
    if write.sets:
        return given
    if not isinstance(kind, m.NumberType):
        raise _Unclear
    op: Literal["+", "-"] = "+" if write.op == "+=" else "-"
    return m.Arithmetic(op, value, given, replace(kind, low=None, high=None), value.span)


def _stopped(value: m.Term, fluent: m.Fluent) -> m.Term:
    """A clamped number stops at the ends of its range."""
    kind = fluent.type
    if not fluent.clamped or not isinstance(kind, m.NumberType) or kind.low is None:
        return value
    assert kind.high is not None
    ends = tuple(m.NumberLiteral(end, kind, value.span) for end in (kind.low, kind.high))
    return m.BuiltinCall("clamp", (value, *ends), kind, value.span)


@frozen
class Breach:
    """A rule that provably breaks a line: which change, and how in words."""

    rule: str
    span: Span
    how: str


@frozen
class Proof:
    """The proof of one line. ``open_rules`` are the rules that are checked at run time."""

    kind: Literal["conserve", "invariant"]
    name: str
    answer: Literal["proved", "runtime"]
    open_rules: tuple[str, ...]
    breaches: tuple[Breach, ...]
    span: Span


def check_proofs(draft: Draft) -> None:
    """Report rules that provably break an invariant or a conserved sum (TW0506)."""
    for proof in proofs(draft, draft.memo):
        for breach in proof.breaches:
            line = f"`{proof.kind} {proof.name}`"
            what = f"`{breach.rule}` breaks {line} whenever it gets here: {breach.how}."
            hint = "Change the rule so that it keeps the line."
            if proof.kind == "conserve":
                hint = f"Name `{breach.rule}` after `except`, or move the amount with `transfer`."
            related = (Related(proof.span, "what it breaks"),)
            draft.tell("TW0506", what, breach.span, "breaks it", hint, related)


def proofs(book: Rulebook, memo: Memo | None = None) -> tuple[Proof, ...]:
    """Every ``conserve`` and ``invariant`` line, in that order, with its proof or breaches."""
    memo = Memo() if memo is None else memo
    concerns = Concerns.of(book, memo)
    lines: list[m.Conserve | m.Invariant] = [*book.conserves.values(), *book.invariants.values()]
    return tuple([_proof(line, met, book, memo) for line, met in concerns.about(lines)])


def _proof(
    line: m.Conserve | m.Invariant, bodies: tuple[Work, ...], book: Rulebook, memo: Memo
) -> Proof:
    """Prove one line against the bodies that may write a fluent it reads; the result is
    memoized."""
    parts = (line, *(work.body for work in bodies), *(work.guard for work in bodies))
    return memo.of("proof", parts, lambda: _proved(line, bodies, book))


def _proved(line: m.Conserve | m.Invariant, bodies: tuple[Work, ...], book: Rulebook) -> Proof:
    start = Facts(Translator(book))
    concerned = [replace(work, start=start) for work in bodies]
    if isinstance(line, m.Invariant):
        return _kept(line, concerned, book)
    return _conserved(line, concerned, book)


def _births_matter(work: Work, fluents: frozenset[str], book: Rulebook) -> bool:
    """Return whether creating objects runs a birth that writes one of the fluents."""
    made = [m.ObjectType(one.of) for one in m.effects_in(work.body) if isinstance(one, m.Create)]
    for birth in book.births:
        called = any(can_equal(book.types, kind, birth.param.type) for kind in made)
        if called and touches(Work("", None, birth.body, work.start), fluents, book):
            return True
    return False


# ---- conserve ---------------------------------------------------------------------------


def _conserved(line: m.Conserve, concerned: list[Work], book: Rulebook) -> Proof:
    amount = amount_of(line.value, book)
    open_rules: dict[str, None] = {}
    breaches: list[Breach] = []
    changes: dict[str, list[tuple[Work, Outcome, Interval]]] = {}
    unsure: set[str] = set()
    for work in concerned:
        if work.rule in line.exempt:
            continue
        found = _net(amount, line, work, book)
        if found is None:
            open_rules[work.rule] = None
            unsure.add(_group(work))
            continue
        moved = [(work, way, by) for way, by in found if not by.is_zero]
        if moved:
            open_rules[work.rule] = None
            changes.setdefault(_group(work), []).extend(moved)
    for group, moved in changes.items():
        if group not in unsure and _one_way([by for _, _, by in moved]):
            breaches += _told(moved)
    answer: Literal["proved", "runtime"] = "runtime" if open_rules else "proved"
    return Proof("conserve", line.name, answer, tuple(open_rules), tuple(breaches), line.span)


def _group(work: Work) -> str:
    """The unit that is checked together: an action alone, or the laws of a phase."""
    return f"action {work.rule}" if work.phase is None else f"phase {work.phase}"


def _one_way(found: list[Interval]) -> bool:
    """Return whether no change can make up for another: none goes down, or none goes up."""
    up = all(one.low is not None and one.low >= 0 for one in found)
    down = all(one.high is not None and one.high <= 0 for one in found)
    return up or down


def _net(
    amount: Amount | None, line: m.Conserve, work: Work, book: Rulebook
) -> list[tuple[Outcome, Interval]] | None:
    ways = outcomes(work.body, work.facts)
    fluents = m.fluents_read((line.value,), book.derives)
    if amount is None or ways is None or _births_matter(work, fluents, book):
        return None
    found: list[tuple[Outcome, Interval]] = []
    for way in ways:
        change = net_change(amount, way, book, is_law=work.phase is not None)
        if change is None:
            return None
        found.append((way, change))
    return found


def _told(moved: list[tuple[Work, Outcome, Interval]]) -> Iterator[Breach]:
    """One breach for each rule whose change is surely not nil."""
    seen: set[str] = set()
    for work, way, by in moved:
        if by.without_zero and work.rule not in seen:
            seen.add(work.rule)
            last = way.made[-1].effect.span
            yield Breach(work.rule, last, f"the amount changes by {_size(by)}")


def _size(by: Interval) -> str:
    low, high = by.low, by.high
    if low is not None and low == high:
        return _number(low)
    if low is not None and low > 0:
        return f"{_number(low)} or more"
    assert high is not None
    return f"{_number(high)} or less"


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):g}"


# ---- invariants -------------------------------------------------------------------------


def _kept(line: m.Invariant, concerned: list[Work], book: Rulebook) -> Proof:
    open_rules: dict[str, None] = {}
    breaches: list[Breach] = []
    if _timely(line.condition, book):
        return Proof("invariant", line.name, "runtime", (), (), line.span)
    if not understood(line, book):
        names = tuple(dict.fromkeys(work.rule for work in concerned))
        answer: Literal["proved", "runtime"] = "runtime" if names else "proved"
        return Proof("invariant", line.name, answer, names, (), line.span)
    every = frozenset(book.fluents) if book.births else frozenset[str]()
    for work in concerned:
        once = _once(work, concerned, book)
        for way in outcomes(work.body, work.facts) or (None,):
            effect = "open" if way is None else effect_on(line, way, once, book)
            if effect != "kept" or _births_matter(work, every, book):
                open_rules[work.rule] = None
            if effect == "broken" and way is not None and not _mended(work, concerned):
                told = Breach(work.rule, way.made[-1].effect.span, f"`{line.source}` is then false")
                breaches += [] if any(one.rule == work.rule for one in breaches) else [told]
    answer = "runtime" if open_rules else "proved"
    return Proof("invariant", line.name, answer, tuple(open_rules), tuple(breaches), line.span)


def _timely(term: m.Term, book: Rulebook) -> bool:
    """Return whether a condition depends on more than the slots it reads."""
    todo, seen = [term], set[str]()
    while todo:
        for part in m.subterms(todo.pop()):
            if isinstance(part, m.BuiltinCall) and part.name in ("tick", "score", "busy", "did"):
                return True
            if isinstance(part, m.DeriveCall) and part.derive not in seen:
                seen.add(part.derive)
                todo += [book.derives[part.derive].value] if part.derive in book.derives else []
    return False


def _once(work: Work, concerned: list[Work], book: Rulebook) -> bool:
    """Return whether each slot is written by one binding of one rule only, before others read it.

    An action has one binding; in turn, each binding is a change of its own. In a simultaneous phase
    only one law may write the fluents, with each of its variables among the arguments.
    """
    if work.phase is None:
        return True
    if work.phase in book.phases and book.phases[work.phase].order != "simultaneous":
        return True
    if sum(one.phase == work.phase for one in concerned) > 1:
        return False
    params = {binder.name for binder in work.params}
    return all(
        params <= {arg.name for arg in target.args if isinstance(arg, m.Local)}
        for effect in m.effects_in(work.body)
        for target in m.targets_of(effect)
    )


def _mended(work: Work, concerned: list[Work]) -> bool:
    """Return whether a law may restore the invariant after this body; it is tested at the end."""
    return any(one.phase is not None and one is not work for one in concerned)
