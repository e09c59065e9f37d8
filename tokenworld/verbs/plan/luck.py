"""The luck of a plan in words: "the storm moving the rusty key to the jetty (1 in 10)".

`tw plan` and `tw play` tell it. The plan is played once with its draws, and the changes that a
rule then makes are the meaning of its draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import groupby

from tokenworld.diagnostics import joined
from tokenworld.engine import Engine, ForcedLuck, State, in_tick
from tokenworld.ground import Change, Json, LuckyDraw
from tokenworld.model import BoolType, ObjectType, Program, without_none
from tokenworld.planning.verdict import Verdict
from tokenworld.prose.wording import with_article

_PLACES = frozenset({"at", "in", "on", "inside", "place", "room", "location", "loc", "position"})
"""Attributes whose new value is where something moves."""
_MOST_CHANGES = 3
"""The number of changes of one rule that are printed."""
_NEAR = 1e-12
_LARGEST = 1000
"""A chance with a larger denominator is printed in percent."""


def told_luck(engine: Engine, start: State, verdict: Verdict) -> Verdict:
    """The verdict with a line for each rule whose draws its plan counts on, step by step."""
    if not verdict.counts_on_luck:
        return verdict
    from tokenworld.planning.space.luck import chance_of

    names, found, whole = _Names(engine, start), list[str](), Fraction(1)
    state = start
    for number, step in enumerate(verdict.steps, 1):
        luck = ForcedLuck(in_tick(state.drawn, step.draws))
        state, outcomes = engine.play(state, step.command, luck)
        changes = [one for o in outcomes for one in (*o.changes, *o.law_changes)]
        for _, group in groupby(step.draws, key=lambda one: (one.rule, one.args)):
            draws = tuple(group)
            whole *= chance_of(draws)
            told = names.told(draws, changes)
            found.append(f"step {number} counts on {told} ({chance_text(chance_of(draws))})")
    if len(found) > 1:
        found.append(f"all of that happens with probability {chance_text(whole)}")
    return replace(verdict, told_luck=tuple(found))


def chance_text(chance: Fraction) -> str:
    """``1 in 4``, ``2 in 3``, or ``0.012%`` where the numbers are long.

    A probability such as 1 / 3 in the rules is a real number, and told as the fraction near it.
    """
    near = chance.limit_denominator(_LARGEST)
    if abs(near - chance) < _NEAR:
        return f"{near.numerator} in {near.denominator}"
    return f"{float(chance) * 100:.3g}%"


class _Names:
    """The words of a world for rules, objects and changes."""

    def __init__(self, engine: Engine, start: State) -> None:
        self._program: Program = engine.instance.program
        titles = {name: _spoken(name) for name in start.names}
        for one in engine.instance.objects:
            titles[one.name] = one.decl.title or titles[one.name]
        self._titles: Mapping[str, str] = titles

    def told(self, draws: tuple[LuckyDraw, ...], changes: Iterable[Change]) -> str:
        """Return a rule with its changes by draws: "the storm moving the key to the jetty"."""
        rule, args = draws[0].rule, draws[0].args
        kind, _, name = rule.partition(" ")
        subject = f"the {_spoken(name or kind)}"
        made = [one for one in changes if one.rule == rule and one.old != one.new]
        about = [one for one in made if set(map(str, args)) & set(self._named(one))] or made
        if not about:
            whom = "" if not args else f" to {joined([self._value(one) for one in args], 'and')}"
            return f"{subject} doing nothing{whom}"
        told = [self._change(one) for one in about[:_MOST_CHANGES]]
        return f"{subject} {joined(told, 'and')}"

    @staticmethod
    def _named(change: Change) -> Iterator[str]:
        yield from map(str, (*change.args, change.old, change.new))

    def _change(self, change: Change) -> str:
        fluent = self._program.fluents[change.fluent]
        word = _spoken(fluent.name)
        args = [self._value(one) for one in change.args]
        of = without_none(fluent.type)
        attribute = fluent.fluent_kind == "attribute"
        if isinstance(of, BoolType):
            denied = "" if change.new else "not "
            if attribute:
                return f"making {args[0]} {denied}{word}"
            return f"making `{word}({', '.join(map(str, change.args))})` {denied}true"
        if attribute and isinstance(of, ObjectType) and word in _PLACES and change.new is not None:
            return f"moving {args[0]} to {self._value(change.new)}"
        place = f"{args[0]}'s {word}" if attribute else f"`{fluent.name}({', '.join(args)})`"
        return f"setting {place} to {self._value(change.new)}"

    def _value(self, value: Json) -> str:
        """An object as it is called, with its article; any other value as it is written."""
        if not isinstance(value, str):
            return "none" if value is None else str(value).lower()
        title = self._titles.get(value)
        return _spoken(value) if title is None else with_article(title, "the")


def _spoken(name: str) -> str:
    return name.replace("_", " ")
