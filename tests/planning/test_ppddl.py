"""PPDDL: each exported action has the distribution over states that the interpreter has.

The text is read by a small evaluator of probabilistic effects, written from the PPDDL paper alone.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from pddl_compare import View as Shown
from pddl_compare import world
from pddl_machine import Machine, State, View, read, typed

from tokenworld.diagnostics import Failure
from tokenworld.engine import EngineSimulator
from tokenworld.engine import State as EngineState
from tokenworld.ground import Command, Raw
from tokenworld.planning.pddl.effects import weight_text
from tokenworld.planning.pddl.export import PddlExport, export_ppddl, sanitize
from tokenworld.session import open_world

DOMAINS = Path(__file__).parents[2] / "domains"
Literal = tuple[Any, tuple[tuple[str, str], ...]]
Spread = list[tuple[Fraction, tuple[Literal, ...]]]
Distribution = dict[Shown, Fraction]
PAID = ("reward",)


# ---- the evaluator ----------------------------------------------------------------------------


def spread(view: View, effect: Any, binding: Mapping[str, str]) -> Spread:
    """The outcomes of an effect: shares, and the plain effects that happen together."""
    if not effect:
        return [(Fraction(1), ())]
    head, *rest = effect
    match head:
        case "and":
            return together([spread(view, one, binding) for one in rest])
        case "forall":
            inner = view.machine.bindings(typed(rest[0]))
            return together([spread(view, rest[1], {**binding, **more}) for more in inner])
        case "when":
            holds = view.holds(rest[0], binding)
            return spread(view, rest[1], binding) if holds else [(Fraction(1), ())]
        case "probabilistic":
            found: Spread = []
            for share, one in zip(rest[::2], rest[1::2], strict=True):
                assert 0 < Fraction(share) <= 1
                found += [(Fraction(share) * p, e) for p, e in spread(view, one, binding)]
            left = 1 - sum(Fraction(share) for share in rest[::2])
            assert left >= 0
            return [*found, *([(left, ())] if left else [])]
        case _:
            return [(Fraction(1), ((effect, tuple(binding.items())),))]


def together(parts: list[Spread]) -> Spread:
    """Independent effects side by side."""
    found: Spread = []
    for combined in product(*parts):
        share = Fraction(1)
        for one, _ in combined:
            share *= one
        found.append((share, tuple(literal for _, more in combined for literal in more)))
    return found


def applied(view: View, literals: tuple[Literal, ...], state: State) -> State:
    added, deleted = set[Any](), set[Any]()
    assigned, change = dict[Any, Fraction](), dict[Any, Fraction]()
    for effect, binding in literals:
        view._collect(effect, dict(binding), added, deleted, assigned, change)
    assert not set(assigned) & set(change)
    numbers = dict(state.numbers) | assigned
    for atom, amount in change.items():
        numbers[atom] = numbers.get(atom, Fraction(0)) + amount
    return State((state.facts - deleted) | added, frozenset(numbers.items()))


def shown(state: State) -> Shown:
    return state.facts, frozenset(one for one in state.numbers if one[0] != PAID)


def paid(state: State) -> Fraction:
    return dict(state.numbers).get(PAID, Fraction(0))


def step(machine: Machine, state: State, name: str, args: tuple[str, ...]) -> dict[State, Fraction]:
    """The distribution after one ground action; empty where it is not applicable."""
    view, action = machine.world(state), machine.actions[name]
    binding = dict(zip((n for n, _ in typed(action[":parameters"])), args, strict=True))
    if not view.holds(action[":precondition"], binding):
        return {}
    found: dict[State, Fraction] = {}
    for share, literals in spread(view, action[":effect"], binding):
        after = applied(view, literals, state)
        found[after] = found.get(after, Fraction(0)) + share
    return found


def results(exported: PddlExport) -> dict[Command, dict[State, Fraction]]:
    """The distribution of each command at the end of its tick."""
    machine = Machine(exported.domain, exported.problem)
    found: dict[Command, dict[State, Fraction]] = {}
    forced = [name for name, one in exported.names.steps.items() if one.action is None]
    for name, action in machine.actions.items():
        for binding in machine.bindings(typed(action[":parameters"])):
            command = exported.names.command(name, tuple(binding.values()))
            now = step(machine, machine.start, name, tuple(binding.values()))
            if command is None or not now:
                continue
            assert command not in found
            for phase in forced:
                later: dict[State, Fraction] = {}
                for state, share in now.items():
                    for after, more in step(machine, state, phase, ()).items():
                        later[after] = later.get(after, Fraction(0)) + share * more
                now = later
            found[command] = now
    return found


# ---- against the interpreter ------------------------------------------------------------------


def exported_from(simulator: EngineSimulator, state: EngineState) -> PddlExport:
    def value(fluent: str, args: tuple[Raw, ...]) -> Raw:
        return simulator.read(state, fluent, args)

    return export_ppddl(simulator.instance_at(state), value, None)


def interpreted(
    simulator: EngineSimulator, state: EngineState, known: list[Command]
) -> dict[Command, Distribution]:
    found: dict[Command, Distribution] = {}
    for command in dict.fromkeys((*simulator.commands(state), *known)):
        for one in simulator.successors(state, command):
            after = exported_from(simulator, one.state)
            seen = shown(Machine(after.domain, after.problem).start)
            mine = found.setdefault(command, {})
            mine[seen] = mine.get(seen, Fraction(0)) + one.probability
    return found


def agree(simulator: EngineSimulator, limit: int) -> tuple[int, int]:
    """Compare on every state reached: how many there were, and the widest distribution."""
    start, widest, count = simulator.start(), 0, 0
    seen, waiting = {simulator.key(start)}, [start]
    while waiting and count < limit:
        state = waiting.pop(0)
        if simulator.won(state, None) or simulator.lost(state):
            continue
        count += 1
        mine: dict[Command, Distribution] = {}
        for command, spread_ in results(exported_from(simulator, state)).items():
            assert sum(spread_.values()) == 1
            merged: Distribution = {}
            for after, share in spread_.items():
                merged[shown(after)] = merged.get(shown(after), Fraction(0)) + share
            mine[command] = merged
        assert mine == interpreted(simulator, state, list(mine))
        widest = max(widest, *(len(one) for one in mine.values()))
        for command in simulator.commands(state):
            for one in simulator.successors(state, command):
                if simulator.key(one.state) not in seen:
                    seen.add(simulator.key(one.state))
                    waiting.append(one.state)
    return count, widest


COIN = """
enum Face { heads, tails, edge }
type Coin { face: Face = edge  n: 0 to 3 = 0 clamped  lucky: bool }
object penny: Coin
"""
WORLDS = {
    "branches": (COIN + """
