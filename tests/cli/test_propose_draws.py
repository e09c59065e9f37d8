"""Rules with draws, and commands that are always refused, learned from rows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.rediscovery import compared, fuzzed_text, world_text
from tokenworld.diagnostics import Source
from tokenworld.session import check_text
from tokenworld.verbs.learn.propose.text.writing import percent

pytest.importorskip("numpy")

Tw = Any
PARK = """
type Spot
type Dog { at: Spot  wet: bool  bark: 0 to 9 = 0 }
type Hero { stray: bool }
actor me: Hero
object lawn, pond, tree: Spot
action throw(d: Dog) as "throw {d}" { pick s: Spot { d.at = s } }
action call(d: Dog) as "call {d}" { require d.at != lawn  chance 70% { d.at = lawn } }
action leave() as "leave" { require me.stray }
law swim(d: Dog) when d.at == pond { chance 30% { d.wet = not d.wet } }
law speak(d: Dog) when d.at == tree { chance 60% { d.bark = 1 } else { d.bark = 2 } }
world park { endless  object hero: Hero  object rex, pip: Dog { at = lawn } }
"""


def test_draws_are_found_with_their_shares(tw: Tw, tmp_path: Path) -> None:
    """A command that is always refused stays refused. Then time does not pass, so it says nothing
    of the laws."""
    (tmp_path / "park.tw").write_text(PARK, encoding="utf-8")
    rows = tmp_path / "rows.jsonl"
    assert tw("learn", "explore", tmp_path / "park.tw", "-o", rows, "--ticks", "700").code == 0
    found = json.loads(tw("learn", "propose", rows, "--json").out)
    text = found["text"]
    assert "pick picked: Spot { d.at = picked }" in text
    plain = " ".join(text.split())
    for share, rest in (
        (70, r"\{ d.at = lawn \}"), (30, r"\{ t.wet = not t.wet \}"),
        (60, r"\{ t.bark = 1 \} else \{ t.bark = 2 \}"),
    ):  # fmt: skip
        match = re.search(rf"chance (\d+)% {rest}", plain)
        assert match is not None, rest
        assert abs(int(match[1]) - share) <= 10
    assert found["chance"]
    assert found["judged"]["impossible"] == 0
    assert check_text(Source("park.tw", None, text)).ok
    head = text.index("action leave()")
    assert "require false else unseen" in text[head : text.index("}", head)]


def test_draws_are_found_though_no_state_was_met_twice(tw: Tw, tmp_path: Path) -> None:
    """A counter makes every state new. Without `--noisy`, what two barks have come of is no
    contradiction, and each seems to have a reason."""
    aged = PARK.replace("stray: bool", "stray: bool  age: 0 to 9999 = 0")
    aged = aged.replace("world park", "law grow(h: Hero) { h.age += 1 }\nworld park")
    (tmp_path / "park.tw").write_text(aged, encoding="utf-8")
    rows = tmp_path / "rows.jsonl"
    assert tw("learn", "explore", tmp_path / "park.tw", "-o", rows, "--ticks", "400").code == 0
    found = json.loads(tw("learn", "propose", rows, "--noisy", "--json").out)
    plain = " ".join(found["text"].split())
    assert "pick picked: Spot { d.at = picked }" in plain
    assert "{ t.age += 1 }" in plain
    assert re.search(r"when t.at == pond \{ chance [234]\d% \{ t.wet = not t.wet \} \}", plain)
    assert re.search(r"when t.at == tree \{ chance \d\d% \{ t.bark = . \} else \{", plain)
    assert found["judged"]["impossible"] == 0
    assert not found["diagnostics"]


@pytest.mark.parametrize(
    ("share", "count", "text"),
    [(0.31, 50, "30%"), (0.31, 100_000, "31%"), (0.3142, 1_000_000, "31.4%"), (0.98, 200, "98%"),
     (0.5, 3, "50%"), (0.0004, 10_000, "0.04%")],
)  # fmt: skip
def test_a_share_has_the_digits_that_the_rows_pay_for(share: float, count: int, text: str) -> None:
    assert percent(share, count) == text


def test_worlds_of_the_family_are_sound_and_made_from_their_seeds() -> None:
    for at in range(12):
        text = world_text(f"7 {at}")
        assert text == world_text(f"7 {at}")
        assert check_text(Source("true.tw", None, text)).ok
        assert text.count("chance ") + text.count("pick ") <= 2


def test_a_world_of_the_fuzzer_that_ends_at_its_start_has_no_rows(tmp_path: Path) -> None:
    found = compared(fuzzed_text("41207 1"), 20, tmp_path)
    assert (found.steps, found.why) == (0, "it ends at its start")


def test_a_random_world_is_found_again(tmp_path: Path) -> None:
    found = compared(world_text("1 1"), 300, tmp_path)
    assert found.steps == 300
    assert found.equal >= 270
    assert found.exact <= found.equal
    assert (tmp_path / "learned.tw").exists()
