"""What has no place in the encoding is reported with its construct, its line and the reason."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import agreed, opened, refused, solution

from tokenworld.planning.lower.encode import Unencodable, encode


def world(rules: str, goal: str, objects: str = "") -> str:
    return f"{rules}\nworld w {{ {objects} goal g: {goal} }}"


@pytest.mark.parametrize(
    ("rules", "goal", "said"),
    [
        (
            "function n(): int = 0\naction up() { n() += 1 }",
            "n() == 5",
            "`n()` at 1: its values have no bound that is known",
        ),
        (
            "function x(): real = 0.0\nfunction b(): bool = false\n"
            "action up() { x() = x() + 0.1 }\naction see() { require x() > 1.0  b() = true }",
            "b()",
            "`x()` at 1: its values have no bound that is known",
        ),
        (
            "function b(): bool = false  function n(): 0 to 9 = 3\n"
            "law late() when tick() > n() { b() = true n() = 2 }",
            "b()",
            "`tick()` at 2: it counts without end; finite are `tick() mod n` and comparisons, "
            "with constants",
        ),
        (
            "function b(): bool = false\naction up() { require score > 3  b() = true }",
            "b()  award 1 when score > 2",
            "`award` at 3: whether it is given depends on more than the state at the end of a tick",
        ),
        (
            'type Hen { name: text = ""  n: 0 to 3 = 0 }  object hen: Hen\n'
            "function b(): bool = false\n"
            'action call(h: Hen) { h.name = "{h.n}" h.n += 1 }\n'
            'action see(h: Hen) { require h.name == "2"  b() = true }',
            "b()",
            "`name(hen)` at 1: its values have no bound that is known",
        ),
        (
            "function b(): bool = false\naction age() takes 99999999999999999999 { b() = true }",
            "b()",
            "`takes` of `age` at 2: it takes more than 60,000 ticks",
        ),
        (
            "function b(): bool = false\nfunction x(): real = 0.0\n"
            "action up() { let v = uniform(0.0, 1.0)  if v > 0.5 { b() = true } }",
            "b()",
            "`uniform` at 3: a real number has too many values",
        ),
        (
            "function n(): 0 to 9 clamped = 0\nfunction b(): bool = false\n"
            "law up() { n() += 1 }\nlaw see() { if n() > was n() { b() = true } }",
            "n() > was n() and b()",
            "`was` outside of laws at 5: between two ticks nothing is kept of the tick before",
        ),
    ],
)
def test_obstacles_are_named(rules: str, goal: str, said: str) -> None:
    assert refused(world(rules, goal)) == said


def test_an_order_of_arrival_is_an_obstacle_only_where_it_counts() -> None:
    rules = """
    type Box  type Ball { in_box: Box? ordered inverse balls }
    function b(): bool = false
    action put(x: Ball, c: Box) { x.in_box = c }
    action look(c: Box, x: Ball) { require PLACE(c.balls) == x  b() = true }
    """
    text = world(rules, "b()", "object one: Box object red, blue: Ball")
    assert refused(text.replace("PLACE", "first")).startswith("`first` of a collection at 5")
    counted = text.replace("PLACE(c.balls) == x", "count(c.balls) == 2")
    assert agreed(opened(counted)) is not None


def test_what_the_goal_does_not_need_is_no_obstacle() -> None:
    rules = """
    function total(): int = 0   function share(): real = 0.0   function n(): 0 to 3 = 0
    action up() { total() += n()  n() += 1  share() = share() / 3.0 }
    """
    assert len(agreed_steps(world(rules, "n() == 2"))) == 2


def agreed_steps(text: str) -> list[str]:
    steps = solution(opened(text))
    assert steps is not None
    return [step.command.action for step in steps]


def test_an_int_that_no_rule_writes_or_that_stays_small_is_no_obstacle() -> None:
    rules = """
    function price(): int = 7   function state(): int = 0   function n(): 0 to 20 = 0
    action buy() { n() += price()  state() = 3 - state() }
    """
    text = world(rules, "n() == 14 and state() == 0")
    assert agreed_steps(text) == ["buy", "buy"]


def test_too_large_a_diagram_is_an_obstacle() -> None:
    rules = """
    type Jar { n: 0 to 60 clamped = 0  weight: 0 to 90 = 1 }
    action fill(j: Jar) { j.n += j.weight }
    action heavy(j: Jar) { j.weight += 1 }
    """
    jars = "object " + ", ".join(f"j{n}" for n in range(6)) + ": Jar"
    text = world(rules, "sum(j.n * j.weight for j: Jar) == 777", jars)
    start = opened(text)
    found = encode(start.instance, start.simulator, start.state, None, limit=20_000)
    assert isinstance(found, Unencodable)
    assert "decision diagrams grow beyond 20,000 nodes" in found.obstacles[0].reason
    assert found.obstacles[0].construct == "world `w`"


def test_several_obstacles_are_all_reported() -> None:
    rules = """
    function n(): int = 0   function m(): int = 0
    action up() { n() += 1 }   action more() { m() += 1 }
    """
    start = opened(world(rules, "n() == 5 and m() == 6"))
    found = encode(start.instance, start.simulator, start.state, None)
    assert isinstance(found, Unencodable)
    assert found.obstacles
