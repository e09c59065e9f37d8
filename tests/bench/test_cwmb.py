"""`tw bench cwmb`: worlds against gymnasium, recorded buffers, planning, the optimum."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("gymnasium", reason="the extra `gym` is not installed")

import gymnasium
import numpy as np

from tokenworld.cli import _main
from tokenworld.diagnostics import Failure
from tokenworld.gym.cwmb import optimum
from tokenworld.gym.cwmb.envs import ENVS, Env, Obs
from tokenworld.gym.cwmb.model import RowModel, accuracy, bundled, likelihood
from tokenworld.gym.cwmb.optimum import Best, best_return
from tokenworld.gym.cwmb.real import TrueModel, read_buffer, transitions
from tokenworld.gym.cwmb.search import (
    PUBLISHED,
    Effort,
    Policy,
    cross_entropy,
    episode,
    planned,
    random_policy,
)
from tokenworld.gym.cwmb.verb import Returns, Scored, _returned, _summary
from tokenworld.verbs.bench.report import Author

BY_NAME = {env.name: env for env in ENVS}
Told = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    def call(*arguments: object) -> tuple[int, dict[str, Any]]:
        code = _main(["bench", "cwmb", *map(str, arguments), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call


# ---- accuracy -----------------------------------------------------------------------------------


@pytest.mark.parametrize("env", ENVS, ids=lambda env: env.name)
def test_a_world_predicts_what_the_environment_does(env: Env) -> None:
    """Whole rows, but those that end because time is up, which no observation tells."""
    rows = transitions(env, 600, seed=5)
    model = RowModel(env)
    if env.name == "Blackjack":
        found = likelihood(model, rows)
        assert found.possible == found.rows == 600
        assert abs(found.mean - found.expected) < 0.15
        return
    ours, true = accuracy(env, model, rows), accuracy(env, TrueModel(env), rows)
    assert ours == true
    late = sum(one.done and one.steps == env.limit - 1 for one in rows)
    assert ours.whole == ours.rows - late
    assert ours.formula == 1.0 if not late else ours.formula >= 0.997


def test_a_wrong_rule_lowers_the_accuracy(tmp_path: Path) -> None:
    env = BY_NAME["MountainCar"]
    rows = transitions(env, 150, seed=1)
    text = bundled(env).read_text(encoding="utf-8")
    for old, new in (("gravity: real = 0.0025", "gravity: real = 0.0026"),
                     ("reward -1", "reward -2")):  # fmt: skip
        path = tmp_path / "mountain_car.tw"
        path.write_text(text.replace(old, new), encoding="utf-8")
        found = accuracy(env, RowModel(env, path), rows)
        assert found.formula < 0.9
        assert found.whole < 100


def test_the_formula_weighs_the_values_of_the_reward_alike() -> None:
    """One of 100 steps has the reward 0; a model that misses it has half of this half."""
    env = BY_NAME["CartPole"]
    rows = transitions(env, 100, seed=2)
    wrong = [*rows[:99], type(rows[0])(rows[99].obs, rows[99].action, rows[99].after, 7.0, True, 0)]
    found = accuracy(env, RowModel(env), wrong)
    assert found.whole == 99
    assert 0.49 < found.formula < 0.76


def test_chances_of_blackjack_are_exact() -> None:
    model = RowModel(BY_NAME["Blackjack"])
    hit = model.chances((20.0, 10.0, 0.0), 1)
    assert hit[((21.0, 10.0, 0.0), 0.0, False)] == Fraction(1, 13)
    assert hit[((), -1.0, True)] == Fraction(12, 13)
    stick = model.chances((20.0, 10.0, 0.0), 0)
    assert sum(stick.values()) == 1
    assert {reward for _, reward, _ in stick} == {-1.0, 0.0, 1.0}
    natural, later = (model.chances((21.0, 1.0, 1.0), 0, steps) for steps in (0, 1))
    assert ((), -1.0, True) not in natural
    assert natural[((), 1.0, True)] > later[((), 1.0, True)]
    draws, random = 3000, Random(1)
    row = model.entered((20.0, 10.0, 0.0))
    wins = sum(model.step(row, 0, random)[2] == 1.0 for _ in range(draws))
    assert abs(wins / draws - float(stick[((), 1.0, True)])) < 0.03


# ---- recorded buffers ---------------------------------------------------------------------------


def buffer(path: Path, **changes: object) -> Path:
    rows = transitions(BY_NAME["CliffWalking"], 30, seed=3)
    found: dict[str, object] = {
        "idx": len(rows), "capacity": 40, "full": False,
        "obs": [int(one.obs[0]) for one in rows], "next_obs": [int(one.after[0]) for one in rows],
        "actions": [np.int64(one.action) for one in rows],
        "rewards": np.array([one.reward for one in rows], np.float32),
        "dones": np.array([one.done for one in rows]),
        "traj_starts": np.array([0] * len(rows), np.int32),
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps({**found, **changes}))
    return path


def test_a_recorded_buffer_is_scored(tmp_path: Path, told: Told) -> None:
    spaces = [{"valid_actions": gymnasium.spaces.Discrete(4, seed=1)}]
    buffer(tmp_path / "CliffWalking-v0" / "train_buffer.pkl", extra_info=spaces)
    code, found = told(tmp_path, "--only", "cliffwalking", "--episodes", 0)
    (env,) = found["environments"]
    assert (code, env["rows"], env["recorded"]) == (0, 30, True)
    assert env["accuracy"] == env["ceiling"] == {"formula": 1.0, "whole": 30, "rows": 30}


class Bad:
    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("raise SystemExit('it ran')",)


@pytest.mark.parametrize(
    "data", [b"", b"no pickle", pickle.dumps([1]), pickle.dumps({"obs": Bad()}),
             pickle.dumps(Path("."))],
)  # fmt: skip
def test_no_other_file_is_read(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "train_buffer.pkl"
    path.write_bytes(data)
    with pytest.raises(Failure) as failure:
        read_buffer(path)
    assert failure.value.diagnostics[0].code == "TW0001"


def test_a_folder_without_buffers_is_one_diagnostic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _main(["bench", "cwmb", str(tmp_path), "--episodes", "0"]) == 2
    assert capsys.readouterr().err.count("TW0006") == 1
    assert _main(["bench", "cwmb", "--only", "Pendulum"]) == 2


# ---- predictions --------------------------------------------------------------------------------


def test_predicted_worlds_are_scored(tmp_path: Path, told: Told) -> None:
    text = bundled(BY_NAME["MountainCar"]).read_text(encoding="utf-8")
    (tmp_path / "mountain_car.tw").write_text(text.replace("0.001", "0.002"), encoding="utf-8")
    (tmp_path / "cart_pole.tw").write_text("world w { }", encoding="utf-8")
    code, found = told("--predictions", tmp_path, "--model", "m-1", "--date", "2026-01-01",
                       "--only", "mountaincar", "--only", "cartpole", "--only", "acrobot",
                       "--rows", 100, "--episodes", 0)  # fmt: skip
    car, pole, acrobot = found["environments"]
    assert code == 0
    assert car["accuracy"]["formula"] < car["ceiling"]["formula"] == 1.0
    assert pole["fault"]
    assert acrobot["fault"] == "no prediction"
    assert "m-1, 2026-01-01" in found["tables"][0]["rows"][1][0]


# ---- return -------------------------------------------------------------------------------------


def test_the_best_returns_are_those_that_are_known() -> None:
    for name, seeds, best in (("CliffWalking", [0], -13.0), ("CartPole", [0], 500.0)):
        found = best_return(BY_NAME[name], RowModel(BY_NAME[name]), seeds)
        assert (found.value, found.claim) == (best, "exact")
    taxi = best_return(BY_NAME["Taxi"], RowModel(BY_NAME["Taxi"]), range(6))
    assert taxi.claim == "exact"
    assert 3 <= taxi.value <= 15


def test_the_beam_ends_worlds_of_real_numbers_and_repeats_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Random play never ends them; a narrow beam does, without a word on what it is to reach."""
    monkeypatch.setattr(optimum, "_WIDTHS", (30,))
    for name, least in (("MountainCar", -140), ("Acrobot", -150)):
        model = RowModel(BY_NAME[name])
        found = best_return(BY_NAME[name], model, [0])
        assert found.claim == "found"
        assert least <= found.value < -50
        assert found == best_return(BY_NAME[name], model, [0])


