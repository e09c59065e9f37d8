"""Finding runs by id, slug, world or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.store.log import RunHandle, RunStore
from tokenworld.store.read import find_run, find_tick, list_runs, ticks_of
from tokenworld.store.records import RunHeader, Tick

Headers = Callable[..., RunHeader]
Play = Callable[[RunHandle, int], list[Tick]]


@pytest.fixture
def three(store: RunStore, make_header: Headers) -> RunStore:
    for world in ("cellar", "kitchen", "cellar"):
        store.begin(make_header(world=world))
    return store


@pytest.mark.parametrize(
    ("reference", "slug"),
    [
        (None, "cellar-2"),
        (2, "kitchen-1"),
        ("1", "cellar-1"),
        ("cellar-1", "cellar-1"),
        ("cellar", "cellar-2"),
        ("kitchen", "kitchen-1"),
    ],
)
def test_a_run_is_found(three: RunStore, reference: str | int | None, slug: str) -> None:
    assert find_run(three, reference).slug == slug


@pytest.mark.parametrize(
    ("reference", "hint"),
    [
        ("celar", "Did you mean `cellar`"),
        ("cellar-7", "Did you mean `cellar`"),
        ("zzzzzzzzz", "List the runs with `tw runs`."),
        ("99", "List"),
        ("9" * 40, "List"),
        ("-1", "List"),
        ("\udc80", "List"),
        ("", "List"),
    ],
)
def test_what_is_not_there_is_one_diagnostic(three: RunStore, reference: str, hint: str) -> None:
    with pytest.raises(Failure) as error:
        find_run(three, reference)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "TW1104"
    assert diagnostic.hint is not None
    assert hint in diagnostic.hint
    diagnostic.message.encode("utf-8")


def test_an_empty_store_says_how_to_record(store: RunStore) -> None:
    assert list_runs(store) == ()
    for reference in (None, "cellar"):
        with pytest.raises(Failure, match="No run is recorded") as error:
            find_run(store, reference)
        assert error.value.diagnostics[0].code == "TW1104"


def test_runs_are_listed_oldest_first(three: RunStore) -> None:
    assert [run.slug for run in list_runs(three)] == ["cellar-1", "kitchen-1", "cellar-2"]
    assert [run.slug for run in list_runs(three, "cellar")] == ["cellar-1", "cellar-2"]
    assert list_runs(three, "attic") == ()


def test_ticks_are_read_in_order(store: RunStore, run: RunHandle, play: Play) -> None:
    stored = play(run, 12)
    assert list(ticks_of(store, run.run())) == stored
    assert list(ticks_of(store, run.id, 3)) == stored[:3]
    assert find_tick(store, run.run(), 12) == stored[-1]


@pytest.mark.parametrize("seq", [0, -1, 3])
def test_no_such_tick(store: RunStore, run: RunHandle, play: Play, seq: int) -> None:
    play(run, 2)
    with pytest.raises(Failure, match=f"has no tick {seq}") as error:
        find_tick(store, run.run(), seq)
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.code, diagnostic.hint) == ("TW1104", "Choose a tick from 1 to 2.")


def test_a_run_without_ticks_ends_where_it_starts(store: RunStore, run: RunHandle) -> None:
    assert (run.run().state_hash, run.run().last_status) == ("s0", None)
    with pytest.raises(Failure, match="has no tick 1"):
        find_tick(store, run.run(), 1)


def test_reading_makes_nothing(tmp_path: Path) -> None:
    missing = tmp_path / "none" / "runs.sqlite"
    with pytest.raises(Failure) as error:
        RunStore.open(missing, writable=False)
    assert error.value.diagnostics[0].code == "TW1104"
    assert not missing.parent.exists()
