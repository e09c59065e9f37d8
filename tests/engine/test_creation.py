"""Objects that bodies create (language.md §5, §12)."""

from __future__ import annotations

import pytest
from tiny import Game, play

from tokenworld.engine.saved.digest import facts_hash
from tokenworld.ground import Outcome

TYPES = """edition 1
enum Mood { calm, wild }
type Place { }
type Box : Place { eggs: 0 to 9 = 0 }
type Thing { at: Place? nested ordered inverse contents closure inside }
type Egg : Thing { n: 0 to 20 = 1  made: int = 0  twin: Egg?  mood: Mood }
type Gold : Egg { made = 7  shine: 0.0 to 1.0 clamped = 0.5 }
type Hero : Thing { }
function luck(e: Egg): 0 to 9 = 3
relation likes(a: Egg, b: Egg)
actor me: Hero
"""
WORLD = """
world w { object hero: Hero { at = room }  object room: Place  object box: Box
          object stone: Thing { at = box }  setup { } }
"""


def game(rules: str, world: str = WORLD) -> Game:
    return play(TYPES + rules + world)


def shown(outcome: Outcome) -> list[tuple[object, ...]]:
    changes = (*outcome.changes, *outcome.law_changes)
    return [(one.fluent, *one.args, one.old, one.new) for one in changes]


def names(game: Game, kind: str = "Egg") -> list[str]:
    return [game.state.names[number] for number in game.state.live[kind]]


LAY = "action lay(b: Box) { create e: Egg { n = 5  at = b } }"


def test_a_created_object_has_its_fields_then_defaults() -> None:
    world = game(LAY)
    world.all("lay(box)")
    assert [world.get(f"e_4.{name}") for name in ("n", "at", "made", "twin", "mood")] == [
        5, "box", 0, None, "calm",
    ]  # fmt: skip
    assert world.get("luck(e_4)") == 3


def test_a_subtype_brings_its_own_defaults_and_joins_every_ancestor() -> None:
    world = game("action lay() { create e: Gold { } }")
    world.all("lay()")
    assert (world.get("e_4.made"), world.get("e_4.shine")) == (7, 0.5)
    assert all(world.state.live[kind][-1] == 4 for kind in ("Gold", "Egg", "Thing", "Object"))


def test_numbers_are_given_in_order_and_never_again() -> None:
    world = game(LAY + " action eat(e: Egg) { destroy e }")
    world.all("lay(box)", "lay(box)", "eat(e_4)", "lay(box)")
    assert (names(world), world.state.next_id) == (["e_5", "e_6"], 7)


def test_an_object_is_filed_at_the_end_of_its_container() -> None:
    world = game(LAY)
    world.all("lay(box)", "lay(box)")
    assert world.contents("box") == ["stone", "e_4", "e_5"]


def test_arrivals_of_one_body_come_in_the_order_of_its_lines() -> None:
    rule = """action lay(x: Thing) { let h = me  create a: Egg { at = box }  x.at = box
                                     create b: Egg { at = box }  h.at = box }"""
    world = game(rule.replace("at = box", "at = b").replace("x: Thing", "x: Thing, b: Box")
                 .replace("create b:", "create c:"))  # fmt: skip
    world.all("lay(stone, box)")
    assert world.contents("box") == ["a_4", "stone", "c_5", "hero"]


def test_the_rest_of_the_body_reads_the_object_as_just_given() -> None:
    rule = """derive heavy(e: Egg) = e.n > 3 and e.at is Box
    action lay(b: Box) {
      create e: Gold { n = 5  at = b }
      create f: Egg { n = e.n - 1  twin = e }
      if heavy(e) and not heavy(f) and e is Gold and f.twin == e { f.made = f.n }
    }"""
    world = game(rule)
    world.all("lay(box)")
    assert (world.get("f_5.made"), world.get("f_5.twin")) == (4, "e_4")


def test_everything_else_reads_the_state_before() -> None:
    rule = """derive eggs() = count(e for e: Egg)
    action lay(b: Box) { let n = count(b.contents)
      create e: Egg { at = b  n = eggs() } e.made = n }"""
    world = game(rule)
    world.all("lay(box)", "lay(box)")
    assert [world.get(f"e_{n}.{f}") for n in (4, 5) for f in ("n", "made")] == [0, 1, 1, 2]


