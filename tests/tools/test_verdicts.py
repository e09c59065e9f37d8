"""The search from outside sees what play can do, and what contradicts a planner is noticed."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tokenworld.cli import _main
from tokenworld.diagnostics import Source
from tokenworld.planning.verdict import Proof, Verdict
from tokenworld.session import Session
from tokenworld.session.loading import open_text
from tokenworld.verbs.fuzz import verdicts
from tokenworld.verbs.fuzz.campaign import playable
from tokenworld.verbs.fuzz.small import small_world
from tokenworld.verbs.fuzz.verdicts import (
    compare_verdicts,
    disagreement,
    explore,
    fails,
    seed_that_wins,
)


def session(text: str) -> Session:
    return Session(open_text((Source("w.tw", None, text),), "w"))


COINS = """type C { heads: bool  tossed: bool }
action toss(c: C) takes 0 { require not c.tossed  c.tossed = true  chance 50% { c.heads = true } }
action look() { }
invariant never_both(c: C): not all(x.heads for x: C)
object a, b: C
world w { goal g: GOAL }
"""
LONG = """type D { n: 0 to 3 clamped  done: bool  cut: bool }
actor me: D
action dig() takes 3 { me.done = true  cancelled { me.cut = true } }
action stop() { require not me.done else "Done." }
law tally(d: D) when busy(d) { d.n += 1 }
world w { TIME object hero: D  goal g: GOAL }
"""


def coins(goal: str) -> str:
    return COINS.replace("GOAL", goal)


def long(goal: str, time: str = "") -> str:
    return LONG.replace("GOAL", goal).replace("TIME", time)


# ---- the search ---------------------------------------------------------------------------------


def test_every_outcome_of_luck_is_followed_also_behind_one_that_is_rolled_back() -> None:
    assert explore(session(coins("a.heads and not b.heads and b.tossed")), 4_000).way is not None
    assert explore(session(coins("b.heads and not a.heads and a.tossed")), 4_000).way is not None
    both = explore(session(coins("a.heads and b.heads")), 4_000)
    assert both.answer == "unwinnable"


def test_long_actions_go_on_and_are_broken_off() -> None:
    assert explore(session(long("hero.done")), 4_000).way == ("dig()", "pass", "pass")
    assert explore(session(long("hero.cut")), 4_000).way is not None
    assert explore(session(long("hero.done and hero.cut and hero.n == 0")), 4_000).complete


def test_a_search_that_leaves_something_out_says_unknown() -> None:
    assert explore(session(long("hero.done and hero.cut and hero.n == 0")), 20).answer == "unknown"
    assert explore(session(long("hero.done and tick() < 2")), 200).answer == "unknown"


def test_states_between_the_actors_of_a_round_are_told_apart() -> None:
    text = """type P { n: 0 to 3 clamped }
