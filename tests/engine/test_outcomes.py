"""The exact outcomes of a command, and how likely an observed successor is."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp, inf, log
from random import Random
from typing import Any

import pytest
from tiny import Game, play

from tests.engine.walks import commands, random_engine
from tokenworld.diagnostics import Failure
from tokenworld.engine import Engine, State
from tokenworld.engine.luck import ExploringLuck, NoUniform
from tokenworld.ground import PASS, Command, NoMatch

HENS = """
type Place
type Hen { at: Place }
type Hero
actor me: Hero
object yard, nest, barn: Place
action call() as "call" { chance 50% { for h: Hen { h.at = yard } } }
action wait() as "wait" { }
phase roaming
law roam(h: Hen) during roaming when h.at == yard { chance 20% { pick p: Place { h.at = p } } }
phase turns sequentially
law peck(h: Hen) during turns { chance 10% { h.at = yard } }
world w {
  object hero: Hero
  object ida, eva: Hen { at = nest }
  object olga: Hen { at = yard }
}
"""
CROWD = """
type Hen { way: 0 to 9 = 0 }
type Hero { seen: 0 to 99 = 0 }
actor me: Hero
action wait() as "wait" { }
law wander(h: Hen) { pick n: 0 to 9 { h.way = n }  chance 50% { me.seen += 1 } }
world w { object hero: Hero  object hen_[1..9]: Hen }
""".replace("object hen_[1..9]: Hen", " ".join(f"object hen_{x}: Hen" for x in range(1, 10)))


def combinations(engine: Engine, state: State, command: Command, most: int) -> Counter[str] | None:
    """The states that a command may leave by trying every combination of draws."""
    found: Counter[str] = Counter()
    prefix: tuple[int, ...] | None = ()
    for _ in range(most):
        luck = ExploringLuck(prefix or ())
        after, _outcomes = engine.play(state, command, luck)
        found[engine.hash(after)] += luck.probability  # type: ignore[assignment]
        prefix = luck.next_prefix()
        if prefix is None:
            return found
    return None


@pytest.mark.parametrize("world", range(0, 24))
def test_random_worlds_have_the_outcomes_of_all_combinations_of_draws(world: int) -> None:
    engine, random = random_engine(world), Random(world)
    state = engine.start(0) if engine is not None else None
    for _ in range(4):
        if engine is None or state is None or len(state.kinds) > 60:
            break
        command = random.choice(commands(engine, state))
        try:
            full = combinations(engine, state, command, 200)
        except NoUniform:
            full = None
        if full is not None:
            found = engine.distribution(state, command)
            assert {x: found.probability(x) for x in full} == dict(full)
            assert sum(full.values()) == 1
            assert not found.left_out
            for one in found.successors[:4]:
                assert engine.hash(one.state) == one.hash
                scored = engine.logp(state, command, one.state)
                assert scored.logp == pytest.approx(log(full[one.hash]), abs=1e-9)
        state = engine.play(state, command)[0]


def hens() -> tuple[Game, Engine]:
    game = play(HENS)
    return game, game.session.engine


def test_outcomes_are_told_with_their_changes_the_likeliest_first() -> None:
    game, engine = hens()
    found = engine.distribution(game.state, Command("call", ()))
    assert sum(one.probability for one in found.successors) == 1
    assert found.successors[0].probability == Fraction(11187, 31250)
    second = found.successors[1].outcomes[-1]
    assert {(one.args, one.new) for one in second.changes} == {
        (("ida",), "yard"),
        (("eva",), "yard"),
    }
    assert all(one.site for one in second.draws)


def test_a_refused_command_has_one_outcome() -> None:
    game, engine = hens()
    found = engine.distribution(game.state, NoMatch("unknown_verb", "Nobody understands that."))
    assert [(x.probability, x.outcomes[-1].status) for x in found.successors] == [(1, "no_match")]


def test_what_is_cut_off_is_counted() -> None:
    game, engine = hens()
    whole = engine.distribution(game.state, PASS)
    cut = engine.distribution(game.state, PASS, most=3)
    assert len(cut.successors) == 3
    assert cut.left_out == 1 - sum(one.probability for one in cut.successors) > 0
    assert [x.probability for x in cut.successors] <= [x.probability for x in whole.successors[:3]]


def test_independent_draws_are_not_multiplied_out() -> None:
    """Nine hens with twenty ways each: 5 · 10^11 combinations, and nothing is tried twice."""
    game = play(CROWD)
    engine, state = game.session.engine, game.state
    after = engine.play(state, PASS)[0]
    scored = engine.logp(state, PASS, after)
    assert scored.logp == pytest.approx(9 * log(1 / 10) + _binomial(after), abs=1e-9)
    assert len(scored.sites) == 18


def _binomial(after: State) -> float:
    from math import comb

    seen = after.cols[after.layout.by_id["Hero.seen"].index][0]
    return log(comb(9, seen) / 2**9)


def test_an_impossible_successor_is_explained() -> None:
    game, engine = hens()
    state = game.state
    wrong = engine.put(
        engine.play(state, PASS)[0], "Hen.at", (state.numbers["ida"],), state.numbers["barn"]
    )
    scored = engine.logp(state, Command("wait", ()), wrong)
    assert scored.logp == -inf
    difference = scored.first_difference
    assert difference is not None
    assert (difference.fluent, difference.args, difference.seen) == ("Hen.at", ("ida",), "barn")
    assert set(difference.predicted) == {"nest", "yard"}
    assert "law peck" in difference.rules


def test_a_tick_that_did_not_pass_is_explained() -> None:
    game, engine = hens()
    scored = engine.logp(game.state, PASS, game.state)
    assert scored.logp == -inf
    assert scored.first_difference is not None
    assert scored.first_difference.fluent == "tick"


MORTAL = """
type Hen { age: 0 to 9 clamped = 0 }
type Hero
actor me: Hero
action wait() as "wait" { }
law ages(h: Hen) { h.age += 1 }
phase dying sequentially
law dies(h: Hen) during dying { chance 25% { destroy h } }
law lays(h: Hen) during dying when h.age == 1 { chance 50% { create egg: Hen { } } }
world w { object hero: Hero  object ida, eva: Hen }
"""


def test_successors_from_json_do_not_show_what_is_gone() -> None:
    """What was destroyed has another name in a state that is read from JSON."""
    engine = play(MORTAL).session.engine
    state = engine.start(3)
    for one in engine.distribution(state, PASS).successors:
        read = engine.restored(engine.json(one.state))
        scored = engine.logp(engine.restored(engine.json(state)), PASS, read)
        assert exp(scored.logp) == pytest.approx(float(one.probability)), one.hash


def test_other_objects_are_explained_by_number_and_type() -> None:
    engine = play(MORTAL).session.engine
    state = engine.start(3)
    shown: Any = engine.json(engine.play(state, PASS)[0])
    last = {"id": 9, "name": "goat", "type": "Hero", "attrs": {}, "contents": []}
    shown["objects"].append(last)
    shown["next_id"] = 10
    found = engine.logp(state, PASS, engine.restored(shown)).first_difference
    assert found is not None
    assert found.fluent == "objects"
    assert "Hero (number 9)" in found.text()
    assert "hero" not in found.text()


def test_some_fields_alone_are_compared() -> None:
    game, engine = hens()
    after = engine.play(game.state, PASS)[0]
    after.tick = 77
    assert engine.logp(game.state, PASS, after).logp == -inf
    scored = engine.logp(game.state, PASS, after, fields={"Hen.at"})
    whole = engine.distribution(game.state, PASS)
    after.tick = 1
    assert exp(scored.logp) == pytest.approx(float(whole.probability(engine.hash(after))))


def test_a_drawn_real_number_is_told() -> None:
    text = HENS.replace(
        'action wait() as "wait" { }',
        "action wait() { let v = uniform(0.0, 1.0) if v > 0.5 { for h: Hen { h.at = nest } } }",
    )
    game = play(text)
    with pytest.raises(Failure) as failure:
        game.session.engine.distribution(game.state, Command("wait", ()))
    assert failure.value.diagnostics[0].code == "TW1201"


def test_too_many_outcomes_that_agree_are_told() -> None:
    game = play(CROWD)
    engine, state = game.session.engine, game.state
    after = engine.play(state, PASS)[0]
    with pytest.raises(Failure) as failure:
        engine.logp(state, PASS, after, fields={"Hero.seen"}, most=5)
    assert failure.value.diagnostics[0].code == "TW1202"
