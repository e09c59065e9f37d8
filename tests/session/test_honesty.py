"""Honest plans: one plan for every value that the setup can give to secrets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from tokenworld.engine import Engine, SeededLuck, State
from tokenworld.ground import Command
from tokenworld.planning.planners.by_name import plan_by
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, find_engine
from tokenworld.planning.proof.certificate import Certificate, certificate_from_json
from tokenworld.planning.verdict import Verdict
from tokenworld.session import OpenWorld
from tokenworld.verbs.plan.certificates import certify, check_certificate
from tokenworld.verbs.plan.honesty import possible_starts, question_from, solve_honest

planner = pytest.mark.skipif(not find_engine(FAST_DOWNWARD).ready, reason="no Fast Downward")
Tiny = Callable[[str], OpenWorld]

SAFE = """
type Safe { secret code: 0 to 4 = 3  open: bool  jammed: bool }
object safe: Safe
"""
DIAL = SAFE + "action dial(s: Safe, n: 0 to 4) { if s.code == n { s.open = true } }\n"
FORCE = (
    SAFE
    + """
action force(n: 0 to 4) { require safe.code == n else no "No."  safe.open = true }
"""
)
JAM = (
    SAFE
    + """
action dial(n: 0 to 4) {
  require not safe.jammed else jam "Jammed."
  if safe.code == n { safe.open = true }
  if safe.code != n { safe.jammed = true }
}
"""
)
DRAWN = 'world w "W" { setup { pick n: 0 to 4 { safe.code = n } }  goal rich: safe.open }\n'
FIXED = 'world w "W" { goal rich: safe.open }\n'


def asked(world: OpenWorld, *, seed: int = 0, own_only: bool = True) -> Verdict:
    return solve_honest(world.engine, seed, None, time_limit=60, own_only=own_only)


def codes(found: Verdict) -> list[str]:
    return [note.code for note in found.notes]


# ---- what counts as a plan --------------------------------------------------------------------


def test_one_command_may_begin_a_long_action_in_one_case_and_continue_it_in_another(
    tiny: Tiny,
) -> None:
    """Where the ground is soft each `dig` is done at once, else every second one goes on with it;
    who passes loses."""
    text = """
