"""``tw run``: play a world without a screen, by any player, and record it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tokenworld.diagnostics import Failure
from tokenworld.ground import Outcome, values_text
from tokenworld.planning.space.policy import Policy
from tokenworld.session import Session, open_world
from tokenworld.session.intents import AnyIntent
from tokenworld.session.players import Expecting
from tokenworld.session.remote import PlayerFailure
from tokenworld.store import RunStore
from tokenworld.tools.choosing import Choice, Seat, seated
from tokenworld.tools.output import EXIT_INTERRUPTED, EXIT_NEGATIVE, EXIT_OK, Output
from tokenworld.tools.unbroken import unbroken

__all__ = ["GLYPHS", "play_on", "run", "show_outcome"]

GLYPHS = {
    "executed": "✓", "refused": "✗", "no_match": "?", "waiting": "…", "interrupted": "⤫",
    "rolled_back": "↺", "yielded": "→", "error": "!", "halted": "■",
}  # fmt: skip
_REFUSE_LIKE = ("refused", "no_match", "rolled_back")


def run(target: str, out: Output, choice: Choice, store: Path | None) -> int:
    """Play and record; the last line (or the JSON) carries the final state hash."""
    world = open_world(target)
    seat = seated(choice, world, out.progress)
    try:
        world.engine.start(seat.seed)  # a world that cannot start leaves no store behind
        with RunStore.open(store) as opened:
            session = Session(world, seat.seed, store=opened, player=seat.source)
            return play_on(session, seat, choice.ticks, out)
    finally:
        seat.close()


def play_on(session: Session, seat: Seat, ticks: int | None, out: Output) -> int:
    """Play to the end, whatever it is, and close the run."""
    try:
        cause = _Runner(session, seat, ticks, out).play()
    except KeyboardInterrupt:
        return _finish(session, "interrupted", out, EXIT_INTERRUPTED)
    except PlayerFailure as failure:
        cause = failure.cause
        out.diagnostics(failure.diagnostics)
    except Failure as failure:
        # A run that the store could not take on stays open: it is resumed once there is room.
        if not failure.diagnostics[0].code.startswith("TW11"):
            session.finish("failed")
        raise
    if cause is not None:
        _halt(session, seat, cause, out)
        return _finish(session, "halted", out, EXIT_NEGATIVE, halted=cause)
    if seat.policy is None:
        return _finish(session, "done", out, EXIT_OK)
    won = session.simulator().won(session.state, seat.policy.goal)
    out.line(_reached(seat.policy, session) if won else _missed(session))
    return _finish(session, "done", out, EXIT_OK if won else EXIT_NEGATIVE, won=won)


def _halt(session: Session, seat: Seat, cause: str, out: Output) -> None:
    """The last record says why the runner stopped."""
    with unbroken():
        outcome = session.halt(cause, source=seat.source)
    show_outcome("halt", outcome, out)
    out.line(f"       {cause}")


def _reached(policy: Policy, session: Session) -> str:
    names = ", ".join(f"`{name}`" for name in session.latched)
    return f"the policy reached {names}" if policy.goal is None else f"reached `{policy.goal}`"


def _missed(session: Session) -> str:
    """That the goal was not reached, and that the policy had no answer, where that is so."""
    missed = "the goal of the policy was not reached"
    return missed if session.ended() else f"{missed}: it ends in a state that it does not win from"


@dataclass
class _Runner:
    """A run under way: how many records there are, and which ticks were refused in a row."""

    session: Session
    seat: Seat
    ticks: int | None
    out: Output
    records: int = 0
    cluster: int = 0

    def play(self) -> str | None:
        """Play until player, world or budget ends; the cause of an alarm, if there was one."""
        intents = self.seat.player(self.session)
        while self.ticks is None or self.records < self.ticks:
            given = next(intents, None)
            if given is None:
                return None
            outcomes = self._give(given)
            if outcomes[-1].status == "halted":
                return None
            if self.seat.halt_after is not None and self.cluster >= self.seat.halt_after:
                first = self.records - self.cluster + 1
                return f"{self.cluster} refusals in a row: records {first} to {self.records}"
        return None

    def _give(self, given: AnyIntent | Expecting) -> tuple[Outcome, ...]:
        expect = given.status if isinstance(given, Expecting) else None
        intent = given.intent if isinstance(given, Expecting) else given
        with unbroken():
            outcomes = self.session.intend(intent, source=self.seat.source, expect=expect)
        for outcome in outcomes:
            show_outcome(self.session.moments[-1].asked, outcome, self.out)
            self.records += 1
            refused = outcome.status in _REFUSE_LIKE and outcome.status != expect
            self.cluster = self.cluster + 1 if refused else 0
            if self.out.as_json and self.records % 1000 == 0:
                self.out.progress(f"{self.records} records")
        return outcomes


def show_outcome(asked: str, outcome: Outcome, out: Output) -> None:
    """One record as a reader sees it: what was asked, what it came to, what was said."""
    who = f"{outcome.actor}: " if outcome.next is not None else ""
    out.line(f"{outcome.tick:>4} {GLYPHS[outcome.status]} {who}{asked}  [{outcome.status}]")
    if outcome.refusal is not None:
        out.line(f"       {outcome.refusal.text}")
        for report in outcome.refusal.failed:
            values = values_text(report.values)
            label = f"{report.label}: " if report.label else ""
            out.line(f"       ✗ {label}{report.condition}  ({values})  {report.place}")
    if outcome.no_match is not None:
        out.line(f"       {outcome.no_match.message}")
    if outcome.breach is not None:
        out.line(f"       {outcome.breach['code']} {outcome.breach['message']}")
    for line in outcome.said:
        out.line(f"       {line}")


def _finish(
    session: Session,
    reason: str,
    out: Output,
    code: int,
    *,
    won: bool | None = None,
    halted: str | None = None,
) -> int:
    session.finish(reason)
    assert session.recording is not None
    slug, final = session.recording.slug, session.engine.hash(session.state)
    reached = ", ".join(session.latched) or "none"
    out.line(
        f"run {slug}: {session.recording.written} records, tick {session.tick}, "
        f"endings {reached}, state {final}"
    )
    out.json(
        {
            "schema_version": 1,
            "run": slug,
            "reason": reason,
            "records": session.recording.written,
            "tick": session.tick,
            "seed": session.seed,
            "score": session.engine.score(session.state),
            "endings": list(session.latched),
            **({} if won is None else {"goal_reached": won}),
            **({} if halted is None else {"halted": halted}),
            "statuses": _statuses(session),
            "state_hash": final,
        }
    )
    return code


def _statuses(session: Session) -> dict[str, int]:
    found: dict[str, int] = {}
    for moment in session.moments:
        for outcome in moment.outcomes:
            found[outcome.status] = found.get(outcome.status, 0) + 1
    return dict(sorted(found.items()))
