"""`WorldEnv`: gymnasium's own check on every world, then what it says about each step."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest

pytest.importorskip("gymnasium", reason="the extra `gym` is not installed")

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

from tokenworld.diagnostics import Failure
from tokenworld.gym import WorldEnv, register
from tokenworld.gym.spaces import Observe
from tokenworld.session import OpenWorld, Session

Tiny = Callable[[str], OpenWorld]
DOMAINS = Path(__file__).parents[2] / "domains"
WORLDS = sorted(
    [*DOMAINS.glob("*/world.tw"), *DOMAINS.glob("textgames/*/world.tw")], key=lambda one: str(one)
)
MODES = get_args(Observe)


def made(world: Path, **options: Any) -> gymnasium.Env[Any, Any]:
    """As a learner gets it: with a spec, so that the check demands equal runs of equal seeds."""
    register()
    env = gymnasium.make("tokenworld/World-v0", world=str(world), render_mode="ansi", **options)
    return env.unwrapped


def test_there_are_worlds() -> None:
    assert len(WORLDS) >= 13


@pytest.mark.parametrize("world", WORLDS, ids=lambda one: one.parent.name)
@pytest.mark.parametrize("observe", MODES)
def test_gymnasium_accepts_every_world(world: Path, observe: str) -> None:
    check_env(made(world, observe=observe))


@pytest.mark.parametrize("world", WORLDS[:4], ids=lambda one: one.parent.name)
def test_gymnasium_accepts_typed_commands(world: Path) -> None:
    check_env(made(world, act="typed"))


@pytest.mark.parametrize("observe", MODES)
def test_worlds_that_grow_are_accepted(farm: OpenWorld, observe: Observe) -> None:
    env = WorldEnv(farm, observe=observe)
    check_env(env, skip_render_check=True)


@pytest.mark.parametrize("world", WORLDS, ids=lambda one: one.parent.name)
def test_a_live_row_tells_what_a_session_tells(world: Path) -> None:
    """With any commands at all: text is made of a session, arrays are of one live row."""
    envs = [WorldEnv(str(world), observe=mode, limit=40, render_mode="ansi") for mode in MODES]
    chosen = Random(world.parent.name)
    for seed in range(2):
        told = [env.reset(seed=seed)[1] for env in envs]
        over = False
        while not over:
            masks = [one.pop("action_mask").tolist() for one in told]
            assert masks == [masks[0]] * len(masks)
            assert told == [told[0]] * len(told)
            possible = [place for place, one in enumerate(masks[0]) if one]
            action = chosen.choice(possible if chosen.random() < 0.7 else range(len(masks[0])))
            steps = [env.step(action) for env in envs]
            assert len({step[1:4] for step in steps}) == 1
            told, over = [step[4] for step in steps], steps[0][2] or steps[0][3]
        assert len({env.render() for env in envs}) == 1


@pytest.mark.parametrize("world", WORLDS, ids=lambda one: one.parent.name)
def test_the_mask_is_what_is_possible(world: Path) -> None:
    """Step by step with commands drawn by the mask; all that is seen lies in its space."""
    envs = [WorldEnv(str(world), observe=mode, limit=12) for mode in MODES]
    session = Session.open(str(world), 3)
    infos = [env.reset(seed=3)[1] for env in envs]
    envs[0].action_space.seed(5)
    over = False
    while not over:
        mask = infos[0]["action_mask"]
        calls = envs[0].calls
        offered = {calls[place] for place in np.flatnonzero(mask)}
        assert infos[0]["left_out"] == 0
        assert offered == {"pass", *(one.call for one in session.legal())}
        action = envs[0].action_space.sample(mask)
        steps = [env.step(action) for env in envs]
        for env, (seen, *_) in zip(envs, steps, strict=True):
            assert seen in env.observation_space
        assert len({step[1:4] for step in steps}) == 1
        infos = [step[4] for step in steps]
        call = calls[action]
        listed = {one.call: one.command for one in session.legal()}
        session.intend("pass" if call == "pass" else listed[call])
        assert infos[0]["score"] == session.engine.score(session.state)
        over = steps[0][2] or steps[0][3]


# ---- the end and the reward -------------------------------------------------------------------


def play(env: WorldEnv, *calls: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
    for call in calls[:-1]:
        assert not any(env.step(env.index(call))[2:4])
    return env.step(env.index(calls[-1]))


def test_a_reward_of_the_tick_and_a_goal() -> None:
    env = WorldEnv(str(DOMAINS / "cliff_walking" / "world.tw"))
    env.reset(seed=0)
    _, fell, *ends, info = env.step(env.index("move(east)"))
    assert (fell, ends, info["said"]) == (-100.0, [False, False], ["You fall."])
    way = ["move(north)", *["move(east)"] * 11, "move(south)"]
    _, reward, *ends, info = play(env, *way)
    assert (reward, ends, info["endings"]) == (-1.0, [True, False], ["across"])
    assert not info["action_mask"].any()


SCORED = """
type Hero { gold: 0 to 99 = 3 }
actor me: Hero
action earn() as "earn" { me.gold += 2 }
action pay() as "pay" { me.gold -= 3 }
world w { object me_: Hero  score = me_.gold  lose broke: me_.gold == 0  stop rich: me_.gold == 7
  goal four: me_.gold == 4  goal five: me_.gold == 5  endless }
