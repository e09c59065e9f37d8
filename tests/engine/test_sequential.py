"""Sequential phases (language.md §7): objects in turn, each reading what earlier ones wrote."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from tiny import Game, open_tiny, play

from tokenworld.core import lowered
from tokenworld.engine.rows import RowStepper
from tokenworld.engine.rows.code.hoist import lasting
from tokenworld.engine.rows.laws import Order
from tokenworld.prose.wording import EnglishProse
from tokenworld.verbs.fuzz.playing import first_difference

COUNTERS = """
type T {{ n: 0 to 999 = 0  seen: 0 to 999 = 0 }}
actor me: T
phase turn {how}
law note(t: T) during turn {{ t.seen = sum(x.n for x: T)  }}
law up(t: T) during turn {{ t.n = t.n + 1 }}
action x() {{ }}
world w {{ object a, b, c: T }}
"""


def test_each_binding_reads_what_earlier_ones_wrote() -> None:
    together = play(COUNTERS.format(how=""))
    in_turn = play(COUNTERS.format(how="sequentially"))
    together.do("x()")
    in_turn.do("x()")
    assert [together.get(f"{name}.seen") for name in "abc"] == [0, 0, 0]
    assert [in_turn.get(f"{name}.seen") for name in "abc"] == [0, 1, 2]


def test_objects_come_before_laws_and_laws_stand_in_written_order() -> None:
    record = play(COUNTERS.format(how="sequentially")).do("x()")
    assert record.fired == (
        "law note(a)", "law up(a)", "law note(b)", "law up(b)", "law note(c)", "law up(c)",
    )  # fmt: skip


def test_laws_without_an_object_come_first_in_the_order_of_the_laws_and_values() -> None:
    game = play(
        """
        enum Side { left, right }
        type T { n: 0 to 99 = 0 }
        type U { n: 0 to 99 = 0 }
        actor me: T
        function total(): 0 to 99 = 0
        phase turn sequentially
        law on(t: T, s: Side) during turn { t.n += 1 }
        law num(n: 1 to 2, t: T) during turn { total() += 1 }
        law side(s: Side) during turn { total() += 1 }
        law pair(t: T, u: U) during turn { t.n += 1 }
        law none_() during turn { total() += 1 }
        law other(u: U) during turn { u.n += 1 }
        action x() { }
        world w { object a: T  object u: U  object b: T }
        """
    )
    assert game.do("x()").fired == (
        "law num(1, a)", "law num(1, b)", "law num(2, a)", "law num(2, b)",
        "law side(left)", "law side(right)", "law none_()",
        "law on(a, left)", "law on(a, right)", "law pair(a, u)",
        "law other(u)",
        "law on(b, left)", "law on(b, right)", "law pair(b, u)",
    )  # fmt: skip


NEST = """
type Box { at: Box? nested ordered inverse contents = none  n: 0 to 99 = 0 }
type Me
actor me: Me
function clock(): 0 to 99 = 0
phase turn sequentially by nesting
law mark(b: Box) during turn { b.n = clock() + 1  clock() = clock() + 1 }
action move(b: Box, c: Box) { b.at = c }
world w {
  object hero: Me
  object leaf: Box { at = trunk }
  object root: Box
  object trunk: Box { at = root }
  object twig: Box { at = trunk }
  object stone: Box
}
"""


def order(game: Game) -> list[str]:
    names = ("leaf", "root", "trunk", "twig", "stone")
    return sorted(names, key=lambda name: game.get(f"{name}.n"))


def test_by_nesting_takes_containers_before_their_contents() -> None:
    game = play(NEST)
    game.do("pass")
    assert order(game) == ["root", "trunk", "leaf", "twig", "stone"]


def test_by_nesting_takes_children_in_the_order_of_their_arrival() -> None:
    game = play(NEST)
    game.do("move(leaf, trunk)")
    assert order(game) == ["root", "trunk", "twig", "leaf", "stone"]


def test_without_a_nested_attribute_nesting_is_the_order_of_numbers() -> None:
    nesting = play(COUNTERS.format(how="sequentially by nesting")).do("x()")
    assert nesting.fired == play(COUNTERS.format(how="sequentially")).do("x()").fired


def test_the_order_is_taken_once_when_the_phase_begins() -> None:
    game = play(
        """
        type Box { at: Box? nested ordered inverse contents = none  n: 0 to 99 = 0 }
        type Me
        actor me: Me
        function clock(): 0 to 99 = 0
        phase turn sequentially by nesting
        law swap_(b: Box) during turn when b.at == none { for c in b.contents { c.at = none } }
        law mark(b: Box) during turn { b.n = clock() + 1  clock() = clock() + 1 }
        world w {
          object hero: Me
          object inner: Box { at = outer }
          object outer: Box
        }
        """
    )
    game.do("pass")
    assert (game.get("outer.n"), game.get("inner.n")) == (1, 2)
    game.do("pass")
    assert (game.get("inner.n"), game.get("outer.n")) == (3, 4)


def test_destroyed_objects_are_skipped_also_as_second_arguments() -> None:
    game = play(
        """
        type T { n: 0 to 99 = 0 }
        type Me
        actor me: Me
        phase turn sequentially
        law eat(t: T) during turn { for x: T where id(x) == id(t) + 1 { destroy x } }
        law meet(t: T, u: T) during turn when t != u { t.n += 1 }
        world w { object a, b, c, d: T  object hero: Me }
        """
    )
    record = game.do("pass")
    assert record.fired == (
        "law eat(a)", "law meet(a, c)", "law meet(a, d)",
        "law eat(c)", "law meet(c, a)",
    )  # fmt: skip
    alive = [one["name"] for one in game.session.state_json()["objects"]]  # type: ignore[union-attr,call-overload,index]
    assert alive == ["a", "c", "hero"]


def test_was_is_the_start_of_the_tick_for_every_binding() -> None:
    game = play(
        """
        type T { n: 0 to 99 = 5  old: 0 to 99 = 0 }
        actor me: T
        phase turn sequentially
        law up(t: T) during turn { for x: T { x.n += 1 } }
        law look(t: T) during turn { t.old = was t.n }
        action x() { me.n = 7 }
        world w { object a, b: T }
        """
    )
    game.do("x()")
    assert [game.get(slot) for slot in ("a.n", "b.n", "a.old", "b.old")] == [9, 7, 5, 5]


def test_changes_are_net_per_slot_in_the_order_of_their_first_change() -> None:
    game = play(
        """
        type T { n: 0 to 99 = 0 }
        actor me: T
        phase turn sequentially
        law up(t: T) during turn { for x: T { x.n += 1 } }
        law back(t: T) during turn when id(t) == 1 { t.n = 0 }
        world w { object a, b: T }
        """
    )
    record = game.do("pass")
    changes = [(*one.args, one.old, one.new, one.rule) for one in record.law_changes]
    assert changes == [("a", 0, 2, "law up")]


def test_prose_is_rendered_on_the_state_after_its_own_body() -> None:
    game = play(
        """
        type T { n: 0 to 99 = 0 }
        actor me: T
        function total(): 0 to 99 = 0
        phase turn sequentially
        law up(t: T) during turn { total() += 1  say "{t}: {total()}" }
        world w { object a, b, c: T }
        """
    )
    assert game.do("pass").said == ("a: 1", "b: 2", "c: 3")


def test_two_values_conflict_only_within_one_body() -> None:
    game = play(
        """
        type T
        actor me: T
        function spot(): 0 to 99 = 0
        phase turn sequentially
        law put(t: T) during turn { spot() = id(t) + 7 }
        world w { object a, b: T }
        """
    )
    assert game.do("pass").status == "executed"
    assert game.get("spot()") == 8


def test_a_sum_that_is_conserved_is_checked_after_each_binding() -> None:
    game = play(
        """
        type T { n: 0 to 99 = 5 }
        actor me: T
        phase turn sequentially
        law take(t: T) during turn when id(t) == 0 { t.n -= 1 }
        law give(t: T) during turn when id(t) == 1 { t.n += 1 }
        conserve total: sum(t.n for t: T)
        world w { object a, b: T }
        """
    )
    record = game.do("pass")
    assert (record.status, record.time_passed) == ("rolled_back", False)
    assert record.breach is not None
    assert (record.breach["code"], record.breach["culprits"]) == ("TW1002", ["law take"])
    assert [game.get("a.n"), game.get("b.n")] == [5, 5]


def test_a_range_that_breaks_names_the_law_and_discards_the_tick() -> None:
    game = play(
        """
        type T { n: 0 to 2 = 0 }
        actor me: T
        phase turn sequentially
        law up(t: T) during turn { for x: T { x.n += 1 } }
        world w { object a, b, c: T }
        """
    )
    record = game.do("pass")
    assert record.status == "rolled_back"
    assert record.breach is not None
    assert record.breach["rule"] == "law up"
    assert game.get("a.n") == 0


def test_draws_are_keyed_by_the_binding_and_not_by_the_order() -> None:
    text = """
        type T { n: 0 to 9999 = 0 }
        actor me: T
        phase turn HOW
        law roll(t: T) during turn { pick k: K where true { t.n = id(k) } else { } }
        type K
        world w { object a, b: T  object k1, k2, k3, k4, k5: K }
        """
    together, in_turn = play(text.replace("HOW", "")), play(text.replace("HOW", "sequentially"))
    for _ in range(5):
        together.do("pass")
        in_turn.do("pass")
        assert together.hash == in_turn.hash


def test_rewards_and_events_come_in_turn() -> None:
    game = play(
        """
        type T { n: 0 to 9 = 0 }
        actor me: T
        event hop(t: T)
        phase turn sequentially
        law hop(t: T) during turn { emit hop(t)  reward id(t) + 1 }
        world w { object a, b: T }
        """
    )
    record = game.do("pass")
    assert record.events == (("hop", ("a",)), ("hop", ("b",)))
    assert record.reward == 3


def test_an_earlier_state_is_never_written_to() -> None:
    game = play(COUNTERS.format(how="sequentially"))
    before, known = game.state, game.hash
    game.do("x()")
    assert game.session.engine.json(before)["tick"] == 0
    before.facts = None
    assert game.session.engine.hash(before) == known


def test_created_objects_wait_for_the_next_tick() -> None:
    game = play(
        """
        type T { n: 0 to 99 = 0 }
        type Me
        actor me: Me
        phase turn sequentially
        law grow(t: T) during turn when count(1 for x: T) < 3 { create child: T { n = 5 } }
        law up(t: T) during turn { t.n += 1 }
        world w { object seed: T  object hero: Me }
        """
    )
    assert game.do("pass").fired == ("law grow(seed)", "law up(seed)")
    assert game.do("pass").fired == ("law grow(seed)", "law up(seed)", "law up(child_2)")


TURNS = """
type T {{ n: 0 to 99 = 0 }}
type Egg {{ m: 0 to 9 = 0 }}
function open(): bool
function k(): 0 to 99 = 0
object shell: Egg
derive third() = (tick() + 1) mod 3 == 0
derive any_egg() = any(e.m == 0 for e: Egg)
derive is_egg() = shell is Egg
actor me: T
phase turn sequentially
law early(t: T) during turn when t.n > 2 {{ open() = not open()  k() += 1 }}
law late(t: T) during turn when {when} {{ {body} }}
action up(t: T) {{ t.n += 1  open() = true }}
world w {{ object a: T  object b: T  object c: T }}
"""
KEPT = (
    ("third()", "t.n += 1"),
    ("third() and open()", "t.n += 1"),
    ("any_egg() or third()", "t.n += 1"),
    ("is_egg() and t.n < 9", "t.n += 1"),
    ("9 mod (tick() - 3) < 2", "t.n += 1"),
)
TESTED = (
    ("open()", "t.n += 1"),
    ("open() and third()", "t.n += 1"),
    ("t.n == 1 and third()", "t.n += 1"),
    ("9 mod k() < 2", "t.n += 1"),
    ("any_egg()", "t.n += 1  create e: Egg { m = 1 }"),
    ("is_egg()", "destroy shell"),
    ("any_egg()", "destroy shell"),
)


@pytest.mark.parametrize(("when", "body"), [*KEPT, *TESTED])
def test_a_condition_is_tested_once_where_no_turn_changes_it(when: str, body: str) -> None:
    text = TURNS.format(when=when, body=body)
    intents = [{"action": "up", "args": [one]} for one in "abaabbaccca"]
    assert first_difference(text, intents, 0) is None
    rules = lowered(open_tiny(text).program)
    assert bool(lasting(rules.laws["late"], rules)) == ((when, body) in KEPT)


SHARED = """
type T {{ n: 0 to 99 = 0  on: bool = true  next_one: T? }}
type U : T
function k(): 0 to 99 = 0
phase turn sequentially
law one(t: T) during turn when {when} {{ t.n += 1  {one} }}
law two(t: T) during turn when {when} and t.n > 1 {{ t.n += 1  {two} }}
law three(t: T, u: U) during turn when {when} and u.n < 20 {{ u.n += 1 }}
law four() during turn when any(x.on for x: T) {{ k() += 1 }}
law five(u: U) during turn when 13 mod u.n < 9 {{ k() += 2 }}
actor me: T
action flip(t: T) {{ t.on = not t.on }}
action link(t: T, x: T) {{ t.next_one = x }}
world w {{ object a, b, c: T  object d, e: U }}
"""
NEXT = "if t.next_one != none { t.next_one.on = not t.next_one.on }"
BODIES = (
    ("t.on", "", ""),
    ("t.on", NEXT, NEXT),
    ("t.on", "t.on = false", NEXT),
    ("t.on", "for x in [t.next_one] { destroy x }", ""),
    ("t.on", "", "destroy t"),
    ("(t.on and (t.next_one == none or t.next_one.on))", NEXT, "destroy t"),
    ("12 mod t.n < 9", NEXT, ""),
)


@pytest.mark.parametrize(("when", "one", "two"), BODIES)
def test_laws_that_begin_with_one_condition_read_what_turns_before_wrote(
    when: str, one: str, two: str
) -> None:
    text = SHARED.format(when=when, one=one, two=two)
    random, names = Random(5), "abcde"
    intents: list[Any] = [{"action": "link", "args": pair} for pair in ("ab", "bd", "ce", "da")]
    for _ in range(25):
        name = random.choice(("flip", "link"))
        args = [random.choice(names) for _ in range(1 if name == "flip" else 2)]
        intents.append({"action": name, "args": args})
    assert first_difference(text, intents, 0) is None
    engine = open_tiny(text).engine
    stepper = RowStepper(engine.instance, engine.layout, EnglishProse(), engine.start(0))
    row = stepper.row(engine.start(0))
    (order,) = stepper.phases
    assert isinstance(order, Order)
    shared = [len(turns) for test, _, turns in order.due(row, row.S, 0) if test is not None]
    assert shared == [4, 4, 4, 4, 4]  # `one`, `two`, and `three` with two objects
