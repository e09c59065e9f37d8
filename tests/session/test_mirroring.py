"""A state of the engine, carried over to the reference: the same hash, and the same future."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.engine.reference import Reference
from tokenworld.prose.wording import EnglishProse
from tokenworld.session import Session, load_program, open_world
from tokenworld.session.players import random_player
from tokenworld.verbs.recheck import between_rounds, mirrored

DOMAINS = Path(__file__).parents[2] / "domains"
FILES = sorted(DOMAINS.glob("*/*.tw"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_world_is_mirrored_whole(path: Path) -> None:
    for world in load_program(path).program.worlds:
        mirrored_whole(f"{path}:{world}")


def mirrored_whole(target: str) -> None:
    session = Session(open_world(target), 3)
    reference = Reference(session.engine.instance, EnglishProse())
    seen = 0
    for command, _ in zip(random_player(session), range(25), strict=False):
        if between_rounds(session.state):
            plain = mirrored(reference, session.state)
            assert reference.hash(plain) == session.engine.hash(session.state)
            after, records = reference.play(plain, command)
            seen += 1
        else:
            after, records = reference.play(after, command)
        assert records[-1]["hash_after"] == session.intend(command)[-1].hash_after
        if session.ended():
            break
    assert seen
