"""`WorldVectorEnv`: its episodes are those of `WorldEnv`, compiled or in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("gymnasium", reason="the extra `gym` is not installed")

import gymnasium
import numpy as np
from gymnasium.vector import SyncVectorEnv

from tokenworld.diagnostics import Failure
from tokenworld.engine.rows.code.compiled import compiler_missing
from tokenworld.gym import WorldEnv, WorldVectorEnv, register, vector
from tokenworld.session import OpenWorld

Tiny = Callable[[str], OpenWorld]
COUNT = 6


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return list(one) == list(other) and all(equal(one[name], other[name]) for name in one)
    return bool(one.dtype == other.dtype and np.array_equal(one, other))


def compared(many: WorldVectorEnv, single: SyncVectorEnv, steps: int, *, again: bool) -> int:
    """Give both the same actions, some of them refused; how many episodes ended. Episodes that
    begin ``again`` differ by their seeds, which nothing shows."""
    chosen, ended = np.random.default_rng(7), 0
    seen, infos = many.reset(seed=3)
    other, told = single.reset(seed=3)
    assert equal(seen, other)
    for _ in range(steps):
        assert np.array_equal(infos["action_mask"], told["action_mask"])
        assert np.array_equal(infos["tick"], told["tick"])
        actions = chosen.integers(0, many.single_action_space.n, COUNT)
        seen, rewards, *ends, infos = many.step(actions)
        other, paid, *stops, told = single.step(actions)
        assert equal(seen, other)
        assert np.array_equal(rewards, paid)
        assert np.array_equal(ends, stops)
        ended += int(np.sum(ends))
        if ended and not again:
            break
    return ended


@pytest.mark.parametrize("observe", ["dict", "symbolic"])
@pytest.mark.parametrize(("name", "fast"), [("cliff_walking", True), ("frozen_lake", False),
                                            ("cellar", False), ("dishwasher", False)])  # fmt: skip
def test_episodes_side_by_side_are_episodes(
    name: str, fast: bool, observe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not fast:
        monkeypatch.setattr(vector, "compiler_missing", lambda: "numba")
    elif compiler_missing():
        pytest.skip("needs the extra `fast`")
    options: dict[str, Any] = {"observe": observe, "limit": 25}
    many = WorldVectorEnv(name, COUNT, **options)
    assert many.compiled == fast
    assert bool(many.note) != fast
    single = SyncVectorEnv([lambda: WorldEnv(name, **options)] * COUNT)
    assert many.single_observation_space == single.single_observation_space
    alike = name in ("cliff_walking", "dishwasher")  # nothing is drawn
    assert compared(many, single, 70, again=alike) >= 1


def test_gymnasium_makes_it_by_name() -> None:
    register()
    env = gymnasium.make_vec("tokenworld/World-v0", 2, world="cliff_walking")
    assert isinstance(env, WorldVectorEnv)
    seen, infos = env.reset(seed=[5, None])
    assert env.observation_space.contains(seen)
    assert infos["seed"][0] == 5
    assert infos["action_mask"].shape == (2, env.single_action_space.n)
    assert env.calls[env.index("move(east)")] == "move(east)"


REFUSING = """
type Hero { gold: 0 to 9 = 1 }
actor me: Hero
action pay() as "pay" { require me.gold > 0 else poor "No gold."  me.gold -= 1  reward 0.5 }
action halve() as "halve" { me.gold = me.gold div (me.gold - 1)  reward 1 }
world w { object hero: Hero  lose broke: hero.gold == 7 }
"""


@pytest.mark.skipif(bool(compiler_missing()), reason="needs the extra `fast`")
def test_refusals_errors_and_places_without_a_command(tiny: Tiny) -> None:
    """What the compiled batch cannot decide (a division by zero) the interpreter does."""
    env = WorldVectorEnv(tiny(REFUSING), 4)
    assert env.compiled, env.note
    env.reset(seed=0)
    halve, pay = env.index("halve()"), env.index("pay()")
    _, rewards, *_, infos = env.step(np.array([0, pay, halve, 99]))
    assert rewards.tolist() == [0.0, 0.5, 0.0, 0.0]
    assert infos["status"].tolist() == ["executed", "executed", "error", "no_match"]
    assert infos["tick"].tolist() == [1, 1, 0, 0]
    _, rewards, *_, infos = env.step(np.array([0, pay, pay, halve]))
    assert rewards.tolist() == [0.0, 0.0, 0.5, 0.0]
    assert infos["status"].tolist() == ["executed", "refused", "executed", "error"]
    assert infos["action_mask"][:, pay].tolist() == [1, 0, 0, 1]


def test_texts_are_for_one_episode() -> None:
    with pytest.raises(Failure, match="seen as arrays") as caught:
        WorldVectorEnv("taxi", 2, observe="text")
    assert "WorldEnv" in (caught.value.diagnostics[0].hint or "")
