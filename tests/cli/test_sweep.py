"""`tw sweep`: the table, the rows for programs, what is resumed, and what is refused."""

from __future__ import annotations

import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import tokenworld.verbs.sweep.workers as ways
from tokenworld.store.cells import cell_digest
from tokenworld.store.check import check_file
from tokenworld.store.log import RunStore

Tw = Any
PROGRAM = "from tokenworld.cli import main; main()"
WORLD = """type T { n: 0 to 60 = 0 }
actor me: T
param step: 1 to 9 = 2
param far: 0 to 20 = step * 4
action add() as "add" { me.n += step }
action fall() as "fall" { me.n = 55 }
world w {
  object hero: T
  goal there: hero.n >= far and hero.n < 40
  lose down: hero.n == 55
}
"""


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    path = tmp_path / "steps.tw"
    path.write_text(WORLD, encoding="utf-8")
    return path


def cells(path: Path) -> int:
    """How many cells a store holds; it may still be written to."""
    if not path.exists():
        return 0
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM cell").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def test_the_table_and_the_rows(tw: Tw, steps: Path) -> None:
    ran = tw("sweep", steps, "--param", "step=1,2,5", "--jobs", 1)
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "w: plan of 3 cells, 3 worked out now, 0 stored before"
    lines = [line.split()[:5] for line in ran.out.splitlines()[2:]]
    assert lines == [[step, "1", "1", "0", "0"] for step in ("1", "2", "5")]
    again = tw("sweep", steps, "--param", "step=1,2,5", "--jobs", 1, "--json").json
    assert (again["computed"], again["stored"]) == (0, 3)
    assert [cell["params"] for cell in again["cells"]] == [{"step": s} for s in ("1", "2", "5")]
    assert [cell["result"]["ticks"] for cell in again["cells"]] == [4, 4, 4]
    assert again["summary"][0]["params"] == {"step": "1"}
    assert again["by_param"]["step"][2]["value"] == "5"


def test_a_table_for_each_param_where_there_are_several(tw: Tw, steps: Path) -> None:
    params = ("--param", "step=1,2", "--param", "far=4,8,20")
    ran = tw("sweep", steps, *params, "--what", "audit", "--jobs", 1)
    assert ran.code == 0
    heads = [line.split()[:2] for line in ran.out.splitlines() if "cells  " in line]
    assert heads == [["step", "far"], ["step", "cells"], ["far", "cells"]]


