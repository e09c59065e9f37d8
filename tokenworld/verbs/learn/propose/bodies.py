"""The body of a proposed action: its requirements, then its changes, readers before writers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tokenworld.verbs.learn.propose.commands import NUMBER, Schema, Slot
from tokenworld.verbs.learn.propose.covering import Rule
from tokenworld.verbs.learn.propose.scenes import ANY, HOLDER, Fluent, Vocabulary
from tokenworld.verbs.learn.propose.stages import CREATE, SET, Learned
from tokenworld.verbs.learn.propose.templates import Template
from tokenworld.verbs.learn.propose.terms import ME, Predicate, Term, Var, typed_by
from tokenworld.verbs.learn.propose.text.wording import (
    Wording,
    anchor,
    kind_word,
    put_predicate,
    put_template,
    same_term,
    template_text,
    word,
)


class Writer(Protocol):
    """The functions that a body needs from the writer of the whole program."""

    vocabulary: Vocabulary
    unwritten: list[str]
    hoist: Callable[[str], str] | None

    @property
    def labelled(self) -> bool:
        """Return whether the rows are of a text game."""
        ...

    def needs(
        self, words: Wording, learned: Learned, rule: Rule, to: Mapping[str, Term]
    ) -> list[str]:
        """Return the type tests that the new value and the slot of a rule need."""
        ...

    def change(
        self, words: Wording, learned: Learned, rule: Rule, over: Sequence[Var],
        to: Mapping[str, Term] = ...,
    ) -> str:  # fmt: skip
        """Return the change that a rule makes."""
        ...

    def assignments(
        self, learned: Learned, rule: Rule, over: Sequence[Var], to: Mapping[str, Term]
    ) -> list[tuple[Fluent, Term, Template]]:
        """Return the slots that a rule writes, with their new values."""
        ...

    def draws(self, rule: Rule) -> bool:
        """Return whether a rule happens by chance."""
        ...


_USES = 20
"""The number of uses of a command that show for which types of objects it is."""


@dataclass(frozen=True, slots=True)
class _Case:
    """One rule of a chain: its guard and its change."""

    learned: Learned
    rule: Rule
    guard: tuple[Predicate, ...]


@dataclass(slots=True)
class _Chain:
    """Rules of which the first that fits makes its change; ``others`` are slots that change under
    the same guards. ``over`` are the variables that it runs over, ``to`` the terms in place of
    others."""

    over: tuple[Var, ...]
    to: dict[str, Term]
    cases: list[_Case]
    others: list[list[_Case]] = field(default_factory=list)

    def every(self) -> list[_Case]:
        """Return all rules of the chain."""
        return [*self.cases, *(one for other in self.others for one in other)]

    def reads(self) -> frozenset[str]:
        """Return the fluents that its guards and new values read."""
        found: set[str] = set()
        for case in self.every():
            found.update(name for one in case.guard for name in one.fluents())
            found.update(name for one in case.rule.templates for name in one.fluents())
            for _, rules in case.learned.fields:
                for rule in rules.rules:
                    found |= rule.template.fluents()
        return frozenset(found)

    def creates(self) -> bool:
        """Return whether it creates objects, which the loops before it do not see."""
        return any(case.learned.what == CREATE for case in self.cases)

    def writes(self) -> frozenset[str]:
        """Return the fluents that it changes."""
        found = {
            case.learned.fluent.name if case.learned.fluent is not None else HOLDER
            for case in self.every()
        }
        return frozenset(found).union(
            one.name for case in self.every() for one in case.learned.others
        )


class Body:
    """Writes one action."""

    def __init__(
        self, writer: Writer, schema: Schema, learned: Sequence[Learned],
        required: Sequence[Predicate], refused: bool = False,
    ) -> None:  # fmt: skip
        self._refused = refused
        self._writer, self._schema, self._vocabulary = writer, schema, writer.vocabulary
        self._sorts = {one.name: self._sort(one) for one in schema.slots}
        self._chains = self._merged([chain for one in learned for chain in self._chained(one)])
        self._asked_for = required
        self._common = [] if schema.given else [*self._required(), *self._asked(required)]

    def _sort(self, slot: Slot) -> str:
        if slot.sort != ANY:
            return slot.sort
        if not self._writer.labelled or self._schema.uses >= _USES:
            return self._vocabulary.covering(slot.kinds)
        return ANY

    # ---- chains -------------------------------------------------------------------------------

    def _chained(self, learned: Learned) -> list[_Chain]:
        """Return the rules of a slot as chains, the last first: later rules override others."""
        chains: list[_Chain] = []
        for rule in learned.rules.rules:
            placed = self._placed(learned, rule)
            if placed is None:
                self._writer.unwritten.append(f"`{self._schema.name}`: a rule for {learned.name}")
                continue
            over, to, guard = placed
            case = _Case(learned, rule, guard)
            same = next((one for one in chains if one.over == over and one.to == to), None)
            if same is not None:
                same.cases.append(case)
            else:
                chains.append(_Chain(over, to, [case]))
        loops = [one for one in chains if one.over]
        return [*loops[::-1], *(one for one in chains[::-1] if not one.over)]

    def _placed(
        self, learned: Learned, rule: Rule
    ) -> tuple[tuple[Var, ...], dict[str, Term], tuple[Predicate, ...]] | None:
        """Return the variables that stay, the terms in place of others, and the guard with them."""
        free = frozenset(one.name for one in learned.over)
        to: dict[str, Term] = {}
        guard = list(rule.guard)
        function = learned.fluent is not None and len(learned.over) > 1
        for one in learned.over:
            found = anchor(guard, one.name, free)
            if found is None or (found.path and function):
                continue
            to[one.name] = found
            if one.sort in self._vocabulary.types or one.sort in self._vocabulary.groups:
                test = Predicate("is", Term(one.name, (), "object"), one.sort, True, 0)
                guard.append(test)
        if any(put_template(one, to) is None for one in rule.templates):
            return None
        placed: dict[Predicate, None] = {}
        for predicate in guard:
            new = put_predicate(predicate, to)
            if new is None:
                return None
            if not same_term(new):
                placed[new] = None
        over = tuple(one for one in learned.over if one.name not in to)
        return over, to, tuple(placed)

    def _merged(self, chains: Sequence[_Chain]) -> list[_Chain]:
        """Merge chains with the same guards into one."""
        found: list[_Chain] = []
        for one in chains:
            guards = [set(case.guard) for case in one.cases]
            same = next(
                (other for other in found
                 if other.over == one.over
                 and [set(case.guard) for case in other.cases] == guards
                 and not other.writes() & one.writes()
                 and (len(one.cases) == 1 or one.over)),
                None,
            )  # fmt: skip
            if same is None:
                found.append(one)
            else:
                same.others.append(one.cases)
                same.to |= one.to
        return found

    # ---- requirements -------------------------------------------------------------------------

    def _required(self) -> list[Predicate]:
        """Return the conditions that all changes share."""
        cases = [case for chain in self._chains for case in chain.every()]
        if not cases:
            return []
        params = {one.name for one in self._schema.slots} | {ME}
        first = [one for one in cases[0].guard if one.variables() <= params]
        common = [one for one in first if all(one in case.guard for case in cases)]
        for one in common:
            plain = one.op == "is" and one.positive and one.left is not None and not one.left.path
            if plain and one.left is not None and one.left.base in self._sorts:
                self._narrow(one.left.base, str(one.right))
        return common

    def _asked(self, required: Sequence[Predicate]) -> list[Predicate]:
        """Return the conditions of accepted commands; types become those of the parameters."""
        found = []
        for one in required:
            plain = one.op == "is" and one.positive and one.left is not None and not one.left.path
            if plain and one.left is not None and one.left.base in self._sorts:
                self._narrow(one.left.base, str(one.right))
            found.append(one)
        return found

    def _narrow(self, name: str, sort: str) -> None:
        known = self._vocabulary.members(self._sorts[name])
        if self._vocabulary.members(sort) < known:
            self._sorts[name] = sort

    def text(self) -> str:
        """Return the text of the action."""
        schema, words = self._schema, Wording(self._vocabulary)
        for one in schema.slots:
            words.knows(Var(one.name, self._sorts[one.name]))
        params = ", ".join(self._param(one) for one in schema.slots)
        plain = " ".join(
            [schema.name.replace("_", " "), *(f"{{{one.name}}}" for one in schema.slots)]
        )
        told = " or ".join(template_text(text) for text in schema.texts or (plain,))
        head = f"action {word(schema.name)}({params}) as {told}"
        labels: set[str] = set()
        lines = [_require(text, labels) for text in words.guard(self._common)]
        if self._refused:
            lines.append('require false else unseen "No row shows that it is accepted."')
        lines += self._changes(words)
        body = "\n  ".join(lines)
        return f"{head} {{\n  {body}\n}}" if lines else f"{head} {{ }}"

    def added(self, labels: set[str]) -> tuple[list[str], list[str]]:
        """Return the requirements and changes to add to an action of the given rules; the labels of
        the requirements differ from ``labels``."""
        words = Wording(self._vocabulary)
        for one in self._schema.slots:
            words.knows(Var(one.name, self._sorts[one.name]))
        changes = self._changes(words)
        return [_require(text, labels) for text in words.guard(self._asked_for)], changes

    def _param(self, slot: Slot) -> str:
        if slot.sort == NUMBER:
            return f"{word(slot.name)}: {min(0, slot.low)} to {max(2 * slot.high, 99)}"
        return f"{word(slot.name)}: {kind_word(self._sorts[slot.name])}"

    # ---- changes ------------------------------------------------------------------------------

    def _changes(self, words: Wording) -> list[str]:
        written: set[str] = set()
        lets: list[str] = []
        lines: list[str] = []
        for chain in self._ordered():
            late = bool(chain.reads() & written)
            if chain.over:
                lines.append(self._hoisted(chain, words, self._loop(chain, words), lets))
            else:
                lines.append(self._straight(chain, words, late, written, lets))
            written |= chain.writes()
        return [*lets, *lines]

    def _ordered(self) -> list[_Chain]:
        """Order chains that read before chains that write, where possible; an overriding chain
        comes after the one that it overrides."""
        left, found = list(self._chains), list[_Chain]()
        while left:
            free = [one for one in left if not any(
                other.writes() & one.writes()
                for other in left[: left.index(one)] if not other.creates()
            )]  # fmt: skip
            free = [one for one in free if not one.creates()] or free
            chosen = next(
                (one for one in free
                 if not any(one.writes() & other.reads() for other in left if other is not one)),
                None,
            ) or next((one for one in free if one.over), free[0])  # fmt: skip
            left.remove(chosen)
            found.append(chosen)
        return found

    def _guard(self, words: Wording, case: _Case, chain: _Chain) -> tuple[Wording, list[str]]:
        """Return the conditions of a case, with the type tests that its change needs."""
        own = Wording(self._vocabulary, dict(words.sorts))
        for one in chain.over:
            own.knows(self._running(chain, one))
        texts = own.guard([one for one in case.guard if one not in self._common])
        tests = self._writer.needs(own, case.learned, case.rule, chain.to)
        return own, [*texts, *(one for one in tests if one not in texts)]

    def _changed(self, own: Wording, chain: _Chain, at: int) -> str:
        """Return the changes of one case, with those of the other slots."""
        cases = [chain.cases[at], *(other[at] for other in chain.others)]
        found = []
        for case in cases:
            self._writer.needs(own, case.learned, case.rule, chain.to)
            found.append(self._writer.change(own, case.learned, case.rule, case.learned.over,
                                             chain.to))  # fmt: skip
        return "  ".join(found)

    def _straight(
        self, chain: _Chain, words: Wording, late: bool, written: set[str], lets: list[str]
    ) -> str:
        """Write a chain of conditions."""
        parts = []
        for at, case in enumerate(chain.cases):
            own, texts = self._guard(words, case, chain)
            if late and chain.creates():
                self._writer.hoist = lambda text: _let(text, lets)
            change = self._changed(own, chain, at)
            self._writer.hoist = None
            if late and texts and any(one.fluents() & written for one in case.guard):
                tests = [one for one in texts if _is_test(one)]
                name = f"case{len(lets) + 1}"
                lets.append(f"let {name} = {' and '.join(texts)}")
                texts = [name, *tests]
            if late and any(one.fluents() & written for one in case.rule.templates):
                change = _named(change, lets)
            parts.append(f"if {' and '.join(texts)} {{ {change} }}" if texts else
                         (f"{{ {change} }}" if at else change))  # fmt: skip
            if not texts:
                break
        return " else ".join(parts)

    def _loop(self, chain: _Chain, words: Wording) -> str:
        """Write a loop over the objects that change."""
        running = [self._running(chain, one) for one in chain.over]
        head = "for " + ", ".join(f"{word(one.name)}: {kind_word(one.sort)}" for one in running)
        if len(chain.cases) == 1:
            own, texts = self._guard(words, chain.cases[0], chain)
            change = self._changed(own, chain, 0)
            where = f" where {' and '.join(texts)}" if texts else ""
            return f"{head}{where} {{ {change} }}"
        guards = [self._guard(words, case, chain) for case in chain.cases]
        if self._functions(chain):
            return self._looked_up(head, chain, guards)
        inner = " else ".join(
            f"if {' and '.join(texts) or 'true'} {{ {self._changed(own, chain, at)} }}"
            for at, (own, texts) in enumerate(guards)
        )
        return f"{head} {{ {inner} }}"

    def _hoisted(self, chain: _Chain, words: Wording, text: str, lets: list[str]) -> str:
        """Write the loop; name the values that it reads from other slots before it."""
        over = {one.name for one in chain.over}
        terms = {
            term
            for case in chain.every()
            for one in case.guard
            for term in (one.left, one.right, one.far)
            if isinstance(term, Term) and term.path and not over & {term.base, *term.args}
            and set(term.path) & chain.writes()
        }  # fmt: skip
        for term in sorted(terms, key=lambda one: -len(words.term(one))):
            if words.term(term) in text:
                name = f"was{len(lets) + 1}"
                lets.append(f"let {name} = {words.term(term)}")
                text = text.replace(words.term(term), name)
        return text

    def _functions(self, chain: _Chain) -> bool:
        return all(
            case.learned.what == SET
            and len(case.learned.over) > 1
            and not self._writer.draws(case.rule)
            for case in chain.every()
        )

    def _looked_up(
        self, head: str, chain: _Chain, guards: Sequence[tuple[Wording, list[str]]]
    ) -> str:
        """Write a loop over the slots that change; the new value depends on the case. A later case
        may read a slot that an earlier one changes, because all cases are tested before any
        change."""
        where = " or ".join(" and ".join(texts) for _, texts in guards)
        lines = []
        for cases in (chain.cases, *chain.others):
            rows = [
                [(own.term(slot), own.template(new, fluent))
                 for fluent, slot, new in self._writer.assignments(
                     case.learned, case.rule, case.learned.over, chain.to)]
                for (own, _), case in zip(guards, cases, strict=True)
            ]  # fmt: skip
            for column in zip(*rows, strict=True):
                rest = [(texts, new) for (_, texts), (_, new) in zip(guards, column, strict=True)]
                while len(rest) > 1 and rest[-2][1] == rest[-1][1]:
                    rest.pop(-2)
                value = "".join(
                    f"if {' and '.join(texts)} then {new} else " for texts, new in rest[:-1]
                )
                lines.append(f"{column[0][0]} = {value}{rest[-1][1]}")
        return f"{head} where {where} {{ {'  '.join(lines)} }}"

    def _running(self, chain: _Chain, one: Var) -> Var:
        """Return a variable with the type that all guards say it has."""
        kinds = {typed_by(case.guard, one.name) for case in chain.every()}
        kind = next(iter(kinds)) if len(kinds) == 1 else ""
        return Var(one.name, kind) if kind else one


def _require(text: str, labels: set[str]) -> str:
    plain = "condition" if "(" in text else text.replace("!=", "not")
    label = re.sub(r"\W+", "_", plain).strip("_").lower()
    base = label if label and label[0].isalpha() else f"no_{label}"
    label, at = base, 2
    while label in labels:
        label, at = f"{base}_{at}", at + 1
    labels.add(label)
    shown = text.replace('"', "'").replace("{", "").replace("}", "")
    return f'require {text} else {word(label)} "Only where {shown}."'


def _is_test(text: str) -> bool:
    return " is " in text and "any(" not in text and not text.startswith("not ")


def _named(change: str, lets: list[str]) -> str:
    """Return the change with its new value named before all changes."""
    slot, equal, new = change.partition(" = ")
    if not equal or change.startswith(("create", "chance", "pick")):
        return change
    return f"{slot} = {_let(new, lets)}"


def _let(value: str, lets: list[str]) -> str:
    """Name a value before all changes, and return the name."""
    name = f"new{len(lets) + 1}"
    lets.append(f"let {name} = {value}")
    return name
