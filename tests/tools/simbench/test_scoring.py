"""``tw simbench score``: errors that were made on purpose are found, and what stands beside."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.tools.simbench.conftest import COPIES, HERE, ROOT, Tw, scores
from tests.tools.simbench.erring import WAYS, erred
from tokenworld.verbs.records.answers import Answer
from tokenworld.verbs.records.rows import Recorded, Score, TextRow
from tokenworld.verbs.simbench.scoring import ways
from tokenworld.verbs.simbench.sets import read_set

GAMES = ROOT / "domains/textgames"


@pytest.mark.parametrize(
    "world", ["willowbrook", "cellar", GAMES / "boil-water/world.tw", GAMES / "take-photo/world.tw"]
)
def test_five_known_errors_are_found_in_the_table(tw: Tw, tmp_path: Path, world: object) -> None:
    folder, path = tmp_path / "set", tmp_path / "erring.jsonl"
    assert tw("simbench", "make", world, "--rows", "12", "-o", folder)[0] == 0
    command = f"{sys.executable} {HERE / 'erring.py'} {folder}"
    given = ("--predictor", command, "--retries", "0", "--examples", "0", "--rules", "none")
    assert tw("simbench", "run", folder, *given, "-o", path)[0] in (0, 1)
    found = read_set(folder)
    made = [(one, erred(one, found.row(one))[1]) for one in found.questions]
    wanted = Counter(error for _, error in made if error is not None)
    assert {way for _, way in wanted} == {*WAYS}
    card = scores(tw, folder, path)["predictors"][0]
    told = {
        (what, way): number
        for what, counts in card["properties"].items()
        for way, number in counts.items()
        if way != "right"
    }
    assert told == dict(wanted)
    for part in ("act", "env", "score", "step", "chain"):
        share = card["parts"][part]["all"]
        right = sum(one.part == part and error is None for one, error in made)
        assert (share["asked"], share["strict"]["right"]) == (
            sum(one.part == part for one in found.questions),
            right,
        )


def test_the_one_that_copies_is_scored_as_its_baseline(
    tw: Tw, small: Path, tmp_path: Path, script: object
) -> None:
    path = tmp_path / "copies.jsonl"
    assert callable(script)
    given = ("--predictor", script(COPIES), "-o", path)
    assert tw("simbench", "run", small, *given)[0] == 0
    mine, copy, *others = scores(tw, small, path)["predictors"]
    assert mine["parts"]["act"]["static"]["strict"] == copy["parts"]["act"]["static"]["strict"]
    assert copy["parts"]["act"]["dynamic"]["strict"]["right"] == 0
    assert copy["parts"]["act"]["static"]["strict"]["right"] == 5
    names = [one["who"] for one in others]
    assert names[0] == "nearest known row"
    assert len(names) == 5
    assert all(one.startswith("rules without ") for one in names[1:])
    for one in others[1:]:
        assert 0 < one["parts"]["step"]["all"]["strict"]["right"] <= 10
    assert any(one["parts"]["act"]["dynamic"]["strict"]["right"] < 5 for one in others[1:])


ORACLE = f"""
import json, sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from tokenworld.verbs.simbench.asking import answer_json
from tokenworld.verbs.simbench.sets import read_set
found = read_set(Path(sys.argv[1]))
for line in sys.stdin:
    question = found.questions[int(json.loads(line)["row"]) - 1]
    answer = answer_json(found.row(question), question.task, sys.argv[2])
    fails = question.part in ("chain", "own") and question.number % 3 == 0
    if fails and "objects" in answer:
        first, *others = answer["objects"]
        answer["objects"] = [{{**first, "type": "Nothing"}}, *others]
    print(json.dumps({{**answer, "confidence": 0.25 if fails else 0.9}}), flush=True)