def test_rows_as_csv(tw: Tw, steps: Path, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    arguments = ("--param", "step=3,6", "--what", "rollout", "--seeds", 4, "--ticks", 5)
    ran = tw("sweep", steps, *arguments, "--jobs", 1, "--csv", file, "--json")
    assert ran.code == 1  # with a step of 6 the default of `far` leaves its range
    with file.open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    assert [(row["step"], row["seed"]) for row in rows] == [
        (step, str(seed)) for step in "36" for seed in range(4)
    ]
    told = ran.json["cells"]
    for row, cell in zip(rows, told, strict=True):
        assert row["status"] == cell["status"]
        if cell["status"] == "done":
            assert int(row["endings.down"]) == cell["result"]["endings"]["down"]
            assert int(row["won"]) + int(row["lost"]) + int(row["running"]) == 1
        else:
            assert "TW0308" in row["diagnostic"]
    assert {row["status"] for row in rows} == {"done", "failed"}


def test_failed_cells_are_told_once_with_the_place(tw: Tw, steps: Path) -> None:
    ran = tw("sweep", steps, "--param", "step=5..7", "--seeds", 2, "--jobs", 1)
    assert ran.code == 1
    assert ran.err.count("error[TW0308]") == 1
    assert f"({steps}:4:1)" in ran.err
    assert "4 cells, the first with step=6, seed 0" in ran.err
    assert "2 failed" in ran.out


def test_a_limit_is_unknown(tw: Tw, steps: Path) -> None:
    ran = tw("sweep", steps, "--what", "audit", "--states", 2, "--jobs", 1)
    assert ran.code == 3
    assert "1 limit" in ran.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--param", "stop=1"),
        ("--param", "step=0..3"),
        ("--param", "step"),
        ("--seeds", "0"),
        ("--seeds", "10000000"),
        ("--what", "rollout", "--worlds", "0"),
        ("--what", "rollout", "--ticks", "-1"),
        ("--what", "rollout", "--goal", "there"),
        ("--what", "audit", "--states", "0"),
        ("--cell-limit", "0"),
        ("--cell-limit", "nan"),
        ("--jobs", "0"),
        ("--jobs", "2", "--dask", "local:2"),
        ("--policy", "steps.tw"),
        ("--goal", "nowhere"),
    ],
)
def test_usage_is_told_and_nothing_is_stored(
    tw: Tw, steps: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    ran = tw("sweep", steps, *arguments)
    assert ran.code == 2
    assert ran.err.count("error[TW0006]") == 1
    assert "help: " in ran.err
    assert not (tmp_path / ".tw").exists()


def portfolio(tw: Tw, steps: Path, store: Path, *more: object) -> Any:
    """Two worlds by two engines, for two values of a param."""
    other = steps.with_name("other.tw")
    other.write_text(WORLD.replace("hero.n < 40", "hero.n < 4"), encoding="utf-8")
    asked = ("--param", "step=1,3", "--engine", "own,width", "--store", store, *more, "--json")
    return tw("sweep", steps, other, *asked)


def rows(found: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The cells without what depends on the clock."""
    return [
        (*(one["params"][name] for name in ("world", "engine", "step")), one["status"],
         one["result"]["answer"], one["result"]["cost"])
        for one in found["cells"]
    ]  # fmt: skip


def test_many_worlds_by_many_engines(tw: Tw, steps: Path, tmp_path: Path) -> None:
    ran = portfolio(tw, steps, tmp_path / "a", "--jobs", 1)
    assert ran.code == 0
    worlds = [str(steps), str(steps.with_name("other.tw"))]
    assert ran.json["params"] == {"world": worlds, "engine": ["own", "width"], "step": ["1", "3"]}
    assert rows(ran.json) == [
        (worlds[0], "own", "1", "done", "winnable", 4),
        (worlds[0], "own", "3", "done", "winnable", 4),
        (worlds[0], "width", "1", "done", "winnable", 4),
        (worlds[0], "width", "3", "done", "winnable", 4),
        (worlds[1], "own", "1", "done", "unwinnable", None),
        (worlds[1], "own", "3", "done", "unwinnable", None),
        (worlds[1], "width", "1", "done", "unwinnable", None),
        (worlds[1], "width", "3", "done", "unwinnable", None),
    ]
    again = portfolio(tw, steps, tmp_path / "a", "--jobs", 1).json
    assert (again["computed"], again["stored"], again["cells"]) == (0, 8, ran.json["cells"])
    single = tw("sweep", steps, "--engine", "own", "--param", "step=1", "--store", tmp_path / "a")
    assert "1 stored before" in single.out
    for wrong in (("--engine", "own,own"), ("--engine", "own", "--what", "audit")):
        assert tw("sweep", steps, *wrong).code == 2


@pytest.mark.slow
def test_a_cluster_gives_the_same_audits_and_plans_of_many_worlds(
    tw: Tw, steps: Path, tmp_path: Path
) -> None:
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    alone = portfolio(tw, steps, tmp_path / "a", "--jobs", 1).json
    together = portfolio(tw, steps, tmp_path / "b", "--dask", "local:2").json
    assert together["computed"] == len(together["cells"]) == 8
    assert rows(together) == rows(alone)
    other = steps.with_name("other.tw")
    asked = ("sweep", steps, other, "--what", "audit", "--param", "step=1..3", "--json", "--store")
    alone = tw(*asked, tmp_path / "a", "--jobs", 1).json
    together = tw(*asked, tmp_path / "b", "--dask", "local:2").json
    assert (together["computed"], together["cells"]) == (6, alone["cells"])
    assert tw(*asked, tmp_path / "b", "--jobs", 1).json["stored"] == 6


@pytest.mark.parametrize("address", ["local:0", "local:", "local:two", "127.0.0.1:1"])
def test_a_cluster_that_is_not_there(
    tw: Tw, steps: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    monkeypatch.setattr(ways, "_CONNECT_SECONDS", 1)
    ran = tw("sweep", steps, "--dask", address)
    assert ran.code == 2
    assert "error[TW0006]" in ran.err
    assert "local:2" in ran.err


def test_without_the_extra_cells_come_one_after_another(
    tw: Tw, steps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ways, "find_spec", lambda name: None)
    ran = tw("sweep", steps, "--param", "step=1..3", "--jobs", 2)
    assert ran.code == 0
    assert "`joblib` is not installed" in ran.err
    assert "pip install 'token-world[cluster]'" in ran.err
    ran = tw("sweep", steps, "--dask", "local:2")
    assert ran.code == 2
    assert "error[TW0811]" in ran.err
    assert tw("sweep", steps, "--jobs", 1, "--seed", 7).err == ""  # nothing was asked of it


def test_a_file_that_is_no_store_and_a_world_that_is_none(
    tw: Tw, steps: Path, tmp_path: Path
) -> None:
    (tmp_path / "text.sqlite").write_text("no database, a text that is long enough\n" * 9)
    ran = tw("sweep", steps, "--store", tmp_path / "text.sqlite")
    assert (ran.code, "error[TW1101]" in ran.err) == (2, True)
    ran = tw("sweep", "nowhere.tw")
    assert (ran.code, "error[TW0001]" in ran.err) == (2, True)


# ---- killed and resumed ---------------------------------------------------------------------


def command(world: Path, store: Path, jobs: int) -> list[str]:
    asked = ("--what", "rollout", "--param", "step=1..5", "--param", "far=9..12", "--seeds", "10")
    more = ("--worlds", "10", "--ticks", "30", "--jobs", str(jobs), "--store", str(store))
    return [sys.executable, "-c", PROGRAM, "sweep", str(world), *asked, *more, "--json"]


def finished(world: Path, store: Path, jobs: int) -> dict[str, Any]:
    ran = subprocess.run(
        command(world, store, jobs), capture_output=True, text=True, check=False, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def killed(world: Path, store: Path, jobs: int, after: int) -> None:
    """Begin the sweep in a session of its own and kill it, and it alone, after some cells."""
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen(command(world, store, jobs), start_new_session=True, **silent)  # type: ignore[call-overload]
    end = time.monotonic() + 120
    while cells(store) < after and child.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    alone(child.pid)


def alone(session: int) -> None:
    """The workers of a killed sweep end by themselves."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            os.killpg(session, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(session, signal.SIGKILL)
    raise AssertionError("a worker outlived its sweep")


@pytest.mark.parametrize(
    ("jobs", "instants"),
    [(1, (1, 60)), pytest.param(2, (40,), marks=pytest.mark.slow)],
)
def test_a_sweep_that_was_killed_goes_on_where_it_was(
    steps: Path, tmp_path: Path, jobs: int, instants: tuple[int, ...]
) -> None:
    if jobs > 1:
        pytest.importorskip("joblib", reason="the extra `cluster` is not installed")
    store = tmp_path / "killed.sqlite"
    counts = [0]
    for after in instants:
        killed(steps, store, jobs, after)
        counts.append(cells(store))
        with RunStore.open(store) as opened:
            check_file(opened)
            rows = opened.connection.execute("SELECT digest, question, answer FROM cell").fetchall()
        assert all(cell_digest(json.loads(question)) == digest for digest, question, _ in rows)
        assert all(json.loads(answer)["status"] == "done" for _, _, answer in rows)
    assert counts == sorted(counts)
    assert 0 < counts[1] <= counts[-1] < 200
    resumed = finished(steps, store, jobs)
    assert (resumed["stored"], resumed["computed"]) == (counts[-1], 200 - counts[-1])
    whole = finished(steps, tmp_path / "whole.sqlite", 1)
    assert whole["computed"] == 200
    for part in ("cells", "summary", "by_param"):
        assert resumed[part] == whole[part]


def test_an_interrupted_sweep_says_so_and_keeps_its_cells(steps: Path, tmp_path: Path) -> None:
    store = tmp_path / "interrupted.sqlite"
    child = subprocess.Popen(
        command(steps, store, 1), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 120
    while cells(store) < 5 and child.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert json.loads(out)["interrupted"] is True
    assert "Traceback" not in err
    assert 5 <= cells(store) < 200
