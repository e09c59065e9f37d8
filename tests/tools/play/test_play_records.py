"""The details pane: every require with values, place and source line; every part of a record."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.ground import Change, LuckyDraw, Outcome, RequireReport
from tokenworld.planning.verdict import Attempt, PlanStep, Proof, Verdict
from tokenworld.play.model.hints import hint_lines, hint_sentence
from tokenworld.play.model.records import Describer
from tokenworld.play.model.view import title_text
from tokenworld.session import Session
from tokenworld.session.refusals.explained import Explanation, explained, explained_record
from tokenworld.verbs.output import ASCII, UNICODE, plain_text
from tokenworld.verbs.refusals.lines import short_place

WILLOWBROOK = Path(__file__).parents[3] / "domains" / "willowbrook" / "world.tw"


@pytest.fixture
def describer(attic: Session) -> Describer:
    return Describer(UNICODE, {one.name: one for one in attic.world.loaded.sources})


def record(describer: Describer, session: Session, asked: str) -> str:
    outcome = session.intend(asked)[-1]
    return plain_text(describer.record(outcome, asked, explained_record(session, outcome)))


def test_a_refusal_shows_every_require_the_failed_first(
    describer: Describer, attic: Session
) -> None:
    assert record(describer, attic, "force trunk").split("\n") == [
        "✗ refused in tick 0",
        "force trunk",
        "",
        "✗ weak: me.energy >= 9",
        "  You are too weak (energy 5).",
        "  me.energy = 5",
        '  attic.tw:26:3 require me.energy >= 9 else weak "You are too weak (energy {me.energy})."',
        "  false from the start",
        "",
        "✓ absent: b.at == me.at",
        "  b.at = attic",
        "  me.at = attic",
        '  attic.tw:24:3 require b.at == me.at else absent "There is no {b} here."',
        "",
        "✓ open: b.locked",
        "  b.locked = true",
        '  attic.tw:25:3 require b.locked else open "{The b} is open."',
    ]


def test_a_require_that_was_not_evaluated_is_neither_met_nor_failed(describer: Describer) -> None:
    report = RequireReport(1, "deep", "a.b.c == 1", "", None, {}, "gone.tw:3:1")
    found = Explanation("", None, "", "", "", "refused", 0, (report,))
    assert plain_text(describer.requires(found)).split("\n") == [
        "", "– deep: a.b.c == 1", "  not evaluated", "  gone.tw:3:1",
    ]  # fmt: skip


def test_why_not_examines_without_giving(describer: Describer, attic: Session) -> None:
    refused = plain_text(describer.examined(explained(attic, "wind robot")))
    assert refused.startswith("✗ It would be refused.\n\n✗ empty: t.at == me")
    allowed = plain_text(describer.examined(explained(attic, "take robot")))
    assert allowed.startswith("✓ It can be done now.\n\n✓ absent")
    assert "You could say" in plain_text(describer.examined(explained(attic, "take robt")))
    assert len(attic.moments) == 1


def test_a_tick_shows_changes_laws_and_the_state(describer: Describer, attic: Session) -> None:
    text = record(describer, attic, "take robot")
    assert "✓ executed in tick 0\ntake robot\n" in text
    assert "  at(robot) attic → child  action take" in text
    assert "Laws fired" not in text
    assert "Laws fired\n  law clock()" in record(describer, attic, "wind robot")


def test_a_broken_tick_shows_the_rule_and_what_was_discarded() -> None:
    outcome = Outcome(
        3,
        "rolled_back",
        discarded=(Change("Toy.wound", ("robot",), 1, 2, "action wind"),),
        draws=(LuckyDraw("action force", ("trunk",), 0, 1, 2),),
        events=(("laid", ("coop",)),),
        breach={"code": "TW1001", "message": "It broke.", "rule": "invariant one",
                "place": "", "witness": ["robot"]},
    )  # fmt: skip
    text = plain_text(Describer(ASCII, {}).record(outcome, "wind robot"))
    assert text.startswith("< rolled back in tick 3\nwind robot\nTW1001: It broke.")
    assert "  rule invariant one\n  witness robot" in text
    assert "Discarded\n  wound(robot) 1 -> 2  action wind" in text
    assert "Draws of chance\n  action force(trunk): outcome 2 of 2" in text
    assert "Events\n  laid(coop)" in text


def test_places_are_shown_without_folders() -> None:
    assert short_place("domains/cellar/world.tw:17:3") == "world.tw:17:3"


def test_source_lines_are_found_for_any_file_name(attic: Session) -> None:
    source = attic.world.loaded.sources[-1]
    odd = Describer(UNICODE, {"C:/worlds/attic.tw": source})
    assert odd.source_line("C:/worlds/attic.tw:7:1") == "actor me: Child"
    assert odd.source_line("other.tw:9:1") == ""


# ---- hints ------------------------------------------------------------------------------


def test_a_hint_gives_only_the_next_step_away(attic: Session) -> None:
    verdict = attic.plan()
    text = plain_text(hint_lines(verdict, "take robot", UNICODE))
    assert text.startswith("✓ Winnable\nGoal `wound` in 3 more steps.\n\nNext: take robot\n")
    assert "wind" not in text
    assert "Plan found by own search" in text


def test_the_three_answers_are_told_apart() -> None:
    proof = Proof("own search: none of all 9 reachable states reaches the goal", "own search")
    unwinnable = Verdict("unwinnable", None, "exhausted", "own search", "", proof=proof)
    unknown = Verdict(
        "unknown", None, None, "", "",
        attempts=(Attempt("own search", "", "limit", "its limit of 20 s was reached", 20.0),),
    )  # fmt: skip
    assert "exhausted by own search: none of all 9" in plain_text(
        hint_lines(unwinnable, None, UNICODE)
    )
    assert "its limit of 20 s was reached" in plain_text(hint_lines(unknown, None, UNICODE))
    sentences = {hint_sentence(one, None).split()[0] for one in (unwinnable, unknown)}
    assert sentences == {"Unwinnable", "Unknown:"}


def test_luck_that_may_not_come_is_admitted(attic: Session) -> None:
    draw = LuckyDraw("action force", ("trunk",), 0, 1, 2)
    plan = attic.plan()
    lucky = Verdict(
        "winnable", None, "found", "own search", "", reached=("wound",),
        steps=(PlanStep(plan.steps[0].command, (draw,)),),
        plan=(type(plan.plan[0])("take(robot)", 1, 0, (draw,)),),
        wins_with_seed=False, seed=7,
    )  # fmt: skip
    assert "It counts on luck that may not come" in plain_text(hint_lines(lucky, "x", UNICODE))
    assert "wins with seed 7" in plain_text(hint_lines(lucky.with_seed(7, True), "x", UNICODE))


# ---- the title --------------------------------------------------------------------------


def test_the_title_says_how_things_stand(attic: Session) -> None:
    assert title_text(attic, UNICODE) == "The Attic · tick 0 · score 0 · playing"
    attic.intend("sweep")
    assert title_text(attic, UNICODE).endswith("… sweep ▰▱▱ 1 of 3")
    attic.intend("take robot")
    attic.intend("wind robot")
    attic.intend("wind robot")
    assert title_text(attic, UNICODE) == "The Attic · tick 4 · score 2 · ★ won: wound"


def test_the_title_says_whose_turn_it_is() -> None:
    session = Session.open(str(WILLOWBROOK))
    assert title_text(session, UNICODE) == "Willowbrook · tick 0 · score 0 · Mira's turn"
    session.intend("hum")
    assert title_text(session, UNICODE) == "Willowbrook · tick 0 · score 0 · Old Bran's turn"