"""


def test_the_right_answers_are_right_in_both_modes(
    tw: Tw, small: Path, tmp_path: Path, script: object
) -> None:
    assert callable(script)
    for mode in ("full", "diff"):
        path = tmp_path / f"{mode}.jsonl"
        given = ("--predictor", f"{script(ORACLE)} {small} {mode}", "--mode", mode, "-o", path)
        assert tw("simbench", "run", small, *given)[0] == 0
        card = scores(tw, small, path)["predictors"][0]
        for part in ("act", "env", "score", "step"):
            share = card["parts"][part]["all"]
            assert share["strict"]["right"] == share["lenient"]["right"] == share["asked"]


def test_steps_of_own_predictions_and_stated_probabilities(
    tw: Tw, small: Path, tmp_path: Path, script: object
) -> None:
    assert callable(script)
    path = tmp_path / "sure.jsonl"
    given = ("--predictor", f"{script(ORACLE)} {small} full", "-o", path)
    assert tw("simbench", "run", small, *given)[0] == 0
    card = scores(tw, small, path)["predictors"][0]
    questions = read_set(small).questions
    chain = [one for one in questions if one.part == "chain"]
    right = sum(one.number % 3 != 0 for one in chain)
    assert card["one_step"] == pytest.approx(right / len(chain))
    assert {*card["steps"]} == {"1", "2", "3", "4", "5"}
    lenient = [card["steps"][str(step)]["lenient"]["right"] for step in range(1, 6)]
    assert lenient == [card["steps"]["1"]["asked"]] * 5  # a wrong type is right for the paper
    failed = sum(one.part in ("chain", "own") and one.number % 3 == 0 for one in questions)
    low, high = card["calibration"]
    assert low == [0.25, 0.0, failed]
    assert high == [pytest.approx(0.9), 1.0, len(questions) - failed]
    error = (failed * 0.25**2 + (len(questions) - failed) * 0.1**2) / len(questions)
    assert card["brier"] == pytest.approx(error)


def test_the_page_has_tables_and_charts(
    tw: Tw, small: Path, tmp_path: Path, script: object
) -> None:
    assert callable(script)
    path = tmp_path / "copies.jsonl"
    given = ("--predictor", script(COPIES), "-o", path)
    assert tw("simbench", "run", small, *given)[0] == 0
    code, out, _ = tw("simbench", "score", small, path, "-o", tmp_path / "page")
    assert (code, "score.html" in out) == (0, True)
    page = (tmp_path / "page/score.html").read_text("utf-8")
    text = (tmp_path / "page/score.md").read_text("utf-8")
    assert page.count("<svg") == 3
    assert page.count("<h2>") == text.count("\n## ") == 5
    assert "nearest known row" in text
    assert "GPT-4" not in text + page
    assert "http:" not in page
    assert "https:" not in page


def test_the_figures_of_the_paper_stand_beside_its_games_only(tw: Tw, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    world = GAMES / "lit-lightbulb/world.tw"
    assert tw("simbench", "make", world, "--rows", "2", "-o", folder)[0] == 0
    command = f"{sys.executable} {HERE / 'erring.py'} {folder}"
    tw("simbench", "run", folder, "--predictor", command, "-o", tmp_path / "a.jsonl")
    code, out, _ = tw("simbench", "score", folder, tmp_path / "a.jsonl")
    assert code == 0
    assert out.count("GPT-4, mean of 31 games") == 3
    assert "77.1%" in out


def row(before: dict[str, object], after: dict[str, object]) -> TextRow:
    def state(properties: dict[str, object]) -> Recorded:
        one = {"name": "it", "uuid": 1, "type": "It", "properties": properties, "contains": []}
        return Recorded([one], 2)

    score = Score(0, False, False)
    return TextRow("", "game", 0, "do", "", state(before), state(after), state(after), score, score)


@pytest.mark.parametrize(
    ("before", "target", "found", "way"),
    [
        (1, 1, 1, "right"), (1, 2, 2, "right"), (1, 2, 3, "wrong value"),
        (1, 1, 3, "changed wrongly"), (1, 2, 1, "unchanged wrongly"), (1, 2, None, "left out"),
        (1, 2, "2", "form"), (True, False, 0, "form"), (1, None, 1, "unchanged wrongly"),
        (None, 2, None, "left out"), (1, 2, 2.0, "right"), (None, None, 4, "changed wrongly"),
    ],
)  # fmt: skip
def test_a_property_is_right_or_wrong_in_one_of_five_ways(
    before: object, target: object, found: object, way: str
) -> None:
    """``None`` here: the property is not there."""

    def held(value: object) -> dict[str, object]:
        return {} if value is None else {"heat": value}

    asked = row(held(before), held(target))
    answered = row({}, held(found)).acted.objects
    assert [one for one in ways(asked, "act", Answer(answered)) if one[0] == "heat"] == [
        ("heat", way)
    ]


@pytest.mark.parametrize(
    ("there", "found", "way"),
    [
        ((False, True), True, "right"), ((False, True), False, "unchanged wrongly"),
        ((True, False), False, "right"), ((True, False), True, "unchanged wrongly"),
        ((True, True), False, "left out"), ((False, False), True, "changed wrongly"),
    ],
)  # fmt: skip
def test_objects_that_come_and_go(there: tuple[bool, bool], found: bool, way: str) -> None:
    one = {"name": "it", "uuid": 1, "type": "It", "properties": {}, "contains": []}
    states = [Recorded([one] if held else [], 2) for held in there]
    score = Score(0, False, False)
    asked = TextRow("", "g", 0, "do", "", states[0], states[1], states[1], score, score)
    assert [*ways(asked, "act", Answer([one] if found else []))] == [("(objects)", way)]


def test_answers_to_another_set(tw: Tw, small: Path, tmp_path: Path, script: object) -> None:
    assert callable(script)
    other, path = tmp_path / "other", tmp_path / "a.jsonl"
    assert tw("simbench", "make", "cellar", "--rows", "4", "--seed", "3", "-o", other)[0] == 0
    assert tw("simbench", "run", other, "--predictor", script(COPIES), "-o", path)[0] == 0
    code, _, err = tw("simbench", "score", small, path)
    assert (code, "has no answers to the questions of" in err) == (2, True)
    path.write_text(json.dumps({"format": "other"}) + "\n", encoding="utf-8")
    code, _, err = tw("simbench", "score", small, path)
    assert (code, "is no transcript of answers" in err) == (2, True)
    assert tw("simbench", "score", small)[0] == 2
