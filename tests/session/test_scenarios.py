"""Scenarios (language.md §15): each step and each check, passing and failing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.session import Loaded, ScenarioResult, run_scenario

RULES = """
type Room
type T { at: Room  n: 0 to 99 = 0  w: 0 to 99 = 0 }
actor me: T
param step: 1 to 9 = 2
event rang(t: T, n: 0 to 99)
phase clock
law wear() during clock { me.w += 1 }
action go(r: Room) as "go to {r}" { require r != me.at else here "You are in {the r}."  me.at = r }
action add() as "add" { me.n += step  emit rang(me, step)  say "Added." }
action flip() as "flip" { chance 50% { me.n = 1 } else { me.n = 2 } }
action dig() as "dig" takes 2 { me.n = 50  cancelled { say "Stopped." } }
world w {
  object hall, attic: Room
  object hero: T { at = hall }
  goal rich: hero.n >= 4
  goal high: hero.at == attic and hero.n >= 3
  lose late: hero.w > 8
}
world x {
  object hall: Room
  object hero: T { at = hall }
  goal never_so: hero.n > 90 and hero.n < 80
}
"""


@pytest.fixture
def run(loaded: Callable[[str], Loaded]) -> Callable[..., ScenarioResult]:
    def play(steps: str, world: str = "w") -> ScenarioResult:
        program = loaded(RULES + f'scenario "s" in {world} {{ {steps} }}')
        (scenario,) = program.program.scenarios
        return run_scenario(program, scenario, plan_seconds=20)

    return play


Run = Callable[..., ScenarioResult]


@pytest.mark.parametrize(
    "steps",
    [
        "then hero.n == 0, tick() == 0, score == 0",
        "when add() then hero.n == 2, says \"Added\", emits rang(hero, 2), status executed",
        "when add() times 2 then won, won rich, hero.w == 2",
        "when go(hall) then refused, refused because here, says \"in the hall\", unchanged",
        "when \"go to attic\" then hero.at == attic, not hero.at == was hero.at",
        "when \"dance\" then status no_match, unchanged",
        "when dig() then status waiting when pass then hero.n == 50, won",
        "when dig() when go(attic) then says \"Stopped.\", hero.at == attic",
        "given { hero.n = 3 hero.at = attic } then won high, tick() == 0",
        "given { hero.n = 3 } then hero.n == 3 when add() then hero.n == 5",
        "given { step = 9 } when add() then hero.n == 9",
        "given { hero.w = 9 } then lost, lost late",
        "always hero.n < 5 when add() when add()",
        "never hero.at == attic when add()",
        "then within 3 hero.w == 3, hero.w == 0",
        "then winnable, winnable within 2",
        "when pass times 9 then lost, lost late, status executed when pass then status halted",
        "random 3 when flip() then hero.n in [1, 2]",
        "given { hero.n = 7 } random 3 then hero.n == 7",
        "when add() by hero then hero.n == 2",
    ],
)  # fmt: skip
def test_what_holds_passes(run: Run, steps: str) -> None:
    result = run(steps)
    assert result.ok, [(one.wanted, one.found) for one in result.failed]
    if "then" in steps:
        assert result.checks


@pytest.mark.parametrize(
    ("steps", "wanted", "found"),
    [
        ("then hero.n == 1", "hero.n == 1", "it is false: 0 == 1 (hero.n = 0)"),
        ("then hero.n + 2 > step * 3", "hero.n", "it is false: 2 > 6 (hero.n = 0, step = 2)"),
        ("then hero.at == attic", "hero.at", "it is false: hall == attic (hero.at = hall)"),
        ("then any(t.n > 3 for t: T)", "any", "it is false"),
        ("when add() then refused", "refused", "executed"),
        ("when go(attic) then refused because here", "refused because here", "executed"),
        ("when go(hall) then hero.n == 0", "when go(hall)", "then refused"),
        ('when add() when "dance" when add()', 'when "dance"', "no_match"),
        ("when go(hall) times 2 then hero.n == 0", "when go(hall)", "refused because here"),
        ("when go(attic) times 2 then status executed", "status executed", "refused"),
        ("when go(hall) then status executed", "status executed", "refused because here"),
        ('when go(hall) then refused, says "cellar"', "says", "You are in the hall."),
        ("when add() then unchanged", "unchanged", "T.n"),
        ("when add() then emits rang(hero, 3)", "emits rang", "2"),
        ("when add() then won", "won", "no ending"),
        ("when add() times 2 then won high", "won high", "rich"),
        ("then lost", "lost", "no ending"),
        ("always hero.n < 3 when add() when add()", "always", "after tick 2"),
        ("never hero.n == 2 when add()", "never", "after tick 1"),
        ("then within 2 hero.w == 5", "within 2", "2 passes"),
        ("then winnable within 1", "winnable within 1", ""),
        ("then unwinnable", "unwinnable", "winnable"),
        ('when "dance" then status executed', "status executed", "no_match"),
    ],
)
def test_what_does_not_hold_fails_and_says_what_was_found(
    run: Run, steps: str, wanted: str, found: str
) -> None:
    result = run(steps)
    assert not result.ok
    (failed,) = result.failed
    assert wanted in failed.wanted
    assert found in failed.found
    assert str(failed.span).startswith("t.tw:")


def test_a_failed_check_names_its_step_and_the_steps_without_effect(run: Run) -> None:
    result = run(
        'when go(hall) then refused when add() when "dance" then status no_match, hero.n == 0'
    )
    (failed,) = result.failed
    assert failed.step == 3
    assert [one.when for one in result.steps] == ["go(hall)", "add()", '"dance"']
    assert result.steps[0].fruitless.startswith("refused because here: You are in")
    assert result.steps[1].fruitless == ""
    assert result.steps[2].fruitless.startswith("no_match: ")


def test_unwinnable_is_proved(run: Run) -> None:
    assert run("then unwinnable", world="x").ok
    (failed,) = run("then winnable", world="x").failed
    assert "unwinnable" in failed.found


def test_each_breach_of_a_standing_check_is_told_once(run: Run) -> None:
    result = run("always hero.n == 0 when add() when add() then hero.n == 4")
    assert [one.ok for one in result.checks] == [False, True]


def test_the_seed_as_first_step_governs_the_setup(loaded: Callable[[str], Loaded]) -> None:
    program = loaded(
        """
        type T { n: 0 to 9 = 0 }
        actor me: T
        action a() { me.n = 0 }
        world w { object h: T  setup { chance 50% { h.n = 1 } else { h.n = 2 } } }
        """
        + "\n".join(f'scenario "{n}" in w {{ random {n} then h.n == 1 }}' for n in range(12))
    )
    found = {run_scenario(program, one).ok for one in program.program.scenarios}
    assert found == {True, False}


def test_scenarios_do_not_touch_each_other(loaded: Callable[[str], Loaded]) -> None:
    program = loaded(
        RULES
        + 'scenario "one" in w { given { step = 9  hero.n = 1 } when add() then hero.n == 10 }'
        + 'scenario "two" in w { then hero.n == 0 when add() then hero.n == 2 }'
    )
    for _ in range(2):
        assert all(run_scenario(program, one).ok for one in program.program.scenarios)


def test_a_given_that_cannot_be_carried_out_is_told_with_its_place(
    loaded: Callable[[str], Loaded],
) -> None:
    program = loaded(
        """
        type T { at: T? nested }
        actor me: T
        action a(x: T) { x.at = none }
        world w { object p, q: T  goal g: p.at == q }
        scenario "s" in w { given { p.at = q  q.at = p } }
        """
    )
    (scenario,) = program.program.scenarios
    with pytest.raises(Failure) as failed:
        run_scenario(program, scenario)
    (found,) = failed.value.diagnostics
    assert found.code == "TW1005"
    assert found.span is not None
    assert found.span.line == 6
    assert found.hint


def test_only_the_actor_of_the_world_acts(loaded: Callable[[str], Loaded]) -> None:
    program = loaded(
        """
        type T { n: 0 to 9 = 0 }
        actor me: T
        action a(t: T) as "a {t}" { t.n += 1 }
        world w { object h, k: T }
        scenario "s" in w {
          when a(h) by k then status no_match, h.n == 0
          when "a h" by k then status no_match
          when pass by k then status no_match
          when a(h) by h then h.n == 1
        }
        """
    )
    result = run_scenario(program, program.program.scenarios[0])
    assert result.ok, [(one.wanted, one.found) for one in result.failed]


def test_results_as_json(run: Run) -> None:
    found = run("when add() then won").to_json()
    assert (found["title"], found["world"], found["ok"], found["ticks"]) == ("s", "w", False, 1)
    checks = found["checks"]
    assert isinstance(checks, list)
    assert (checks[0]["wanted"], checks[0]["step"]) == ("won", 1)
    assert found["steps"] == [{"when": "add()", "fruitless": None}]


def test_a_false_comparison_shows_percents_and_units(loaded: Callable[[str], Loaded]) -> None:
    text = """edition 1
unit l
type Hero { luck: 0% to 100% = 30%  water: 0l to 9l = 4l }
actor me: Hero
world w { object hero: Hero }
scenario "s" in w { then me.luck == 40%, me.water > 5l }
"""
    found = loaded(text)
    (scenario,) = found.program.scenarios
    result = run_scenario(found, scenario)
    assert [one.found for one in result.failed] == [
        "it is false: 30% == 40% (me.luck = 30%)",
        "it is false: 4l > 5l (me.water = 4l)",
    ]
