"""``tw why``: why a command is refused now, since when and by which rule, and the way to it."""

from __future__ import annotations

from typing import Annotated

from tokenworld.limits import left
from tokenworld.session import Session, open_world
from tokenworld.session.players import played
from tokenworld.session.refusals.explained import Explanation, explained, with_way
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output, fitting_glyphs
from tokenworld.verbs.refusals.lines import RefusalLines


def why(
    target: opt.World,
    intent: Annotated[str, "The command, in the words of a player or as a call."],
    out: Output,
    *,
    script: opt.PlayedAt = None,
    time_limit: Annotated[float, "Seconds to look for a way to it; 0: do not."] = 20.0,
    operator: opt.Operator = False,
    seed: opt.Seed = 0,
) -> int:
    """Explain a command after a script, without giving it; returns 0 if it can be done, 1 if not.

    The way to it is looked for during ``time_limit`` seconds; 0: it is not.
    """
    session = played(Session(open_world(target), seed, operator=operator), script)
    found = explained(session, intent)
    if time_limit > 0:
        say = out.each_second()
        found = with_way(session, found, seconds=left(time_limit), say=say)
    _show(session, found, out)
    out.json(
        {
            "schema_version": 1,
            "ok": True,
            "allowed": found.allowed,
            "sure": found.sure,
            "refusal": None if found.allowed else found.to_json(),
        }
    )
    return EXIT_OK if found.allowed else EXIT_NEGATIVE


def _show(session: Session, found: Explanation, out: Output) -> None:
    sources = session.world.loaded.by_name
    where = f"  {found.rule} at {found.place}" if found.rule else ""
    out.entry(f"{found.asked}{where}")
    for line in RefusalLines(fitting_glyphs(), sources).examined(found):
        out.entry("".join(text for text, _ in line))
