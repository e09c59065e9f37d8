"""A verdict as a hint: only the next step is given away, unless more is asked for.

The levels: the next step; the next three; the whole plan. Where there is no way: since when.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokenworld.planning import Verdict
from tokenworld.session.hinting import LastChance
from tokenworld.tools.play.glyphs import Glyphs
from tokenworld.tools.play.lines import Line, line

__all__ = ["LEVELS", "hint_lines", "hint_sentence", "since_sentence"]

LEVELS = (1, 3, 1_000_000)
"""How many steps each level of a hint gives away at most."""


def _goal(verdict: Verdict) -> str:
    names = verdict.reached or ((verdict.goal,) if verdict.goal else ())
    return " and ".join(f"`{name}`" for name in names) or "any goal"


def _steps(number: int) -> str:
    return f"{number} more step{'' if number == 1 else 's'}"


def since_sentence(chance: LastChance | None) -> str:
    """Since when there is no way to the goal, as far as that is known; empty if nobody asked."""
    if chance is None:
        return ""
    if chance.moment is None:
        return "It was never in reach." if chance.known else ""
    if not chance.known:
        return f"It was last known to be in reach at tick {chance.tick}."
    return f"Unwinnable since tick {chance.tick}: {chance.lost_by}"


def hint_sentence(verdict: Verdict, next_step: str | None, chance: LastChance | None = None) -> str:
    """The hint in one sentence; ``next_step`` in words, ``None`` if nothing needs doing."""
    match verdict.answer:
        case "winnable" if next_step is None:
            return f"Goal {_goal(verdict)} is reached: nothing needs to be done."
        case "winnable":
            return f"Winnable in {_steps(len(verdict.steps))}. Next: {next_step}"
        case "unwinnable":
            since = since_sentence(chance)
            return " ".join(
                (
                    "Unwinnable from here: no sequence of commands reaches a goal.",
                    *((f"{since.rstrip('.')}.",) if since else ()),
                    "Undo to go back.",
                )
            )
        case _:
            return "Unknown: no plan was found, and none was ruled out."


def hint_lines(
    verdict: Verdict,
    next_step: str | None,
    glyphs: Glyphs,
    *,
    chance: LastChance | None = None,
    later: Sequence[str] = (),
) -> Iterator[Line]:
    """The hint for the details pane: the answer, on whose word, and what to do with it.

    ``later`` are the steps behind the next one that are given away, in words.
    """
    match verdict.answer:
        case "winnable":
            yield line(f"{glyphs.executed} Winnable", "good")
            yield from _winnable(verdict, next_step, later)
        case "unwinnable":
            yield line(f"{glyphs.refused} Unwinnable from here", "bad")
            yield line("No sequence of commands reaches a goal.")
            if since_sentence(chance):
                yield line(since_sentence(chance), "bad")
            yield line("Undo (Ctrl+Z) to go back.")
            if verdict.proof is not None:
                yield line("")
                yield line(f"{verdict.claim} by {verdict.proof.by}", "dim")
        case "unknown":
            yield line(f"{glyphs.no_match} Unknown", "warn")
            yield line("No plan was found, and none was ruled out.")
            yield from _tried(verdict)


def _winnable(verdict: Verdict, next_step: str | None, later: Sequence[str]) -> Iterator[Line]:
    if next_step is None:
        yield line(f"Goal {_goal(verdict)} is reached.")
        return
    yield line(f"Goal {_goal(verdict)} in {_steps(len(verdict.steps))}.")
    yield line("")
    yield (("Next: ", "dim"), (next_step, "head"))
    yield from (((f"{at:>4}: ", "dim"), (text, "plain")) for at, text in enumerate(later, 2))
    rest = len(verdict.steps) - 1 - len(later)
    if rest:
        more = "the next three" if not later and rest > 2 else "all of them"
        yield line(f"F3 again tells {more}.", "dim")
    yield line("")
    yield from _luck(verdict)
    found = f"{verdict.claim} by {verdict.engine}, replayed by the interpreter"
    yield line(f"Plan {found}.", "dim")
    if verdict.optimal is not None:
        better = "shorter" if verdict.optimal == "ticks" else "cheaper"
        yield line(f"No plan is {better}.", "dim")


def _luck(verdict: Verdict) -> Iterator[Line]:
    if not verdict.counts_on_luck:
        return
    if verdict.wins_with_seed:
        yield line(f"It counts on luck, and wins with seed {verdict.seed}.", "dim")
    else:
        yield line("It counts on luck that may not come. Then ask again.", "warn")


def _tried(verdict: Verdict) -> Iterator[Line]:
    for one in verdict.attempts:
        yield line("")
        yield line(f"{one.engine}: {one.result}", "head")
        yield line(f"  {one.detail}", "dim")
    for note in verdict.notes:
        yield line("")
        yield line(f"{note.code}: {note.message}")
        if note.hint:
            yield line(f"  {note.hint}", "dim")
