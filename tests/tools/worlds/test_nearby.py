"""Records that differ little from a known one are read and written as whole ones are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.engine import State
from tokenworld.session.loading import OpenWorld, open_world
from tokenworld.session.players import random_command
from tokenworld.session.session import Session
from tokenworld.verbs.records.adapter import Adapter, Base
from tokenworld.verbs.records.properties import mapping_beside
from tokenworld.verbs.records.rows import Recorded, Score

GAMES = Path(__file__).parents[3] / "domains/textgames"
PLAY = (
    "wet clip (ID: 3)", "take clip (ID: 3)", "join clip (ID: 3) left to clip (ID: 4)",
    "shoot coin (ID: 8) with lens (ID: 9)", "join clip (ID: 4) right to clip (ID: 3)",
    "take coin (ID: 8)", "blink lens (ID: 9)", "take scale (ID: 5)", "crush coin (ID: 8)", "look",
    "join clip (ID: 3) left to clip (ID: 3)", "take clip (ID: 4)", "take lens (ID: 9)",
)  # fmt: skip


def whole(state: State) -> tuple[Any, ...]:
    """All that play goes by, but for what is derived from it."""
    return (
        *(getattr(state, name) for name in State.__slots__
          if name not in ("cols", "kids", "facts", "layout", "mine", "trail", "drawn")),
        [list(one) if not isinstance(one, dict) else one for one in state.cols],
        [None if one is None else list(map(list, one)) for one in state.kids], dict(state.drawn),
    )  # fmt: skip


class Sharing:
    """Records as a file has them, in which objects with one text are one and the same."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def __call__(self, recorded: Recorded) -> Recorded:
        texts = (json.dumps(one) for one in recorded.objects)
        objects = [self._known.setdefault(text, json.loads(text)) for text in texts]
        return Recorded(objects, recorded.next_id)


def followed(path: Path, states: Callable[[OpenWorld], Iterable[State]]) -> Iterator[bool]:
    """Read every state from its record, near the one before it; whether that was a revision."""
    world = open_world(str(path))
    adapter, shared = Adapter(world.engine, mapping_beside(path)), Sharing()
    near: Base | None = None
    for state in states(world):
        recorded, task = shared(adapter.write(state)), world.engine.asked(state, adapter.words.task)
        score = adapter.score(state)
        read = adapter.read(recorded, score, task=task)
        base = adapter.based(recorded, score, task=task, near=near)
        assert whole(base.state) == whole(read)
        assert base.outline == adapter.based(recorded, score, task=task).outline
        for command in world.engine.legal(base.state)[:12]:
            found = world.engine.halves(base.state, command)
            for after in (found.acted, found.after):
                assert adapter.write(after, base) == adapter.write(after)
        if near is not None:
            yield base.state.trail.parent is near.state.trail
        near = base


def test_the_states_of_a_world_with_every_exception(bench: Callable[..., Path]) -> None:
    def states(world: OpenWorld) -> Iterator[State]:
        session = Session(world, 0)
        for action in PLAY:
            yield session.state
            assert session.intend(action)[-1].status == "executed", action

    assert 6 <= sum(followed(bench(), states)) < len(PLAY)


@pytest.mark.parametrize(
    "game", ["bath-tub-water-temperature", "conductivity", "cooking", "dishwasher", "plant-tree"]
)
def test_the_states_of_games(game: str) -> None:
    def states(world: OpenWorld) -> Iterator[State]:
        session = Session(world, 3)
        for turn in range(25):
            yield session.state
            session.intend(random_command(world.engine, session.state, 3, turn))

    assert sum(followed(GAMES / game / "world.tw", states)) >= 5


def test_a_revision_that_does_not_fit_is_told_as_a_whole_record(bench: Callable[..., Path]) -> None:
    path = bench()
    world = open_world(str(path))
    adapter, shared = Adapter(world.engine, mapping_beside(path)), Sharing()
    recorded, score = shared(adapter.write(world.engine.start(0))), Score(0, False, False)
    near = adapter.based(recorded, score)
    told = set()
    for key, value in (("wet", "damp"), ("heat", 1000.0), ("shout", "hey"), ("colour", "red"),
                       ("fans", ["coin (ID: 8)"])):  # fmt: skip
        objects = json.loads(json.dumps(recorded.objects))
        objects[2]["properties"][key] = value
        wrong = shared(Recorded(objects, recorded.next_id))
        messages = []
        for base in (None, near):
            with pytest.raises(Failure) as raised:
                adapter.based(wrong, score, near=base)
            messages.append(raised.value.diagnostics)
        assert messages[0] == messages[1]
        told.add(messages[0][0].message)
    assert len(told) == 5
