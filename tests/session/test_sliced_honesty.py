"""Honest plans by the sliced search: what does not matter for the goal is not moved about."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import replace
from random import Random

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.engine import State
from tokenworld.planning.honest.plans import (
    SLICED,
    Joint,
    Question,
    SlicedRun,
    best_plan,
    joint_task,
    sliced_run,
)
from tokenworld.planning.lower.encode import Unencodable
from tokenworld.planning.proof.certificate import certificate_from_json
from tokenworld.planning.referee import replay
from tokenworld.planning.search.interpreted import Exhausted, Found, Limits, Search
from tokenworld.planning.verdict import Verdict, summary_lines
from tokenworld.session import OpenWorld
from tokenworld.verbs.plan.certificates import certify, check_certificate
from tokenworld.verbs.plan.honesty import question_from, solve_honest

Tiny = Callable[[str], OpenWorld]

CLUTTER = """
type Place  type Thing { at: Place  turned: 0 to 3 = 0 }
object left, right, table, shelf: Place
object brick, stone, ball, cup, nail, coin: Thing { at = table }
action put(x: Thing, p: Place) { require x.at != p else there "It is there."  x.at = p }
action turn(x: Thing) { x.turned = (x.turned + 1) mod 4 }
"""
SCALE = (
    CLUTTER
    + """
type Cube { secret weight: 0 to 9 = 1 }
object cube: Cube
function answered(): 0 to 9 = 0
action answer(n: 1 to 9) { answered() = n }
world w "W" {
  endless
  setup { pick n: 1 to 5 { cube.weight = n } }
  goal weighed: answered() == cube.weight
  lose wrong: answered() != 0 and answered() != cube.weight
}
"""
)
PLANES = (
    CLUTTER
    + """
