"""Sweeps: which cells there are, that every way gives the same rows, and what is kept of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tokenworld.diagnostics import Failure, Source
from tokenworld.engine import EngineSimulator
from tokenworld.session import OpenWorld
from tokenworld.session.loading import compile_world
from tokenworld.session.rollouts import rollout
from tokenworld.store.log import RunStore
from tokenworld.verbs.audit.analysis import audit
from tokenworld.verbs.sweep.cells import Answer, Cell, Lost, Options, What, answer, attempt, axes_of
from tokenworld.verbs.sweep.verb import (
    Sweep,
    Swept,
    by_param,
    by_point,
    summary,
    sweep_cells,
    sweep_of,
)
from tokenworld.verbs.sweep.workers import Way, dask_cluster, here, processes

WORLD = """type T { n: 0 to 60 = 0 }
enum Mood { calm, wild }
unit c
actor me: T
param step: 1 to 9 = 2
param far: 0 to 20 = step * 4
param bite: 0% to 100% = 25%
param heat: 1c to 20c = 8c
param mood: Mood = calm
param open: bool = true
param pull: real = 1.5
action add() as "add" { require open else shut "Shut." me.n += step }
action wait() as "wait" { me.n = 0 }
action fall() as "fall" { require mood == wild else calm "No." me.n = 55 }
world w {
  object hero: T
  goal there: hero.n >= far and hero.n < 40
  lose down: hero.n == 55
}
"""


@pytest.fixture
def world(tiny: Callable[[str], OpenWorld]) -> OpenWorld:
    return tiny(WORLD)


def asked(world: OpenWorld, what: What, *params: str, seeds: int = 1, **options: Any) -> Sweep:
    return sweep_of(
        world,
        what,
        axes_of(world, params),
        seeds=seeds,
        seed=0,
        options=Options(**options),
    )


def run(asked: Sweep, store: RunStore, way: Way = here) -> Swept:
    return sweep_cells(asked, store, lambda cells: way)


def answers(found: Swept) -> list[Any]:
    return [(row.params, row.seed, row.answer) for row in found.rows]


# ---- values of params -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "values", "shown"),
    [
        ("step=1..4", (1, 2, 3, 4), ("1", "2", "3", "4")),
        ("step=1..9..4", (1, 5, 9), ("1", "5", "9")),
        ("step=7, 2,3..4", (7, 2, 3, 4), ("7", "2", "3", "4")),
        ("bite=10%,0.25", (10, 25), ("10%", "25%")),
        ("bite=0%..50%..25%", (0, 25, 50), ("0%", "25%", "50%")),
        ("heat=1c..3", (1, 2, 3), ("1c", "2c", "3c")),
        ("mood=wild,calm", (1, 0), ("wild", "calm")),
        ("open=false,true", (False, True), ("false", "true")),
        ("pull=0.5,2", (0.5, 2.0), ("0.5", "2.0")),
    ],
)
def test_values_are_read_as_the_declaration_says(
    world: OpenWorld, given: str, values: tuple[object, ...], shown: tuple[str, ...]
) -> None:
    (axis,) = axes_of(world, [given])
    assert (axis.values, axis.shown) == (values, shown)


@pytest.mark.parametrize(
    ("given", "why", "line"),
    [
        ("stop=1", "has no param `stop`", 15),
        ("step", "gives no param its values", None),
        ("step=", "gives no param its values", None),
        ("step=0..3", "`0` does not fit the param `step`: 0 is outside its range", 5),
        ("step=1.5", "1.5 has more than 0 decimals", 5),
        ("step=some", "is not a number", 5),
        ("step=none", "does not fit", 5),
        ("step=5..1", "is empty", 5),
        ("step=1..9..0", "is empty", 5),
        ("step=1..2..3..4", "is no range", 5),
        ("step=1,1..2", "takes the value 1 twice", 5),
        ("bite=101%", "outside its range", 7),
        ("heat=3k", "is not a number", 8),
        ("mood=sad", "does not fit", 9),
        ("open=yes", "does not fit", 10),
        ("pull=nan", "does not fit", 11),
    ],
)
def test_a_value_that_does_not_fit_is_told_with_the_place(
    world: OpenWorld, given: str, why: str, line: int | None
) -> None:
    with pytest.raises(Failure) as caught:
        axes_of(world, [given])
    (found,) = caught.value.diagnostics
    assert found.code == "TW0006"
    assert why in found.message
    assert found.hint
    assert (None if found.span is None else found.span.line) == line


def test_a_param_has_one_axis(world: OpenWorld) -> None:
    with pytest.raises(Failure, match="`step` is given twice"):
        axes_of(world, ["step=1", "step=2"])


def test_a_sweep_without_end_is_refused_before_it_begins(tiny: Any) -> None:
    world = tiny(WORLD.replace("param heat: 1c to 20c", "param heat: 1c to 9000000c"))
    with pytest.raises(Failure, match=r"has 9,000,000 values"):
        axes_of(world, ["heat=1..9000000"])
    with pytest.raises(Failure, match=r"and this one 9,000,000"):
        asked(world, "plan", "step=1..9", seeds=1_000_000)
    with pytest.raises(Failure, match=r"and this one 0"):
        asked(world, "plan", seeds=0)


# ---- cells ----------------------------------------------------------------------------------


def test_cells_are_the_product_with_the_last_param_and_seeds_innermost(world: OpenWorld) -> None:
    found = asked(world, "plan", "step=1..2", "mood=calm,wild", seeds=2)
    cells = [(shown, cell.seed) for shown, cell in found.cells()]
    points = [("1", "calm"), ("1", "wild"), ("2", "calm"), ("2", "wild")]
    assert cells == [(point, seed) for point in points for seed in (0, 1)]
    assert len(found) == len(cells)


def test_runs_of_cells_never_share_a_seed(world: OpenWorld) -> None:
    found = asked(world, "rollout", seeds=3, worlds=10)
    assert found.seeds == (0, 10, 20)


@pytest.mark.parametrize(("far", "step", "ticks"), [(20, 1, 20), (20, 9, 3), (7, 3, 3), (0, 1, 0)])
def test_a_plan_is_made_with_the_params_of_the_cell(
    world: OpenWorld, store: RunStore, far: int, step: int, ticks: int
) -> None:
    (row,) = run(asked(world, "plan", f"far={far}", f"step={step}"), store).rows
    assert (row.status, row.result["answer"], row.result["ticks"]) == ("done", "winnable", ticks)


def test_a_param_that_closes_the_way_makes_it_unwinnable(world: OpenWorld, store: RunStore) -> None:
    found = run(asked(world, "plan", "open=true,false"), store)
    assert [row.result["answer"] for row in found.rows] == ["winnable", "unwinnable"]


def test_a_rollout_is_that_of_the_world_with_these_params(
    world: OpenWorld, store: RunStore
) -> None:
    found = run(asked(world, "rollout", "mood=wild", seeds=4, worlds=5, ticks=9), store)
    engine = compile_world(world.program, world.world, {"mood": 1})
    whole = rollout(OpenWorld(world.loaded, world.world, engine), worlds=20, ticks=9)
    for word, kind in (("won", "goal"), ("lost", "lose"), ("stopped", "stop")):
        assert sum(int(str(row.result[word])) for row in found.rows) == whole.count(kind)
    assert whole.count("lose") > 0
    ended = [one for row in found.rows for one in row.result["ended_at"]]  # type: ignore[union-attr]
    assert ended == [int(one) for one in whole.ended_at if int(one) >= 0]


def test_an_audit_is_that_of_the_world_with_these_params(world: OpenWorld, store: RunStore) -> None:
    found = run(asked(world, "audit", "mood=calm,wild", "step=3"), store)
    for row, mood in zip(found.rows, (0, 1), strict=True):
        engine = compile_world(world.program, world.world, {"mood": mood, "step": 3})
        whole = audit(
            OpenWorld(world.loaded, world.world, engine), None, states=10**6, seconds=60.0
        )
        for place in ("won", "winnable", "dead", "undecided"):
            assert row.result[place] == whole.parts.count(place)  # type: ignore[arg-type]
        assert row.result["states"] == len(whole.graph)
    assert found.rows[1].result["dead"] != found.rows[0].result["dead"]


def test_the_seed_of_an_audit_fills_its_setup(tiny: Any) -> None:
    world = tiny(
        'type T { n: 0 to 9 = 0 }\nactor me: T\naction wait() as "wait" { me.n = me.n }\n'
        "world w { object hero: T\nsetup { chance 50% { hero.n = 5 } else { hero.n = 3 } }\n"
        "goal high: hero.n == 5 }\n"
    )
    places = set()
    for seed in range(8):
        start = world.engine.start(seed)
        won = EngineSimulator(world.engine, start).won(start, None)
        found = audit(world, None, states=10, seconds=5.0, seed=seed)
        assert (found.parts.places[0] == "won") == won
        places.add(found.parts.places[0])
    assert places == {"won", "dead"}


def test_params_that_no_world_can_have_fail_alone_with_the_place(
    world: OpenWorld, store: RunStore
) -> None:
    found = run(asked(world, "plan", "step=5..6"), store)
    assert [row.status for row in found.rows] == ["done", "failed"]
    (one,) = found.rows[1].diagnostics
    assert one["code"] == "TW0308"
    assert "default of `far` is outside its range" in str(one["message"])
    assert one["span"]["line"] == 6  # type: ignore[index, call-overload]
    # Where that param is set as well, nothing is wrong.
    assert run(asked(world, "plan", "step=6", "far=20"), store).count("done") == 1


def test_a_limit_is_told_and_no_verdict(world: OpenWorld, store: RunStore) -> None:
    (row,) = run(asked(world, "audit", "step=1", states=3), store).rows
    assert row.status == "limit"
    assert row.result["states"] == 3 or int(str(row.result["undecided"])) > 0
    (row,) = run(asked(world, "rollout", worlds=50, time_limit=1e-9), store).rows
    assert (row.status, row.result) == ("limit", {"runs_done": 1})


def test_a_script_plays_and_is_part_of_the_question(world: OpenWorld, store: RunStore) -> None:
    def script(text: str) -> Source:
        return Source("s.txt", None, text)

    won = run(asked(world, "rollout", "far=8", script=script("add\nadd\nadd\nadd\n")), store)
    assert won.rows[0].result["won"] == 1
    short = run(asked(world, "rollout", "far=8", script=script("add\n")), store)
    assert (short.computed, short.rows[0].result["won"]) == (1, 0)


# ---- every way gives the same rows -----------------------------------------------------------


def test_processes_give_the_rows_of_this_process(world: OpenWorld, tmp_path: Path) -> None:
    pytest.importorskip("joblib", reason="the extra `cluster` is not installed")
    question = asked(world, "rollout", "step=1..6", "mood=calm,wild", seeds=3, ticks=8)
    with RunStore.open(tmp_path / "a") as first, RunStore.open(tmp_path / "b") as second:
        alone, together = run(question, first), run(question, second, processes(2))
    assert together.computed == len(question) == 36
    assert {row.status for row in alone.rows} == {"done", "failed"}
    assert answers(together) == answers(alone)


def test_a_cluster_gives_the_rows_of_this_process(world: OpenWorld, tmp_path: Path) -> None:
    """A Dask scheduler with two worker processes, as on a cluster."""
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    question = asked(world, "plan", "step=1..6", seeds=4)
    with RunStore.open(tmp_path / "a") as first, RunStore.open(tmp_path / "b") as second:
        alone, together = run(question, first), run(question, second, dask_cluster("local:2"))
    assert together.computed == len(question) == 24
    assert answers(together) == answers(alone)


@pytest.mark.slow
def test_workers_with_threads_behind_an_address(world: OpenWorld, tmp_path: Path) -> None:
    """As a cluster is asked that runs already; cells of one worker do not disturb each other."""
    distributed = pytest.importorskip("distributed", reason="the extra is not installed")
    question = asked(world, "rollout", "far=1..6", seeds=6, worlds=20, ticks=20)
    options = {"n_workers": 1, "threads_per_worker": 3, "dashboard_address": None}
    with RunStore.open(tmp_path / "a") as first, RunStore.open(tmp_path / "b") as second:
        alone = run(question, first)
        with distributed.LocalCluster(**options) as cluster:
            together = run(question, second, dask_cluster(cluster.scheduler_address))
    assert together.computed == len(question) == 36
    assert answers(together) == answers(alone)


class Poison(Cell):
    """A cell that ends the worker which receives it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (3,)


