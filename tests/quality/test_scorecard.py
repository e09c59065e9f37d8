"""The seven dimensions at their boundaries, the scorecard word for word, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tokenworld.verbs.quality.dimensions import Coverage, Dimension, Fact, shown
from tokenworld.verbs.quality.fate import Fate
from tokenworld.verbs.quality.scorecard import Scorecard, exit_code, scorecard_lines
from tokenworld.verbs.recheck import Checkpoint

Card = Callable[..., Scorecard]

SAMPLE = """\
Willowbrook · records 1 to 50, ticks 0 to 49

  [OK]    Faithful records       0.96    48 of 50 records
          Do the rules make of each intent what was recorded, and is what was told true?
  [OK]    Story voice            1.00    50 of 50 texts
          Do the players' texts speak of the world, and not of the program?
  [WARN]  Commands that work     7 in a row, 2.2 refusals per 10
          Do most commands go through, many in a row?
  [OK]    Refusals in a row      2 at most
          Does a player who is refused soon do something else?
  [OK]    Variety                1.4 new per 10
          Are new actions used as play goes on, or all that are of use?
  [OK]    Invariants kept        0.00    0 of 50 records taken back
          Do few actions break an invariant, and are taken back?
  [WARN]  Links between objects  -0.008 links per object and 10 records
          Do relations and references between objects grow, or stay?

  Goal: not reached; whether it is in reach was not asked.
  Verdict: DEGRADED — commands that work and links between objects in warn.
