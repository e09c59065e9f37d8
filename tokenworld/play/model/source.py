"""The rules of a command or a record: their lines in the files, with the failed ones marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from tokenworld import model as m
from tokenworld.diagnostics import Source, Span
from tokenworld.ground import Outcome, RequireReport
from tokenworld.verbs.refusals.lines import short_place


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of a file, or the heading of a rule where ``number`` is 0.

    ``failed``: a condition on it is not met, or its law was broken.
    """

    number: int
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A rule, its place, and the numbers of the lines that failed."""

    rule: str
    span: Span
    failed: frozenset[int] = frozenset()

    @property
    def title(self) -> str:
        """``action open, world.tw:17``."""
        return f"{self.rule}, {short_place(f'{self.span.file}:{self.span.line}')}"


def rule_of_command(
    program: m.Program, action: str, requires: Iterable[RequireReport]
) -> tuple[Passage, ...]:
    """The rule of a command; ``requires`` say which of its conditions are met. Nothing for `pass`.

    A condition that the language adds, such as a range, is marked where it is reported.
    """
    if action not in program.actions:
        return ()
    rule = program.actions[action]
    failed = [one for one in requires if one.holds is False]
    marked = chain.from_iterable(
        [_line(one.place)] if one.generated else _lines_of(rule.requires[one.index].span)
        for one in failed
    )
    failing = frozenset(_lines_of(rule.span)).intersection(marked)
    return (Passage(f"action {action}", rule.span, failing),)


def _lines_of(span: Span) -> range:
    return range(span.line, span.end_line + 1)


def _line(place: str) -> int:
    """The line of a place as `file:line:column`; 0 if it has none."""
    parts = place.rsplit(":", 2)
    return int(parts[1]) if len(parts) == 3 and parts[1].isdigit() else 0


def rules_of_record(program: m.Program, world: m.World, outcome: Outcome) -> tuple[Passage, ...]:
    """Return the rules of a record: its action, fired laws, broken rules, endings."""
    requires = () if outcome.refusal is None else outcome.refusal.requires
    found = [*rule_of_command(program, outcome.action, requires), *_broken(outcome, program)]
    for fired in outcome.fired:
        title = fired.partition("(")[0]
        law = program.laws.get(title.removeprefix("law "))
        if law is not None and not law.added:
            found.append(Passage(title, law.span))
    for ending in world.endings:
        if ending.name in outcome.latched:
            found.append(Passage(f"{ending.ending} {ending.name}", ending.span))
    return tuple(dict.fromkeys(found))


def _broken(outcome: Outcome, program: m.Program) -> Iterator[Passage]:
    """The invariant or the like that a discarded tick would have broken."""
    place = "" if outcome.breach is None else str(outcome.breach.get("place") or "")
    rules: tuple[m.Invariant | m.Conserve, ...]
    rules = (*program.invariants.values(), *program.conserves.values())
    for one in rules:
        if str(one.span) == place:
            yield Passage("broken", one.span, frozenset(_lines_of(one.span)))


def code_lines(passages: Sequence[Passage], sources: Mapping[str, Source]) -> Iterator[CodeLine]:
    """The lines of rules, with a heading before each but the first."""
    for at, one in enumerate(passages):
        source = sources.get(one.span.file)
        if source is None:
            continue
        if at:
            yield CodeLine(0, one.title)
        for number in _lines_of(one.span):
            yield CodeLine(number, source.line_text(number), number in one.failed)