@pytest.mark.slow
def test_a_cell_that_kills_its_worker_costs_no_other(world: OpenWorld) -> None:
    pytest.importorskip("joblib", reason="the extra `cluster` is not installed")
    question = asked(world, "plan", "far=1..9")
    cells = [(number, cell) for number, (_, cell) in enumerate(question.cells())]
    cells[4] = (4, Poison(cells[4][1].params, 0))
    found = dict(processes(2)(question.task, cells))
    assert sorted(found) == list(range(9))
    lost = found.pop(4)
    assert isinstance(lost, Lost)
    assert "worker process ended" in lost.why
    assert all(found[number] == answer(question.task, cells[number][1]) for number in found)


def test_a_worker_of_another_version_is_no_worker(world: OpenWorld) -> None:
    task = replace(asked(world, "plan").task, compiler="9.9.9")
    found = attempt(task, Cell((), 0))
    assert isinstance(found, Lost)
    assert "the sweep 9.9.9" in found.why


# ---- what is kept ---------------------------------------------------------------------------


def test_cells_are_worked_out_once_and_shared_by_sweeps(world: OpenWorld, store: RunStore) -> None:
    first = run(asked(world, "plan", "far=1..4"), store)
    again = run(asked(world, "plan", "far=1..4"), store)
    assert (first.computed, first.stored) == (4, 0)
    assert (again.computed, again.stored) == (0, 4)
    assert answers(again) == answers(first)
    wider = run(asked(world, "plan", "far=3..6"), store)
    assert (wider.computed, wider.stored) == (2, 2)