def test_planning_is_better_than_chance_and_repeats_itself() -> None:
    env = BY_NAME["CartPole"]
    model = RowModel(env)
    policy = planned(model, 2)
    ours = episode(env, policy, seed=0)
    assert ours == episode(env, policy, seed=0)
    assert ours > 3 * episode(env, random_policy(2), seed=0)


@pytest.mark.parametrize("name", ["CliffWalking", "Taxi", "CartPole", "MountainCar", "Acrobot"])
def test_a_planner_does_the_same_on_the_rules_and_on_the_true_dynamics(name: str) -> None:
    """Both predict the same, so equal seeds give equal episodes: no return is below by chance."""
    env = replace(BY_NAME[name], limit=12)
    effort = Effort(horizon=10, rounds=2, samples=10, elites=2)
    for choose in (lambda model: planned(model, len(env.actions)),
                   lambda model: cross_entropy(model, env, effort)):  # fmt: skip
        acts = [_actions(env, choose(model)) for model in (RowModel(env), TrueModel(env))]
        assert acts[0] == acts[1]


def _actions(env: Env, policy: Policy) -> list[int]:
    """The actions that a policy chooses in an episode."""
    found: list[int] = []

    def noted(obs: Obs, steps: int, random: Random) -> int:
        found.append(policy(obs, steps, random))
        return found[-1]

    episode(env, noted, seed=3)
    return found


