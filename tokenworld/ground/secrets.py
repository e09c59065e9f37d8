"""Find the terms and rules that depend on a `secret` fluent, also through derives, lets
and names (language.md §2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import assert_never

from tokenworld import model as m
from tokenworld.model import effects_in, slot_terms, subterms, targets_of, terms_of

_NOBODY: frozenset[str] = frozenset()


class Secrets:
    """The secrets of a program. ``names`` are always locals computed from secrets."""

    def __init__(self, program: m.Program) -> None:
        self.program = program
        self.fluents = frozenset(one.id for one in program.fluents.values() if one.secret)
        self.derives, self.named = self._derived()

    def __bool__(self) -> bool:
        return bool(self.fluents)

    def _derived(self) -> tuple[frozenset[str], bool]:
        """The derives that read secrets, and whether the name of an object does."""
        self.derives, self.named = _NOBODY, False
        program = self.program
        while self.fluents:
            derives = frozenset(
                one.name for one in program.derives.values() if self.reads(one.value)
            )
            named = any(self.reads(one.name) for one in program.called)
            if (derives, named) == (self.derives, self.named):
                break
            self.derives, self.named = derives, named
        return self.derives, self.named

    # ---- terms --------------------------------------------------------------------------------

    def reads(self, term: m.Term, names: frozenset[str] = _NOBODY) -> bool:
        """Return whether the value of a term may depend on a secret."""
        return bool(self.fluents) and any(self._is_secret(one, names) for one in subterms(term))

    def _is_secret(self, part: m.Term, names: frozenset[str]) -> bool:
        match part:
            case m.Read(fluent=fluent) | m.InverseOf(fluent=fluent) | m.ClosureOf(fluent=fluent):
                return fluent in self.fluents
            case m.DeriveCall(derive=derive):
                return derive in self.derives
            case m.Local(name=name):
                return name in names
            case m.TemplateTerm(template=template):
                return self.named and any(map(_is_thing, slot_terms(template)))
            case (
                m.LeafTerm() | m.LogicTerm() | m.TestTerm() | m.NumberTerm() | m.Choose()
                | m.ListTerm() | m.Fold() | m.BuiltinCall()
            ):  # fmt: skip
                return False
            case _:
                assert_never(part)

    def says(self, terms: Iterable[m.Term], names: frozenset[str] = _NOBODY) -> bool:
        """Return whether a text with these terms in its slots may reveal a secret."""
        return any(self.reads(one, names) or (self.named and _is_thing(one)) for one in terms)

    @cached_property
    def words(self) -> bool:
        """Return whether words of commands (names, scope, phrases) depend on secrets."""
        program = self.program
        terms = (
            *(word for one in program.called for word in (one.name, *one.aka)),
            *(word for one in program.objects.values() for word in one.aka),
            *(one.condition for one in program.scopes),
        )
        phrases = (one for action in program.actions.values() for one in action.phrases)
        return (
            "sees" in self.derives
            or any(map(self.reads, terms))
            or any(self.says(slot_terms(one)) for one in phrases)
        )

    # ---- rules --------------------------------------------------------------------------------

    def lets(self, guards: Iterable[m.Let | m.Require]) -> frozenset[str]:
        """The names that guards compute from secrets."""
        names = _NOBODY
        for one in guards:
            if isinstance(one, m.Let) and self._computes(one, names):
                names |= {one.name}
        return names

    def _computes(self, effect: m.Effect, names: frozenset[str]) -> bool:
        return any(self.reads(term, names) for term in terms_of(effect))

    def touched(self, body: m.Body, names: frozenset[str] = _NOBODY) -> bool:
        """Return whether a body may read or write a secret, apart from its texts."""
        return bool(self.fluents) and any(
            self._computes(one, names)
            or any(target.fluent in self.fluents for target in targets_of(one))
            or isinstance(one, (m.Create, m.Destroy))
            for one in effects_in(body)
        )

    def guards(self, action: m.Action) -> bool:
        """Return whether the legality or the duration of an action depends on secrets."""
        names = self.lets(action.guards)
        terms = (*action.steps, action.takes, action.until)
        read = (one for one in terms if one is not None and not isinstance(one, m.Let))
        return any(self.reads(one, names) for one in read)

    def changes(self, action: m.Action) -> bool:
        """Return whether the effects of an action depend on secrets."""
        return self.touched(action.body, self.lets(action.guards))

    def law(self, law: m.Law) -> bool:
        """Return whether a law touches a secret."""
        return (law.when is not None and self.reads(law.when)) or self.touched(law.body)

    @cached_property
    def laws(self) -> bool:
        """Return whether any law reads or writes a secret, so that a tick may depend on one."""
        return any(map(self.law, self.program.laws.values()))

    def rule(self, title: str) -> bool:
        """Return whether a rule, such as ``law grow`` or an invariant, touches a secret."""
        kind, _, name = title.partition(" ")
        program = self.program
        if kind == "action" and name in program.actions:
            return self.guards(program.actions[name]) or self.changes(program.actions[name])
        if kind == "law" and name in program.laws:
            return self.law(program.laws[name])
        if title in program.invariants:
            return self.reads(program.invariants[title].condition)
        return title in program.conserves and self.reads(program.conserves[title].value)

    @cached_property
    def events(self) -> frozenset[tuple[str, int]]:
        """The arguments of events, by event and place, that may be computed from secrets."""
        return frozenset(found for body in self._bodies() for found in self._emitted(body))

    def _bodies(self) -> Iterator[m.Body]:
        program = self.program
        for action in program.actions.values():
            yield (*(one for one in action.guards if isinstance(one, m.Let)), *action.body)
            yield action.cancelled
        yield from (one.body for one in program.laws.values())
        yield from (one.body for one in program.watches.values())
        yield from (one.body for one in program.births)

    def _emitted(self, body: m.Body) -> Iterator[tuple[str, int]]:
        names = _NOBODY
        for one in effects_in(body):
            if isinstance(one, m.Let) and self._computes(one, names):
                names |= {one.name}
            elif isinstance(one, m.Emit):
                yield from (
                    (one.event, n) for n, arg in enumerate(one.args) if self.reads(arg, names)
                )

    # ---- descriptions -------------------------------------------------------------------------

    def public(self, rule: m.Describe) -> m.Describe:
        """A `describe` rule without the lines, conditions and loops that read secrets."""
        return replace(rule, body=self._public(rule.body, _NOBODY)) if self.fluents else rule

    def _public(self, body: m.Body, names: frozenset[str]) -> m.Body:
        found: list[m.Effect] = []
        for one in body:
            match one:
                case m.Let(name=name):
                    names = names | {name} if self._computes(one, names) else names
                    found.append(one)
                case m.Say(template=template) if self.says(slot_terms(template), names):
                    pass
                case m.If() | m.For() if self._computes(one, names):
                    pass
                case m.If(then=then, otherwise=otherwise):
                    kept = self._public(then, names), self._public(otherwise, names)
                    found.append(replace(one, then=kept[0], otherwise=kept[1]))
                case m.For(body=inner):
                    found.append(replace(one, body=self._public(inner, names)))
                case m.DescribeEffect(target=target) if self.reads(target, names):
                    pass
                case m.WriteEffect() | m.Chance() | m.Pick() | m.LifeEffect() | m.OutputEffect():
                    found.append(one)
                case _:
                    assert_never(one)
        return tuple(found)


def _is_thing(term: m.Term) -> bool:
    """Return whether a term is an object or several, so that a text shows their names."""
    kind = term.type.element if isinstance(term.type, m.CollectionType) else term.type
    return isinstance(kind, m.ObjectType)