@pytest.mark.parametrize(
    "other",
    [{"goal": "there"}, {"time_limit": 59.0}],
)
def test_another_question_is_another_cell(
    world: OpenWorld, store: RunStore, other: dict[str, Any]
) -> None:
    run(asked(world, "plan", "far=1"), store)
    assert run(asked(world, "plan", "far=1", **other), store).computed == 1
    assert run(asked(world, "plan", "far=1", worlds=7), store).computed == 0  # of no use to plans


def test_other_rules_are_another_question(tiny: Any, store: RunStore) -> None:
    assert run(asked(tiny(WORLD), "plan", "far=4"), store).computed == 1
    changed = tiny(WORLD.replace("me.n += step", "me.n += 1"))
    assert run(asked(changed, "plan", "far=4"), store).computed == 1


def test_what_is_lost_is_not_kept(world: OpenWorld, store: RunStore) -> None:
    def breaks(task: Any, cells: Any) -> Any:
        for number, cell in cells:
            yield number, Lost("gone") if number == 1 else answer(task, cell)

    question = asked(world, "plan", "far=1..3")
    broken = run(question, store, breaks)
    assert [row.status for row in broken.rows] == ["done", "lost", "done"]
    assert broken.rows[1].diagnostics[0]["code"] == "TW0812"
    healed = run(question, store)
    assert (healed.computed, healed.count("done")) == (1, 3)