"""


def test_without_rewards_the_change_of_the_score(tiny: Tiny) -> None:
    env = WorldEnv(tiny(SCORED))
    env.reset()
    assert env.step(env.index("pay()"))[1:4] == (-3.0, True, False)
    env.reset()
    assert env.step(env.index("earn()"))[1:4] == (2.0, True, False)


def test_the_goal_that_counts_and_a_stop(tiny: Tiny) -> None:
    env = WorldEnv(tiny(SCORED), goal="four")
    env.reset()
    assert env.step(env.index("earn()"))[1:4] == (2.0, False, False)
    assert env.step(env.index("earn()"))[1:4] == (2.0, False, True)
    env.reset()
    assert play(env, "earn()", "pay()", "earn()")[1:4] == (2.0, True, False)


def test_the_limit_cuts_off() -> None:
    env = WorldEnv("taxi", limit=3)
    env.reset()
    assert [env.step(0)[2:4] for _ in range(3)] == [(False, False)] * 2 + [(False, True)]
    env.reset()
    assert env.step(0)[2:4] == (False, False)


def test_a_refusal_is_explained_where_the_past_is_kept(farm: OpenWorld) -> None:
    env = WorldEnv(farm, explain=True)
    env.reset(seed=0)
    env.step(env.index("heat(one)"))
    found = env.step(env.index("heat(one)"))[4]["refusal"]
    (failed,) = found["failed"]
    assert (found["format"], failed["since"]["tick"]) == ("tw-refusal/1", 0)
    assert [one["rule"] for one in failed["since"]["changes"]] == ["action heat"]
    assert env.why("heat(one)").to_json() == {**found, "tick": 1}
    assert env.why("heat(one)", seconds=5).way is not None
    with pytest.raises(Failure, match="keeps no past"):
        WorldEnv(farm).why("heat(one)")


def test_why_something_was_refused(farm: OpenWorld) -> None:
    env = WorldEnv(farm)
    env.reset()
    assert "refusal" not in env.step(env.index("heat(one)"))[4]
    seen, reward, *_, info = env.step(env.index("heat(one)"))
    assert (reward, info["status"], info["refusal"]["label"]) == (0.0, "refused", "hot")
    assert "Refused: The one is hot." in seen
    assert info["refusal"]["failed"][0]["values"] == {"e.hot": True}


# ---- objects that come and go -----------------------------------------------------------------


def test_a_newborn_takes_a_spare_place(farm: OpenWorld) -> None:
    env = WorldEnv(farm, spare_commands=3)
    env.reset()
    fixed = env.calls
    assert env.action_space == gymnasium.spaces.Discrete(len(fixed) + 3)
    info = play(env, "lay()")[4]
    assert env.calls == (*fixed, "heat(e_2)", "smash(e_2)")
    assert (info["left_out"], info["action_mask"].sum()) == (0, 6)
    info = play(env, "lay()")[4]
    assert env.calls[-1] == "heat(e_3)"
    assert info["left_out"] == 1
    env.reset()
    assert env.calls == fixed
    assert env.step(len(fixed))[4]["status"] == "no_match"


def test_the_dead_cannot_be_acted_on(farm: OpenWorld) -> None:
    env = WorldEnv(farm)
    env.reset()
    assert play(env, "lay()", "smash(one)")[1] == -0.5
    _, reward, *_, info = play(env, "smash(one)")
    assert (reward, info["no_match"]["kind"]) == (0.0, "no_such_object")


def test_the_fields_of_a_state(farm: OpenWorld) -> None:
    env = WorldEnv(farm, observe="dict", spare_objects=2)
    seen, _ = env.reset()
    assert env.unseen == ("Egg.note",)
    assert shown(seen) == {
        "@alive": [1, 1, 0, 0], "@endings": [0, 0, 0], "@tick": [0], "bid": [0], "bid?": [0],
        "mood": [0], "Egg.hot": [0, 0, 0], "likes": [[0, 0, 0]],
    }  # fmt: skip
    seen = play(env, "lay()", "heat(e_2)")[0]
    assert shown(seen) == {
        "@alive": [1, 1, 1, 0], "@endings": [0, 0, 0], "@tick": [2], "bid": [-4], "bid?": [1],
        "mood": [1], "Egg.hot": [0, 1, 0], "likes": [[0, 1, 0]],
    }  # fmt: skip
    seen = play(env, "smash(one)", "lay()", "lay()")[0]
    assert seen["@alive"].tolist() == [1, 0, 1, 1]  # the third newborn finds no place
    assert seen["likes"].tolist() == [[0, 1, 1]]
    assert (seen["Egg.worth"].tolist(), seen["Egg.mother"].tolist()) == ([0, 2.5, 2.5], [-1, 0, 0])


BORN_WITH = ("Egg.mother", "Egg.worth", "Hero.strength")
"""What an action never sets; a destroyed object counts as a change of all it had."""


def shown(seen: dict[str, Any]) -> dict[str, Any]:
    return {name: array.tolist() for name, array in seen.items() if name not in BORN_WITH}


def test_one_vector_is_the_fields_by_name(farm: OpenWorld) -> None:
    flat, named = (WorldEnv(farm, observe=mode) for mode in ("symbolic", "dict"))
    for env in (flat, named):
        env.reset()
    calls = ["lay()", "heat(one)"]
    vector, arrays = (play(env, *calls)[0] for env in (flat, named))
    listed = [value for name in sorted(arrays) for value in arrays[name].ravel().tolist()]
    assert vector.tolist() == listed


def test_what_is_secret_is_not_seen(tiny: Tiny) -> None:
    world = tiny("""
        type Box { secret full: bool = false  open: bool = false }
        type Hero
        actor me: Hero
        action fill(b: Box) as "fill {b}" { b.full = true  b.open = true }
        world w { object hero: Hero  object box: Box }
    """)
    assert set(WorldEnv(world, observe="dict").reset()[0]) == {"@tick", "Box.open"}


# ---- seeds ------------------------------------------------------------------------------------


def test_a_seed_is_the_seed_of_the_world() -> None:
    env = WorldEnv("frozen_lake", observe="symbolic")
    env.reset(seed=11)
    session = Session.open("frozen_lake", 11)
    for call in ("move(south)", "move(east)", "move(south)", "move(east)"):
        env.step(env.index(call))
        session.intend(f"go {call[5:-1]}")
    assert env.render() is None
    now = env.episode.state
    assert env.world.engine.hash(now) == session.engine.hash(session.state)


def test_resets_without_a_seed_repeat_in_a_new_environment() -> None:
    first, second = (
        [env.reset()[1]["seed"] for _ in range(3)] for env in (WorldEnv("taxi"), WorldEnv("taxi"))
    )
    assert first == second
    assert first[0] == 0
    assert len(set(first)) == 3
    assert WorldEnv("taxi", seed=9).reset()[1]["seed"] == 9


def test_a_start_by_chance_differs_from_seed_to_seed(tiny: Tiny) -> None:
    world = tiny("""
        type Room
        type Hero { at: Room }
        actor me: Hero
        action stay() as "stay" { }
        world w {
          object a, b, c, d: Room
          object hero: Hero { at = a }
          setup { pick r: Room { hero.at = r } }
        }
    """)
    env = WorldEnv(world, observe="dict")
    places = [int(env.reset(seed=seed)[0]["Hero.at"][0]) for seed in range(20)]
    assert set(places) == {0, 1, 2, 3}


# ---- words ------------------------------------------------------------------------------------


def test_typed_commands(farm: OpenWorld) -> None:
    env = WorldEnv(farm, act="typed", render_mode="ansi")
    text, info = env.reset()
    assert info["commands"] == ["lay", "heat one", "smash one", "pass"]
    assert all(one in env.action_space for one in info["commands"])
    assert env.step("lay")[1] == 2.0
    info = env.step("fry one")[4]
    assert info["no_match"]["kind"] == "unknown_verb"
    assert (env.render() or "").startswith("Not understood: ")
    assert text.startswith("w\nYou are hen.")


def test_what_cannot_be_listed_can_be_typed(tiny: Tiny) -> None:
    world = tiny("""
        type Hero { dialled: 0 to 999 = 0 }
        actor me: Hero
        action dial(a: 0 to 999, b: 0 to 999) as "dial {a} then {b}" { me.dialled = b }
        world w { object hero: Hero  goal home: hero.dialled == 7 }
    """)
    env = WorldEnv(world)
    env.reset()
    assert (env.calls, env.unlisted) == (("pass",), ("dial",))
    env = WorldEnv(world, act="typed")
    env.reset()
    assert env.step("dial 3 then 7")[1:4] == (0.0, True, False)


def test_after_the_end_nothing_happens(farm: OpenWorld) -> None:
    env = WorldEnv(farm)
    env.reset()
    play(env, "lay()", "heat(one)", "heat(e_2)")
    _, reward, terminated, truncated, info = env.step(env.index("lay()"))
    assert (reward, terminated, truncated, info["status"]) == (0.0, True, False, "halted")


def test_many_side_by_side(farm: OpenWorld) -> None:
    envs = gymnasium.vector.SyncVectorEnv([lambda: WorldEnv(farm, observe="symbolic")] * 3)
    _, infos = envs.reset(seed=1)
    assert infos["action_mask"].shape == (3, WorldEnv(farm).action_space.n)
    heat = WorldEnv(farm).index("heat(one)")
    envs.step(np.array([0, heat, heat]))
    *_, infos = envs.step(np.array([0, heat, heat]))
    assert infos["status"].tolist() == ["executed", "refused", "refused"]
    assert infos["_refusal"].tolist() == [False, True, True]


# ---- what cannot be ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"observe": "pixels"}, "`observe` cannot be `pixels`"),
        ({"act": "clicked"}, "`act` cannot be `clicked`"),
        ({"render_mode": "human"}, "`render_mode` cannot be `human`"),
        ({"goal": "hatch"}, "has no goal `hatch`"),
        ({"limit": 0}, "needs a step"),
    ],
)
def test_options_that_cannot_be(farm: OpenWorld, options: dict[str, Any], what: str) -> None:
    with pytest.raises(Failure, match=what) as caught:
        WorldEnv(farm, **options)
    (found,) = caught.value.diagnostics
    assert found.code == "TW0006"
    assert found.hint


def test_a_command_that_is_not_listed(farm: OpenWorld) -> None:
    with pytest.raises(Failure, match="TW0006: `heat\\(on\\)`"):
        WorldEnv(farm).index("heat(on)")


@pytest.mark.parametrize("library", ["numpy", "gymnasium"])
def test_without_the_extra_one_diagnostic(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    import importlib.util

    import tokenworld.gym

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == library else name)
    with pytest.raises(Failure) as caught:
        _ = tokenworld.gym.WorldEnv
    (found,) = caught.value.diagnostics
    assert found.code == "TW0811"
    assert found.hint == "Run `pip install 'token-world[gym]'`."


def test_nothing_loads_gymnasium_before_it_is_asked_for() -> None:
    code = "import json, sys, tokenworld, tokenworld.gym; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"gymnasium", "pettingzoo", "numpy"} & set(json.loads(done.stdout))
