"""Words that mean nothing: what failed of them, what comes near, and the rule to begin with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tokenworld.diagnostics import Source
from tokenworld.session import Session, check_text
from tokenworld.session.reloading import TODO, gap, grown, tried

ATTIC = Path(__file__).parents[1] / "tools" / "play" / "worlds" / "attic.tw"


@pytest.fixture
def attic(tmp_path: Path) -> Session:
    return Session.open(str(shutil.copy(ATTIC, tmp_path / "attic.tw")))


@pytest.mark.parametrize(
    ("asked", "kind", "failed"),
    [
        ("polish robot", "unknown_verb", "the verb"),
        ("take trunk", "wrong_type", "a thing: it is of another kind"),
        ("take moon", "no_such_object", "a thing: nothing of that name"),
        ("take", "bad_arity", "the words: the verb is known"),
    ],
)
def test_what_failed_is_told(attic: Session, asked: str, kind: str, failed: str) -> None:
    found = gap(attic, asked)
    assert found is not None
    assert found.found.kind == kind
    assert found.failed.startswith(failed)


def test_words_with_a_meaning_are_no_gap(attic: Session) -> None:
    assert gap(attic, "take robot") is None
    assert gap(attic, "take(robot)") is None


def test_several_meanings_are_named(tmp_path: Path) -> None:
    text = ATTIC.read_text(encoding="utf-8")
    for old, new in (
        ('world attic "The Attic" {', 'world attic "The Attic" {\n  ambiguous ask'),
        ("  object robot: Toy", '  object robot: Toy aka "toy"'),
        ("  object trunk", '  object bear: Toy aka "toy" { at = attic }\n  object trunk'),
    ):
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "two.tw"
    file.write_text(text, encoding="utf-8")
    found = gap(Session.open(str(file)), "take toy")
    assert found is not None
    assert found.found.kind == "ambiguous"
    assert len(found.near) == 2


def test_what_can_be_done_with_the_same_thing_comes_first(attic: Session) -> None:
    found = gap(attic, "polish the robot")
    assert found is not None
    assert found.near[0] == "take robot"


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("polish robot", 'action polish(t: Toy) as "polish {t}" {'),
        ("polish the robot with a trunk",
         'action polish_with(t: Toy, b: Box) as "polish {t} with {b}" {'),
        ("tie robot to robot", 'action tie_to(t: Toy, t2: Toy) as "tie {t} to {t2}" {'),
        ("fold(robot)", 'action fold(t: Toy) as "fold {t}" {'),
        ('fly to the "moon"!', 'action fly_to_the_moon() as "fly to the moon" {'),
        ("take trunk", 'action take_box(b: Box) as "take {b}" {'),
        ("3 cheers", 'action act_3_cheers() as "3 cheers" {'),
        ("say {x} \\ \"y", 'action say_x_y() as "say x y" {'),
        ("true", 'action true_2() as "true" {'),
    ],
)  # fmt: skip
def test_a_rule_for_the_words_checks_and_means_them(attic: Session, asked: str, first: str) -> None:
    trial = tried(attic, asked)
    assert trial is not None
    assert trial.stub.text.splitlines()[0] == first
    assert trial.clean, trial.findings
    assert trial.stub.text.count(TODO) == 2
    assert check_text(trial.source).program is not None
    trial.source.path.write_text(trial.source.text, encoding="utf-8")  # type: ignore[union-attr]
    again = Session.open(str(trial.source.path))
    outcome = again.intend(trial.stub.words)[-1]
    assert (outcome.status, outcome.action) == ("executed", trial.stub.name)


@pytest.mark.parametrize("broken", ["invariant no: 1 + true\n", "world"])
def test_behind_rules_with_errors_nothing_is_written(attic: Session, broken: str) -> None:
    path = attic.world.loaded.sources[0].path
    assert path is not None
    path.write_text(ATTIC.read_text(encoding="utf-8") + broken, encoding="utf-8")
    trial = tried(attic, "polish robot")
    assert trial is not None
    assert not trial.clean


def test_without_words_there_is_no_rule(attic: Session) -> None:
    assert tried(attic, "?!") is None
    assert tried(attic, "") is None


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_ends_of_lines_stay(attic: Session, end: str) -> None:
    trial = tried(attic, "polish robot")
    assert trial is not None
    text = ATTIC.read_text(encoding="utf-8").replace("\n", end)
    whole = grown(text, trial.stub.text)
    assert whole.startswith(text.rstrip())
    assert whole.count("\n") == whole.count(end)
    assert check_text(Source("a.tw", None, whole)).program is not None
