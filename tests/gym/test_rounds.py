"""`RoundsEnv`: PettingZoo's own check, then what a round gives each agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

pytest.importorskip("gymnasium", reason="the extra `gym` is not installed")
pytest.importorskip("pettingzoo", reason="the extra `gym` is not installed")

from pettingzoo.test import parallel_api_test

from tokenworld.diagnostics import Failure
from tokenworld.gym import RoundsEnv
from tokenworld.gym.spaces import Observe
from tokenworld.session import OpenWorld

TWO = Path(__file__).parents[1] / "rules" / "two_at_once.tw"
MODES = get_args(Observe)


@pytest.mark.parametrize("observe", MODES)
def test_pettingzoo_accepts_worlds_with_turns(arena: OpenWorld, observe: Observe) -> None:
    parallel_api_test(RoundsEnv(arena, observe=observe), 200)
    parallel_api_test(RoundsEnv(str(TWO), observe=observe, limit=50), 200)


def round_of(env: RoundsEnv, **calls: str) -> tuple[Any, ...]:
    return env.step({name: env.index(name, call) for name, call in calls.items()})


def test_a_round_is_one_tick_and_one_reward(arena: OpenWorld) -> None:
    env = RoundsEnv(arena)
    env.reset()
    assert env.possible_agents == env.agents == ["anna", "bran", "cora"]
    _, rewards, terminated, truncated, infos = round_of(env, anna="earn()", bran="earn()")
    assert rewards == {"anna": 2.0, "bran": 2.0, "cora": 2.0}
    assert not any(terminated.values()) | any(truncated.values())
    assert {one["tick"] for one in infos.values()} == {1}
    assert infos["cora"]["said"] == ["anna earns.", "bran earns."]


def test_who_does_something_free_is_not_asked_twice(arena: OpenWorld) -> None:
    env = RoundsEnv(arena)
    env.reset()
    *_, infos = round_of(env, anna="look()", bran="earn()", cora="look()")
    assert [one["status"] for one in infos.values()] == ["executed"] * 3
    assert {one["tick"] for one in infos.values()} == {1}


def test_a_mask_is_of_the_agent_and_an_earlier_one_may_spoil_it(arena: OpenWorld) -> None:
    env = RoundsEnv(arena)
    env.reset()
    *_, infos = round_of(env, anna="earn()")
    place = env.index("bran", "take(anna)")
    assert infos["bran"]["action_mask"][place] == infos["cora"]["action_mask"][place] == 1
    seen, *_, infos = round_of(env, bran="take(anna)", cora="take(anna)")
    assert "refusal" not in infos["bran"]
    assert infos["cora"]["refusal"]["label"] == "poor"
    assert "Refused: The anna has nothing." in seen["cora"] or "Refused" in seen["cora"]
    assert "Refused" not in seen["bran"]
    assert "It is the turn of bran." in seen["bran"]


def test_who_dies_has_terminated(arena: OpenWorld) -> None:
    env = RoundsEnv(arena)
    env.reset()
    seen, rewards, terminated, _, infos = round_of(env, anna="slay(bran)", bran="earn()")
    assert set(seen) == set(rewards) == set(infos) == {"anna", "bran", "cora"}
    assert terminated == {"anna": False, "bran": True, "cora": False}
    assert env.agents == ["anna", "cora"]
    assert not infos["bran"]["action_mask"].any()
    *_, infos = round_of(env, anna="slay(bran)", cora="earn()")
    assert infos["anna"]["no_match"]["kind"] == "no_such_object"
    assert infos["anna"]["tick"] == 2


def test_when_all_are_gone_it_is_over(arena: OpenWorld) -> None:
    env = RoundsEnv(arena)
    env.reset()
    _, _, terminated, _, _ = round_of(env, anna="slay(bran)", cora="slay(anna)")
    assert (env.agents, terminated["cora"]) == (["cora"], False)
    *_, infos = round_of(env, cora="slay(cora)")
    assert env.agents == []
    assert set(infos) == {"cora"}


def test_a_goal_terminates_and_a_stop_truncates(arena: OpenWorld) -> None:
    env = RoundsEnv(arena)
    env.reset()
    for _ in range(4):
        assert not any(round_of(env, anna="earn()")[2].values())
    _, _, terminated, truncated, infos = round_of(env, anna="earn()")
    assert (set(terminated.values()), set(truncated.values())) == ({True}, {False})
    assert (env.agents, infos["bran"]["endings"]) == ([], ["rich"])
    env.reset()
    rounds = [round_of(env, bran="look()") for _ in range(40)]
    assert not any(any(one[3].values()) for one in rounds[:-1])
    assert (set(rounds[-1][3].values()), set(rounds[-1][2].values())) == ({True}, {False})


def test_two_move_together_what_neither_moves_alone() -> None:
    env = RoundsEnv(str(TWO), render_mode="ansi")
    env.reset(seed=1)
    round_of(env, ann="heave(boat)")
    assert not env.step({})[2]["ann"]
    _, _, terminated, _, _ = round_of(env, ann="heave(boat)", bob="heave(boat)")
    assert terminated == {"ann": True, "bob": True}
    assert "`afloat` is reached." in (env.render() or "")


def test_equal_seeds_are_equal_games(arena: OpenWorld) -> None:
    def game() -> list[Any]:
        env = RoundsEnv(arena)
        seen, infos = env.reset(seed=4)
        told = [str(seen)]
        for agent in env.agents:
            env.action_space(agent).seed(8)
        while env.agents:
            acts = {n: env.action_space(n).sample(infos[n]["action_mask"]) for n in env.agents}
            seen, rewards, *_, infos = env.step(acts)
            told.append(f"{seen} {rewards}")
        return told

    assert game() == game()


def test_a_world_without_turns_is_told_so() -> None:
    with pytest.raises(Failure, match="fewer than two actors take turns") as caught:
        RoundsEnv("taxi")
    assert "WorldEnv" in (caught.value.diagnostics[0].hint or "")