action flip(c: Coin) {
  chance 1/4 { c.face = heads  c.n += 1 } or 35% { c.face = tails } else { c.face = edge }
}
world w "W" { goal done: penny.lucky }
""", 3),
    "nested and under conditions": (COIN + """
action flip(c: Coin) {
  if c.lucky { chance 50% { c.n += 1  chance 0.3 { c.face = heads } } }
  else { chance 12.5% { c.lucky = true } else { chance 7% { c.n += 2 } } }
}
world w "W" { goal done: penny.n == 3 and penny.face == heads }
""", 3),
    "several at once": (COIN + """
object dime: Coin
action flip() {
  chance 10% { penny.face = heads }
  chance 20% { dime.face = tails }
  let b = chance 30%
  if b { penny.lucky = not penny.lucky }
  if not b { dime.n += 1 }
}
world w "W" { goal done: penny.lucky and dime.lucky }
""", 8),
    "picks": (COIN + """
action roll(c: Coin) { pick f: Face where f != c.face { c.face = f } }
action raise_by(c: Coin) { pick k: 1 to 2 { c.n += k } }
action none_left(c: Coin) { pick f: Face where c.n >= 2 { c.face = f } else { c.lucky = true } }
world w "W" { goal done: penny.n == 3 and penny.lucky }
""", 3),
    "a law for each": (COIN + """
object dime: Coin
action wait() { penny.lucky = true }
law spin(c: Coin) when c.face == edge { chance 1/2 { c.n += 1 } or 20% { c.face = tails } }
world w "W" { goal done: penny.n == 3 and dime.n == 3 }
""", 9),
    "a param": (COIN + """
param bias: 0 to 100% = 5%
action flip(c: Coin) { chance bias { c.lucky = true } else { c.n += 1 } }
world w "W" { param bias = 15%  goal done: penny.lucky and penny.n == 1 }
""", 2),
}  # fmt: skip


@pytest.mark.parametrize("name", WORLDS)
def test_every_action_has_the_distribution_of_the_interpreter(name: str) -> None:
    text, wide = WORLDS[name]
    count, widest = agree(world(text), 20)
    assert count > 1
    assert widest >= wide


def test_a_world_of_the_project_with_chance() -> None:
    simulator = EngineSimulator(open_world(str(DOMAINS / "frozen_lake" / "world.tw")).engine)
    assert agree(simulator, 3) == (3, 3)


def test_a_share_that_the_interpreter_rounds_is_written_exactly_and_told() -> None:
    text = (
        COIN
        + """
