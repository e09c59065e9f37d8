"""``tw run``: play a world without a screen, by script, by chance or by plan, and record it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure, read_source
from tokenworld.ground import Outcome, values_text
from tokenworld.planning.space.policy import Policy, read_policy
from tokenworld.prose import read_script
from tokenworld.session import OpenWorld, Session, open_world
from tokenworld.session.intents import AnyIntent
from tokenworld.session.players import Player, policy_player, random_player, script_player
from tokenworld.store import IntentSource, RunStore
from tokenworld.tools.output import EXIT_INTERRUPTED, EXIT_NEGATIVE, EXIT_OK, Output
from tokenworld.tools.unbroken import unbroken

__all__ = ["GLYPHS", "run", "show_outcome"]

GLYPHS = {
    "executed": "✓", "refused": "✗", "no_match": "?", "waiting": "…", "interrupted": "⤫",
    "rolled_back": "↺", "yielded": "→", "error": "!", "halted": "■",
}  # fmt: skip


def run(
    target: str,
    out: Output,
    *,
    script: Path | None,
    player: str | None,
    policy: Path | None = None,
    ticks: int | None,
    seed: int,
    store: Path | None,
) -> int:
    """Play and record; the last line (or the JSON) carries the final state hash."""
    if ticks is not None and ticks < 0:
        raise _usage("A run cannot stop before it begins.", "Give `--ticks N` with N from 0.")
    advice = None if policy is None else _policy(policy, script, player)
    source, intents = _intents(script, player, ticks) if advice is None else _advised(advice)
    world = open_world(target)
    if advice is not None:
        _check_policy(advice, world)
    world.engine.start(seed)  # a world that cannot start leaves no store behind
    with RunStore.open(store) as opened:
        session = Session(world, seed, store=opened, player=source)
        try:
            _play(session, intents(session), source, ticks, out)
        except KeyboardInterrupt:
            return _finish(session, "interrupted", out, EXIT_INTERRUPTED)
        if advice is None:
            return _finish(session, "done", out, EXIT_OK)
        won = session.simulator().won(session.state, advice.goal)
        out.line(_reached(advice, session) if won else _missed(session))
        return _finish(session, "done", out, EXIT_OK if won else EXIT_NEGATIVE, won=won)


def _policy(file: Path, script: Path | None, player: str | None) -> Policy:
    if script is not None or player is not None:
        raise _usage("A run has one player.", "Give `--policy FILE` alone.")
    return read_policy(read_source(file).text, str(file))


def _advised(policy: Policy) -> tuple[IntentSource, Player]:
    return "planner", policy_player(policy)


def _check_policy(policy: Policy, world: OpenWorld) -> None:
    """A policy fits one world and one text of its rules."""
    if (policy.world, policy.program) != (world.world.name, world.program.digest):
        what = f"The policy was made for another world or other rules than `{world.world.name}`."
        raise _usage(what, "Make it again with `tw plan WORLD --luck certain --policy FILE`.")


def _reached(policy: Policy, session: Session) -> str:
    names = ", ".join(f"`{name}`" for name in session.latched)
    return f"the policy reached {names}" if policy.goal is None else f"reached `{policy.goal}`"


def _missed(session: Session) -> str:
    """That the goal was not reached, and that the policy had no answer, where that is so."""
    missed = "the goal of the policy was not reached"
    return missed if session.ended() else f"{missed}: it ends in a state that it does not win from"


def _intents(
    script: Path | None, player: str | None, ticks: int | None
) -> tuple[IntentSource, Player]:
    if script is not None and player is not None:
        raise _usage("A run has one player.", "Give `--script FILE` or `--player random`.")
    if script is not None:
        return "script", script_player(read_script(read_source(script)))
    if player == "random":
        if ticks is None:
            raise _usage("A random player never stops.", "Say how long with `--ticks N`.")
        return "random", random_player
    if player is None:
        hint = "Give `--script FILE`, or `--player random --ticks N`; `tw play` is for people."
        raise _usage("Nobody plays this run.", hint)
    raise _usage(f"There is no player `{player}`.", "The players are `random` and `--script`.")


def _usage(message: str, hint: str) -> Failure:
    return Failure(Diagnostic("TW0006", message, hint=hint))


def _play(
    session: Session, intents: Iterator[AnyIntent], source: IntentSource, ticks: int | None,
    out: Output,
) -> None:  # fmt: skip
    records = 0
    for intent in intents:
        if ticks is not None and records >= ticks:
            break
        with unbroken():
            outcomes = session.intend(intent, source=source)
        records += len(outcomes)
        for outcome in outcomes:
            show_outcome(session.moments[-1].asked, outcome, out)
        if outcomes[-1].status == "halted":
            break
        if not out.as_json:
            continue
        if records % 1000 == 0:
            out.progress(f"{records} records")


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
    session: Session, reason: str, out: Output, code: int, *, won: bool | None = None
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
