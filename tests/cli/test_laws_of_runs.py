"""Random and adversarial runs of every world: their logs stand before the reference evaluator."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.session import load_program
from tokenworld.store.log import RunStore
from tokenworld.store.read import list_runs, ticks_of

DOMAINS = Path(__file__).parents[2] / "domains"
FILES = sorted(one for one in DOMAINS.glob("*/*.tw") if "\nworld " in one.read_text("utf-8"))


def worlds(path: Path) -> list[str]:
    return [f"{path}:{world}" for world in load_program(path).program.worlds]


def stands(tw, target: str, ticks: int, seed: int) -> int:
    """Play a world by chance and by an adversary; how many records were checked, all sound."""
    for player in ("random", "adversarial"):
        ran = tw("run", target, "--player", player, "--ticks", ticks, "--seed", seed, "--json",
                 "--halt-refusals", "0")  # fmt: skip
        assert ran.code == 0, ran.err
        assert "error" not in ran.json["statuses"]
        assert tw("runs", "replay", "--verify").code == 0
    verified = tw("runs", "verify", "--all", "--json")
    assert verified.code == 0, verified.err
    return sum(one["records"] for one in verified.json["runs"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_logs_of_every_world_stand(tw, path: Path) -> None:
    for target in worlds(path):
        assert stands(tw, target, 25, 11) >= 2
    with RunStore.open(writable=False) as store:
        sources = {tick.source for run in list_runs(store) for tick in ticks_of(store, run)}
    assert sources == {"random", "adversarial"}


EVERY = sorted(one for one in DOMAINS.rglob("*.tw") if "\nworld " in one.read_text("utf-8"))
TICKS = 100_000


@pytest.mark.slow
@pytest.mark.parametrize("path", EVERY, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_hundred_thousand_ticks_stand(tw, path: Path) -> None:
    """Each file has its share of them: together they are a hundred thousand, and any part can be
    run by itself. ``-rP`` shows how many records were checked."""
    targets = worlds(path)
    each = -(-TICKS // (2 * len(EVERY) * len(targets)))
    checked = 0
    for target in targets:
        played, seed = 0, 1
        while played < 2 * each:  # a world that ends is begun anew
            Path(".tw/runs.sqlite").unlink(missing_ok=True)
            played += stands(tw, target, each, seed)
            seed += 1
        checked += played
    print(f"{path.relative_to(DOMAINS)}: {checked:,} records stand")
    assert checked * len(EVERY) >= TICKS