type D { secret soft: bool  n: 0 to 4  idle: bool }
type H
actor me: H
action dig(d: D) takes 2 until d.soft { require d.n < 4  d.n += 1 }
law rest(d: D) when not any(did(h, dig) for h: H) { d.idle = true }
law pause(d: D) when d.soft and any(busy(h) for h: H) { d.idle = true }
world w {
  setup { chance 1/2 { d.soft = true } }
  object h: H  object d: D  lose lazy: d.idle  goal deep: d.n == 2
}
"""
    found = asked(tiny(text))
    assert found.answer == "winnable"
    assert [step.command.action for step in found.steps[:2]] == ["dig", "dig"]


def test_every_value_is_tried_where_the_player_cannot_know_it(tiny: Tiny) -> None:
    found = asked(tiny(DIAL + DRAWN))
    assert (found.answer, found.optimal, found.ticks) == ("winnable", "ticks", 5)
    assert {step.command for step in found.plan} == {f"dial(safe, {n})" for n in range(5)}
    assert found.honest is not None
    assert (found.honest.assignments, found.honest.secrets) == (5, ("Safe.code",))
    assert codes(found) == []


def test_a_secret_that_the_setup_fills_in_one_way_may_be_used_and_is_warned_of(tiny: Tiny) -> None:
    found = asked(tiny(DIAL + FIXED))
    assert (found.answer, found.ticks) == ("winnable", 1)
    assert found.honest is not None
    assert found.honest.assignments == 1
    assert codes(found) == ["TW0808"]


@pytest.mark.parametrize("rules", [FORCE, JAM])
def test_a_refusal_or_a_dead_end_for_one_value_is_no_plan(tiny: Tiny, rules: str) -> None:
    world = tiny(rules + DRAWN)
    assert plan_by(*_from_start(world), "own", seconds=60).answer == "winnable"
    found = asked(world)
    assert (found.answer, found.claim) == ("unwinnable", "exhausted")
    assert found.honest is not None
    assert found.honest.together


RESET = """
type Safe { open: bool = false  secret code: 0 to 4 = 1  secret mark: 0 to 4 = 1 }
object safe: Safe
action reset() { safe.code = 2 }
action dial(n: 0 to 4) { if safe.code == n and safe.mark >= 0 { safe.open = true } }
"""


@pytest.mark.parametrize(("drawn", "left"), [("code", 1), ("mark", 5)])
def test_states_that_become_equal_are_one(tiny: Tiny, drawn: str, left: int) -> None:
    """A belief has a state once, but for what rules never write: keys leave that out."""
    world = tiny(RESET + DRAWN.replace("safe.code", f"safe.{drawn}"))
    beliefs = question_from(world.engine, 0, None).beliefs()
    (after,) = beliefs.successors(beliefs.start(), Command("reset", ()))
    assert (len(beliefs.start().open), len(after.state.open), after.state.tick) == (5, left, 1)
    found = asked(world)
    assert (found.answer, found.ticks) == ("winnable", 1 if drawn == "mark" else 2)


def test_a_step_may_tell_nothing_to_a_plan_that_is_fixed_beforehand(tiny: Tiny) -> None:
    rules = JAM + 'action peep() { say "{safe.code}" }\n'
    assert asked(tiny(rules + DRAWN)).answer == "unwinnable"


def test_what_the_player_sees_rules_values_out(tiny: Tiny) -> None:
    clue = "function clue(): 0 to 4 = 0\n"
    shown = 'world w "W" { setup { pick n: 0 to 4 { safe.code = n  clue() = n } }  GOAL }\n'
    half = 'world w "W" { setup { pick n: 0 to 4 { safe.code = n  clue() = n div 2 } }  GOAL }\n'
    goal = "goal rich: safe.open"
    assert len(possible_starts(tiny(DIAL + clue + shown.replace("GOAL", goal)).engine, 1)) == 1
    world = tiny(DIAL + clue + half.replace("GOAL", goal))
    for seed in range(8):
        starts = [one.state for one in possible_starts(world.engine, seed)]
        (one, *_) = starts
        column = world.engine.layout.by_id["clue"]
        assert {state.get(column, ()) if column.tupled else state.cols[column.index][0]
                for state in starts} == {one.cols[column.index][0]}  # fmt: skip
        assert asked(world, seed=seed).ticks == len(starts)


def test_setups_that_break_an_invariant_make_no_assignment(tiny: Tiny) -> None:
    world = tiny(DIAL + "invariant odd(s: Safe): s.code mod 2 == 1\n" + DRAWN)
    seed = next(seed for seed in range(50) if _starts(world, seed))
    assert asked(world, seed=seed).honest == replace_honest(2)


def replace_honest(count: int) -> object:
    from tokenworld.planning.verdict import Honesty

    return Honesty(count, ("Safe.code",))


def _starts(world: OpenWorld, seed: int) -> bool:
    from tokenworld.diagnostics import Failure

    try:
        world.engine.start(seed)
    except Failure:
        return False
    return True


def test_outcomes_that_cannot_be_listed_are_unknown(tiny: Tiny) -> None:
    drawn = 'world w "W" { setup { let v = uniform(0, 1)  if v > 0.5 { safe.code = 1 } }  GOAL }\n'
    found = asked(tiny(DIAL + drawn.replace("GOAL", "goal rich: safe.open")))
    assert (found.answer, codes(found)) == ("unknown", ["TW0801"])


@pytest.mark.slow
def test_too_many_outcomes_are_unknown(tiny: Tiny) -> None:
    many = "".join(f"object s{n}: Safe\n" for n in range(6))
    draws = " ".join(f"pick n{n}: 0 to 4 {{ s{n}.code = n{n} }}" for n in range(6))
    world = tiny(DIAL + many + f'world w "W" {{ setup {{ {draws} }}  goal rich: safe.open }}\n')
    found = asked(world)
    assert (found.answer, codes(found)) == ("unknown", ["TW0813"])


# ---- luck in play -----------------------------------------------------------------------------

COIN = "function heads(): bool = false\n"


def test_luck_that_matters_makes_the_answer_unknown(tiny: Tiny) -> None:
    rules = DIAL + COIN + "action flip() { chance 1/2 { heads() = true } }\n"
    world = tiny(rules + DRAWN.replace("safe.open", "safe.open and heads()"))
    found = asked(world)
    assert (found.answer, found.claim, found.proof) == ("unknown", None, None)
    assert "TW0801" in codes(found)


def test_luck_that_does_not_matter_is_no_matter(tiny: Tiny) -> None:
    rules = DIAL + COIN + "law flip() { chance 1/2 { heads() = true } }\n"
    found = asked(tiny(rules + DRAWN))
    assert (found.answer, found.ticks, found.optimal) == ("winnable", 5, None)
    assert not found.counts_on_luck


def test_a_command_that_some_luck_rolls_back_is_not_relied_on(tiny: Tiny) -> None:
    full = "function full(): 0 to 1 = 1\n"
    dial = "action dial() { safe.open = true  chance 1/2 { full() += 1 } }\n"
    found = asked(tiny(SAFE + full + dial + DRAWN))
    assert (found.answer, found.proof) == ("unknown", None)
    assert asked(tiny(SAFE + full.replace("= 1", "= 0") + dial + DRAWN)).answer == "winnable"


# ---- planners ---------------------------------------------------------------------------------


def _from_start(world: OpenWorld) -> tuple[object, State, None]:
    from tokenworld.engine import EngineSimulator

    start = world.engine.start()
    return EngineSimulator(world.engine, start), start, None


def by_ff(world: OpenWorld) -> Verdict:
    return solve_honest(
        world.engine, 0, None, time_limit=60,
        ask=lambda: plan_by(*_from_start(world), "ff", seconds=60),
    )  # fmt: skip


@planner
def test_a_planner_answers_where_its_plan_wins_for_every_value(tiny: Tiny) -> None:
    world = tiny(SAFE + "action pry() { safe.open = true }\n" + DRAWN)
    found = by_ff(world)
    assert (found.answer, found.engine) == ("winnable", "fast-downward ff")
    assert found.honest is not None
    assert found.honest.assignments == 5
    found = by_ff(tiny(DIAL + DRAWN))
    assert (found.answer, found.plan, codes(found)) == ("unknown", (), ["TW0808"])


@planner
def test_a_proof_about_one_value_is_one_about_all(tiny: Tiny) -> None:
    world = tiny(SAFE + "action pry() { safe.jammed = true }\n" + DRAWN)
    found = by_ff(world)
    assert (found.answer, found.claim) == ("unwinnable", "proved")
    assert found.honest is not None
    assert not found.honest.together


@planner
def test_the_whole_ladder_agrees_with_our_own_search(tiny: Tiny) -> None:
    for rules in (DIAL, FORCE, JAM):
        world = tiny(rules + DRAWN)
        assert asked(world, own_only=False).answer == asked(world).answer


# ---- against brute force ----------------------------------------------------------------------


def _random(number: int) -> str:
    """Two secrets, two facts, three actions of random conditions and changes."""
    random = Random(number)
    atoms = ["me.a == 0", "me.a == 1", "me.b", "f()", "g()", "not me.b", "not f()", "not g()"]
    changes = ["f() = true", "g() = true", "f() = false", "g() = me.b", "me.b = f()", "me.a = 1",
               "me.b = not me.b", "f() = me.a == 0"]  # fmt: skip
    lines = ["type T { secret a: 0 to 2 = 0  secret b: bool }", "object me: T"]
    lines += ["function f(): bool = false", "function g(): bool = false"]
    for name in "xyz":
        asks = random.random() < 0.4
        require = f'require {random.choice(atoms)} else no "No."  ' if asks else ""
        first, second = random.sample(changes, 2)
        same = first.split(" = ")[0] == second.split(" = ")[0]
        test = f"if {random.choice(atoms)} {{ {first} }}"
        lines.append(f"action {name}() {{ {require}{test} {'' if same else second} }}")
    goal = " and ".join(random.sample(atoms, 2))
    setup = "pick n: 0 to 2 { me.a = n } chance 1/2 { me.b = true }"
    lines.append(f'world w "W" {{ setup {{ {setup} }} goal done: {goal} }}')
    return "\n".join(lines)


def _wins(engine: Engine, starts: list[State], sequence: tuple[str, ...]) -> bool:
    """Whether these actions win from every start, played one by one."""
    return all(_wins_from(engine, start, sequence) for start in starts)


def _wins_from(engine: Engine, state: State, sequence: tuple[str, ...]) -> bool:
    for name in ("", *sequence):
        if name:
            state, outcomes = engine.play(state, Command(name, ()), SeededLuck())
            if outcomes[-1].status != "executed":
                return False
        if state.latched:
            return True
    return False


def _shortest(engine: Engine, starts: list[State], most: int) -> int | None:
    for length in range(most + 1):
        for sequence in product("xyz", repeat=length):
            if _wins(engine, starts, sequence):
                return length
    return None


def _seen(worlds: Iterator[tuple[str, int | None]]) -> set[tuple[str, bool]]:
    return {(answer, bool(ticks)) for answer, ticks in worlds}


@pytest.mark.parametrize("count", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_our_own_search_agrees_with_all_plans_up_to_a_length(tiny: Tiny, count: int) -> None:
    from tokenworld.diagnostics import Failure

    seen, most, several = list[tuple[str, int | None]](), 5, 0
    for number in range(count):
        try:
            world = tiny(_random(number))
        except Failure:
            continue
        starts = [one.state for one in possible_starts(world.engine, 0)]
        several += len(starts) > 1
        found = asked(world)
        shortest = _shortest(world.engine, starts, most)
        if shortest is not None:
            assert (found.answer, found.ticks) == ("winnable", shortest), number
        else:
            assert found.answer == "unwinnable" or found.ticks > most, number
        seen.append((found.answer, shortest))
    assert _seen(iter(seen)) >= {("winnable", True), ("unwinnable", False)}
    assert several > count // 2


# ---- certificates -----------------------------------------------------------------------------


def certified(world: OpenWorld) -> Certificate:
    found = certify(world, asked(world), 0, seconds=60)
    assert found is not None
    return certificate_from_json(json.loads(json.dumps(found.to_json())), "c.json")


@pytest.mark.parametrize(("rules", "kind"), [(DIAL, None), (FORCE, "honest"), (JAM, "honest")])
def test_a_certificate_carries_it_and_holds(tiny: Tiny, rules: str, kind: str | None) -> None:
    world = tiny(rules + DRAWN)
    found = certified(world)
    assert found.honest is not None
    assert found.honest.assignments == 5
    assert (found.proof.kind if found.proof else None) == kind
    report = check_certificate(world, found, seconds=60)
    assert (report.holds, report.difference) == (True, "")


def test_a_certificate_of_too_few_values_or_too_short_a_plan_does_not_hold(tiny: Tiny) -> None:
    world = tiny(DIAL + DRAWN)
    found = certified(world)
    assert found.honest is not None
    for honest in (
        replace(found.honest, assignments=4),
        replace(found.honest, starts="0" * 64),
        replace(found.honest, intents=found.honest.intents[:-1]),
        replace(found.honest, intents=found.honest.intents[1:]),
        replace(found.honest, intents=({"format": "tw-intent/1", "action": "fly"},)),
    ):
        report = check_certificate(world, replace(found, honest=honest), seconds=60)
        assert report.difference, honest


def test_a_proof_about_one_value_cannot_stand_for_all(tiny: Tiny) -> None:
    world = tiny(FORCE + DRAWN)
    found = certified(world)
    assert found.proof is not None
    alone = replace(found, proof=replace(found.proof, kind="exhausted"))
    assert check_certificate(world, alone, seconds=60).difference
