"""`tokenworld.rollout` and `tw rollout`: the runs are those of `tw run`, by any engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tokenworld
from tokenworld.cli.frame import _main
from tokenworld.ground import PASS
from tokenworld.planning.space.policy import wilson
from tokenworld.session.players import random_command

DOMAINS = Path(__file__).parents[2] / "domains"
SKIRMISH = str(DOMAINS / "skirmish/world.tw")
DISHWASHER = str(DOMAINS / "dishwasher/world.tw")


def called(*words: str) -> int:
    return _main(list(words))


def test_runs_with_and_without_texts_are_the_same() -> None:
    both = [
        tokenworld.rollout(SKIRMISH, worlds=20, ticks=40, seed=3, engine=engine, digests=True)
        for engine in ("plain", "play")
    ]
    assert [one.engine for one in both] == ["plain", "play"]
    one, other = (found.to_json() for found in both)
    for key in ("outcomes", "endings", "statuses", "runs", "digests"):
        assert one[key] == other[key], key
    assert both[0].digests is not None
    assert len(set(both[0].digests)) == 20
    assert both[0].count("goal") + both[0].count("lose") == 20
    assert len(both[0].statuses) == 20
    assert len(both[0].statuses[0]) == 9


def test_a_run_is_the_one_that_tw_run_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The journal of `tw run`, and its replay, end in the state of the rollout."""
    store = str(tmp_path / "runs.sqlite")
    for seed in (0, 5):
        given = ("--player", "random", "--ticks", "12", "--seed", str(seed), "--store", store)
        assert called("run", SKIRMISH, *given, "--json") == 0
        recorded: dict[str, Any] = json.loads(capsys.readouterr().out)
        found = tokenworld.rollout(SKIRMISH, worlds=1, ticks=12, seed=seed, digests=True)
        assert found.digests == (recorded["state_hash"],)
        assert int(found.ticks[0]) == recorded["tick"]
        assert called("runs", "replay", "--verify", "--store", store) == 0
        capsys.readouterr()


def test_rows_play_what_creates_and_takes_time() -> None:
    both = [
        tokenworld.rollout(DISHWASHER, worlds=2, ticks=25, engine=engine, digests=True)
        for engine in ("auto", "play")
    ]
    assert [one.engine for one in both] == ["plain", "play"]
    assert [one.note for one in both] == ["", ""]
    assert both[0].digests == both[1].digests
    assert both[0].to_json()["statuses"] == both[1].to_json()["statuses"]


BUNDLED = ("boil_water", "cottage", "island", "skirmish", "taxi", "willowbrook")


@pytest.mark.parametrize("name", BUNDLED)
def test_runs_are_those_of_the_random_player(name: str) -> None:
    """Intents, records, rewards and hashes by `Engine.play`, for starts that differ by chance."""
    found = tokenworld.rollout(name, worlds=3, ticks=25, seed=4, engine="plain", digests=True)
    engine = tokenworld.open_world(name).engine
    for run, seed in enumerate((4, 5, 6)):
        state, records, reward, turn = engine.start(seed), 0, 0.0, 0
        while records < 25 and not engine.over(state):
            state, outcomes = engine.play(state, random_command(engine, state, seed, turn))
            if outcomes[-1].fruitless and len(state.actors) > 1:
                state, more = engine.play(state, PASS, by="runner")
                outcomes += more
            records, turn = records + len(outcomes), turn + 1
            reward += sum(one.reward for one in outcomes)
        assert found.digests is not None
        assert found.digests[run] == engine.hash(state)
        assert int(found.records[run]) == records
        assert float(found.reward[run]) == reward
        assert float(found.score[run]) == engine.score(state)


def test_a_script_is_given_to_every_run(tmp_path: Path) -> None:
    script = tmp_path / "wait.txt"
    script.write_text("wait\nwait\nwait\n", encoding="utf-8")
    for engine in ("plain", "play"):
        found = tokenworld.rollout(SKIRMISH, worlds=3, policy=script, engine=engine)
        assert found.count("lose") == 3
        assert [int(one) for one in found.ended_at] == [2, 2, 2]
        assert [int(one) for one in found.records] == [2, 2, 2]


def test_a_policy_wins_where_it_was_proved_to(tmp_path: Path) -> None:
    file = tmp_path / "policy.jsonl"
    assert called("plan", SKIRMISH, "--luck", "certain", "--policy", str(file)) == 0
    for engine in ("plain", "play"):
        found = tokenworld.rollout(SKIRMISH, worlds=5, policy=file, engine=engine)
        assert found.count("goal") == 5


def test_the_table_and_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert called("rollout", SKIRMISH, "--worlds", "50", "--ticks", "30") == 0
    table = capsys.readouterr().out
    assert "won by safe" in table
    assert "lost by slain" in table
    assert "95 %" in table
    assert called("rollout", SKIRMISH, "--worlds", "50", "--ticks", "30", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["worlds"] == 50
    outcomes = found["outcomes"].values()
    assert sum(one["runs"] for one in outcomes) == 50
    assert all(one["low"] <= one["share"] <= one["high"] for one in outcomes)


def test_no_runs_are_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert called("rollout", SKIRMISH, "--worlds", "0") == 2
    assert "TW0006" in capsys.readouterr().err


def test_the_interval_is_wilsons() -> None:
    low, high = wilson(8, 10)
    assert (round(low, 4), round(high, 4)) == (0.4902, 0.9433)
    assert wilson(0, 10)[0] == 0.0
    assert wilson(10, 10)[1] == 1.0