def test_cross_entropy_is_better_than_chance_and_repeats_itself() -> None:
    env = BY_NAME["CartPole"]
    policy = cross_entropy(RowModel(env), env, Effort(horizon=25, rounds=4, samples=30, elites=6))
    ours = episode(env, policy, seed=0)
    assert ours == episode(env, policy, seed=0)
    assert ours > 2 * episode(env, random_policy(2), seed=0)
    assert PUBLISHED.of(50) == Effort(100, 20, 50, 5)


def test_cross_entropy_finds_the_way_along_the_cliff() -> None:
    """Its plans are sums of rewards: it walks no further than it must, and does not fall."""
    env = replace(BY_NAME["CliffWalking"], limit=16)
    policy = cross_entropy(RowModel(env), env, Effort(rounds=12, samples=150, elites=15))
    assert -30 <= episode(env, policy, seed=1) <= -13


def test_the_planners_are_rows_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    best = Best(-13.0, "exact")
    runs = (Returns("mcts", (-20.0, -30.0), (-20.0, -20.0), (-100.0, -100.0), best),
            Returns("cem", (-13.0, -13.0), (-13.0, -13.0), (-100.0, -100.0), best))  # fmt: skip
    scored = [Scored(BY_NAME["CliffWalking"], 10, returns=runs)]
    rows = _returned(scored).rows
    assert [row[1] for row in rows] == ["MCTS", "CEM"]
    assert rows[1][2:] == ("2", "-13.00 ± 0.00", "-13.00 ± 0.00", "-100.00 ± 0.00", "-13", "exact")
    summary = _summary(scored, Author())
    assert summary.heads == ("who", "accuracy", "return, MCTS", "return, CEM", "cost")
    assert summary.rows[1][2:4] == ("0.94 ± 0.00", "1.00 ± 0.00")
    assert _main(["bench", "cwmb", "--samples", "0"]) == 2
    assert capsys.readouterr().err.count("TW0006") == 1
    assert _main(["bench", "cwmb", "--planner", "dfs"]) == 2
