"""Models of beliefs draw from the product of their experts, as language.md §14 defines it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf, log
from random import Random
from typing import Any

import pytest
from tiny import play

from tokenworld.ground import PASS, Command
from tokenworld.verbs.fuzz.playing import opened

POND = """
model pond
enum Sky { clear, grey, rain }
type Spot
type Stone : Spot { dry: bool = true }
type Thing { n: 0 to 4 = 2 }
type Frog : Thing { at: Spot?  home: Spot  sky: Sky  wet: bool  size: 0.0 to 0.3 = 0.1 }
type Hero
actor me: Hero
function deep(s: Spot): 0 to 2 = 1
relation likes(f: Frog, s: Spot)
param half: 0.0 to 10.0 = 0.5
param zero: 0 to 9 = 0
object reed, bank: Spot
object rock: Stone
action wait() as "wait" { }
phase day
phase turns sequentially
RULES
world w {
  object hero: Hero
  object kermit: Frog { at = reed  home = rock  sky = grey }
  object toad: Thing
}
"""
Rows = Mapping[Any, float]
Said = tuple[Rows, float | None, float]
"""An expert: its rows, the weight of `else` (or none), and λ."""


def expected(domain: Sequence[Any], experts: Sequence[Said]) -> dict[Any, float]:
    """The definition: experts are rows, the weight of `else` (or none), and λ."""
    weights = dict.fromkeys(domain, 1.0)
    said = 0
    for rows, rest, power in experts:
        others = [one for one in domain if one not in rows]
        raw = {one: rows.get(one, rest / len(others) if rest and one in others else 0.0)
               for one in domain}  # fmt: skip
        total = sum(raw.values())
        if total == 0:
            continue
        said += 1
        for one in domain:
            weights[one] *= (raw[one] / total) ** power
    if not said:
        return {}
    return {one: weights[one] / sum(weights.values()) for one in domain if weights[one]}


def outcomes(rules: str, slot: str) -> dict[Any, float]:
    """The probabilities of the values of a slot after a tick."""
    game = play(POND.replace("RULES", rules))
    found: Counter[Any] = Counter()
    for one in game.session.engine.distribution(game.state, Command("wait", ())).successors:
        found[value(game, one.state, slot)] += one.probability  # type: ignore[assignment]
    return dict(found)


def value(game: Any, state: Any, slot: str) -> Any:
    """A value of a state in exchange form."""
    shown = game.session.engine.json(state)
    if "." in slot:
        owner, name = slot.split(".")
        return next(one for one in shown["objects"] if one["name"] == owner)["attrs"][name]
    name, args = slot.rstrip(")").split("(")
    given = args.split(",")
    if name in shown["relations"]:
        return given in shown["relations"][name]
    return next((x for row, x in shown["functions"][name] if row == given), 1)


SKY = ("clear", "grey", "rain")
SPOTS = ("reed", "bank", "rock")
CASES: tuple[tuple[str, str, Sequence[Any], Sequence[Said]], ...] = (
    # one expert with weight 1 is its distribution
    ("believe b(f: Frog) weight 1 { f.sky ~ { rain: 70%, grey: 20%, clear: 10% } }",
     "kermit.sky", SKY, [({"rain": 0.7, "grey": 0.2, "clear": 0.1}, None, 1)]),
    # `else` is spread over what has no row; equal values add; what is outside is dropped
    ("believe b(f: Frog) weight 1 { f.n ~ { f.n + 1: 1, 3: 2, f.n + 9: 5, else: 4 } }",
     "kermit.n", range(5), [({3: 3}, 4, 1)]),
    ("believe b(f: Frog) weight 1 { f.sky ~ { else: 4 } }", "kermit.sky", SKY, [({}, 4, 1)]),
    # whole weights, of several beliefs; one for a parent type, and one that does not hold
    ("believe b(f: Frog) weight 2 { f.n ~ { f.n: 2, else: 4 } }\n"
     "believe c(t: Thing) weight 1 { t.n ~ { 0: 1, 1: 2, 2: 3, 3: 4 } }\n"
     "believe d(f: Frog) when f.wet weight 3 { f.n ~ { 0: 1 } }",
     "kermit.n", range(5), [({2: 2}, 4, 2), ({0: 1, 1: 2, 2: 3, 3: 4}, None, 1)]),
    # any weight, a param, and 0, which says nothing
    ("believe b(f: Frog) weight half { f.sky ~ { rain: 9, else: 2 } }\n"
     "believe c(f: Frog) weight 1.7 { f.sky ~ { clear: 1, grey: 2, rain: 3 } }\n"
     "believe d(f: Frog) weight 0 { f.sky ~ { clear: 1 } }\n"
     "believe e(f: Frog) weight zero { f.sky ~ { clear: 1 } }",
     "kermit.sky", SKY, [({"rain": 9}, 2, 0.5), ({"clear": 1, "grey": 2, "rain": 3}, None, 1.7)]),
    # truths, also of a relation
    ("believe b(f: Frog) weight 1 { f.wet ~ { true: 30%, false: 70% } }\n"
     "believe c(f: Frog) weight 0.5 { f.wet ~ { true: 1, else: 4 } }",
     "kermit.wet", (False, True), [({True: 0.3, False: 0.7}, None, 1), ({True: 1}, 4, 0.5)]),
    ("believe b(f: Frog, s: Spot) when s == f.home weight 1 { likes(f, s) ~ { true: 1, else: 3 } }",
     "likes(kermit,rock)", (False, True), [({True: 1}, 3, 1)]),
    # objects, and `none` where the slot may be empty
    ("believe b(f: Frog) weight 1 { f.at ~ { f.at: 2, none: 1, else: 4 } }",
     "kermit.at", (*SPOTS, None), [({"reed": 2, None: 1}, 4, 1)]),
    ("believe b(f: Frog) weight 1 { f.at ~ { s: 1 for s: Spot where s != f.at else: 4 } }\n"
     "believe c(f: Frog) weight half { f.at ~ { none: 3, f.home: 2, else: 1 } }",
     "kermit.at", (*SPOTS, None),
     [({"bank": 1, "rock": 1}, 4, 1), ({None: 3, "rock": 2}, 1, 0.5)]),
    ("believe b(f: Frog) weight 1 { f.home ~ { f.at: 3, else: 1 } }",
     "kermit.home", SPOTS, [({"reed": 3}, 1, 1)]),
    ("believe b(f: Frog) weight 1 { f.size ~ { f.size: 3, 0.3: 1, else: 6 } }",
     "kermit.size", (0, 0.1, 0.2, 0.3), [({0.1: 3, 0.3: 1}, 6, 1)]),
    # several bindings that guess one slot are as many experts
    ("believe b(f: Frog, s: Spot) when s != f.at weight 1 { f.at ~ { s: 2, f.at: 1, else: 1 } }",
     "kermit.at", (*SPOTS, None), [({"bank": 2, "reed": 1}, 1, 1), ({"rock": 2, "reed": 1}, 1, 1)]),
    ("believe b(f: Frog) weight 1 { f.home.deep ~ { 2: 1, else: 1 } }".replace(
        "f.home.deep", "deep(f.home)"),
     "deep(rock)", range(3), [({2: 1}, 1, 1)]),
    # no row above 0: the expert abstains, and the slot keeps its value
    ("believe b(f: Frog) weight 1 { f.n ~ { 3: 0, 9 + f.n: 1 } }", "kermit.n", range(5), []),
    # `let` names a value; a listed value may be any term
    ("believe b(f: Frog) weight 1 { let k = f.n - 1  f.n ~ { k: 3, else: 1 } }",
     "kermit.n", range(5), [({1: 3}, 1, 1)]),
    ("believe b(f: Frog) weight 1 { f.n ~ { deep(s) + 1: 1 for s: Spot else: 1 } }",
     "kermit.n", range(5), [({2: 3}, 1, 1)]),
)  # fmt: skip


@pytest.mark.parametrize(("rules", "slot", "domain", "experts"), CASES)
def test_a_slot_has_the_distribution_of_the_definition(
    rules: str, slot: str, domain: Sequence[Any], experts: Sequence[Said]
) -> None:  # fmt: skip
    wanted = expected(domain, experts)
    found = outcomes(rules, slot)
    if not wanted:
        assert list(found.values()) == [1]
        return
    assert {x: float(p) for x, p in found.items()} == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("rules", [one[0] for one in CASES])
def test_engine_and_reference_draw_alike(rules: str) -> None:
    game, random = opened(POND.replace("RULES", rules), 7), Random(7)
    game.start_agrees()
    for _ in range(12):
        game.step(game.random_intent(random))


def test_whole_weights_give_exact_fractions() -> None:
    rules = "believe b(f: Frog) weight 2 { f.n ~ { f.n: 50%, else: 50% } }"
    assert outcomes(rules, "kermit.n")[2] == Fraction(16, 20)


TURNS = """
believe b(t: Thing) during turns weight 1 {
  t.n ~ { count(o for o: Thing where o.n == 2): 3, else: 1 }
}
"""


def test_in_turns_each_reads_what_earlier_ones_left() -> None:
    """Two things: the second one counts with the new number of the first one."""
    game = play(POND.replace("RULES", TURNS))
    engine, share = game.session.engine, Fraction(3, 4)
    total = Fraction(0)
    for one in engine.distribution(game.state, PASS).successors:
        n, m = value(game, one.state, "kermit.n"), value(game, one.state, "toad.n")
        rest = Fraction(1, 16)
        twos = (n == 2) + 1
        wanted = (share if n == 2 else rest) * (share if m == twos else rest)
        assert one.probability == wanted
        assert engine.logp(game.state, PASS, one.state).logp == pytest.approx(log(wanted))
        total += wanted
    assert total == 1


CLASH = """
believe b(f: Frog) weight {} { f.wet ~ { true: 1 } }
believe c(f: Frog) weight 1 { f.wet ~ { false: 1 } }
"""


@pytest.mark.parametrize("power", ["1", "0.5"])
def test_beliefs_that_leave_no_value_are_an_error(power: str) -> None:
    """TW1007: the command fails, nothing changes, and no successor is possible."""
    text = POND.replace("RULES", CLASH.replace("{}", power))
    game, engine = play(text), play(text).session.engine
    outcome = game.do("wait")
    assert outcome.breach is not None
    assert (outcome.status, outcome.breach["code"]) == ("error", "TW1007")
    wet = engine.put(game.state, "Frog.wet", (game.state.numbers["kermit"],), True)
    assert engine.logp(game.state, PASS, wet).logp == -inf
    opened(text, 1).step({"pass": True})  # the reference reports the same


def test_a_world_with_beliefs_is_planned_for_by_search() -> None:
    rules = "believe b(f: Frog) weight 1 { f.n ~ { f.n + 1: 30%, else: 70% } }"
    goal = "  goal full: kermit.n == 4\n  object toad"
    game = play(POND.replace("RULES", rules).replace("  object toad", goal))
    assert game.session.plan().answer == "winnable"


def test_many_experts_do_not_underflow() -> None:
    """Two hundred experts that are sure of one value, and as many of the other: each product is
    below the least double, and their quotient is 1."""
    rules = """
    believe b(f: Frog, n: 0 to 199) weight 9 { f.wet ~ { true: 1, else: 99 } }
    believe c(f: Frog, n: 0 to 199) weight 9 { f.wet ~ { false: 1, else: 99 } }
    """
    found = outcomes(rules, "kermit.wet")
    assert {x: float(p) for x, p in found.items()} == pytest.approx({True: 0.5, False: 0.5})
