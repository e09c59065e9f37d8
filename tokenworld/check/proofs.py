"""The proofs pass: what is conserved and invariant, proved, left to the run time or broken.

``conserve`` and ``invariant`` lines are *proved* where no body that may run can break them,
*checked at run time* otherwise. A rule that provably breaks one is an error (TW0506).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from tokenworld.check.concerns import Concerns
from tokenworld.check.conserved import Amount, amount_of, net_change
from tokenworld.check.draft import Draft
from tokenworld.check.intervals import Facts
from tokenworld.check.linear import Interval
from tokenworld.check.memo import Memo
from tokenworld.check.outcomes import Outcome, Work, outcomes, touches
from tokenworld.check.preserved import effect_on, understood
from tokenworld.check.relations import can_equal
from tokenworld.check.rulebook import Rulebook
from tokenworld.check.terms import Translator
from tokenworld.diagnostics import Related, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import (
    BuiltinCall,
    Conserve,
    Create,
    DeriveCall,
    Invariant,
    Local,
    ObjectType,
    Term,
    effects_in,
    fluents_read,
    subterms,
    targets_of,
)

__all__ = ["Proof", "check_proofs", "proofs"]


@frozen
class Breach:
    """A rule that provably breaks a line: which change, and how in words."""

    rule: str
    span: Span
    how: str


@frozen
class Proof:
    """What is known of one line. ``open_rules`` are the rules that are checked at run time."""

    kind: Literal["conserve", "invariant"]
    name: str
    answer: Literal["proved", "runtime"]
    open_rules: tuple[str, ...]
    breaches: tuple[Breach, ...]
    span: Span


def check_proofs(draft: Draft) -> None:
    """Report what provably breaks (TW0506)."""
    for proof in proofs(draft, draft.memo):
        for breach in proof.breaches:
            line = f"`{proof.kind} {proof.name}`"
            what = f"`{breach.rule}` breaks {line} whenever it gets here: {breach.how}."
            hint = "Change the rule so that it keeps the line."
            if proof.kind == "conserve":
                hint = f"Name `{breach.rule}` behind `except`, or move the amount with `transfer`."
            related = (Related(proof.span, "what it breaks"),)
            draft.tell("TW0506", what, breach.span, "breaks it", hint, related)


def proofs(book: Rulebook, memo: Memo | None = None) -> tuple[Proof, ...]:
    """Every ``conserve`` and ``invariant`` line, in that order, with what could be shown."""
    memo = Memo() if memo is None else memo
    concerns = Concerns.of(book, memo)
    lines: list[Conserve | Invariant] = [*book.conserves.values(), *book.invariants.values()]
    return tuple([_proof(line, met, book, memo) for line, met in concerns.about(lines)])


def _proof(
    line: Conserve | Invariant, bodies: tuple[Work, ...], book: Rulebook, memo: Memo
) -> Proof:
    """One line with the bodies that may change what it reads; each line stands for itself."""
    parts = (line, *(work.body for work in bodies), *(work.guard for work in bodies))
    return memo.of("proof", parts, lambda: _proved(line, bodies, book))


def _proved(line: Conserve | Invariant, bodies: tuple[Work, ...], book: Rulebook) -> Proof:
    start = Facts(Translator(book))
    concerned = [replace(work, start=start) for work in bodies]
    if isinstance(line, Invariant):
        return _kept(line, concerned, book)
    return _conserved(line, concerned, book)


def _births_matter(work: Work, fluents: frozenset[str], book: Rulebook) -> bool:
    """Whether creating objects runs a birth that writes one of the fluents."""
    made = [ObjectType(one.of) for one in effects_in(work.body) if isinstance(one, Create)]
    for birth in book.births:
        called = any(can_equal(book.types, kind, birth.param.type) for kind in made)
        if called and touches(Work("", None, birth.body, work.start), fluents, book):
            return True
    return False


# ---- conserve ---------------------------------------------------------------------------


def _conserved(line: Conserve, concerned: list[Work], book: Rulebook) -> Proof:
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
    """What is checked together: an action alone, the laws of a phase as one."""
    return f"action {work.rule}" if work.phase is None else f"phase {work.phase}"


def _one_way(found: list[Interval]) -> bool:
    """Whether no change can make up for another: none goes down, or none goes up."""
    up = all(one.low is not None and one.low >= 0 for one in found)
    down = all(one.high is not None and one.high <= 0 for one in found)
    return up or down


def _net(
    amount: Amount | None, line: Conserve, work: Work, book: Rulebook
) -> list[tuple[Outcome, Interval]] | None:
    ways = outcomes(work.body, work.facts)
    fluents = fluents_read((line.value,), book.derives)
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


def _kept(line: Invariant, concerned: list[Work], book: Rulebook) -> Proof:
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


def _timely(term: Term, book: Rulebook) -> bool:
    """Whether a condition depends on more than the slots it reads."""
    todo, seen = [term], set[str]()
    while todo:
        for part in subterms(todo.pop()):
            if isinstance(part, BuiltinCall) and part.name in ("tick", "score", "busy", "did"):
                return True
            if isinstance(part, DeriveCall) and part.derive not in seen:
                seen.add(part.derive)
                todo += [book.derives[part.derive].value] if part.derive in book.derives else []
    return False


def _once(work: Work, concerned: list[Work], book: Rulebook) -> bool:
    """Whether each slot is written by one binding of one rule only, before others read it.

    An action has one binding; in turn, each binding is a change of its own; in a simultaneous
    phase a law must be the only one concerned, with every variable among the arguments it writes.
    """
    if work.phase is None:
        return True
    if work.phase in book.phases and book.phases[work.phase].order != "simultaneous":
        return True
    if sum(one.phase == work.phase for one in concerned) > 1:
        return False
    params = {binder.name for binder in work.params}
    return all(
        params <= {arg.name for arg in target.args if isinstance(arg, Local)}
        for effect in effects_in(work.body)
        for target in targets_of(effect)
    )


def _mended(work: Work, concerned: list[Work]) -> bool:
    """Whether a law may still put right what this body did: invariants are tested at the end."""
    return any(one.phase is not None and one is not work for one in concerned)