action flip(c: Coin) { chance 1/3 { c.lucky = true } }
world w "W" { goal done: penny.lucky }
"""
    )
    simulator = world(text)
    found = exported_from(simulator, simulator.start())
    (spread_,) = results(found).values()
    assert sorted(spread_.values()) == [Fraction(1, 3), Fraction(2, 3)]
    (near,) = interpreted(simulator, simulator.start(), []).values()
    assert all(
        0 < abs(one - other) < Fraction(1, 2**50)
        for one, other in zip(sorted(near.values()), sorted(spread_.values()), strict=True)
    )
    assert [(note.code, note.span and note.span.line) for note in found.notes] == [("TW0801", 6)]
    sure = world(text.replace("1/3", "1/4"))
    assert exported_from(sure, sure.start()).notes == ()


# ---- how it is written ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "text"),
    [("1/2", "0.5"), ("1/3", "1/3"), ("1/8", "0.125"), ("3/40", "0.075"), ("5/12", "5/12"),
     ("1", "1"), ("1/1000000", "0.000001"), ("2/5", "0.4"), ("123/500", "0.246")],
)  # fmt: skip
def test_a_weight_is_a_decimal_only_where_that_is_exact(share: str, text: str) -> None:
    assert weight_text(Fraction(share)) == text
    assert Fraction(text) == Fraction(share)


def sections(text: str) -> dict[str, Any]:
    return {part[0]: part[1:] for part in read(text)[2:]}


def test_requirements_and_the_aim_follow_from_what_is_used() -> None:
    plain, _ = WORLDS["branches"]
    found = exported_from(world(plain), world(plain).start())
    assert ":probabilistic-effects" in sections(found.domain)[":requirements"]
    assert ":rewards" not in sections(found.domain)[":requirements"]
    assert sections(found.problem)[":metric"] == ["maximize", ["goal-achieved"]]
    sure = COIN + 'action f(c: Coin) { c.lucky = true }\nworld w "W" { goal g: penny.lucky }\n'
    found = exported_from(world(sure), world(sure).start())
    assert ":probabilistic-effects" not in sections(found.domain)[":requirements"]


def test_conditions_under_chance_are_required_too() -> None:
    lucky = "if any(o.lucky for o: Coin) { c.lucky = true }"
    rule = f"action f(c: Coin) {{ if c.n == 0 {{ chance 50% {{ {lucky} }} }} }}"
    text = COIN + rule + '\nworld w "W" { goal g: penny.lucky }\n'
    found = exported_from(world(text), world(text).start())
    assert ":existential-preconditions" in sections(found.domain)[":requirements"]


def test_rewards_and_costs_are_paid_with_their_chance() -> None:
    text = (
        COIN
        + """
action bet(c: Coin) cost 2 { chance 1/4 { reward 12 } else { c.lucky = true } }
world w "W" { goal done: penny.lucky and penny.n == 1 }
"""
    )
    found = exported_from(world(text), world(text).start())
    assert ":rewards" in sections(found.domain)[":requirements"]
    assert sections(found.problem)[":metric"] == ["maximize", ["reward"]]
    (spread_,) = results(found).values()
    assert {(paid(state), share) for state, share in spread_.items()} == {
        (Fraction(10), Fraction(1, 4)), (Fraction(-2), Fraction(3, 4)),
    }  # fmt: skip
    assert "total-cost" not in found.domain + found.problem


def test_a_fluent_that_is_called_reward_is_another_one() -> None:
    text = (
        COIN
        + """
function `reward`(): 0 to 9 = 0
action bet(c: Coin) cost 2 { chance 1/4 { `reward`() += 1 } else { c.lucky = true } }
world w "W" { goal done: penny.lucky and `reward`() == 3 }
"""
    )
    with pytest.raises(Failure, match="only some outcome"):
        exported_from(world(text), world(text).start())
    clamped = text.replace("= 0\naction", "= 0 clamped\naction")
    found = exported_from(world(clamped), world(clamped).start())
    assert "(increase (reward-2) 1)" in found.domain
    assert "(decrease (reward) 2)" in found.domain
    changed = sanitize(found)
    assert ":rewards" in sections(changed.domain)[":requirements"]
    assert "(decrease (reward) 2)" in changed.domain


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("action f(c: Coin) { chance 1/2 { c.m += 1 } }", "only some outcome of chance may break"),
        ("action f(c: Coin) { pick k: 1 to 9 { c.n = k mod 3 } }", "more than 5 candidates"),
        ("action f(c: Coin) { pick k: 1 to 3 by weight k { c.n = k } }", "not uniform"),
        ("action f(c: Coin) { chance c.n / 4 { c.lucky = true } }", "a probability that changes"),
    ],
)
def test_what_cannot_be_taken_is_named_by_its_line(rule: str, said: str) -> None:
    head = COIN.replace("lucky: bool", "lucky: bool  m: 0 to 3 = 0")
    simulator = world(f'{head}{rule}\nworld w "W" {{ goal done: penny.lucky }}\n')
    with pytest.raises(Failure) as caught:
        exported_from(simulator, simulator.start())
    (one,) = caught.value.diagnostics
    assert (one.code, one.span is not None and one.span.line) == ("TW0801", 5)
    assert said in one.message
