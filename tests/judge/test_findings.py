"""Each finding of the judge's own, by a small world that has it; the brief; budgets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judge.conftest import CORPUS, QUICK, codes, judged
from tokenworld.diagnostics import Diagnostic, Severity, read_source
from tokenworld.verbs.judge.contract import Budget, Contract, Mechanic, read_contract
from tokenworld.verbs.judge.findings import (
    CODES,
    MOST_FINDINGS,
    MOST_TOKENS,
    Finding,
    Judgement,
    brief,
    tokens,
)
from tokenworld.verbs.judge.judging import judge

RULES = """type Lamp {{ lit: bool  oil: 0 to 3 = 2 }}
type Hero {{ tired: bool }}
actor me: Hero
action light(l: Lamp) as "light {{l}}" {{
  require not l.lit  else lit "It is lit."
  require l.oil > 0  else dry "It is dry."
  l.lit = true
}}
{rules}
world cave {{
  object lamp: Lamp
  object ada: Hero
  {world}
}}
{scenarios}
"""
GOAL = "goal bright: lamp.lit and not ada.tired"
TESTED = """scenario "M1 light" in cave {
  when light(lamp) then won bright, lamp.lit
}
scenario "M1 dry" in cave {
  given { lamp.oil = 0 }
  when light(lamp) then refused because dry
}
scenario "M1 lit" in cave {
  given { lamp.oil = 1  lamp.lit = true }
  when light(lamp) then refused because lit
}"""
"""The third plays in a world that is won: `endless` lets it."""


def text(rules: str = "", world: str = GOAL, scenarios: str = TESTED) -> str:
    return RULES.format(rules=rules, world=f"endless {world}", scenarios=scenarios)


TIRED = "law tire(h: Hero) when h.tired { h.tired = false }"
STUCK = """type D { n: 0 to 3  k: 0 to 3 }
type H
actor me: H
action dig(d: D) as "dig {d}" takes 2 { d.n += 2  cancelled { d.k += 2 } }
action rise(d: D) as "rise {d}" { d.k += 1 }
invariant low(d: D): d.k + d.n < 3
world w { object h: H  object d: D  goal g: d.k == 2 }
scenario "rise" in w { when rise(d) then d.k == 1 }"""
FAR = """function strokes(): 0 to 400 = 0
action stroke() as "stroke" { require strokes() < 400 else sore "Ow."  strokes() += 1 }
action yawn() as "yawn" { require strokes() > 390 else awake "No."  me.tired = not me.tired }"""
CASES: dict[str, tuple[str, Contract]] = {
    "no-world": ("type Lamp { lit: bool }", Contract("free")),
    "no-goal": (text(world="", scenarios=""), Contract()),
    "trivial-goal": (text(world="goal bright: not lamp.lit"), Contract()),
    "no-command": (text(world=f"setup {{ lamp.oil = 0 }} {GOAL}"), Contract()),
    "no-action": ("type Lamp { lit: bool }", Contract("pddl")),
    "unwinnable": (text(world="goal bright: lamp.lit and lamp.oil == 3"), Contract()),
    "won-by-waiting": (text(world=f"{GOAL} goal late: tick() > 5"), Contract()),
    "no-scenario": (text(scenarios=""), Contract()),
    "red-scenario": (text(scenarios=TESTED.replace("because lit", "because dry")), Contract()),
    "empty-scenario": (text(scenarios='scenario "s" in cave { when pass then not ada.tired }'),
                       Contract()),
    "never-happens": (text(TIRED), Contract()),
    "never-ends": (STUCK, Contract()),
    "bad-row": (text(), Contract("rows", ("rows.jsonl",))),
    "unknown-rule": (text(), Contract("free", mechanics=(Mechanic("M1", "", ("lite",)),))),
    "untested-mechanic": (text(), Contract("free", mechanics=(Mechanic("M2"),))),
    "idle-mechanic": (text('action yawn() as "yawn" { me.tired = true }'),
                      Contract("free", mechanics=(Mechanic("M1", "", ("yawn",)),))),
    "not-executed": (text(FAR), Contract()),
    "never-refuses": (text('action yawn() as "yawn" '
                           '{ require lamp_oil() >= 0 else odd "Odd."  me.tired = true }\n'
                           "derive lamp_oil() = sum(l.oil for l: Lamp)"), Contract()),
    "not-reached": (text("action yawn() as \"yawn\" { chance 0% { me.tired = true } else { "
                         "me.tired = not me.tired } }"), Contract()),
    "coverage": (text(scenarios='scenario "M1 light" in cave { when light(lamp) then won bright }',
                      rules="".join(f'action a{n}() as "a{n}" {{ require me.tired and not me.tired '
                                    f'or lamp_oil() < 9 else x{n} "x"  me.tired = not me.tired }}\n'
                                    for n in range(5))
                      + "derive lamp_oil() = sum(l.oil for l: Lamp)"), Contract()),
}  # fmt: skip


@pytest.mark.parametrize("code", CASES)
def test_a_finding(code: str) -> None:
    source, contract = CASES[code]
    found = judged(source, contract)
    (one, *_) = [one for one in found.findings if one.code == code] or [found.findings]
    assert isinstance(one, Finding), one
    assert one.kind == CODES[code][0]
    assert one.found.severity == CODES[code][1]
    assert one.found.hint
    assert found.status == ("refused" if any(x.is_error for x in found.findings) else "accepted")


def test_the_world_of_these_cases_is_accepted() -> None:
    last = """
