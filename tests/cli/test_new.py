"""`tw new`: each template is a world under a name of one's own, and the judge accepts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from tokenworld.verbs.files.new import Template

TEMPLATES = get_args(Template)
Tw = Any


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_judge_accepts_each_template_without_a_remark(tw: Tw, template: str) -> None:
    assert tw("new", "old_mill", "--template", template).code == 0
    ran = tw("judge", "old_mill/world.tw", "--json")
    assert (ran.code, ran.json["status"]) == (0, "accepted")
    assert ran.json["tiers"]["check"] == {"remarks": 0}
    mutants = ran.json["tiers"]["mutate"]
    assert mutants["noticed"] >= 0.9 * mutants["judged"] > 0


@pytest.mark.parametrize("template", TEMPLATES)
def test_name_and_title_are_replaced_and_nothing_else(
    tw: Tw, tmp_path: Path, template: str
) -> None:
    ran = tw("new", "mill", "--template", template, "-o", "made", "--json")
    assert ran.json["file"] == "made/world.tw"
    text = (tmp_path / "made" / "world.tw").read_text(encoding="utf-8")
    assert 'world mill "Mill" {' in text
    assert " in mill {" in text
    assert tw("fmt", "--check", "made/world.tw").code == 0


def test_an_existing_file_is_never_replaced(tw: Tw, tmp_path: Path) -> None:
    (tmp_path / "mill").mkdir()
    (tmp_path / "mill" / "world.tw").write_text("mine", encoding="utf-8")
    ran = tw("new", "mill")
    assert ran.code == 2
    assert "error[TW0006]: There is a file `mill/world.tw` already." in ran.err
    assert (tmp_path / "mill" / "world.tw").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Mill", "`Mill` is no name for a world."),
        ("../mill", "`../mill` is no name for a world."),
        ("", "`` is no name for a world."),
        ("pddl", "`pddl` is a reserved word."),
        ("a" * 99, "is no name for a world."),
    ],
)
def test_a_name_that_cannot_be_is_one_diagnostic(
    tw: Tw, tmp_path: Path, name: str, told: str
) -> None:
    ran = tw("new", name)
    assert ran.code == 2
    assert ran.err.count("error[TW0006]") == 1
    assert told in ran.err
    assert not list(tmp_path.iterdir())


def test_a_place_where_nothing_can_be_written(tw: Tw, tmp_path: Path) -> None:
    (tmp_path / "mill").write_text("a file", encoding="utf-8")
    ran = tw("new", "mill")
    assert ran.code == 2
    assert "error[TW0001]: `mill/world.tw` cannot be written" in ran.err