def test_later_changes_of_the_body_win_over_defaults() -> None:
    world = game("action lay(b: Box) { create e: Egg { n = 5 } e.at = b  e.made = 2 }")
    record = world.all("lay(box)")
    assert (world.get("e_4.at"), world.get("e_4.made")) == ("box", 2)
    assert ("Egg.made", "e_4", None, 2) in shown(record)


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("for x: Box { create e: Egg { at = x } }", ["e_4"]),
        ("if b.eggs == 0 { create e: Egg { } } else { create f: Egg { } }", ["e_4"]),
        ("pick x: Thing where x.at == b { create e: Egg { twin = none } }", ["e_4"]),
        ("chance 100% { create e: Egg { } }", ["e_4"]),
        ("for i: 1 to 3 { create e: Egg { n = i } }", ["e_4", "e_5", "e_6"]),
        ("create w: Egg { } create w2: Egg { twin = w }", ["w_4", "w2_5"]),
    ],
)
def test_creation_inside_blocks(body: str, made: list[str]) -> None:
    world = game(f"action lay(b: Box) {{ {body} }}")
    world.all("lay(box)")
    assert names(world) == made


# ---- births ------------------------------------------------------------------------------------


def test_births_run_for_every_ancestor_the_most_general_first() -> None:
    rules = """event e(n: 0 to 9)
    birth g: Gold { emit e(3) }  birth t: Thing { emit e(1) }
    birth g: Egg { emit e(2)  g.made = g.n + 1 }
    action lay() { create g: Gold { n = 5 } }"""
    world = game(rules)
    record = world.all("lay()")
    assert record.events == (("e", (1,)), ("e", (2,)), ("e", (3,)))
    assert world.get("g_4.made") == 6


def test_births_do_not_run_for_object_lines() -> None:
    world = game("birth t: Thing { create b: Box { } }")
    assert names(world, "Box") == ["box"]


def test_a_birth_may_create() -> None:
    world = game("birth g: Gold { create e: Egg { twin = g } } action lay() { create g: Gold { } }")
    world.all("lay()")
    assert (names(world), world.get("e_5.twin")) == (["g_4", "e_5"], "g_4")


# ---- destruction ---------------------------------------------------------------------------------


def test_created_and_destroyed_at_once_only_spends_the_number() -> None:
    world = game(
        'action lay(b: Box) { create e: Egg { at = b  n = 9 }  destroy e  say "{e.n} {e}" }'
    )
    before = world.hash
    record = world.all("lay(box)")
    assert (shown(record), record.said) == ([], ("9 e 4",))
    assert (names(world), world.contents("box"), world.state.next_id) == ([], ["stone"], 5)
    assert world.hash != before


def test_destroying_the_container_of_a_new_object() -> None:
    rule = "action swap_box(b: Box) { create c: Box { }  create e: Egg { at = b }  destroy b }"
    world = game(rule)
    world.all("swap_box(box)")
    assert (world.get("e_5.at"), world.get("stone.at"), names(world, "Box")) == (
        None,
        None,
        ["c_4"],
    )


def test_birth_and_death_show_as_changes_of_one_shape() -> None:
    world = game("action lay() { create e: Egg { n = 5 } } action eat(e: Egg) { destroy e }")
    born, died = shown(world.all("lay()")), shown(world.all("eat(e_4)"))
    assert ("Object", "e_4", None, "Egg") in born
    assert sorted((f, x, new, old) for f, x, old, new in born) == sorted(died)


# ---- guards --------------------------------------------------------------------------------------


def test_a_refusal_costs_no_number() -> None:
    world = game(
        'action lay(n: 0 to 40) { require n < 30 else much "No." create e: Egg { n = n } }'
    )
    assert world.do("lay(35)").status == "refused"
    refusal = world.do("lay(25)").refusal
    assert refusal is not None
    assert refusal.label == "range"
    world.all("lay(7)")
    assert (names(world), world.state.next_id) == (["e_4"], 5)


def test_a_clamped_field_is_clamped() -> None:
    world = game("param f: 0.0 to 9.0 = 2.5  action lay() { create e: Gold { shine = f } }")
    world.all("lay()")
    assert world.get("e_4.shine") == 1.0


def test_unique_holds_for_created_objects() -> None:
    rules = "type Key { code: int unique }  action cut(n: 0 to 9) { create k: Key { code = n } }"
    world = game(rules)
    world.all("cut(3)")
    refusal = world.do("cut(3)").refusal
    assert refusal is not None
    assert refusal.label == "unique"
    world.all("cut(4)")


