"""The text of an `Explanation`, for every surface: the command line, the screen, agents.

Lines are in roles, without colours; `plain_text` removes the roles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, assert_never

from tokenworld.diagnostics import Source, counted
from tokenworld.ground import Change, NoMatch, RequireReport, value_text
from tokenworld.session.obstacles import Obstacle
from tokenworld.session.refusals.explained import Branch, Explanation
from tokenworld.verbs.output import UNICODE, Glyphs, Line, Role, line, plain_text

if TYPE_CHECKING:
    from tokenworld.session.refusals.ways import Satisfaction

_CASES: Mapping[str, str] = {
    "and": "all of", "or": "any of", "not": "not", "implies": "the first implies the second",
    "any": "any of the cases", "all": "every case", "derive": "stands for",
}  # fmt: skip


_JOINED: frozenset[str] = frozenset({"and", "or", "any", "all"})
"""Clauses that are decided by the parts with the same value as the whole."""


_EITHER: frozenset[str] = frozenset({"or", "any"})


def _lacks(tree: Branch) -> int:
    """Return how many clauses would have to change for a clause to hold, at least."""
    if tree.holds is not False:
        return 0
    parts = [_lacks(one) for one in tree.parts if one.holds is False]
    if not parts:
        return 1
    return min(parts) if tree.kind in _EITHER else sum(parts)


def _label(report: RequireReport) -> str:
    return report.label or f"require {report.index + 1}"


def slot_text(change: Change) -> str:
    """``at(robot)``: the slot that a change is of."""
    fluent = change.fluent.rpartition(".")[2]
    return f"{fluent}({', '.join(map(value_text, change.args))})" if change.args else fluent


def short_place(place: str) -> str:
    """``world.tw:17:3``: a place without the folders before the file."""
    return PurePath(place).name


@dataclass(frozen=True, slots=True)
class RefusalLines:
    """Puts an explanation into lines, with the source lines of its requires.

    What holds is folded into one line, unless ``whole``. ``keys``: the reader has the keys of the
    screen.
    """

    glyphs: Glyphs
    sources: Mapping[str, Source]
    whole: bool = True
    keys: bool = False

    def examined(self, found: Explanation) -> Iterator[Line]:
        """Yield the lines on a command that was examined: its outcome and its reasons."""
        if found.no_match is None:
            yield self._verdict(found)
        yield from self.told(found)

    def _verdict(self, found: Explanation) -> Line:
        if not found.allowed:
            return line(f"{self.glyphs.refused} It would be refused.", "bad")
        hidden = "" if found.sure else ", as far as can be known: it depends on what is hidden"
        return line(f"{self.glyphs.executed} It can be done now{hidden}.", "good")

    def told(self, found: Explanation) -> Iterator[Line]:
        """Why words mean nothing, or each require; then the way, if it was asked for."""
        if found.no_match is not None:
            yield from self.no_match(found.no_match)
            return
        yield from self.requires(found)
        if found.way is not None:
            yield line("")
            yield from satisfaction_lines(found.way, self.glyphs, keys=self.keys)

    def _sorted(self, found: Explanation) -> tuple[list[RequireReport], list[RequireReport]]:
        """Return the requires to show and those to fold: failed ones first, then unevaluated ones,
        then those that hold, which are folded if another fails. So are those that fail for want of
        a value that a failed one asks for (`x != none`)."""
        listed = sorted(found.requires, key=lambda one: (False, None, True).index(one.holds))
        if self.whole or all(one.holds for one in listed):
            return listed, []
        shown, absent = list[RequireReport](), set[str]()
        for one in listed:
            lacks = {atom for atom, value in one.values.items() if value is None}
            if not one.holds and not (one.holds is False and lacks & absent):
                shown.append(one)
                absent |= {atom for atom in lacks if f"{atom} != none" in one.condition}
        return shown, [one for one in listed if one not in shown]

    def requires(self, found: Explanation) -> Iterator[Line]:
        """Requires with their signs, texts, values, places and source lines.

        Of those that are folded, the labels are one line.
        """
        listed, folded = self._sorted(found)
        if not listed:
            yield line("It needs nothing.", "dim")
        for report in listed:
            yield line("")
            tree = None if report.generated else found.trees.get(report.index)
            yield from self._require(found, report, tree)
            if report.index in found.obstacles and not report.generated:
                yield from self._obstacle(found.obstacles[report.index])
            if report.index in found.helps:
                helps = found.helps[report.index]
                yield ((f"  {self.glyphs.hint} ", "good"), (helps, "head"), (" helps", "plain"))
        more = "  F4 shows all" if self.keys else ""
        if left := [_label(one) for one in folded if not one.holds]:
            yield line("")
            yield line(f"{self.glyphs.no_match} not judged for want of a value: {', '.join(left)}")
        if met := [_label(one) for one in folded if one.holds]:
            yield line("")
            yield ((f"{self.glyphs.executed} {counted(len(met), 'condition')} met: ", "good"),
                   (", ".join(met), "plain"), (more, "dim"))  # fmt: skip

    def _require(
        self, found: Explanation, report: RequireReport, tree: Branch | None
    ) -> Iterator[Line]:
        role: Role = "warn" if report.holds is None else "good" if report.holds else "bad"
        label = f"{self.glyphs.holds(report.holds)} {_label(report)}"
        yield ((label, role), (": ", "dim"), (report.condition, "head"))
        if report.holds is None:
            yield line(f"  {report.text if report.hidden else 'not evaluated'}", "warn")
        elif not report.holds:
            yield line(f"  {report.text}")
        if tree is not None and tree.parts:
            yield from self._tree(found, tree, 1)
        else:
            for atom, value in report.values.items():
                yield ((f"  {atom} = ", "plain"), (found.value(atom, value), role))
        yield from self.source(report.place)

    def _tree(self, found: Explanation, tree: Branch, depth: int) -> Iterator[Line]:
        """The parts of a clause, each with its sign and the values that decide; of cases of which
        none holds, the one that lacks least."""
        space = "  " * depth
        joint = _CASES.get(tree.kind)
        if joint is not None:
            yield line(f"{space}{joint}", "dim")
        folds = joint is not None and tree.kind in _JOINED and not self.whole
        parts = [one for one in tree.parts if not folds or one.holds is tree.holds]
        undecided = len(tree.parts) - len(parts)
        if folds and tree.kind == "any" and tree.holds is False:
            parts = [min(parts, key=_lacks)] if parts else []
        further = len(tree.parts) - len(parts) - undecided
        for one in parts:
            role: Role = "warn" if one.holds is None else "good" if one.holds else "bad"
            sign = f"{space}{self.glyphs.holds(one.holds)} "
            yield ((sign, role), (one.case or one.text, "plain"))
            for atom, value in one.values:
                yield ((f"{space}    {atom} = ", "dim"), (found.value(atom, value), role))
            yield from self._tree(found, one, depth + 1)
        if further:
            yield line(f"{space}and {further} more, none of which holds", "dim")
        if undecided + tree.left_out:
            yield line(f"{space}and {undecided + tree.left_out} more, which do not decide", "dim")

    def _obstacle(self, found: Obstacle) -> Iterator[Line]:
        """Since when a require is false, and by which change."""
        if found.since is None:
            since = "from the start" if found.whole else "for as long as is remembered"
            yield line(f"  false {since}", "warn")
        else:
            yield (("  false since tick ", "warn"), (str(found.since), "warn"),
                   (f": {found.asked}", "plain"))  # fmt: skip
        for change in found.causes:
            yield ((f"    {self._changed(change)} ", "plain"), (change.rule, "dim"))

    def _changed(self, change: Change) -> str:
        values = f"{value_text(change.old)} {self.glyphs.becomes} {value_text(change.new)}"
        return f"{slot_text(change)} {values}"

    def source(self, place: str) -> Iterator[Line]:
        """A place with its source line."""
        text = self.source_line(place)
        shown = f" {text}" if text else ""
        yield line(f"  {short_place(place)}{shown}", "dim")

    def source_line(self, place: str) -> str:
        """The line a place points at, with single spaces; empty if its file is not at hand."""
        file, _, rest = place.partition(":")
        while file not in self.sources and rest:
            more, _, rest = rest.partition(":")
            file = f"{file}:{more}"
        number = rest.partition(":")[0]
        if file not in self.sources or not number.isdigit():
            return ""
        return " ".join(self.sources[file].line_text(int(number)).split())

    def no_match(self, found: NoMatch) -> Iterator[Line]:
        """Why words mean nothing, and what could be said instead."""
        yield line(found.message, "warn")
        if found.suggestions:
            yield line("")
            yield line("You could say", "head")
            yield from (line(f"  {one}") for one in found.suggestions)


def compact(found: Explanation, sources: Mapping[str, Source]) -> Iterator[str]:
    """The reason without empty lines, for a list of records."""
    for one in RefusalLines(UNICODE, sources, whole=False).told(found):
        if text := plain_text((one,)):
            yield text


def satisfaction_lines(found: Satisfaction, glyphs: Glyphs, *, keys: bool = True) -> Iterator[Line]:
    """The way, step by step, or that there is none; ``keys``: a key of the screen plays it."""
    match found.answer:
        case "found" if not found.steps:
            yield line(f"{glyphs.executed} `{found.text}` can be done now.", "good")
        case "found":
            yield from _steps_to(found, glyphs, keys)
        case "impossible":
            yield line(f"{glyphs.refused} Nothing makes `{found.text}` possible.", "bad")
            yield line(f"All {found.states:,} states that can follow were looked at.", "dim")
        case "unknown" if found.hidden:
            listed = ", ".join(f"`{one}`" for one in found.hidden)
            yield line(
                f"{glyphs.no_match} The way to `{found.text}` depends on what is hidden.", "warn"
            )
            yield line(f"Find it out in play: {listed}.", "dim")
        case "unknown":
            yield line(f"{glyphs.no_match} No way to `{found.text}` was found.", "warn")
            yield line(f"{found.states:,} states were looked at; more may follow.", "dim")
        case _:
            assert_never(found.answer)


def _steps_to(found: Satisfaction, glyphs: Glyphs, keys: bool) -> Iterator[Line]:
    number = len(found.steps)
    if found.aim == "command":
        yield line(f"{glyphs.executed} `{found.text}` becomes possible by:", "good")
    else:
        yield line(f"{glyphs.no_match} `{found.text}` stays out of reach.", "warn")
        yield ((f"{glyphs.executed} ", "good"), (found.condition, "head"), (" holds by:", "good"))
    yield from (line(f"{at:>3}. {text}") for at, text in enumerate(found.words, 1))
    yield line("")
    if not found.certain:
        yield line("It counts on luck that this run does not have.", "warn")
    yield line(f"{counted(number, 'step')}{'; Enter plays them' if keys else ''}.", "dim")
