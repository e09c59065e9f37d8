"""A played game as text to keep: to read, to evaluate, to play again, to test.

Undone steps are not in it: it has the current path of moments of the session.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, Literal, assert_never

from tokenworld.ground import Json, Outcome
from tokenworld.session.moments import Moment
from tokenworld.session.obstacles import command_of
from tokenworld.session.refusals.explained import Explainer
from tokenworld.session.session import Session
from tokenworld.verbs.refusals.lines import compact

TextFormat = Literal["markdown", "jsonl", "plan", "script", "scenario"]
_HAND: Final = "# set by hand on a scratch branch: "
FORMATS: tuple[TextFormat, ...] = ("markdown", "jsonl", "plan", "script", "scenario")


def text_as(session: Session, form: TextFormat, title: str) -> str:
    """The game in one of the formats; ``title`` names a scenario."""
    match form:
        case "markdown":
            return markdown(session)
        case "jsonl":
            return jsonl(session)
        case "plan":
            return plan(session)
        case "script":
            return script(session)
        case "scenario":
            return scenario(session, title)
        case _:
            assert_never(form)


# ---- to read ----------------------------------------------------------------------------------


def markdown(session: Session) -> str:
    """The story in Markdown: intents, texts, and refusals with their reasons."""
    return "\n".join(_story(session)) + "\n"


def _story(session: Session) -> Iterator[str]:
    yield f"# {session.world.world.title}"
    yield ""
    yield f"Seed {session.seed}, {session.tick} ticks, score {_score(session)}."
    why = Explainer(session)
    for moment in session.moments[1:]:
        yield ""
        if moment.edit:
            yield f"*by hand, and recorded nowhere: {_plain(moment.edit)}*"
            continue
        yield f"**> {_plain(moment.asked)}**"
        for outcome in moment.outcomes:
            yield ""
            yield f"*tick {outcome.tick}: {outcome.status.replace('_', ' ')}*"
            for text in _told(outcome, why):
                yield ""
                yield _plain(text)


def _score(session: Session) -> str:
    return str(session.engine.score(session.state))


def _told(outcome: Outcome, why: Explainer) -> Iterator[str]:
    found = why.record(outcome)
    if found is not None:
        yield from compact(found, why.session.world.loaded.by_name)
    yield from outcome.said
    yield from (f"Ending: `{name}`" for name in outcome.latched)


def _plain(text: str) -> str:
    """Text that Markdown leaves alone, in one line."""
    return " ".join(text.split()).replace("*", "\\*").replace("<", "&lt;")


# ---- to evaluate --------------------------------------------------------------------------------


def jsonl(session: Session) -> str:
    """Return a line of JSON for each record: the intent, the outcome (``tw-outcome/1``), and a full
    refusal (``tw-refusal/1``). Records of a scratch branch and edits are marked."""
    why = Explainer(session)
    return "".join(
        json.dumps(found, ensure_ascii=False) + "\n"
        for moment in session.moments[1:]
        for found in _found(moment, why)
    )


def _found(moment: Moment, why: Explainer) -> Iterator[dict[str, Json]]:
    if moment.edit:
        yield {"format": "tw-edit/1", "edit": moment.edit, "scratch": True}
    for outcome in moment.outcomes:
        scratch: dict[str, Json] = {"scratch": True} if moment.scratch else {}
        told = why.record(outcome) if outcome.refusal is not None else None
        refusal: dict[str, Json] = {} if told is None else {"refusal": told.to_json()}
        yield {"asked": moment.asked, **outcome.to_json(), **refusal, **scratch}


# ---- to play again ------------------------------------------------------------------------------


def script(session: Session) -> str:
    """Everything that was asked, refused or not, for `tw run --script`."""
    asked = (
        _by_hand(moment) if moment.edit else _one_line(moment.asked)
        for moment in session.moments[1:]
    )
    return _lines(session, (one for one in asked if _kept(one)))


def _by_hand(moment: Moment) -> str:
    """Return a comment on an edit of a scratch branch, which no script can repeat."""
    return f"{_HAND}{moment.edit}"


def _kept(line: str) -> bool:
    return bool(line) and (line.startswith(_HAND) or not line.startswith("#"))


def plan(session: Session) -> str:
    """Return the commands that had an effect, as a script of calls."""
    moments = zip(session.moments[1:], session.moments, strict=False)
    done = (
        _by_hand(moment) if moment.edit else _call(session, before, moment)
        for moment, before in moments
        if moment.edit or any(one.hash_before != one.hash_after for one in moment.outcomes)
    )
    return _lines(session, (one for one in done if one))


def command(session: Session) -> str:
    """The last thing that was asked, as a call: ``take(robot)``; else as it was typed."""
    if len(session.moments) == 1:
        return ""
    before, moment = session.moments[-2:]
    return moment.asked if moment.edit else _call(session, before, moment) or moment.asked


def _lines(session: Session, lines: Iterator[str]) -> str:
    head = f"# {session.world.world.name}, seed {session.seed}"
    return "\n".join([head, *lines]) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _call(session: Session, before: Moment, moment: Moment) -> str:
    """``take(robot)``, ``pass``, or nothing for words without a meaning."""
    outcome = moment.outcomes[-1]
    if outcome.no_match is not None or outcome.status == "halted":
        return ""
    if not outcome.action or _passed(moment):
        return "pass"
    command = command_of(session, before, outcome)
    return "" if command is None else session.engine.call(before.state, command)


def _passed(moment: Moment) -> bool:
    """Return whether a long action went on, as it does where nothing is asked."""
    return moment.asked.strip() == "pass"


# ---- to test ------------------------------------------------------------------------------------


def scenario(session: Session, title: str) -> str:
    """A scenario that gives the same intents and expects the same outcomes.

    It belongs in the file of its world. Words without a meaning become comments.
    """
    lines = [f'scenario "{_quoted(title)}" in {session.world.world.name} {{']
    if session.seed:
        lines.append(f"  random {session.seed}")
    for before, moment in zip(session.moments, session.moments[1:], strict=False):
        if moment.edit:
            lines.append(f"  given {{ {moment.edit} }}")
            continue
        call = _call(session, before, moment)
        if call:
            lines.append(f"  when {call}  then {', '.join(_expected(moment))}")
        else:
            lines.append(f"  # {_one_line(moment.asked)}: {moment.outcomes[-1].status}")
    return "\n".join([*lines, "}"]) + "\n"


def _expected(moment: Moment) -> Iterator[str]:
    outcome = moment.outcomes[-1]
    if outcome.refusal is not None and outcome.refusal.label.isidentifier():
        yield f"refused because {outcome.refusal.label}"
    else:
        yield f"status {outcome.status}"


def _quoted(text: str) -> str:
    """A title that stands between quotes and holds no slot."""
    plain = _one_line(text).replace("\\", "/").replace('"', "'")
    return plain.replace("{", "(").replace("}", ")")