"""


def facts(marks: str, **everywhere: Any) -> list[Fact]:
    """One fact per character: ``.`` executed, ``x`` refused, ``?`` no match, ``r`` rolled back,
    ``e`` error, ``h`` halted."""
    names = {
        ".": "executed",
        "x": "refused",
        "?": "no_match",
        "r": "rolled_back",
        "e": "error",
        "h": "halted",
    }
    return [Fact(seq, names[mark], **everywhere) for seq, mark in enumerate(marks, 1)]


def one(card: Scorecard, name: str) -> Dimension:
    (found,) = (each for each in card.dimensions if each.id == name)
    return found


def sample() -> tuple[list[Fact], list[Checkpoint]]:
    """2 ungrounded ticks, 11 refusals (at most 2 in a row, 7 ticks without one), 7 new verbs."""
    refused = {3, 4, 12, 13, 21, 22, 30, 31, 39, 40, 47}
    verbs = {1: "go", 5: "take", 10: "drop", 15: "open", 20: "read", 25: "pet", 33: "hum"}
    listed = [
        Fact(
            seq,
            "refused" if seq in refused else "executed",
            verb=verbs.get(seq, "go"),
            text="go on",
            faults=("its changes are not those that a replay makes",) if seq in (7, 8) else (),
            tick=seq - 1,
        )
        for seq in range(1, 51)
    ]
    edges = (2032, 2030, 2020, 2010, 2000)
    return listed, [Checkpoint(10 * k, each, 1000) for k, each in enumerate(edges, 1)]


def test_the_scorecard_of_the_design(card: Card) -> None:
    listed, points = sample()
    assert "\n".join(scorecard_lines(card(listed, checkpoints=points))) + "\n" == SAMPLE


def test_its_json_has_the_numbers(card: Card) -> None:
    listed, points = sample()
    found: Any = card(listed, checkpoints=points).to_json()
    assert (found["run"], found["digest"], found["verdict"]) == ("willowbrook-3", "d1", "DEGRADED")
    assert found["window"] == {
        "requested": 50, "n": 50, "first": 1, "last": 50, "ticks": [0, 49],
    }  # fmt: skip
    by_id = {each["id"]: each for each in found["dimensions"]}
    assert list(by_id) == [
        "groundedness", "character", "action_coherence", "refusal_cluster", "vocabulary",
        "conservation", "graph_fan_out",
    ]  # fmt: skip
    assert by_id["groundedness"]["evidence"] == [7, 8]
    assert by_id["groundedness"]["series"] == [[10, 0.8], [20, 1], [30, 1], [40, 1], [50, 1]]
    assert by_id["action_coherence"]["values"]["refuse_rate"] == 2.2
    assert by_id["graph_fan_out"]["values"]["slope"] == -0.008
    assert set(by_id["vocabulary"]) == {
        "id", "title", "meaning", "version", "status", "text", "values", "thresholds", "evidence",
        "series",
    }  # fmt: skip


# ---- 1 groundedness, 2 character, 6 conservation: shares ----------------------------------------


@pytest.mark.parametrize(
    ("bad", "of", "status"),
    [(0, 50, "OK"), (2, 50, "OK"), (1, 20, "OK"), (3, 50, "WARN"), (3, 20, "WARN"),
     (7, 50, "WARN"), (8, 50, "FAIL"), (50, 50, "FAIL")],
)  # fmt: skip
def test_groundedness(card: Card, bad: int, of: int, status: str) -> None:
    listed = [replace(fact, faults=("false",) * (fact.seq <= bad)) for fact in facts("." * of)]
    assert one(card(listed), "groundedness").status == status


def test_prose_that_claims_nothing_is_unchecked_and_not_ungrounded(card: Card) -> None:
    found = one(card(facts("." * 20, unchecked=True)), "groundedness")
    assert (found.status, found.values["unchecked"], found.values["u"]) == ("OK", 20, 0)


@pytest.mark.parametrize(
    ("breaks", "of", "status"),
    [(0, 50, "OK"), (1, 50, "OK"), (2, 50, "WARN"), (5, 50, "WARN"), (6, 50, "FAIL")],
)
def test_character(card: Card, breaks: int, of: int, status: str) -> None:
    listed = [
        replace(fact, text="ask the Operator" if fact.seq <= breaks else "look about")
        for fact in facts("." * of)
    ]
    found = one(card(listed), "character")
    assert found.status == status
    assert found.evidence == tuple(range(1, breaks + 1))
    assert found.text.endswith(f"{of - breaks} of {of} texts")


def test_character_without_free_text_is_not_judged(card: Card) -> None:
    found = one(card(facts("." * 20)), "character")
    assert (found.status, found.text) == ("N/A", "n/a     no free text")


def test_character_counts_ticks_with_text_only(card: Card) -> None:
    listed = [replace(fact, text="yield") if fact.seq == 1 else fact for fact in facts("." * 50)]
    assert one(card(listed), "character").status == "FAIL"  # one of one


@pytest.mark.parametrize(
    ("lost", "of", "status"),
    [(0, 50, "OK"), (1, 50, "OK"), (2, 50, "WARN"), (4, 50, "WARN"), (5, 50, "FAIL"),
     (1, 11, "WARN"), (1, 10, "FAIL")],
)  # fmt: skip
def test_conservation(card: Card, lost: int, of: int, status: str) -> None:
    listed = facts("r" * lost + "." * (of - lost), blamed=("conserve wood", "action chop"))
    found = one(card(listed), "conservation")
    assert found.status == status
    assert (": conserve wood, action chop" in found.text) == (lost > 0)


# ---- 3 action coherence, 4 refusal cluster ------------------------------------------------------


@pytest.mark.parametrize(
    ("marks", "status"),
    [
        ("x" + "." * 15 + "x." * 2, "OK"),  # streak 15, rate 1.5
        ("x" + "." * 14 + "x.x.x" + "." * 6, "WARN"),  # streak 14
        (".." + ("x" + "." * 15) * 3, "OK"),  # 3 of 50
        ("." * 17 + "x.x.x", "OK" if Fraction(30, 22) <= Fraction(15, 10) else "WARN"),
        ("." * 16 + "x.x.", "OK"),  # rate 1.0
        ("." * 16 + "xxx.", "OK"),  # rate 1.5, to the point
        ("." * 15 + "xxx..", "OK"),  # streak 15 and rate 1.5
        ("." * 14 + "xxx...", "WARN"),  # streak 14, rate 1.5
        ("x" * 3 + "." * 16 + "x", "WARN"),  # streak 16, rate 2
        ("." * 16 + "xxxx", "WARN"),  # rate 2
        ("....x" * 4, "FAIL"),  # streak 4
        (".....x" * 4, "WARN"),  # streak 5
        ("." * 12 + "x" * 8, "FAIL"),  # rate 4
        ("." * 13 + "x" * 7, "WARN"),  # rate 3.5
        ("." * 12, "OK"),  # the whole of a short window
        ("...", "OK"),
        ("..x", "FAIL"),  # a streak below min(5, 3)
        ("?" * 12, "FAIL"),
    ],
)
def test_action_coherence(card: Card, marks: str, status: str) -> None:
    assert one(card(facts(marks)), "action_coherence").status == status


def test_a_refusal_that_a_scenario_expected_is_none(card: Card) -> None:
    expected = [replace(fact, expected=fact.status == "refused") for fact in facts("..xxxxx" * 4)]
    judged = card(expected)
    assert one(judged, "action_coherence").values["refused"] == 0
    assert one(judged, "refusal_cluster").values["max"] == 0


@pytest.mark.parametrize(
    ("marks", "window", "most", "status"),
    [
        ("." * 20, 20, 0, "OK"),
        ("..xx" * 5, 20, 2, "OK"),
        ("..x?r" * 4, 20, 3, "WARN"),
        ("......xxxx", 10, 4, "WARN"),
        (".....xxxxx", 10, 5, "FAIL"),
        ("xxxx" + "x" + "." * 19, 20, 5, "FAIL"),  # five in a row, four of them before the window
        ("xxxx" + "." * 18, 20, 4, "WARN"),  # four in a row, two of them before the window
        ("xxx" + "." * 19, 20, 3, "WARN"),  # three in a row, one of them in the window
        ("xx" + "." * 19, 20, 2, "OK"),
        ("xxxxx" + "." * 20, 20, 0, "OK"),  # the cluster ends where the window begins
        ("xxx.x" + "." * 19, 20, 1, "OK"),
        ("hxxhxxhx" + "." * 19, 20, 5, "FAIL"),  # `halted` is no tick of the window
    ],
)
def test_refusal_cluster(card: Card, marks: str, window: int, most: int, status: str) -> None:
    found = one(card(facts(marks), window), "refusal_cluster")
    assert (found.values["max"], found.status) == (most, status)
    assert len(found.evidence) == most


def test_a_planner_is_never_refused(card: Card) -> None:
    found = one(card(facts("." * 30 + "x" + "." * 9, source="planner")), "refusal_cluster")
    assert (found.status, found.evidence) == ("FAIL", (31,))


# ---- 5 vocabulary -------------------------------------------------------------------------------


def talk(new: Sequence[int], of: int, before: int = 0) -> list[Fact]:
    """Ticks of which those named use a new verb."""
    listed, verb = [], "v0"
    for seq in range(1, before + of + 1):
        verb = f"v{seq}" if seq - before in new else verb
        listed.append(Fact(seq, "executed", verb=verb))
    return listed


@pytest.mark.parametrize(
    ("new", "of", "status"),
    [
        (range(1, 3), 40, "FAIL"),  # rate 0.5, and 38 ticks without a new verb
        ((1, 21), 40, "OK"),  # rate 0.5
        ((1,), 30, "WARN"),  # rate 0.33, 29 ticks without one
        ((1,), 31, "FAIL"),  # 30 ticks without one
        ((10, 11, 12, 20, 21), 20, "OK"),  # v0, and four more in the window
        ((1, 2, 3, 4, 5), 20, "OK"),  # rate 2.5
        ((1, 2, 3, 4, 5, 6), 20, "WARN"),  # rate 3
        ((1, 2, 3, 4, 5, 11, 12, 13, 14, 15), 40, "FAIL"),  # 5 in each of two buckets
        ((1, 2, 3, 4, 11, 12, 13, 14, 15), 40, "OK"),  # 4 in the first
        ((1, 2, 3, 4, 5, 21, 22, 23, 24, 25), 40, "OK"),  # not successive
    ],
)
def test_vocabulary(card: Card, new: Sequence[int], of: int, status: str) -> None:
    listed = talk(new, of)
    assert one(card(listed), "vocabulary").status == status


def test_a_verb_that_was_used_before_the_window_is_not_new(card: Card) -> None:
    found = one(card(talk((1, 11), 20, before=30), 20), "vocabulary")
    assert (found.values["first_uses"], found.values["verbs_used"]) == (2, 3)


def test_a_refused_verb_is_not_used(card: Card) -> None:
    assert one(card(facts("x" * 20, verb="fly")), "vocabulary").values["first_uses"] == 0


def test_a_closed_world_may_be_saturated(card: Card) -> None:
    listed = talk((1,), 50)
    full = one(card(listed, coverage=Coverage(("v1",))), "vocabulary")
    assert (full.status, full.text) == ("OK", "all 1 used")
    lacking = one(card(listed, coverage=Coverage(("v1", "v2"))), "vocabulary")
    assert (lacking.status, lacking.text) == ("FAIL", "0.2 new per 10, 1 of 2 used")


def test_a_closed_world_needs_no_more_than_what_a_plan_uses(card: Card) -> None:
    listed, offered = talk((1,), 50), ("v1", "v2", "v3")
    of_use = one(card(listed, coverage=Coverage(offered, ("v1",))), "vocabulary")
    assert (of_use.status, of_use.text) == ("OK", "all that a plan needs, 1 of 3 used")
    more = one(card(listed, coverage=Coverage(offered, ("v1", "v2"))), "vocabulary")
    assert more.status == "FAIL"
    assert one(card(listed), "vocabulary").status == "FAIL"  # an open world


# ---- 7 graph fan-out ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edges", "status"),
    [
        ((), "N/A"),
        ((100,), "N/A"),
        ((100, 100), "OK"),
        ((100, 90), "WARN"),  # two checkpoints never fail
        ((100, 90, 80), "WARN"),
        ((100, 97, 94, 91), "FAIL"),  # three deltas of -0.03
        ((100, 98, 96, 94), "WARN"),  # -0.02 is not below -0.02
        ((90, 100, 97, 94, 91), "FAIL"),  # also where it rose before
        ((100, 100, 100, 100, 99), "WARN"),
        ((100, 101, 100, 100, 100), "OK"),  # from first to last of five
    ],
)
def test_graph_fan_out(card: Card, edges: Sequence[int], status: str) -> None:
    points = [Checkpoint(10 * k, each, 100) for k, each in enumerate(edges, 1)]
    found = one(card(facts("." * 50), checkpoints=points), "graph_fan_out")
    assert found.status == status


def test_only_checkpoints_of_the_window_count_and_of_them_the_last_five(card: Card) -> None:
    points = [Checkpoint(10 * k, 10 * k, 100) for k in range(1, 11)]
    found = one(card(facts("." * 100), 30, checkpoints=points), "graph_fan_out")
    assert found.values["checkpoints"] == [[80, 80, 100], [90, 90, 100], [100, 100, 100]]
    rising = one(card(facts("." * 100), 100, checkpoints=points), "graph_fan_out")
    assert rising.values["slope"] == 0.1


def test_a_world_without_objects_has_no_fan_out() -> None:
    assert Checkpoint(10, 3, 0).fan_out == 0


# ---- verdict ------------------------------------------------------------------------------------


def verdict(card: Scorecard) -> tuple[str, str]:
    return card.verdict, list(scorecard_lines(card))[-1].strip()


def test_verdicts(card: Card) -> None:
    healthy = talk((1, 6), 20)
    assert verdict(card(healthy)) == ("HEALTHY", "Verdict: HEALTHY.")
    nine = verdict(card(healthy[:9]))
    assert nine == ("INSUFFICIENT_DATA", "Verdict: INSUFFICIENT_DATA — 9 records, 10 needed.")
    assert card(healthy[:10]).verdict == "HEALTHY"
    error = [replace(fact, status="error") if fact.seq == 20 else fact for fact in healthy]
    assert verdict(card(error)) == ("FAILED", "Verdict: FAILED — error in record 20.")
    bad = [replace(fact, faults=("false",)) for fact in healthy]
    assert verdict(card(bad)) == ("FAILED", "Verdict: FAILED — faithful records failed.")


def test_a_lost_or_soft_locked_run_is_not_healthy(card: Card) -> None:
    healthy = talk((1, 6), 20)
    for fate, told in (
        (Fate("lost", 12, "bankrupt"), "lost by bankrupt in tick 12"),
        (Fate("soft-locked", 15, "drive north"), "soft-locked since tick 15: drive north"),
        (Fate("soft-locked"), "soft-locked from the start"),
    ):
        found = card(healthy, fate=fate)
        assert verdict(found) == ("DEGRADED", f"Verdict: DEGRADED — {told}.")
        assert exit_code(found, "strict") == 1
    for good in (Fate("won", 3, "rich"), Fate("in reach"), Fate("unknown"), Fate("no goal")):
        assert card(healthy, fate=good).verdict == "HEALTHY"
        assert f"  Goal: {good.text}." in scorecard_lines(card(healthy, fate=good))


def test_each_of_several_agents_is_judged(card: Card) -> None:
    """One is refused for ever between the commands of the other: in the whole, none is in a row."""
    listed = [
        Fact(seq, "refused" if seq % 2 else "executed", verb="go", actor="ann" if seq % 2 else "bo")
        for seq in range(1, 41)
    ]
    found = card(listed)
    assert one(found, "refusal_cluster").status == "OK"
    ann, bo = found.agents
    assert (ann.name, ann.n, bo.name, bo.n) == ("ann", 20, "bo", 20)
    assert {each.id: each.status for each in ann.dimensions} == {
        "action_coherence": "FAIL", "refusal_cluster": "FAIL",
    }  # fmt: skip
    assert {each.status for each in bo.dimensions} == {"OK"}
    assert found.verdict == "FAILED"
    assert "ann: commands that work and refusals in a row failed" in verdict(found)[1]
    lines = list(scorecard_lines(found))
    assert (
        "  [FAIL]  Refusals in a row      20 at most" in lines[lines.index("  ann, 20 records") :]
    )
    assert card([replace(fact, actor="ann") for fact in listed]).agents == ()
    few = card([*talk((1, 6), 20), *(replace(fact, seq=20 + fact.seq) for fact in listed[:8])])
    assert not any(each.grades("FAIL") for each in few.agents)  # too few records to judge


def test_no_ticks_at_all(card: Card) -> None:
    empty = card([])
    assert empty.verdict == "INSUFFICIENT_DATA"
    assert {each.status for each in empty.dimensions} == {"N/A"}
    assert empty.to_json()["window"] == {
        "requested": 50, "n": 0, "first": None, "last": None, "ticks": [],
    }  # fmt: skip


def test_halted_ticks_are_no_ticks(card: Card) -> None:
    assert card(facts("." * 9 + "hhh")).window.n == 9
    found = card(facts("." * 60 + "h")).window
    assert (found.n, found.first, found.last) == (50, 11, 60)


@pytest.mark.parametrize(
    ("value", "decimals", "up", "text"),
    [
        (Fraction(949, 1000), 2, False, "0.94"),
        (Fraction(1, 50), 2, True, "0.02"),
        (Fraction(21, 1000), 2, True, "0.03"),
        (Fraction(-1, 10000), 3, False, "-0.001"),
        (Fraction(-8, 1000), 3, False, "-0.008"),
        (Fraction(1501, 1000), 1, True, "1.6"),
    ],
)
def test_a_shown_number_never_looks_better_than_it_is(
    value: Fraction, decimals: int, up: bool, text: str
) -> None:
    assert shown(value, decimals, up=up) == text
