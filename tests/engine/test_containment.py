"""Containment: nested, ordered, inverse, closure (language.md §2, §10)."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from tiny import Game, play

from tokenworld.verbs.fuzz.playing import first_difference

RULES = """
type Place
type Thing : Place { at: Place? nested %s inverse contents closure inside }
type Hero : Thing
actor me: Hero
action put(x: Thing, p: Place) { x.at = p }
action lift(x: Thing) { x.at = none }
action two(x: Thing, y: Thing, p: Place) { x.at = p  y.at = p }
derive held(p: Place) = p.contents
derive within(p: Place) = p.inside
derive in_it(x: Thing, p: Place) = x in p.inside
derive directly(x: Thing, p: Place) = x in p.contents
derive also_directly(x: Thing, p: Place) = x.at == p
derive only_heroes(p: Place) = count(h for h: Hero in p.inside)
derive first_of(p: Place) = first(p.contents)
derive last_of(p: Place) = last(p.contents)
world w {
  object hall: Place
  object shed: Place
  object box: Thing { at = hall }
  object hero: Hero { at = hall }
  object cup: Thing { at = box }
  object ant: Thing { at = cup }
  object bag: Thing { at = hero }
  object apple: Thing { at = bag }
}
"""


def ordered() -> Game:
    return play(RULES % "ordered")


def unordered() -> Game:
    return play(RULES % "")


def test_children_are_in_order_of_arrival() -> None:
    game = ordered()
    assert game.contents("hall") == ["box", "hero"]
    game.all("put(apple, hall)", "put(ant, hall)")
    assert game.contents("hall") == ["box", "hero", "apple", "ant"]
    assert game.ask("held", "hall") == game.contents("hall")
    assert (game.ask("first_of", "hall"), game.ask("last_of", "hall")) == ("box", "ant")


def test_assigning_the_same_place_files_again_at_the_end() -> None:
    game = ordered()
    before = game.hash
    record = game.do("put(box, hall)")
    assert game.contents("hall") == ["hero", "box"]
    assert record.hash_after != before
    assert not game.session.same_facts(game.session.moments[0].state)
    assert game.session.engine.hash(game.state) == record.hash_after


def test_without_ordered_children_are_in_order_of_declaration() -> None:
    game = unordered()
    game.all("put(bag, hall)", "put(ant, hall)", "put(box, hall)")
    assert game.contents("hall") == ["box", "hero", "ant", "bag"]


def test_several_arrivals_of_one_body_keep_the_written_order() -> None:
    game = ordered()
    game.all("two(bag, ant, shed)")
    assert game.contents("shed") == ["bag", "ant"]


def test_everything_within_is_listed_in_preorder() -> None:
    game = ordered()
    assert game.ask("within", "hall") == ["box", "cup", "ant", "hero", "bag", "apple"]
    game.all("put(box, hall)")
    assert game.ask("within", "hall") == ["hero", "bag", "apple", "box", "cup", "ant"]
    assert game.ask("within", "shed") == []


def test_membership_is_transitive_in_the_closure_and_direct_in_the_inverse() -> None:
    game = ordered()
    for x, p, inside, direct in (
        ("ant", "hall", True, False),
        ("ant", "cup", True, True),
        ("ant", "hero", False, False),
        ("hero", "hall", True, True),
        ("box", "box", False, False),
    ):
        assert game.ask("in_it", x, p) is inside
        assert game.ask("directly", x, p) is direct
        assert game.ask("also_directly", x, p) is direct


def test_a_typed_loop_over_a_collection_takes_only_that_type() -> None:
    game = ordered()
    assert game.ask("only_heroes", "hall") == 1
    assert game.ask("only_heroes", "shed") == 0


def test_an_inverse_without_nesting() -> None:
    game = play(
        """
        type Room
        type Door { near: Room? inverse doors }
        actor me: Room
        action hang(d: Door, r: Room) { d.near = r }
        action unhang(d: Door) { d.near = none }
        derive listed(r: Room) = r.doors
        derive many(r: Room) = count(r.doors)
        world w { object a, b: Room  object d1, d2: Door }
        """
    )
    game.all("hang(d2, a)", "hang(d1, a)")
    assert game.ask("listed", "a") == ["d1", "d2"]
    game.all("hang(d2, b)", "unhang(d1)")
    assert (game.ask("many", "a"), game.ask("listed", "b")) == (0, ["d2"])


def test_the_closure_of_a_relation_is_transitive_and_not_reflexive() -> None:
    game = play(
        """
        type N
        actor me: N
        relation edge(a: N, b: N) closure way
        relation road(a: N, b: N) symmetric closure joined
        action link(a: N, b: N) { add edge(a, b)  add road(a, b) }
        action cut(a: N, b: N) { remove edge(a, b)  remove road(b, a) }
        derive leads(a: N, b: N) = a.way(b)
        derive reached(a: N) = a.way
        derive meets(a: N, b: N) = joined(a, b)
        world w { object a, b, c, d: N }
        """
    )
    game.all("link(a, b)", "link(b, c)")
    assert game.ask("leads", "a", "c") is True
    assert game.ask("leads", "c", "a") is False
    assert game.ask("leads", "a", "a") is False
    assert game.ask("reached", "a") == ["b", "c"]
    assert game.ask("meets", "c", "a") is True
    assert game.ask("meets", "a", "d") is False
    game.all("link(c, a)")
    assert game.ask("leads", "a", "a") is True
    game.all("cut(b, c)")
    assert game.ask("leads", "a", "c") is False


DESTROYED = """
type Place
type Thing : Place { at: Place? nested %s inverse contents }
type Hero : Thing
actor me: Hero
action itself(x: Thing) { x.at = x  destroy x }
action into(x: Thing, y: Thing) { x.at = y  destroy x }
action onto(x: Thing, y: Thing) { x.at = y  destroy y }
world w {
  object hall: Place
  object hero: Hero { at = hall }
  object box: Thing { at = hall }
  object cup: Thing { at = box }
}
"""


@pytest.mark.parametrize("order", ["ordered", ""])
def test_an_object_that_is_destroyed_lies_in_itself_no_more_than_another(order: str) -> None:
    """Its contents would have moved into what is gone."""
    game = play(DESTROYED % order)
    for call in ("itself(box)", "itself(cup)", "into(box, cup)", "onto(box, cup)"):
        record = game.do(call)
        assert (record.status, record.refusal and record.refusal.label) == ("refused", "cycle"), (
            call
        )
    assert game.do("into(cup, hero)").status == "executed"


@pytest.mark.parametrize("order", ["ordered", ""])
def test_both_evaluators_judge_cycles_before_the_destroyed_leave(order: str) -> None:
    for action, args in product(("itself", "into", "onto"), permutations(("box", "cup", "hero"))):
        shown = args[: 1 if action == "itself" else 2]
        intent = {"action": action, "args": list(shown)}
        assert first_difference(DESTROYED % order, [intent, intent], 0) is None, intent