type Plane { secret slope: 0.0 to 9.0 = 1.0 }
object one, two: Plane
function chosen(): Plane?
function rolled(x: Thing): 0 to 99 clamped = 0
action choose(p: Plane) { chosen() = p }
law rolling(x: Thing) when x.at == left { rolled(x) += 1 }
world w "W" {
  endless
  setup {
    pick m: 1 to 3 { pick n: 1 to 3 where n != m { one.slope = 0.5 * m  two.slope = 0.5 * n } }
  }
  goal found: chosen() != none and all(chosen().slope <= p.slope for p: Plane)
  lose wrong: chosen() != none and any(chosen().slope > p.slope for p: Plane)
}
"""
)
BOX = "type Safe { secret code: 0 to 4 = 3  open: bool  jammed: bool }\nobject safe: Safe\n"
SAFE = CLUTTER + BOX
DRAWN = 'world w "W" { setup { pick n: 0 to 4 { safe.code = n } }  goal rich: safe.open }\n'
DIAL = SAFE + "action dial(n: 0 to 4) { if safe.code == n { safe.open = true } }\n" + DRAWN
FORCE = (
    SAFE
    + 'action force(n: 0 to 4) { require safe.code == n else no "No."  safe.open = true }\n'
    + DRAWN
)


def sliced(world: OpenWorld, seed: int = 0) -> tuple[Question[State], SlicedRun]:
    question = question_from(world.engine, seed, None)
    found = sliced_run(
        question.simulator, question.starts, None,
        seconds=60, memory=1 << 30, cancel=lambda: False,
    )  # fmt: skip
    return question, found


def joint(world: OpenWorld) -> Joint | Unencodable:
    question = question_from(world.engine, 0, None)
    return joint_task(question.simulator, question.starts, None)


def asked(world: OpenWorld) -> Verdict:
    return solve_honest(world.engine, 0, None, time_limit=8)


# ---- what no player can know --------------------------------------------------------------------


def test_a_weight_that_has_to_be_told_at_once_is_proved_out_of_reach(tiny: Tiny) -> None:
    found = asked(tiny(SCALE))
    assert (found.answer, found.claim, found.engine) == ("unwinnable", "proved", SLICED)
    assert found.honest is not None
    assert (found.honest.assignments, found.honest.together) == (5, True)
    best = found.honest.shortfall
    assert best is not None
    assert (best.wins, best.plan) == (1, ("answer(1)",))
    assert best.fails == tuple(f"cube.weight = {n}" for n in range(2, 6))
    assert summary_lines(found)[-1] == (
        "best: no plan wins in more than 1 of them; `answer(1)` fails for `cube.weight = 2`, "
        "`cube.weight = 3`, `cube.weight = 4` and 1 more"
    )


def test_real_numbers_that_nothing_changes_are_values_like_others(tiny: Tiny) -> None:
    _, found = sliced(tiny(PLANES))
    assert found.run.result == "no plan"
    assert found.shortfall is not None
    assert (found.shortfall.wins, found.shortfall.plan) == (3, ("choose(one)",))
    assert found.shortfall.fails[0] == "one.slope = 1.0 and two.slope = 0.5"


def test_our_own_search_takes_no_set_of_states_for_a_state(tiny: Tiny) -> None:
    found = solve_honest(tiny(SCALE).engine, 0, None, time_limit=3, own_only=True)
    assert found.answer == "unknown"
    assert [one.result for one in found.attempts] == ["limit"]


def test_a_plan_that_only_the_slice_is_small_enough_for_is_replayed_everywhere(tiny: Tiny) -> None:
    world = tiny(DIAL)
    found = asked(world)
    assert (found.answer, found.engine, found.ticks) == ("winnable", SLICED, 5)
    assert {step.command for step in found.plan} == {f"dial({n})" for n in range(5)}
    assert solve_honest(world.engine, 0, None, time_limit=3, own_only=True).answer == "unknown"


def test_what_is_refused_for_one_value_is_no_step(tiny: Tiny) -> None:
    question, found = sliced(tiny(FORCE))
    assert (found.run.result, len(question.starts)) == ("no plan", 5)
    assert found.shortfall is not None
    assert (found.shortfall.wins, found.shortfall.plan) == (1, ("force(0)",))


def test_requires_that_do_not_touch_the_goal_still_decide_what_can_be_done(tiny: Tiny) -> None:
    """The knob sticks for some codes: what it would do does not matter, that it refuses does."""
    rules = SAFE + 'action pry() { require safe.code != 2 else no "No."  safe.open = true }\n'
    _, found = sliced(tiny(rules + DRAWN))
    assert found.run.result == "no plan"
    assert found.shortfall is not None
    assert (found.shortfall.wins, found.shortfall.fails) == (4, ("safe.code = 2",))
    knock = "action knock() { safe.jammed = true }\n"
    oiled = rules.replace("safe.code != 2", "(safe.code != 2 or safe.jammed)") + knock
    _, found = sliced(tiny(oiled + DRAWN))
    assert [step.command.action for step in found.run.steps] == ["knock", "pry"]


def test_a_secret_object_rules_out_no_binding_for_all(tiny: Tiny) -> None:
    """Where the goal is reached a refusal is none: the last key is tried where all else has won."""
    keys = """
