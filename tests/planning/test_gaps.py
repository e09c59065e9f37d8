"""Rules that our own search does not follow keep it from claiming that nothing is left."""

from __future__ import annotations

import pytest

from tokenworld.check import check_source
from tokenworld.diagnostics import Source
from tokenworld.engine import Engine, EngineSimulator
from tokenworld.ground import instantiate, param_values
from tokenworld.planning.ladder import plan
from tokenworld.planning.planners.doctor import EngineInfo
from tokenworld.planning.search.interpreted import Capped, Exhausted, Found, Limits, search
from tokenworld.prose.wording import EnglishProse

NO_ENGINE = EngineInfo("fast-downward", "classical", "up-fast-downward", None, None, "pip", "gone")

WORLD = """
type Lamp {{ on: bool  hot: bool  level: 0 to 3 }}
object lamp: Lamp
{rule}
action warm(l: Lamp) {{ l.hot = true }}
world w {{ goal bright: lamp.on }}
"""


def simulator_of(rule: str) -> EngineSimulator:
    checked = check_source(Source("w.tw", None, WORLD.format(rule=rule)))
    program = checked.program
    assert program is not None, checked.diagnostics
    world = program.worlds["w"]
    instance = instantiate(program, world, param_values(program, world, {}))
    return EngineSimulator(Engine(instance, EnglishProse()))


def no_encoding(*args, **more):
    """Stands in for the planners: none has anything to say."""


DRAWING = "action drift(l: Lamp) { let v = uniform(0.0, 1.0) if v > 0.5 { l.hot = true } }"


def test_a_rule_that_is_not_followed_is_named():
    simulator = simulator_of(DRAWING)
    result = search(simulator, simulator.start(), None, Limits())
    assert isinstance(result, Capped)
    assert result.limit == "gaps"
    verdict = plan(simulator, simulator.start(), None, engine=NO_ENGINE, classical=no_encoding)
    assert (verdict.answer, verdict.exit_code) == ("unknown", 3)
    assert verdict.attempts[0].result == "no proof"
    note = next(note for note in verdict.notes if note.code == "TW0804")
    assert "draws a real number" in note.message
    assert note.span is not None
    assert note.span.line == 4


@pytest.mark.parametrize(
    "rule",
    [
        'action look(l: Lamp) takes 0 { say "It is a lamp." }',
        "action flick(l: Lamp) takes 0 { l.hot = false }",
        "param n: 0 to 3 = 0  action flick(l: Lamp) takes n { l.hot = false }",
        "action rest(l: Lamp) takes 3 { l.hot = false  cancelled { l.level = 1 } }",
        "action flick(l: Lamp) takes 2 { l.hot = false }",
        "action flick(l: Lamp, n: 1 to 2) takes n { l.hot = false }",
        'action rest(l: Lamp) takes 3 { l.hot = false  cancelled { say "No rest." } }',
    ],
)
def test_other_rules_leave_no_gap(rule):
    simulator = simulator_of(rule)
    result = search(simulator, simulator.start(), None, Limits())
    assert isinstance(result, Exhausted)


def test_a_plan_is_found_all_the_same():
    simulator = simulator_of(DRAWING + " action light(l: Lamp) { l.on = true }")
    result = search(simulator, simulator.start(), None, Limits())
    assert isinstance(result, Found)
    assert (result.ticks, result.optimal) == (1, None)
    verdict = plan(simulator, simulator.start(), None, engine=NO_ENGINE)
    assert (verdict.answer, verdict.ticks, verdict.notes) == ("winnable", 1, ())


def test_a_free_change_and_a_cancelled_block_are_part_of_the_space():
    flip = "action flip(l: Lamp) takes 0 { l.hot = true }"
    gate = 'action light(l: Lamp) { require l.hot else cold "Cold." l.on = true }'
    simulator = simulator_of(f"{flip} {gate}")
    result = search(simulator, simulator.start(), None, Limits())
    assert isinstance(result, Found)
    rest = "action rest(l: Lamp) takes 3 { l.hot = false  cancelled { l.level = 1 } }"
    late = 'action light(l: Lamp) { require l.level == 1 else low "Low." l.on = true }'
    simulator = simulator_of(f"{rest} {late}")
    result = search(simulator, simulator.start(), None, Limits())
    assert isinstance(result, Found)
    assert [step.command.action for step in result.steps] == ["rest", "light"]
