"""The details pane in words: the record of a tick."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tokenworld.ground import Change, Outcome, value_text
from tokenworld.session.refusals.explained import Explanation
from tokenworld.verbs.output import Line, Role, line
from tokenworld.verbs.refusals.lines import RefusalLines, slot_text


@dataclass(frozen=True, slots=True)
class Describer(RefusalLines):
    """Puts records into words, refused ones as every surface does."""

    # ---- records ----------------------------------------------------------------------------

    def record(
        self,
        outcome: Outcome,
        asked: str = "",
        found: Explanation | None = None,
    ) -> Iterator[Line]:
        """Everything that one record says; ``found`` explains one that was refused. ``asked`` is
        told where no title has said it."""
        yield from self._heading(outcome, asked)
        if found is not None:
            yield from self.told(found)
        if outcome.refusal is not None:
            return
        yield from self._breach(outcome)
        yield from self._effects(outcome)
        yield from self._chance(outcome)
        yield from self._listed("Ending", outcome.latched)
        before, after = outcome.hash_before[:8], outcome.hash_after[:8]
        if before != after:
            yield line("")
            yield line(f"state {before} {self.glyphs.becomes} {after}", "dim")

    def _heading(self, outcome: Outcome, asked: str) -> Iterator[Line]:
        role: Role = "good" if outcome.status in ("executed", "waiting") else "bad"
        sign, word = self.glyphs.of(outcome.status), outcome.status.replace("_", " ")
        yield ((f"{sign} {word}", role), (f" in tick {outcome.tick}", "dim"))
        if asked:
            yield line(asked, "head")
        if outcome.progress is not None:
            done, total = outcome.progress
            yield line(f"{done} of {total} ticks done")
        if outcome.cause:
            yield line(outcome.cause)
        if outcome.status in ("executed", "waiting", "interrupted") and not outcome.time_passed:
            yield line("No time passed.", "dim")

    def _breach(self, outcome: Outcome) -> Iterator[Line]:
        breach = outcome.breach
        if breach is None:
            return
        yield line(f"{breach['code']}: {breach['message']}", "bad")
        for key in ("rule", "witness", "culprits", "before", "after"):
            value = breach.get(key)
            if value:
                shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
                yield ((f"  {key} ", "dim"), (shown, "plain"))
        place = str(breach.get("place") or "")
        if place:
            yield from self.source(place)
        yield from self._changes("Discarded", outcome.discarded)

    def _effects(self, outcome: Outcome) -> Iterator[Line]:
        yield from self._changes("Changes", outcome.changes)
        yield from self._listed("Laws fired", outcome.fired)
        yield from self._changes("Changes by laws", outcome.law_changes)
        events = (f"{name}({', '.join(map(value_text, args))})" for name, args in outcome.events)
        yield from self._listed("Events", events)
        yield from self._listed("Said", outcome.said)
        if outcome.status == "executed" and outcome.noop and not outcome.law_changes:
            yield line("Nothing changed.", "dim")

    def _chance(self, outcome: Outcome) -> Iterator[Line]:
        draws = (
            f"{draw.rule}({', '.join(map(value_text, draw.args))}): {draw.text()}"
            for draw in outcome.draws
        )
        yield from self._listed("Draws of chance", draws)

    def _changes(self, title: str, changes: Iterable[Change]) -> Iterator[Line]:
        listed = tuple(changes)
        if listed:
            yield line("")
            yield line(title, "head")
        for one in listed:
            slot = slot_text(one)
            values = f"{value_text(one.old)} {self.glyphs.becomes} {value_text(one.new)}"
            yield ((f"  {slot} ", "plain"), (values, "good"), (f"  {one.rule}", "dim"))

    def _listed(self, title: str, entries: Iterable[str]) -> Iterator[Line]:
        listed = tuple(entries)
        if listed:
            yield line("")
            yield line(title, "head")
            yield from (line(f"  {one}") for one in listed)
