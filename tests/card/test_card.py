"""The cards: small, complete, true, and equal to what stands here.

After a change that is meant: `tw card --for author > tests/card/author.md`, and so for the others.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tokenworld.cli import _main
from tokenworld.session import check_text
from tokenworld.syntax.tables import tables
from tokenworld.verbs.card import (
    LEFT_OUT,
    MOST_TOKENS,
    PURPOSES,
    Mistake,
    Purpose,
    card,
    mistakes,
    parts,
    standard_modules,
)
from tokenworld.verbs.judge.findings import tokens

HERE = Path(__file__).parent
WORLD, MISTAKES = mistakes()


@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_card_is_small_and_as_recorded(purpose: Purpose) -> None:
    assert tokens(card(purpose)) <= MOST_TOKENS
    assert card(purpose).encode() == (HERE / f"{purpose}.md").read_bytes()


def test_every_keyword_is_on_the_card_or_named_as_left_out() -> None:
    shown = "\n".join(parts("author"))
    code = [re.sub(r"#.*", "", one) for one in re.findall(r"```.*?```|`[^`]+`", shown, re.DOTALL)]
    words = {word for one in code for word in re.findall(r"[a-z_]+", one)}
    assert tables().keywords - words == set(LEFT_OUT)
    assert all(word in card("author") for word in LEFT_OUT)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_its_programs_are_sound(purpose: Purpose) -> None:
    programs = re.findall(r"^```tw\n(.*?)^```", card(purpose), re.MULTILINE | re.DOTALL)
    assert programs or purpose == "player"
    for text in programs:
        assert not check_text(text).diagnostics, text


@pytest.mark.parametrize("one", MISTAKES, ids=lambda one: one.wrong)
def test_a_mistake_has_its_code_and_the_right_text_has_none(one: Mistake) -> None:
    assert WORLD.count(one.instead) == 1
    wrong = check_text(WORLD.replace(one.instead, one.wrong))
    assert [found.code for found in wrong.diagnostics] == [one.code]
    assert not check_text(WORLD.replace(one.instead, one.right)).diagnostics
    assert set(one.card) <= set(PURPOSES)


def test_the_standard_rules_are_all_there() -> None:
    found = [name for name, what in standard_modules() if what.strip()]
    rules = Path(__file__).parents[2] / "rules"
    assert sorted(found) == sorted(
        f"{path.parent.name}.{path.stem}" for path in rules.glob("*/*.tw")
    )
    assert all(f" {name.split('.')[1]}" in card("author") for name in found if "std." in name)


def test_the_verb_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert _main(["card", "--for", "player"]) == 0
    assert capsys.readouterr().out == card("player")
    assert _main(["card", "--for", "repair", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["card"] == card("repair")
    assert found["tokens"] == tokens(card("repair"))
    assert _main(["card", "--for", "poet"]) == 2
