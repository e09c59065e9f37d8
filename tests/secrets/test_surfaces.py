"""Nothing that a player is given tells a secret: two worlds that differ in one alone look alike.

Each surface is asked everything it can be asked, in worlds with other kinds of secrets, along
commands that come to the same in both worlds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.secrets.worlds import KINDS, Kind
from tokenworld.ground import Command
from tokenworld.play.model.game import forbidden
from tokenworld.play.model.inspection import Inspection
from tokenworld.play.model.timeline import Timeline
from tokenworld.play.model.transcripts import FORMATS, text_as
from tokenworld.prose.matching import completions
from tokenworld.session import Session
from tokenworld.session.refusals import explained as why
from tokenworld.session.refusals.ways import satisfy
from tokenworld.session.reloading import gap
from tokenworld.session.remote import observation
from tokenworld.session.session import hint, last_winnable
from tokenworld.verbs.legal import focused
from tokenworld.verbs.runs.trace import Tracing

Surface = Callable[[Session], object]
HASH = re.compile(r"\b[0-9a-f]{8,64}\b|\d+(\.\d+)? ?(s|seconds|ms)\b")


def everything(session: Session) -> Iterator[Command]:
    """All commands that there could be."""
    program, state = session.world.program, session.state
    known = session.known
    for name in program.actions:
        for args in known.bindings(state, name) or ():
            yield Command(name, args)


def outcomes(session: Session) -> object:
    return [one.to_json() for moment in session.moments for one in moment.outcomes]


def examined(session: Session) -> object:
    return [(session.text_of(one), session.why_not(one)) for one in everything(session)]


def completed(session: Session) -> object:
    words = {session.text_of(one) for one in everything(session)}
    prefixes = sorted({one[:n] for one in words for n in range(len(one))})
    program, speaker = session.world.program, session.speaker()
    calls = [f"{one}(" for one in program.actions]
    return [completions(one, program, speaker, 50) for one in (*prefixes, *calls)]


def mistyped(session: Session) -> object:
    words = sorted({session.text_of(one) for one in everything(session)})
    typed = [f"{word}x" for word in words] + [word[1:] for word in words]
    return [(session.why_not(one), gap(session, one)) for one in typed]


def explained(session: Session) -> object:
    return [
        (found.to_json(), found.trees)
        for found in (why.explained(session, one) for one in everything(session))
    ] + [
        None if told is None else (told.to_json(), told.trees)
        for moment in session.moments
        for told in (why.explained_record(session, found) for found in moment.outcomes)
    ]


def about_objects(session: Session) -> object:
    alive = [n for n in range(len(session.state.kinds)) if session.state.alive(n)]
    return [focused(session, one, barred=100) for one in alive]


def hinted(session: Session) -> object:
    if session.ended():
        return None
    found = hint(session, None, seconds=20.0)
    plan = session.plan(time_limit=20.0)
    return (found.to_json(), plan.answer, plan.plan, plan.notes, plan.attempts, plan.proof,
            last_winnable(session, None, seconds=20.0))  # fmt: skip


def ways(session: Session) -> object:
    quiet: Any = {"say": lambda line: None, "cancel": lambda: False}
    barred = [one for one in everything(session) if not session.why_not(one).allowed]
    return [satisfy(session, one, seconds=10.0, **quiet) for one in barred[:6]]


def traced(session: Session) -> object:
    pairs = zip(session.moments, session.moments[1:], strict=False)
    return [Tracing(session).trace(one.state, other) for one, other in pairs]


def inspected(session: Session) -> object:
    found, line = Inspection(session), Timeline(session)
    line.sync()
    changed = line.differences(line.nodes[0], line.nodes[-1])
    return found.rows, found.tree, found.maps, changed, session.state_json()


SURFACES: dict[str, Surface] = {
    "records": outcomes,
    "commands": lambda session: session.legal(),
    "model player": observation,
    "why not": examined,
    "completions": completed,
    "suggestions": mistyped,
    "obstacles": explained,
    "with an object": about_objects,
    "cannot": lambda session: forbidden(session, session.legal()),
    "hint": hinted,
    "a way": ways,
    "laws": traced,
    "inspector": inspected,
    "saved": lambda session: [text_as(session, one, "a game") for one in FORMATS],
}


def at_each_step(session: Session, kind: Kind, surface: Surface) -> Iterator[str]:
    """What a surface shows at the start and after each command."""
    yield plain(surface(session))
    for text in kind.tried:
        session.intend(text)
        yield plain(surface(session))


def plain(shown: object) -> str:
    text = shown if isinstance(shown, str) else repr(shown)
    return HASH.sub("#", text)


@pytest.fixture
def opened(tmp_path: Path) -> Callable[[Kind, int], Session]:
    def make(kind: Kind, number: int) -> Session:
        path = tmp_path / "lock.tw"
        path.write_text(kind.source(number), encoding="utf-8")
        return Session.open(str(path), seed=1)

    return make


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_surface_shows_the_same_whatever_is_secret(
    kind: str, surface: str, opened: Callable[[Kind, int], Session]
) -> None:
    one, other = KINDS[kind], KINDS[kind]
    first = list(at_each_step(opened(one, 0), one, SURFACES[surface]))
    second = list(at_each_step(opened(other, 1), other, SURFACES[surface]))
    for number, (left, right) in enumerate(zip(first, second, strict=True)):
        assert left == right, f"{kind}, {surface}, after {number} commands"


@pytest.mark.parametrize("kind", [name for name, one in KINDS.items() if one.right])
def test_the_right_command_is_among_the_possible_ones_and_is_done(
    kind: str, opened: Callable[[Kind, int], Session]
) -> None:
    session = opened(KINDS[kind], 0)
    legal = session.legal()
    assert len(legal) > 1
    right = session.why_not(KINDS[kind].right)
    assert right.command in [one.command for one in legal]
    assert right.allowed
    assert not right.sure
    assert session.intend(KINDS[kind].right)[-1].status == "executed"


@pytest.mark.parametrize("kind", [name for name, one in KINDS.items() if one.right])
def test_an_operator_sees_it_all(kind: str, opened: Callable[[Kind, int], Session]) -> None:
    shown = []
    for number in (0, 1):
        session = opened(KINDS[kind], number)
        session.operator = True
        shown.append(json.dumps(session.state_json(), default=str))
        assert [one.command for one in session.legal()] == list(session.engine.legal(session.state))
    assert shown[0] != shown[1]
