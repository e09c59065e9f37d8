"""The grounded form: exact where the lifted one is not, readable, and with a way back."""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from pddl_compare import export, world
from pddl_machine import Machine
from pddl_machine import State as PddlState

from tokenworld.diagnostics import Failure, Severity
from tokenworld.engine import EngineSimulator
from tokenworld.ground import Command
from tokenworld.planning.pddl.export import PddlExport, PddlStep, export_world
from tokenworld.planning.task import Effect, Operator, Task, Variable

POND = """
type Frog {{ at: 0 to 4 = 0  wet: bool = false  tired: 0 to 3 clamped = 0 }}
function jumps(): 0 to {jumps} = 0
action jump(f: Frog) {{ require f.tired < 3  f.at += 2  f.tired += 2  jumps() += 1 }}
action crawl(f: Frog) takes 2 {{ f.at += 1  jumps() += 1 }}
law rest(f: Frog) when f.tired == was f.tired {{ f.tired -= 1 }}
law splash(f: Frog) {{ f.wet = f.at mod 2 == 1 }}
world w "W" {{ object fred: Frog  goal over: fred.at == 3 and fred.wet }}
"""


def shortest(exported: PddlExport) -> str | None:
    """A plan by breadth-first search over the text, as planners write it."""
    machine = Machine(exported.domain, exported.problem)

    def plain(state: PddlState) -> frozenset[tuple[str, ...]]:
        return state.facts

    waiting = deque([(machine.start, "")])
    seen = {plain(machine.start)}
    while waiting:
        state, plan = waiting.popleft()
        if machine.won(state):
            return plan
        for name, args, after in machine.steps(state):
            if plain(after) not in seen:
                seen.add(plain(after))
                waiting.append((after, plan + f"({' '.join((name, *args))})\n"))
    return None


def replayed(simulator: EngineSimulator, steps: tuple[PddlStep, ...]) -> bool:
    state = simulator.start()
    for step in steps:
        results = simulator.successors(state, step.command)
        state = next(one.state for one in results if not step.draws or one.draws == step.draws)
    return simulator.won(state, None)


def test_a_world_beyond_the_lifted_form_is_grounded_with_its_reasons() -> None:
    simulator = world(POND.format(jumps=2))
    exported = export_world(simulator, simulator.start(), None)
    assert exported.form == "grounded"
    assert exported.domain.startswith(
        "; World `w` of w.tw, grounded by `tw export --pddl`.\n"
        "; One fact per variable and value, because PDDL has no exact lifted form for\n"
    )
    assert ";   w.tw:5:29: action `crawl`, which takes several ticks\n" in exported.domain
    lines = [note.span.line for note in exported.notes if note.code == "TW0801" and note.span]
    assert lines == [5, 6, 7]
    assert all(note.severity is Severity.INFO for note in exported.notes)


def test_its_plan_maps_back_to_commands_that_win() -> None:
    simulator = world(POND.format(jumps=2))
    exported = export_world(simulator, simulator.start(), None)
    plan = shortest(exported)
    assert plan is not None
    steps = exported.steps(plan)
    assert {step.command.action for step in steps} <= {"jump", "crawl", ""}
    assert replayed(simulator, steps)


def test_without_enough_jumps_the_text_has_no_plan() -> None:
    simulator = world(POND.format(jumps=1))
    exported = export_world(simulator, simulator.start(), None)
    assert exported.form == "grounded"
    assert shortest(exported) is None


def test_outcomes_of_chance_come_back_as_draws() -> None:
    simulator = world("""
type Coin { up: bool = false  flips: 0 to 3 clamped = 0 }
action flip(c: Coin) { c.flips += 1 }
law turn(c: Coin) when c.flips != was c.flips { chance 50% { c.up = true } else { c.up = false } }
world w "W" { object penny: Coin  goal heads: penny.up and penny.flips == 1 }
""")
    exported = export_world(simulator, simulator.start(), None)
    plan = shortest(exported)
    assert plan is not None
    assert [step.command for step in exported.steps(plan)] == [Command("flip", (0,))]


def test_what_neither_form_can_hold_is_an_error_at_its_place() -> None:
    simulator = world("""
function n(): int = 0
action grow() takes 2 { n() += 1 }
world w "W" { goal g: n() == 3 }
""")
    with pytest.raises(Failure) as raised:
        export_world(simulator, simulator.start(), None)
    found = raised.value.diagnostics[0]
    assert found.code == "TW0801"
    assert found.span is not None
    assert found.span.line == 2


def task(*operators: Operator) -> Task:
    level = Variable("level(jar)", "slot", (0, 1, 2, 3), 1, "Jar.level", (0,))
    on = Variable("on(jar)", "slot", (False, True), 0, "Jar.on", (0,))
    turn = Variable("turn", "token", ("act", "law"), 0)
    return Task((level, on, turn), operators, ((0, (2, 3)), (2, (0,))))


def grounded(*operators: Operator) -> PddlExport:
    simulator = world("""
type Jar { level: 0 to 3 = 1  on: bool = false }
action fill(j: Jar) takes 2 { j.level = 3  j.on = true }
world w "W" { object jar: Jar  goal g: jar.level >= 2 }
""")
    return export(simulator, encode=lambda goal: task(*operators))


def test_facts_literals_and_effects_are_written_the_shorter_way() -> None:
    fill = Command("fill", (0,))
    exported = grounded(
        Operator(
            "fill(jar)",
            ((0, (0, 1, 2)), (1, (0,)), (2, (0,))),
            (Effect((), 0, 3), Effect(((0, (0,)),), 1, 1), Effect((), 2, 1)),
            1,
            fill,
        ),
        Operator("law", ((2, (1,)),), (Effect((), 2, 0),), 0),
    )
    assert (
        """\
  (:action fill-jar
    :parameters ()
    :precondition (and
      (not (level jar n3))
      (not (on jar))
      (turn act))
    :effect (and
      (level jar n3)
      (not (level jar n0))
      (not (level jar n1))
      (not (level jar n2))
      (when (level jar n0) (on jar))
      (turn law)
      (not (turn act))
      (increase (total-cost) 1)))
"""
        in exported.domain
    )
    assert "(level jar n1)\n    (turn act)\n    (= (total-cost) 0))" in exported.problem
    assert (
        "(:goal (and\n    (or (level jar n2) (level jar n3))\n    (turn act)))" in exported.problem
    )
    assert [step.command for step in exported.steps("(FILL-JAR )\n(law )")] == [fill]
    machine = Machine(exported.domain, exported.problem)
    ((name, _, after),) = machine.steps(machine.start)
    assert name == "fill-jar"
    assert ("on", "jar") not in after.facts
    assert ("level", "jar", "n3") in after.facts


def test_runs_of_numbers_in_names_are_shortened() -> None:
    watch = Variable("level(jar) in 1,2,3", "aux", (False, True), 1)
    simulator = world("""
type Jar { level: 0 to 3 = 1 }
action fill(j: Jar) takes 2 { j.level = 3 }
world w "W" { object jar: Jar  goal g: jar.level >= 2 }
""")
    goal = Task((watch,), (), ((0, (1,)),))
    exported = export(simulator, encode=lambda _: goal)
    assert "(:goal (level-jar-in-1-to-3))" in exported.problem
