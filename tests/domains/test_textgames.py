"""The text games are exact: every recorded transition, strictly, where the rows are at hand.

A sample of the rows runs every time, all of them with the slow tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from tokenworld.check.analysis.laws import order_pairs
from tokenworld.prose.rulebook import rule_context
from tokenworld.session import check_file, load_program
from tokenworld.session.scenarios import run_scenario
from tokenworld.verbs.conform import Conforming
from tokenworld.verbs.coverage import Coverage
from tokenworld.verbs.mutate import mutate
from tokenworld.verbs.output import Output
from tokenworld.verbs.records.replay import Games, games_of
from tokenworld.verbs.records.rows import BadRow, Recorded, TextRow, read_text_rows

ROOT = Path(__file__).parents[2]
GAMES = ROOT / "domains" / "textgames"
ROWS = ROOT.parent / "shared" / "data" / "bytesized32"
ORIGINAL_LINES = {
    "balance-scale-heaviest": 668,
    "balance-scale-weigh": 683,
    "bath-tub-water-temperature": 766,
    "bird-life-cycle": 603,
    "blood-type": 647,
    "boil-water": 953,
    "clean-energy": 537,
    "conductivity": 726,
    "cooking": 800,
    "dishwasher": 1030,
    "forge-key": 917,
    "hang-painting": 735,
    "inclined-plane": 743,
    "lit-lightbulb": 707,
    "make-campfire": 932,
    "make-ice-cubes": 1001,
    "metal-detector": 729,
    "mix-paint": 736,
    "multimeter": 746,
    "plant-tree": 862,
    "refrigerate-food": 988,
    "scale-weigh": 637,
    "space-walk": 801,
    "sunburn": 673,
    "sweep-floor": 730,
    "take-photo": 932,
    "thermometer": 690,
    "use-bandage": 829,
    "volume": 655,
    "volume-container": 826,
    "volume-stone": 863,
    "wash-clothes": 1023,
}
"""How long the published program of each game is, comments included."""
ORDERED = {
    "bath-tub-water-temperature": ("running", "running", "temperature"),
    "boil-water": ("heating", "change_of_state", "temperature"),
    "forge-key": ("heating", "change_of_state", "temperature"),
    "make-ice-cubes": ("cooling", "change_of_state", "temperature"),
    "refrigerate-food": ("cooling", "spoiling", "temperature"),
}
"""Two laws and a fluent of the games whose tick depends on the order of the things."""
HERE = sorted(path.parent.name for path in GAMES.glob("*/world.tw"))

needs_rows = pytest.mark.skipif(
    not ROWS.is_dir(), reason="the recorded rows are not part of the project"
)


@cache
def games() -> Games:
    return games_of(str(GAMES))


def files(game: str) -> list[Path]:
    return sorted(ROWS.glob(f"{game}.*jsonl.gz"))


RECORDED = [game for game in HERE if files(game)]
"""The games of which there are published rows here."""


def sample(path: Path) -> Iterator[TextRow | BadRow]:
    """Every ninth of the first rows: the start of the winning path, or of the first walks."""
    return islice(read_text_rows(path), 0, 450, 9)


def wrong(game: str, rows: Iterator[TextRow | BadRow]) -> tuple[int, list[str]]:
    """How many rows were used, and what is wrong with any of them."""
    found = Conforming(games(), strictly=True)
    found.take(rows)
    tally = found.tallies[game]
    faults = [f"{one.place}: {one.why}" for one in tally.bad_rows]
    faults += [f"{one.place}: {one.task} of `{one.action}`" for one in tally.misses]
    return tally.rows, faults


def test_the_games_have_their_names() -> None:
    assert HERE
    assert set(HERE) <= set(ORIGINAL_LINES)
    assert sorted(games().names) == HERE


@pytest.mark.parametrize("game", HERE)
def test_it_is_sound_without_a_remark(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert check_file(GAMES / game / "world.tw").diagnostics == ()


def test_they_are_at_most_a_third_as_long_as_the_programs() -> None:
    for game in HERE:
        lines = (GAMES / game / "world.tw").read_text(encoding="utf-8").splitlines()
        assert len(lines) <= ORIGINAL_LINES[game] / 3


@pytest.mark.parametrize("game", HERE)
def test_every_refusal_has_a_label_and_a_text(game: str) -> None:
    program = load_program(GAMES / game / "world.tw").program
    for action in program.actions.values():
        for require in action.requires:
            assert require.label, f"{action.name}: {require.span}"
            assert require.text is not None, f"{action.name}: {require.span}"


@pytest.mark.parametrize("game", HERE)
def test_the_order_of_the_tick_matters_where_a_thing_reads_what_another_wrote(game: str) -> None:
    program = load_program(GAMES / game / "world.tw").program
    pairs = {(one.first, one.second, one.what) for one in order_pairs(program)}
    wanted = ORDERED.get(game)
    assert wanted in pairs if wanted else not pairs


@pytest.mark.parametrize("game", HERE)
def test_its_rules_are_told_in_english(game: str) -> None:
    program = load_program(GAMES / game / "world.tw").program
    (world,) = program.worlds.values()
    found = rule_context(program, world)
    for action in program.actions.values():
        assert f"{action.name}:\n" in found.actions
    for law in program.laws.values():
        assert f"**{law.name.replace('_', ' ')}**" in found.objects
    assert "- Won (" in found.score
    assert "- The score is " in found.score


@pytest.mark.slow
@pytest.mark.parametrize("game", HERE)
def test_its_scenarios_take_every_way_of_its_own_rules(game: str) -> None:
    coverage, path = Coverage(), GAMES / game / "world.tw"
    loaded = load_program(path)
    own = {one.name for one in loaded.sources if one.path == path}
    loaded = replace(loaded, program=coverage.instrument(loaded.program))
    for scenario in loaded.program.scenarios:
        assert run_scenario(loaded, scenario, watch=coverage.watch).ok, scenario.title
    missed = [
        f"{mark.span}: {mark.rule}, {mark.what}"
        for mark, count in coverage.listed()
        if not count and mark.span.file in own
    ]
    assert own
    assert missed == []


@pytest.mark.slow
@pytest.mark.parametrize("game", HERE)
def test_four_of_five_mutants_are_noticed(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = tuple(path for path in files(game) if ".test." in path.name)
    out, path = Output(as_json=True), GAMES / game / "world.tw"
    code = mutate(str(path), out, sample=None, seed=0, least=80.0, rows=rows)
    assert code == 0, capsys.readouterr().out


@needs_rows
@pytest.mark.parametrize("game", RECORDED)
def test_a_sample_of_the_rows_is_reproduced(game: str) -> None:
    rows = (row for path in files(game) for row in sample(path))
    used, faults = wrong(game, rows)
    assert faults == []
    assert used >= 20


@needs_rows
@pytest.mark.slow
@pytest.mark.parametrize("game", RECORDED)
def test_every_row_is_reproduced(game: str) -> None:
    rows = (row for path in files(game) for row in read_text_rows(path))
    used, faults = wrong(game, rows)
    assert faults == []
    assert used >= 500


@needs_rows
@pytest.mark.slow
@pytest.mark.parametrize("game", RECORDED)
def test_every_state_comes_back_as_it_was(game: str) -> None:
    adapter, seen = games().answerer(game).adapter, set()
    for path in files(game):
        for row in read_text_rows(path):
            assert isinstance(row, TextRow)
            for state in (row.before, row.acted, row.ticked):
                key = (json.dumps(state.objects), state.next_id)
                if key not in seen:
                    seen.add(key)
                    found: Recorded = adapter.write(adapter.read(state, place=row.place))
                    assert list(found.objects) == list(state.objects)
                    assert found.next_id == state.next_id
    assert len(seen) >= 20
