"""Environments tell learners no secret: lists, masks, observations and infos are the same."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest

pytest.importorskip("gymnasium", reason="the extra `gym` is not installed")
pytest.importorskip("pettingzoo", reason="the extra `gym` is not installed")

import gymnasium

from tests.secrets.test_surfaces import plain
from tests.secrets.worlds import KINDS, Kind
from tokenworld.gym import RoundsEnv, WorldEnv

Observe = Literal["text", "symbolic", "dict"]


def world(folder: Path, kind: Kind, number: int, *, turns: bool = False) -> str:
    path = folder / "lock.tw"
    text = kind.source(number)
    if turns:
        text = text.replace(
            "object hero: Hero", "object hero: Hero  object pal: Hero  turns hero, pal"
        )
    path.write_text(text, encoding="utf-8")
    return str(path)


def safe_numbers(calls: tuple[str, ...], kind: Kind, folder: Path) -> list[int]:
    """The listed commands that are not done with either value of the secret, and `pass`."""
    return [n for n, call in enumerate(calls) if call == "pass" or _fails(call, kind, folder)]


def _fails(call: str, kind: Kind, folder: Path) -> bool:
    return all(
        WorldEnv(world(folder, kind, n), act="typed").step(call)[4]["status"] != "executed"
        for n in (0, 1)
    )


def shown(env: Any, numbers: list[int]) -> Iterator[str]:
    yield plain(env.calls)
    yield plain(str(env.action_space))
    yield plain(env.reset(seed=1))
    for number in numbers:
        yield plain(env.step(number))
        yield plain(env.render())


@pytest.mark.parametrize("observe", ["text", "dict", "symbolic"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_single_environment(kind: str, observe: Observe, tmp_path: Path) -> None:
    one = KINDS[kind]
    calls = WorldEnv(world(tmp_path, one, 0)).calls
    numbers = safe_numbers(calls, one, tmp_path)[:6]
    both = [
        list(shown(WorldEnv(world(tmp_path, one, n), observe=observe, render_mode="ansi"), numbers))
        for n in (0, 1)
    ]
    assert both[0] == both[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_vector_environment(kind: str, tmp_path: Path) -> None:
    found = []
    for number in (0, 1):
        opened = world(tmp_path, KINDS[kind], number)
        env = gymnasium.vector.SyncVectorEnv([partial(WorldEnv, opened, act="typed")] * 2)
        seen, info = env.reset(seed=1)
        found.append([plain(seen), plain(info)])
        for text in KINDS[kind].tried:
            found[-1].append(plain(env.step((text, text))))
        env.close()
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", KINDS)
def test_an_environment_with_rounds(kind: str, tmp_path: Path) -> None:
    found = []
    for number in (0, 1):
        env = RoundsEnv(world(tmp_path, KINDS[kind], number, turns=True))
        told = env.reset(seed=1)
        found.append([plain(told), plain([env.calls(one) for one in env.agents])])
        found[-1].append(plain(env.step(dict.fromkeys(env.agents, 0))))
    assert found[0] == found[1]


def test_the_list_has_every_guess_and_one_of_them_is_right(tmp_path: Path) -> None:
    env = WorldEnv(world(tmp_path, KINDS["number"], 0))
    env.reset(seed=1)
    guesses = [call for call in env.calls if call.startswith("dial")]
    assert len(guesses) == 10
    wrong = env.step(env.index("dial(safe, 5)"))[4]
    assert wrong["refusal"]["failed"][0]["values"]["s.code"] == "hidden"
    assert wrong["action_mask"].sum() == 11
    assert env.step(env.index("dial(safe, 3)"))[2]
