"""``tw mutate --rows``: recorded transitions as a judge beside the scenarios."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Put = Callable[..., Path]
Tw = Callable[..., tuple[int, str, str]]
Row = dict[str, Any]


def kept(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def mutated(tw: Tw, *arguments: object) -> tuple[int, Any]:
    code, out, err = tw("mutate", *arguments, "--json")
    assert code in (0, 1), err
    return code, json.loads(out)


def test_rows_notice_what_nothing_else_does(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path
) -> None:
    world, file = bench(), kept(tmp_path / "rows.jsonl", rows)
    code, plain = mutated(tw, world)
    _, judged = mutated(tw, world, "--rows", file)
    noticed = judged["verdicts"]
    assert (code, noticed["row"]) == (0, plain["verdicts"]["survived"] - noticed["survived"])
    before, after = ({one["what"] for one in found["survivors"]} for found in (plain, judged))
    assert "-= became +=" in before  # the cooling of a wet clip
    assert "-= became +=" not in after
    assert any(one["operator"] == "drop effect" for one in judged["survivors"])  # `shoot`: no row


def test_rows_are_a_judge_among_the_others(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path
) -> None:
    file = kept(tmp_path / "rows.jsonl", rows)
    _, out, _ = tw("mutate", bench(), "--rows", file, file)
    assert " by row" in out
    text = bench().read_text(encoding="utf-8")
    text += 'scenario "cooler" in bench { when wet(red)  then red.heat == 12.5 }'
    assert mutated(tw, bench(text), "--rows", file)[1]["verdicts"]["scenario"] > 0


@pytest.mark.parametrize(
    ("spoil", "code", "words"),
    [
        ({"game": "other"}, 2, ":3: it is a row of `other`, not of `bench`"),
        ({"game": 7}, 2, ":3: `game`, `action_state.lastAction` and `taskDesc` are texts"),
        ({"next_score_state": {"score": 9, "gameOver": False, "gameWon": False}}, 1,
         ":3 wrongly"),
    ],
)  # fmt: skip
def test_rows_that_cannot_judge(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path, spoil: Row, code: int, words: str
) -> None:
    rows[2] = {**rows[2], **spoil}
    file = kept(tmp_path / "rows.jsonl", rows)
    found, out, err = tw("mutate", bench(), "--rows", file)
    assert found == code
    assert f"{file}{words}" in err
    assert err.count("error[") == 1
    assert "help: " in err
    assert "noticed" not in out


def test_rows_need_a_mapping(tw: Tw, bench: Put, rows: list[Row], tmp_path: Path) -> None:
    world, file = bench(), kept(tmp_path / "rows.jsonl", rows)
    (world.parent / "mapping.toml").unlink()
    code, _, err = tw("mutate", world, "--rows", file)
    assert code == 2
    assert "mapping.toml" in err
