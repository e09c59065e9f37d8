"""``tw dist``: all outcomes of one command, with exact probabilities."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from tokenworld.diagnostics import Diagnostic, Failure, counted, read_source, usage
from tokenworld.engine import State
from tokenworld.engine.outcomes.distribution import Successor
from tokenworld.ground import Change, Json, value_text
from tokenworld.prose.intents import PassIntent, TypedIntent
from tokenworld.session import Session, open_world
from tokenworld.session.intents import Resolver
from tokenworld.session.players import played
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_OK, Output

_SHOWN = 4
"""Changes of one outcome that are printed; `--json` has all."""


def dist(
    target: opt.World,
    out: Output,
    *,
    intent: Annotated[
        str | None, "The command, in the words of a player; without it: pass."
    ] = None,
    start: Annotated[Path | None, "Begin in the state of this file (tw-state/1)."] = None,
    script: opt.PlayedAt = None,
    most: Annotated[int, "Print so many outcomes at most, the likeliest."] = 10000,
    operator: opt.Operator = False,
    seed: opt.Seed = 0,
) -> int:
    """Print the outcomes of an intent, in the state of a file or after a script."""
    if most < 1:
        raise usage("`--most` is below 1.", "Give the number of outcomes to be told.")
    session = Session(open_world(target), seed, operator=operator)
    if not session.known.is_whole:
        what = "The world has secrets, and outcomes would tell them."
        raise usage(what, "Add `--operator`.")
    state = played(session, script).state if start is None else state_in(session, start)
    meant = PassIntent() if intent is None else TypedIntent(intent)
    command = Resolver(session.world).resolve(state, meant)
    found = session.engine.distribution(state, command, most)
    words = "pass" if intent is None else intent
    many = counted(len(found.successors), "outcome")
    out.line(f"tick {state.tick}: {many} of `{words}`")
    for line in _table(found.successors):
        out.line(line)
    if found.left_out:
        out.line(f"{_percent(found.left_out)} left out: more than {most} outcomes")
    told: list[Json] = [one.to_json() for one in found.successors]
    out.json({
        "schema_version": 1,
        "ok": True,
        "tick": state.tick,
        "intent": words,
        "outcomes": told,
        "left_out": float(found.left_out),
    })  # fmt: skip
    return EXIT_OK


def state_in(session: Session, path: Path) -> State:
    """The state that a file shows as `tw-state/1`; `Failure` where it does not fit the world."""
    source = read_source(path)
    try:
        found = json.loads(source.text)
    except (ValueError, RecursionError) as error:
        what, hint = (
            f"`{path}` is no JSON ({error}).",
            "Name a file as `tw run --json` shows states.",
        )
        raise Failure(Diagnostic("TW0006", what, hint=hint)) from None
    return session.engine.restored(found, source=str(path))


def _table(found: tuple[Successor, ...]) -> Iterator[str]:
    shares = [(_percent(one.probability), _exact(one.probability)) for one in found]
    widths = [max((len(one[at]) for one in shares), default=0) for at in (0, 1)]
    for one, (percent, exact) in zip(found, shares, strict=True):
        yield f"{percent:>{widths[0]}}  {exact:>{widths[1]}}  {_told(one)}".rstrip()


def _percent(share: Fraction) -> str:
    return f"{float(share):.4g}" if 0 < share < Fraction(1, 10_000) else f"{float(share):.4%}"


def _exact(share: Fraction) -> str:
    """A fraction, where it is short enough to be read."""
    text = str(share)
    return text if len(text) <= 15 else ""


def _told(one: Successor) -> str:
    """The changes of an outcome: ``executed: ida.at nest → yard; ends in dusk``."""
    changes = [x for record in one.outcomes for x in (*record.changes, *record.law_changes)]
    texts = [_change(x) for x in _net(changes)]
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    last = one.outcomes[-1]
    told = ", ".join(texts[:_SHOWN]) + more if texts else "nothing changes"
    ended = f"; reached {', '.join(last.latched)}" if last.latched else ""
    return f"{last.status}: {told}{ended}"


def _net(changes: list[Change]) -> list[Change]:
    """The first and last value of each slot, where they differ."""
    found: dict[tuple[str, tuple[Json, ...]], Change] = {}
    for one in changes:
        first = found.get((one.fluent, one.args), one)
        found[one.fluent, one.args] = Change(one.fluent, one.args, first.old, one.new, one.rule)
    return [one for one in found.values() if one.old != one.new]


def _change(one: Change) -> str:
    name = one.fluent.rpartition(".")[2]
    args = ", ".join(map(value_text, one.args))
    place = f"{args}.{name}" if "." in one.fluent else f"{name}({args})"
    return f"{place} {value_text(one.old)} → {value_text(one.new)}"
