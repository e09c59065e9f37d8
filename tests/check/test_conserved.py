"""What is proved of `conserve` and `invariant` lines, left to the run time, or broken (TW0506)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokenworld.check.analysis.proofs import proofs
from tokenworld.diagnostics import Source
from tokenworld.session import check_text
from tokenworld.verbs.check import check
from tokenworld.verbs.output import Output

ROOT = Path(__file__).resolve().parents[2]
BASE = """
type Purse { coin: 0 to 99 = 5  silver: 0 to 99 = 0  tin: 0 to 99 clamped = 0  shut: bool }
type Chest : Purse
actor me: Purse
function bank(): int = 0
phase works
conserve coin: sum(p.coin for p: Purse) + bank()
"""


def answer(rules: str) -> str:
    """``proved``, ``runtime`` or the code of an error."""
    found = check_text(Source("t.tw", None, BASE + rules))
    errors = [one.code for one in found.diagnostics if one.is_error]
    if found.program is None:
        return ",".join(errors)
    return proofs(found.program)[0].answer


@pytest.mark.parametrize(
    "rules",
    [
        "action a() { me.silver += 3 }",
        "action a(p: Purse) { transfer 2 of me.coin to p.coin }",
        "action a(p: Purse) { transfer p.silver of me.coin to p.coin }",
        "action a(p: Purse) { me.coin -= 2  p.coin += 2 }",
        "action a(p: Purse) { let n = p.silver  me.coin -= n  bank() += n }",
        "action a() { transfer me.coin of me.coin to bank() }",
        "action a(p: Purse) { swap me.coin, p.coin }",
        "action a(p: Purse) { if p.shut { transfer 1 of me.coin to p.coin } }",
        "action a() { for p: Purse { transfer 1 of p.coin to bank() } }",
        "action a(p: Purse) { chance 50% { transfer 1 of p.coin to bank() } }",
        "law l(p: Purse) during works when p.coin > 0 { transfer 1 of p.coin to bank() }",
        "action a() { bank() = bank() + 0 }",
        "action a() { create c: Chest { coin = 0 } }",
    ],
)  # fmt: skip
def test_nil_changes_are_proved(rules: str) -> None:
    assert answer(rules) == "proved"


@pytest.mark.parametrize(
    "rules",
    [
        "action a() { me.coin += me.silver }",
        "action a(p: Purse) { me.coin = p.coin }",
        "action a(p: Purse) { me.coin -= me.silver  p.coin += p.silver }",
        "action a() { for p: Purse { me.coin += 1 } }",
        "action a(p: Purse) { destroy p }",
        "law up(p: Purse) during works { p.coin += 1 }\n"
        "law down(p: Purse) during works when p.coin > 8 { p.coin -= 1 }",
        "law l(p: Purse, q: Purse) during works { swap p.coin, q.coin }",
    ],
)
def test_what_is_open_is_left_to_the_run_time(rules: str) -> None:
    assert answer(rules) == "runtime"


@pytest.mark.parametrize(
    "rules",
    [
        "action a() { me.coin += 1 }",
        "action a() { transfer 1 of me.coin to me.silver }",
        "action a() { require me.coin < 9 else x \"X.\"  me.coin = 9 }",
        "action a() { if me.shut { me.coin -= 2 } }",
        "action a() { create c: Chest }",
        "law l(p: Purse) during works { p.coin -= 1 }",
    ],
)  # fmt: skip
def test_a_change_that_is_never_nil_is_an_error(rules: str) -> None:
    assert answer(rules) == "TW0506"


def test_a_rule_behind_except_may_change_it() -> None:
    text = BASE.replace("+ bank()", "+ bank() except a") + "action a() { me.coin += 1 }"
    found = check_text(Source("t.tw", None, text))
    assert found.program is not None
    assert proofs(found.program)[0].answer == "proved"


def test_a_clamped_number_may_lose_some() -> None:
    text = BASE.replace("sum(p.coin for p: Purse) + bank()", "sum(p.coin + p.tin for p: Purse)")
    wide = 'action a() { require me.tin < 98 else x "X."  transfer 1 of me.coin to me.tin }'
    for rule, expected in ((wide.replace("require me.tin < 98 else x \"X.\"  ", ""), "runtime"),
                           (wide, "proved")):  # fmt: skip
        found = check_text(Source("t.tw", None, text + rule))
        assert found.program is not None
        assert proofs(found.program)[0].answer == expected


INVARIANT = """
type Jug { level: 0 to 9 = 0  size: 0 to 9 = 9  wet: bool }
type Sink { level: 0 to 9 = 0 }
actor me: Jug
invariant fits(j: Jug): j.level <= j.size
"""


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("action a() { me.wet = true }", "proved"),
        ("action a(s: Sink) { s.level += 1 }", "proved"),
        ("action a(j: Jug) { require j.level < j.size else x \"X.\"  j.level += 1 }", "proved"),
        ("action a(j: Jug) { j.level -= 1 }", "proved"),
        ("action a(j: Jug) { j.level = j.size }", "proved"),
        ("law l(j: Jug) when j.level < j.size { j.level += 1 }", "proved"),
        ("action a(j: Jug) { j.level += 1 }", "runtime"),
        ("action a(j: Jug, k: Jug) { j.level = k.level }", "runtime"),
        ("law l(j: Jug, k: Jug) when j.level < j.size { j.level += 1 }", "runtime"),
        ("action a(j: Jug) { require j.size < 9 else x \"X.\"  j.level = 9 }", "TW0506"),
    ],
)  # fmt: skip
def test_invariants(rule: str, expected: str) -> None:
    found = check_text(Source("t.tw", None, INVARIANT + rule))
    errors = [one.code for one in found.diagnostics if one.is_error]
    got = ",".join(errors) if found.program is None else proofs(found.program)[0].answer
    assert got == expected


def test_a_law_may_still_mend_what_an_action_breaks() -> None:
    rules = 'action a(j: Jug) { require j.size < 9 else x "X."  j.level = 9 }\n'
    law = "law spill(j: Jug) when j.level > j.size { j.level = j.size }"
    found = check_text(Source("t.tw", None, INVARIANT + rules + law))
    assert found.program is not None
    assert proofs(found.program)[0].answer == "runtime"


def test_the_sums_of_our_worlds_are_proved(capsys: pytest.CaptureFixture[str]) -> None:
    files = tuple(str(ROOT / "domains" / one / "world.tw") for one in ("kitchen", "cottage"))
    assert check(files, Output(), proofs=True) == 0
    said = capsys.readouterr().out
    assert "conserve water: proved" in said
    assert "conserve eggs: proved" in said
    assert "invariant fits: proved" in said
    assert "invariant sown_once: checked at run time (plant)" in said


def test_the_proofs_are_data_too(capsys: pytest.CaptureFixture[str]) -> None:
    check((str(ROOT / "domains" / "kitchen" / "world.tw"),), Output(as_json=True))
    (report,) = json.loads(capsys.readouterr().out)["files"]
    assert [(one["kind"], one["name"], one["answer"]) for one in report["proofs"]] == [
        ("conserve", "water", "proved"),
        ("invariant", "fits", "proved"),
    ]
    assert report["order"] == []
