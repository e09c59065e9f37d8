"""Models that answer noise: no run breaks, each ends by itself, and its replay is equal."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.author.conftest import (
    CAVE,
    NO_OIL,
    SPEC,
    SUBMIT,
    TEAM,
    TESTS,
    Run,
    call,
    patch,
    whole,
)
from tokenworld.verbs.author.asking import ROLES

PIECES = (
    SPEC, CAVE, NO_OIL, TESTS, SUBMIT, whole(CAVE), whole(NO_OIL), whole(TESTS),
    whole(CAVE + TESTS),
    patch("  me.oil -= 1", "  me.oil -= 2"), patch("}", "{"), patch("scenario", "world"),
    call('{"tool": "check"}'), call('{"tool": "try", "commands": ["light lamp", "", "pass"]}'),
    call('{"tool": "submit", "disputes": [{"title": "M2 a dry lamp"}, 3], "rules": {"M1": 3}}'),
    call('{"tool": "worlds"}'), '{"do": ["light lamp"], "violated": [{}]}', '{"end": true}',
    "```tw\n", "=======\n", "```\n", "<<<<<<< SEARCH\n", "\x00", "",
)  # fmt: skip


def noise(random_: random.Random) -> str:
    """Some pieces, one of them with a part cut out."""
    text = "\n".join(random_.choices(PIECES, k=random_.randint(1, 3)))
    if random_.random() < 0.5:
        start = random_.randrange(len(text) + 1)
        text = text[:start] + text[start + random_.randrange(60) :]
    return text


@pytest.mark.parametrize("seed", range(12))
def test_noise(seed: int, run: Run) -> None:
    random_ = random.Random(seed)
    answers = [(role, noise(random_)) for role in ROLES for _ in range(14)]
    answers.insert(0, ("analyst", SPEC))
    team = replace(TEAM, roles=("analyst", "developer", "tester", "player"), requests=14)
    done = run(answers, team)
    assert done.result.reason in ("accepted", "stalled", "budget", "max_rounds")
    for attempt in done.result.attempts:
        assert attempt.status != "accepted" or attempt.source.strip()