scenario "M1 the last oil" in cave {
  given { lamp.oil = 1 }
  when light(lamp) then lamp.lit
}"""
    found = judged(text(scenarios=TESTED + last), budget=Budget())
    assert found.status == "accepted"
    assert codes(found) <= {"TW0904", "survivor"}


def test_tests_that_notice_little_are_refused() -> None:
    scenarios = 'scenario "M1 light" in cave { when light(lamp) then lamp.lit }'
    found = judged(text(scenarios=scenarios), budget=Budget())
    assert {"kill-rate", "survivor"} <= codes(found)


def test_a_dead_end_is_measured_by_the_contract() -> None:
    source = (CORPUS / "camp.tw").read_text(encoding="utf-8")
    assert judged(source).status == "accepted"
    assert judged(source, Contract(cruelty="tough")).status == "refused"


def test_what_is_not_decided_is_unproven() -> None:
    """More states than the budget has: neither plan nor proof."""
    many = " ".join(f"object lamp{n}: Lamp" for n in range(12))
    world = f"{many} goal bright: all(l.lit for l: Lamp) and ada.tired"
    found = judged(
        text('action yawn() as "yawn" { me.tired = not me.tired }', world, ""),
        Contract("free"), Budget(states=40),
    )  # fmt: skip
    assert found.status == "unproven"
    assert codes(found) == {"no-verdict"}


def test_no_time_is_unproven() -> None:
    slow = 'scenario "s" in cave { when pass times 10000 then not lamp.lit }'
    found = judged(text(scenarios=slow), Contract("free"), Budget(seconds=0.2))
    assert found.status == "unproven"
    assert "limit" in codes(found)


def test_equal_input_gives_equal_judgements() -> None:
    source = (CORPUS / "vault.tw").read_text(encoding="utf-8")
    one, other = (judged(source, budget=Budget(mutants=5)).to_json() for _ in range(2))
    assert one == other


def test_one_world_of_several_is_judged() -> None:
    second = (
        f"{text()}\nworld dead {{ object lamp2: Lamp  object ada2: Hero goal asleep: ada2.tired }}"
    )
    assert "unwinnable" in codes(judged(second))
    assert "unwinnable" not in codes(judged(second, world="cave"))


def test_a_red_scenario_tells_its_steps_and_values() -> None:
    found = judged(text(scenarios=TESTED.replace("lamp.lit\n", "lamp.oil == 1\n")))
    (one,) = [one.found for one in found.findings if one.code == "red-scenario"]
    assert one.notes[0] == "found: it is false: 2 == 1 (lamp.oil = 2)"
    assert "lamp.lit: false -> true" in one.notes[1]


def test_rules_are_read_back() -> None:
    assert "light" in judged(text()).read_back


# ---- the brief ----------------------------------------------------------------------------------


def test_a_brief_shows_the_line_and_groups_equal_codes() -> None:
    broken = text().replace("l.lit = true", "l.lid = true").replace("l.oil", "l.oyl")
    found = judged(broken)
    told = brief(found)
    assert "^^^" in told
    assert "the same: line" in told
    assert told.count("error[TW0201]") == 1


def test_a_brief_stays_short_whatever_was_found() -> None:
    def many(message: str, *notes: str) -> tuple[Finding, ...]:
        return tuple(
            Finding("check", Diagnostic(f"X{n}", message, notes=notes, severity=Severity.ERROR))
            for n in range(60)
        )

    for listed in (many("ä" * 2_000, "x", "y"), many("Wrong.")):
        told = brief(Judgement("refused", "game", listed, {}, "", ()))
        assert tokens(told) <= MOST_TOKENS
        assert 1 <= told.count("error[") <= MOST_FINDINGS
        assert "further kinds of findings" in told


def test_errors_come_first_in_the_order_of_the_tiers() -> None:
    source = read_source(CORPUS / "lift.tw")
    found = judge(source, read_contract(str(CORPUS / "lift.json")), QUICK)
    assert not any(one.is_error for one in found.findings)
    broken = source.text.replace("{ l.open = true }", "{ l.open = l.open }")
    listed = judged(broken, read_contract(str(CORPUS / "lift.json"))).findings
    weights = [not one.is_error for one in listed]
    assert weights == sorted(weights)
    assert listed[0].is_error


def test_every_code_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "judge.md").read_text(encoding="utf-8")
    rows = page.partition("## Findings")[2].partition("\n## ")[0]
    listed = {
        code.strip() for line in rows.splitlines() if line.startswith("|")
        for code in line.split("|")[1].split(",")
    } - {"code", "---"}  # fmt: skip
    assert listed == set(CODES)
    elsewhere = {"dead-end", "no-verdict", "limit", "survivor", "kill-rate", "wrong-row"}
    assert set(CASES) | elsewhere == set(CODES)