def test_conserved_sums_count_creation() -> None:
    rules = """conserve total: sum(e.n for e: Egg) except lay
    action lay() { create e: Egg { n = 5 } }
    action sneak(i: 0 to 9) { create e: Egg { n = i } }"""
    world = game(rules)
    world.all("lay()", "sneak(0)")
    record = world.do("sneak(2)")
    assert (record.status, (record.breach or {})["code"]) == ("rolled_back", "TW1002")
    assert ("Object", ("e_6",), None, "Egg") in [
        (one.fluent, one.args, one.old, one.new) for one in record.discarded
    ]
    assert world.state.next_id == 6


def test_an_invariant_sees_created_objects() -> None:
    world = game("invariant few(): count(e for e: Egg) <= 1  " + LAY)
    world.all("lay(box)")
    record = world.do("lay(box)")
    assert (record.status, world.state.next_id) == ("rolled_back", 5)


# ---- laws and time -----------------------------------------------------------------------------


def test_laws_of_one_phase_share_the_counter() -> None:
    rules = """law one(b: Box) { create a: Egg { } }  law two(t: Thing) { create b: Egg { } }
    action wait() { }"""
    world = game(rules)
    world.all("wait()")
    assert names(world) == ["a_4", "b_5", "b_6"]


def test_laws_of_a_later_phase_find_the_newborn() -> None:
    rules = """phase p  phase q
    law lay() during p { create e: Egg { n = 2 } }
    law grow(e: Egg) during q when e.n == 2 { e.n = 3 }
    action wait() { }"""
    world = game(rules)
    world.all("wait()")
    assert world.get("e_4.n") == 3


def test_was_of_an_object_born_in_the_tick_is_what_it_was_born_with() -> None:
    rules = """phase p  phase q
    derive sum_of(e: Egg) = e.n + e.made
    law heat(e: Egg) during p { e.n = 9 }
    law boil(e: Egg) during q when e.n != was e.n { e.made = e.n - was e.n + was sum_of(e) }
    watch hot(e: Egg) when e.n == 9 and was e.n < 9 { say "{e} is hot" }
    action lay() { create e: Egg { n = 4 } }"""
    world = game(rules)
    record = world.all("lay()")
    assert (world.get("e_4.made"), record.said) == (9, ("e 4 is hot",))
    record = world.all("pass")
    assert (world.get("e_4.made"), record.said) == (9, ())


def test_the_running_hash_is_that_from_scratch() -> None:
    rules = LAY + " action eat(e: Egg) { destroy e } law grow(e: Egg) when e.n < 9 { e.n += 1 }"
    world = game(rules)
    for command in ("lay(box)", "lay(box)", "eat(e_4)", "pass", "lay(box)", "eat(e_5)"):
        world.all(command)
        assert world.state.facts == facts_hash(world.state)


# ---- names ---------------------------------------------------------------------------------------


def test_typed_commands_name_created_objects() -> None:
    rules = (
        LAY.replace("{ create", 'as "lay in {b}" { create')
        + """
    action eat(e: Egg) as "eat {e}" { destroy e }  called e: Egg = "egg (ID: {id(e)})" aka "egg" """
    )
    world = game(rules)
    world.all("lay in box", "lay in box", "lay in box", "eat egg (ID: 5)", "eat e_4", "eat(e_6)")
    assert names(world) == []
    assert world.do("eat e_4").no_match is not None


def test_legal_commands_list_created_objects() -> None:
    world = game(LAY + ' action eat(e: Egg) as "eat {e}" { destroy e }')
    world.all("lay(box)", "lay(box)", "eat(e_4)")
    assert [one.text for one in world.session.legal()] == ["lay(box)", "eat e 5"]


def test_two_objects_that_read_alike_are_told_apart_by_their_calls() -> None:
    rules = LAY + ' action eat(e: Egg) as "eat {e}" { destroy e }  called e: Egg = "egg"'
    world = game(rules)
    world.all("lay(box)", "lay(box)")
    texts = [one.text for one in world.session.legal()][1:]
    for text, left in zip(texts, (["e_5"], []), strict=True):
        world.all(text)
        assert names(world) == left


def test_what_a_sequential_phase_creates_waits_for_the_next_tick() -> None:
    rules = """phase grow sequentially
    law lay(b: Box) during grow { create e: Egg { at = b } }
    law count_up(x: Thing) during grow when x is Egg { create g: Box { eggs = 1 } }
    law ripen(e: Egg) during grow { e.n += 1 }
    action wait() { }"""
    world = game(rules)
    world.all("wait()")
    assert (names(world), names(world, "Box"), world.get("e_4.n")) == (["e_4"], ["box"], 1)
    world.all("wait()")
    assert (names(world), world.get("e_4.n")) == (["e_4", "e_5"], 2)
    assert names(world, "Box") == ["box", "g_6"]