actor me: P
action step() { me.n += 1 }
law both() when did(a, step) and did(b, step) { a.n = 3 }
object a, b: P
world w { turns a, b  goal g: a.n == 3 and b.n == 1 }
"""
    assert explore(session(text), 4_000).way == ("step()", "step()")


def test_the_generator_writes_the_same_worlds_again() -> None:
    texts = [playable(number, small_world) for number in range(6)]
    assert any(texts)
    assert texts == [playable(number, small_world) for number in range(6)]


@pytest.mark.slow
def test_the_generator_writes_worlds_of_all_kinds() -> None:
    texts = [playable(number, small_world) for number in range(120)]
    written = "\n".join(text for text in texts if text is not None)
    for wanted in (
        "cancelled {",
        "takes 0",
        "turns ann, bob",
        "time passes always",
        "until ",
        "chance ",
        "pick ",
        "invariant",
        "sequentially",
        "did(",
        "busy(",
        "was ",
    ):
        assert wanted in written, wanted
    assert sum(text is None for text in texts) < 8


# ---- what contradicts a planner -----------------------------------------------------------------


def lying(monkeypatch: pytest.MonkeyPatch, **different: Any) -> None:
    """Make `Session.plan` answer otherwise than it would."""
    honest = Session.plan

    def plan(self: Session, *given: Any, **named: Any) -> Verdict:
        return replace(honest(self, *given, **named), **different)

    monkeypatch.setattr(Session, "plan", plan)


def test_a_false_proof_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert disagreement(long("hero.done"), ("",)) is None
    proof = Proof("own search: none", "own search", states=1)
    lying(monkeypatch, answer="unwinnable", proof=proof)
    found = disagreement(long("hero.done"), ("",))
    assert found is not None
    assert found.what == "it is called unwinnable and can be won"
    assert found.way == ("dig()", "pass", "pass")


def test_a_plan_that_does_not_win_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    lying(monkeypatch, steps=())
    found = disagreement(long("hero.done"), ("",))
    assert found is not None
    assert found.what == "its plan does not win: it does not reach the goal"


def test_a_refused_step_and_luck_that_cannot_be_are_noticed() -> None:
    played = session(coins("a.heads"))
    steps = played.plan().steps
    wrong, share = fails(played, steps)
    assert (wrong, share) == ("", 1 / 2)
    assert seed_that_wins(played, steps, share)
    (draw,) = steps[0].draws
    tails = replace(steps[0], draws=(replace(draw, choice=1 - draw.choice),))
    assert fails(played, (tails,))[0] == "it does not reach the goal"
    assert fails(played, (tails, tails))[0] == "step 2 is refused"


def test_a_plan_that_no_seed_wins_with_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where two free commands of one tick were to share a draw, and a plan wants both ways."""
    played = session(coins("a.heads"))
    steps = played.plan().steps
    monkeypatch.setattr("tokenworld.engine.luck.draw", lambda *_: (1 << 64) - 1)
    assert seed_that_wins(played, steps, Fraction(1, 2)) is False
    found = disagreement(coins("a.heads"), ("",))
    assert found is not None
    assert found.what == "no seed wins with its plan"


def test_a_reason_that_play_contradicts_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = long("hero.done and hero.n == 0 and hero.cut")
    for held, wrong in (("0..3", False), ("anything", False), ("0, 1", True), ("0..2", True)):
        monkeypatch.setattr(verdicts, "_reasons", lambda *_, held=held: [("hero.n", held)])
        found = disagreement(text, ("",))
        assert (found is not None) is wrong, held
        assert found is None or found.what == f"`hero.n` is not only ever {held}"


def test_a_planner_that_breaks_is_noticed_and_the_world_is_shrunk(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any, **__: Any) -> Verdict:
        raise RecursionError("too deep")

    monkeypatch.setattr(Session, "plan", broken)
    monkeypatch.setattr(verdicts, "SHRINKS", 40)
    assert _main(["fuzz", "--verdicts", "3", "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    (found,) = shown["disagreements"]
    assert shown["worlds"] == 1
    assert found["what"] == "the planner breaks"
    assert "too deep" in found["detail"]
    assert len(found["world"]) < 500
    assert _main(["fuzz", "--verdicts", "1"]) == 1
    assert "Play contradicts `tw plan`" in capsys.readouterr().out


# ---- the campaign -------------------------------------------------------------------------------


FINDINGS = sorted((Path(__file__).parents[1] / "findings/planning").glob("[acdg]*.tw"))


@pytest.mark.parametrize("path", FINDINGS, ids=lambda path: path.stem)
def test_play_contradicts_no_verdict_about_the_findings(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert disagreement(text, verdicts.ALWAYS) is None


@pytest.mark.parametrize("count", ["4", pytest.param("20", marks=pytest.mark.slow)])
def test_small_worlds(capsys: pytest.CaptureFixture[str], count: str) -> None:
    assert _main(["fuzz", "--verdicts", count]) == 0, capsys.readouterr().out
    said = capsys.readouterr().out
    assert f"{count} small worlds" in said
    assert "Play contradicts no verdict, plan or reason." in said


@pytest.mark.slow
def test_three_thousand_small_worlds() -> None:
    report = compare_verdicts(3_000, seed=15)
    assert report.found == []
    both = report.answers["default"]
    assert both["winnable/winnable"] > 500
    assert both["unwinnable/unwinnable"] > 500


def test_a_world_whose_things_double_in_each_tick_is_left() -> None:
    text = """type H
    type Thing
    actor me: H
    action wait() { }
    law breed(x: Thing) { create t: Thing }
    world w { object hero: H  object one: Thing  goal many: count(x for x: Thing) > 900 }
    """
    found = explore(session(text), 4_000)
    assert (found.answer, found.complete) == ("unknown", False)
    assert all(len(one["objects"]) <= verdicts.MOST_OBJECTS for one in found.states.values())