type Key  object iron, brass: Key
type Door { secret key: Key?  open: bool }
object door: Door
action try(k: Key) { require door.key == k else no "It does not fit."  door.open = true }
action force() { if door.key == iron { door.open = true } }
world w "W" { setup { pick k: Key { door.key = k } }  goal inside: door.open }
"""
    question, found = sliced(tiny(CLUTTER + keys))
    assert len(question.starts) == 2
    simulator = question.simulator
    plan = [simulator.show(question.starts[0], step.command) for step in found.run.steps]
    assert plan == ["force()", "try(brass)"]
    assert replay(question.beliefs(), question.beliefs().start(), found.run.steps, None).ok
    _, found = sliced(tiny(CLUTTER + keys.replace("if door.key == iron", "if door.open")))
    assert found.run.result == "no plan"
    assert found.shortfall is not None
    assert found.shortfall.wins == 1


# ---- where there is no slice --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "construct"),
    [
        ("action dial() { chance 1/2 { safe.open = true } }\n", "chance in `dial`"),
        ("action dial() takes 3 { safe.open = true }\n", "a long action"),
        ("phase p sequentially\nlaw l() during p { safe.open = safe.jammed }\n", "phase `p`"),
    ],
)
def test_luck_and_long_actions_that_matter_are_left_to_the_whole_search(
    tiny: Tiny, rules: str, construct: str
) -> None:
    world = tiny(BOX + rules + DRAWN)
    found = joint(world)
    assert isinstance(found, Unencodable)
    assert construct in found.obstacles[0].construct
    run = sliced(world)[1].run
    assert (run.result, run.steps) == ("no proof", ())
    own = solve_honest(world.engine, 0, None, time_limit=8, own_only=True)
    assert asked(world).answer == own.answer


def test_luck_that_does_not_matter_hinders_no_proof(tiny: Tiny) -> None:
    world = tiny(FORCE + "function heads(): bool\nlaw toss() { chance 1/2 { heads() = true } }\n")
    assert solve_honest(world.engine, 0, None, time_limit=3, own_only=True).answer == "unknown"
    assert sliced(world)[1].run.result == "no plan"


def test_limits_are_kept(tiny: Tiny) -> None:
    question = question_from(tiny(DIAL).engine, 0, None)
    pair = question.simulator, question.starts
    for seconds, cancel, result in ((0, False, "limit"), (60, True, "cancelled")):
        run = sliced_run(
            *pair, None, seconds=seconds, memory=1 << 30, cancel=lambda cancel=cancel: cancel
        ).run
        assert run.result in (result, "plan"), run  # a short search may end before it looks


# ---- against the whole search -------------------------------------------------------------------

ATOMS = [
    "me.a == 0", "me.a == 1", "me.b", "f()", "g()", "h() >= 2", "not me.b", "not f()", "not g()",
    "me.o == k1", "k1.m", "not k2.m", "h() == me.a",
]  # fmt: skip
CHANGES = [
    "f() = true", "g() = true", "f() = false", "g() = me.b", "me.b = f()", "me.a = 1", "h() += 1",
    "me.b = not me.b", "f() = me.a == 0", "k1.m = true", "k2.m = me.b", "h() = me.a",
    "me.o = k2", "h() -= 1", "me.o.m = true",
]  # fmt: skip


def random_world(number: int) -> str:
    """Three secrets, five facts, random actions and laws, endings, invariants, free actions."""
    random = Random(number)
    lines = [
        "type K { m: bool }", "object k1, k2: K",
        "type T { secret a: 0 to 2 = 0  secret b: bool  secret o: K = k1 }", "object me: T",
        "function f(): bool = false", "function g(): bool = false",
        "function h(): 0 to 3 clamped = 0",
    ]  # fmt: skip
    for name, params in (("x", ""), ("y", ""), ("z", "k: K")):
        atoms = [*ATOMS, *(["me.o == k", "k.m"] if params else [])]
        changes = [*CHANGES, *(["k.m = not k.m"] if params else [])]
        require = ""
        if random.random() < 0.5:
            require = f'require {random.choice(atoms)} else no "No."  '
        first, second = random.sample(changes, 2)
        test = f"if {random.choice(atoms)} {{ {first} }} else {{ {second} }}"
        free = " takes 0" if random.random() < 0.2 else ""
        lines.append(f"action {name}({params}){free} {{ {require}{test} }}")
    if random.random() < 0.5:
        law = f"when {random.choice(ATOMS)} {{ {random.choice(CHANGES)} }}"
        lines.append(f"law l() {law}")
    if random.random() < 0.2:
        lines.append("invariant i: not (g() and h() == 3)")
    goal = " and ".join(random.sample(ATOMS, random.choice((1, 1, 2))))
    ends = "endless " if random.random() < 0.4 else ""
    if random.random() < 0.3:
        ends += f"lose bad: {' and '.join(random.sample(ATOMS, 2))} "
    setup = "pick n: 0 to 2 { me.a = n } chance 1/2 { me.b = true } pick k: K { me.o = k }"
    lines.append(f'world w "W" {{ {ends} setup {{ {setup} }} goal done: {goal} }}')
    return "\n".join(lines)


def opened(tiny: Tiny, number: int) -> Question[State] | None:
    try:
        return question_from(tiny(random_world(number)).engine, 0, None)
    except Failure:
        return None


def most_won(question: Question[State]) -> int:
    """The most assignments that one plan wins for, by the interpreter, state by state."""
    simulator, Key = question.simulator, tuple[Hashable, ...]

    def keys(states: tuple[State | bool, ...]) -> Key:
        return tuple(one if isinstance(one, bool) else simulator.key(one) for one in states)

    def told(state: State) -> State | bool:
        return True if simulator.won(state, None) else state

    start = tuple(told(one) for one in question.starts)
    seen, waiting = {keys(start)}, deque([start])
    best = 0
    while waiting:
        states = waiting.popleft()
        best = max(best, sum(one is True for one in states))
        open_ = [one for one in states if not isinstance(one, bool)]
        commands = {c for one in open_ if not simulator.lost(one) for c in simulator.commands(one)}
        for command in sorted(commands, key=str):
            after = list(states)
            for at, one in enumerate(states):
                if not isinstance(one, bool):
                    lost = simulator.lost(one)
                    moved = () if lost else simulator.successors(one, command)
                    after[at] = told(moved[0].state) if moved else False
            key = keys(tuple(after))
            if key not in seen:
                seen.add(key)
                waiting.append(tuple(after))
    return best


@pytest.mark.parametrize("count", [20, pytest.param(100, marks=pytest.mark.slow)])
def test_it_agrees_with_the_search_over_whole_states(tiny: Tiny, count: int) -> None:
    answers: dict[str, int] = {}
    for number in range(count):
        question = opened(tiny, number)
        if question is None:
            continue
        task = joint_task(question.simulator, question.starts, None)
        assert isinstance(task, Joint), (number, task)
        run = sliced_run(
            question.simulator, question.starts, None,
            seconds=60, memory=1 << 30, cancel=lambda: False,
        ).run  # fmt: skip
        beliefs = question.beliefs()
        own = Search(beliefs, beliefs.start(), None).run(Limits(states=20_000))
        assert isinstance(own, (Found, Exhausted)), number
        assert (run.result == "plan") == isinstance(own, Found), number
        answers[run.result] = answers.get(run.result, 0) + (len(question.starts) > 1)
        if isinstance(own, Found):
            assert replay(beliefs, beliefs.start(), run.steps, None).ok, number
            assert len(run.steps) == len(own.steps), number
    assert min(answers["plan"], answers["no plan"]) > count // 7, answers


def test_the_best_plan_is_the_best_of_all(tiny: Tiny) -> None:
    found = list[int]()
    for number in range(40):
        question = opened(tiny, number)
        if question is None:
            continue
        task = joint_task(question.simulator, question.starts, None)
        assert isinstance(task, Joint)
        best = best_plan(task, lambda vectors: False)
        assert best is not None
        assert len(best.wins) == most_won(question), number
        found.append(len(best.wins))
    assert len(set(found)) > 3, found


# ---- certificates -------------------------------------------------------------------------------


def test_a_certificate_of_the_slice_holds_and_nothing_else_does(tiny: Tiny) -> None:
    world = tiny(SCALE)
    made = certify(world, asked(world), 0, seconds=60)
    assert made is not None
    found = certificate_from_json(json.loads(json.dumps(made.to_json())), "c.json")
    assert found == made
    proof = found.proof
    assert proof is not None
    assert (proof.kind, proof.count, proof.encoding) == ("sliced", 10, "E")
    report = check_certificate(world, found, seconds=60)
    assert (report.holds, report.difference) == (True, "")
    assert report.verified[-1].endswith("none of the 10 sets of sliced states is all goal")
    for other in (
        replace(proof, count=9), replace(proof, result="0" * 64), replace(proof, task="0" * 64),
        replace(proof, kind="honest"), replace(proof, kind="relaxed"),
    ):  # fmt: skip
        report = check_certificate(world, replace(found, proof=other), seconds=1)
        assert not report.holds, other
    winnable = tiny(SCALE.replace("lose wrong", "score = 0 goal wrong"))
    report = check_certificate(winnable, found, seconds=5)
    assert "digest of the program" in report.difference
