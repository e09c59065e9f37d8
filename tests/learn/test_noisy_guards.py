"""Guards of noisy records: what holds by coincidence is none, what holds is found."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from tokenworld.session.replaying import Row
from tokenworld.verbs.learn.propose import drawn
from tokenworld.verbs.learn.propose.commands import called
from tokenworld.verbs.learn.propose.covering import Rule
from tokenworld.verbs.learn.propose.stages import Stages
from tokenworld.verbs.learn.propose.terms import Predicate, Term
from tokenworld.verbs.learn.propose.worldrows import WorldSteps

np = pytest.importorskip("numpy", reason="numpy is an extra")

COUNTERS = "abcdef"
Attrs = Mapping[str, Any]
Made = Callable[[random.Random], tuple[Attrs, Attrs]]


def state(attrs: Attrs, tick: int) -> dict[str, Any]:
    box = {"id": 0, "name": "box", "type": "Box", "attrs": attrs, "contents": []}
    return {
        "world": "boxes", "tick": tick, "seed": 0, "outcomes": [], "awarded": [], "fired": [],
        "long": {}, "format": "tw-state/1", "functions": {}, "relations": {}, "next_id": 1,
        "objects": [box],
    }  # fmt: skip


def rows(made: Made, count: int, seed: int) -> Iterator[Row]:
    dice = random.Random(seed)
    for at in range(count):
        before, after = made(dice)
        intent = {"format": "tw-intent/1", "actor": "box", "pass": True}
        steps = {"action": state(before, 0), "tick": state(after, 1)}
        yield Row(f"row {at}", state(before, 0), intent, steps)


def learned(made: Made, count: int, seed: int, name: str) -> list[Rule]:
    """The rules of one attribute; the last has no guard."""
    read = WorldSteps(list(rows(made, count, seed)))
    grammar = called(read.steps, read.vocabulary)
    read.vocabulary.name_groups()
    said = Stages(read.steps, read.vocabulary, grammar, lambda text: None, noisy=True, phases=1)
    return [rule for one in said.learn().ticks if one.name == name for rule in one.rules.rules]


def told(rule: Rule) -> set[str]:
    """The attributes that a guard reads."""
    return {name for one in rule.guard for name in one.fluents()}


def by_chance(dice: random.Random) -> tuple[Attrs, Attrs]:
    """Counters that have nothing to do with what changes in one of seven cases."""
    before = {name: dice.randrange(12) for name in COUNTERS} | {"hit": 0}
    return before, before | {"hit": int(dice.random() < 1 / 7)}


def by_equality(dice: random.Random) -> tuple[Attrs, Attrs]:
    """The same, but where two certain counters are equal; there it changes in 9 of 10 cases."""
    before = {name: dice.randrange(12) for name in COUNTERS} | {"hit": 0}
    return before, before | {
        "hit": int(dice.random() < (0.9 if before["c"] == before["f"] else 0.02))
    }


def lamp(dice: random.Random) -> tuple[Attrs, Attrs]:
    """A lamp that is lit on a wish if there is oil, and goes out without. Two counters mostly are
    equal where it changes, and seldom elsewhere."""
    lit, wish, oil = dice.random() < 0.5, dice.random() < 0.3, dice.randrange(4)
    now = oil > 0 if lit else wish and oil > 0
    before = {name: dice.randrange(12) for name in COUNTERS}
    if dice.random() < (0.8 if now != lit else 0.02):
        before["f"] = before["c"]
    before |= {"lit": lit, "wish": wish, "oil": oil}
    return before, before | {"lit": now}


@pytest.mark.parametrize("seed", [1, 2])
def test_an_equality_by_coincidence_is_no_guard(seed: int) -> None:
    assert [rule.guard for rule in learned(by_chance, 120, seed, "hit")] == [()]


def test_it_would_be_one_if_its_name_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of hundreds of predicates one always fits by chance."""
    monkeypatch.setattr(drawn, "_lengths", lambda predicates: np.zeros(len(predicates)))
    assert len(learned(by_chance, 40, 1, "hit")) > 1


def test_an_equality_that_holds_is_found_from_enough_rows() -> None:
    first, *_ = learned(by_equality, 150, 1, "hit")
    (guard,) = first.guard
    assert (guard.op, guard.positive, told(first)) == ("==", True, {"c", "f"})
    assert first.shares[0] > 0.6


def test_each_cause_has_its_rule_though_one_sign_tells_both() -> None:
    found = [told(rule) for rule in learned(lamp, 200, 1, "lit") if rule.guard]
    assert len(found) == 2
    assert found[0] | found[1] == {"lit", "wish", "oil"}


def test_the_price_of_a_comparison_grows_with_the_number_of_pairs() -> None:
    numbers = [Term("t", (name,), "int") for name in COUNTERS]
    pairs = [Predicate("==", one, other, True, 3.5)
             for at, one in enumerate(numbers) for other in numbers[:at]]  # fmt: skip
    truths = [Predicate("true", Term("t", ("lit",), "bool"), None, x, 1.5) for x in (True, False)]
    few, many = drawn._lengths([*pairs[:3], *truths]), drawn._lengths([*pairs, *truths])
    assert many[0] - few[0] == pytest.approx(np.log(15 / 3))
    assert many[-1] == few[-1] == pytest.approx(np.log(2 * 2 * 1 * 2))
