"""Recorded rows as a contract: of the world itself, and of a text game beside its mapping."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.judge.conftest import CORPUS, QUICK, Tw, codes
from tests.tools.worlds.conftest import ACTIONS, MAPPING, WORLD, played
from tokenworld.diagnostics import Source
from tokenworld.session import Session, open_world
from tokenworld.session.replaying import row_of
from tokenworld.verbs.judge.contract import Contract
from tokenworld.verbs.judge.judging import judge

CAMP = CORPUS / "camp.tw"
TYPED = ("light birch", "pass", "rest at oak")


def rows_of_camp(path: Path) -> None:
    world = open_world(str(CAMP))
    session = Session(world, 0)
    lines = []
    for text in TYPED:
        intent = {"format": "tw-intent/1", **({"pass": True} if text == "pass" else {"text": text})}
        lines.append(json.dumps(row_of(world, session.state, intent)))
        session.intend(text)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_rows_of_the_world_itself(tw: Tw, tmp_path: Path) -> None:
    rows_of_camp(tmp_path / "rows.jsonl")
    shutil.copy(CAMP, tmp_path / "right.tw")
    right = tw("right.tw", "--contract", "rows:rows.jsonl", "--json")
    assert (right.code, right.json["tiers"]["conform"]) == (0, {"rows": 3, "wrong": 0, "bad": 0})
    text = CAMP.read_text(encoding="utf-8").replace("l.wood -= 1 }", "l.wood -= 2 }")
    (tmp_path / "wrong.tw").write_text(text.partition("scenario")[0], encoding="utf-8")
    wrong = tw("wrong.tw", "--contract", "rows:rows.jsonl", "--json")
    found = [one for one in wrong.json["findings"] if one["code"] == "wrong-row"]
    assert wrong.code == 1
    assert "rows.jsonl:1" in found[0]["text"]
    assert "attrs.wood` should be 1, and is 0" in " ".join(found[0]["evidence"])


def test_rows_that_do_not_fit_are_one_finding(tw: Tw, tmp_path: Path) -> None:
    shutil.copy(CAMP, tmp_path)
    row = {"format": "tw-row/1", "state": {"objects": [{"name": "elm"}]}, "tick": {},
           "intent": {"format": "tw-intent/1", "pass": True}}  # fmt: skip
    lines = [json.dumps(row), "no JSON", '{"format": "tw-row/1"}']
    (tmp_path / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    ran = tw("camp.tw", "--contract", "rows:rows.jsonl", "--json")
    bad = [one for one in ran.json["findings"] if one["code"] == "bad-row"]
    assert (ran.code, len(bad)) == (1, 1)
    assert ran.json["tiers"]["conform"] == {"rows": 3, "wrong": 0, "bad": 3}


def test_a_text_without_a_file_takes_the_mapping_beside_the_rows(tmp_path: Path) -> None:
    """As `tw author` judges it."""
    (tmp_path / "mapping.toml").write_text(MAPPING, encoding="utf-8")
    (tmp_path / "world.tw").write_text(WORLD, encoding="utf-8")
    rows = tmp_path / "rows.jsonl"
    recorded = played(tmp_path / "world.tw", ACTIONS)
    rows.write_text("".join(f"{json.dumps(one)}\n" for one in recorded), encoding="utf-8")
    contract = Contract("rows", (str(rows),))
    right = judge(Source("w.tw", None, WORLD), contract, QUICK)
    assert "wrong-row" not in codes(right)
    assert right.figures["conform"] == {"rows": len(ACTIONS), "wrong": 0, "bad": 0}
    wrong = WORLD.replace("c.heat -= 7.5", "c.heat -= 7.0")
    assert "wrong-row" in codes(judge(Source("w.tw", None, wrong), contract, QUICK))