def test_the_rows_do_not_depend_on_the_order_of_the_answers(
    world: OpenWorld, tmp_path: Path
) -> None:
    def backwards(task: Any, cells: Any) -> Any:
        return here(task, list(reversed(cells)))

    question = asked(world, "audit", "step=1..3", "mood=calm,wild")
    with RunStore.open(tmp_path / "a") as first, RunStore.open(tmp_path / "b") as second:
        assert answers(run(question, first)) == answers(run(question, second, backwards))


# ---- summaries ------------------------------------------------------------------------------


def test_a_summary_adds_up(world: OpenWorld, store: RunStore) -> None:
    found = run(asked(world, "rollout", "mood=calm,wild", "far=3..4", seeds=10, ticks=6), store)
    points = by_point(found)
    assert [key for key, _ in points] == [(m, f) for m in ("calm", "wild") for f in ("3", "4")]
    whole: Any = summary("rollout", found.rows)
    for groups in (points, by_param(found, 0), by_param(found, 1)):
        parts: list[Any] = [summary("rollout", rows) for _, rows in groups]
        for word in ("cells", "runs", "won", "lost", "stopped", "running"):
            assert sum(part[word] for part in parts) == whole[word]
    assert whole["runs"] == whole["cells"] == 40
    assert whole["won"] + whole["lost"] + whole["stopped"] + whole["running"] == 40
    assert whole["share_won"]["share"] == whole["won"] / 40
    assert whole["status"] == {"done": 40, "limit": 0, "failed": 0, "lost": 0, "open": 0}


def test_a_summary_of_plans_counts_and_spreads(world: OpenWorld, store: RunStore) -> None:
    found = run(asked(world, "plan", "far=2,4,20", "open=true,false"), store)
    told: Any = summary("plan", found.rows)
    assert (told["winnable"], told["unwinnable"], told["unknown"]) == (3, 3, 0)
    assert told["ticks"] == {"least": 1, "median": 2, "most": 10}


def test_an_answer_is_plain_data(world: OpenWorld) -> None:
    question = asked(world, "plan", "far=4")
    ((_, cell),) = question.cells()
    found = answer(question.task, cell)
    assert isinstance(found, Answer)
    assert "seconds" not in found.result  # no wall clock in what is compared
