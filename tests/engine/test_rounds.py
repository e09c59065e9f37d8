"""Rounds of several actors (language.md §8): one intent each, then time, phases and endings."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest
from tiny import Game, call, play

from tokenworld.engine import EngineSimulator
from tokenworld.engine.saved.digest import facts_hash
from tokenworld.ground import PASS, Command, Json, Outcome
from tokenworld.planning.ladder import plan
from tokenworld.planning.lower.encode import Unencodable, encode
from tokenworld.planning.verdict import summary_lines
from tokenworld.prose.intents import CallIntent, PassIntent, TypedIntent
from tokenworld.store.check import broken_law

TWO = """
type Room
type Hero { at: Room  gold: 0 to 99 = 0  age: 0 to 99 = 0 }
actor me: Hero
law grow(h: Hero) { h.age += 1 }
action go(r: Room) as "go {r}" { require me.at != r else there "You are there."  me.at = r }
action earn() as "earn" { me.gold += 1  say "{me} earns." }
action look() as "look" takes 0 { say "{me} looks." }
action nap() as "nap" takes 3 { me.gold += 10  cancelled { me.gold += 1 } }
MORE
world w {
  object hall, yard: Room
  object anna, bran: Hero { at = hall }
  turns anna, bran
  LINES
}
"""


def two(more: str = "", lines: str = "", seed: int = 0) -> Game:
    return play(TWO.replace("MORE", more).replace("LINES", lines), seed)


def brief(records: Iterable[Outcome]) -> list[tuple[str | None, str, bool]]:
    return [(one.actor, one.status, one.time_passed) for one in records]


def breach(record: Outcome) -> dict[str, Json]:
    assert record.breach is not None
    return dict(record.breach)


# ---- the round --------------------------------------------------------------------------------


def test_a_tick_is_an_intent_of_each_actor_in_order() -> None:
    game = two()
    records = [game.do("earn"), game.do("go yard"), game.do("pass")]
    assert brief(records) == [
        ("anna", "executed", False), ("bran", "executed", True), ("anna", "executed", False),
    ]  # fmt: skip
    assert [one.next for one in records] == ["bran", "anna", "bran"]
    assert [one.tick for one in records] == [0, 0, 1]
    assert (game.get("anna.gold"), game.get("bran.at"), game.get("anna.at")) == (1, "yard", "hall")


def test_each_actor_sees_what_the_ones_before_did() -> None:
    game = two('action rob(h: Hero) { require h.gold > 0 else poor "Poor."  h.gold -= 1 }')
    game.do("earn")
    assert game.do("rob(anna)").status == "executed"
    game.do("pass")
    assert game.do("rob(anna)").status == "refused"


def test_the_phases_run_once_after_the_last_actor() -> None:
    game = two()
    assert game.do("earn").fired == ()
    assert game.do("earn").fired == ("law grow(anna)", "law grow(bran)")
    assert game.get("anna.age") == 1


def test_a_round_ends_when_each_actor_has_done_something_or_passed() -> None:
    game = two()
    assert brief([game.do("earn"), game.do("go hall"), game.do("pass")]) == [
        ("anna", "executed", False), ("bran", "refused", False), ("bran", "executed", True),
    ]  # fmt: skip
    assert brief([game.do("go hall"), game.do("dance"), game.do("earn")]) == [
        ("anna", "refused", False), ("anna", "no_match", False), ("anna", "executed", False),
    ]  # fmt: skip
    assert game.state.tick == 1


def test_time_passes_always() -> None:
    game = two(lines="time passes always")
    assert brief([game.do("go hall"), game.do("dance")]) == [
        ("anna", "refused", False), ("bran", "no_match", True),
    ]  # fmt: skip
    assert game.get("anna.age") == 1


def test_a_fruitless_intent_does_not_hand_on_the_turn() -> None:
    game = two()
    for turn, name in enumerate(("anna", "bran")):
        before = game.hash
        assert [game.do(one).next for one in ("dance", "go hall", "dance")] == [name] * 3
        assert (game.state.turn, game.hash) == (turn, before)
        game.do("pass")


def test_a_free_action_is_a_round_of_its_own_and_the_same_actor_is_asked_again() -> None:
    game = two()
    assert (game.do("look").next, game.state.turn) == ("anna", 0)
    game.do("earn")
    record = game.do("look")
    assert (record.actor, record.next, record.time_passed) == ("bran", "bran", False)
    assert record.said == ("bran looks.",)
    assert brief([game.do("earn")]) == [("bran", "executed", True)]
    assert game.state.tick == 1


def test_in_the_phases_of_a_round_the_intents_of_all_actors_count() -> None:
    game = two("function both(): bool  law see() when did(h1(), earn) and did(h2(), nap) "
               "{ both() = true } derive h1() = first(h for h: Hero) "
               "derive h2() = last(h for h: Hero)")  # fmt: skip
    game.do("earn")
    game.do("earn")
    assert game.get("both()") is False
    game.do("earn")
    game.do("nap")
    assert game.get("both()") is True
    game.do("pass")
    game.do("pass")
    assert game.session.state_json()["long"] == {
        "bran": {"action": "nap", "args": {}, "done": 2, "total": 3}
    }


def test_was_is_the_state_the_round_began_with() -> None:
    game = two(
        "function seen(): -1 to 99 = -1  function heard(): -1 to 99 = -1 "
        "law remember() { seen() = sum(was h.gold for h: Hero) } "
        "action recall() { heard() = sum(was h.gold for h: Hero) }"
    )
    game.do("earn")
    game.do("recall()")
    assert (game.get("seen()"), game.get("heard()")) == (0, 0)
    game.do("earn")
    game.do("earn")
    assert game.get("seen()") == 1


def test_an_actor_who_is_dead_is_not_asked() -> None:
    game = two("action slay(h: Hero) { destroy h }")
    assert game.do("slay(bran)").time_passed is True
    assert brief([game.do("earn"), game.do("earn")]) == [
        ("anna", "executed", True), ("anna", "executed", True),
    ]  # fmt: skip


def test_the_first_actor_may_die_too() -> None:
    game = two("action slay(h: Hero) { destroy h }")
    game.do("pass")
    assert brief([game.do("slay(anna)"), game.do("earn"), game.do("earn")]) == [
        ("bran", "executed", True), ("bran", "executed", True), ("bran", "executed", True),
    ]  # fmt: skip


def test_draws_are_keyed_by_the_one_who_acts() -> None:
    game = two("action toss() { chance 50% { me.gold += 1 } }", seed=3)
    first, second = game.do("toss()"), game.do("toss()")
    assert [one.draws[0].args for one in (first, second)] == [("anna",), ("bran",)]


def test_one_named_turn_is_a_world_with_one_actor() -> None:
    text = TWO.replace("MORE", "").replace("LINES", "")
    one, plain = play(text.replace(", bran\n", "\n")), play(text.replace("turns anna, bran", ""))
    for intent in ("earn", "look", "nap", "pass", "go yard"):
        assert one.do(intent).to_json() == plain.do(intent).to_json()
    assert one.do("earn").next is None


# ---- long actions -----------------------------------------------------------------------------


def test_each_actor_has_a_long_action_of_his_own() -> None:
    game = two()
    for _ in range(2):
        game.do("nap" if game.state.tick == 0 else "pass")
        game.do("nap" if game.state.tick == 0 else "pass")
    assert game.state.tick == 2
    long = game.session.state_json()["long"]
    assert {name: one["done"] for name, one in long.items()} == {"anna": 2, "bran": 2}  # type: ignore[union-attr,call-overload,index]
    assert [game.do("pass").status, game.do("earn").status] == ["executed", "executed"]
    assert (game.get("anna.gold"), game.get("bran.gold")) == (10, 2)


def test_a_new_intent_cancels_only_the_own_long_action() -> None:
    game = two()
    game.do("nap")
    game.do("nap")
    records = game.records("earn")
    assert brief(records) == [("anna", "interrupted", False), ("anna", "executed", False)]
    assert game.do("pass").progress == (2, 3)


def test_busy_knows_who_is_busy() -> None:
    game = two("derive sleeps(h: Hero) = busy(h, nap)")
    game.do("pass")
    game.do("nap")
    assert (game.ask("sleeps", "anna"), game.ask("sleeps", "bran")) == (False, True)


# ---- breaches ---------------------------------------------------------------------------------


def test_a_unit_that_breaks_an_invariant_is_rolled_back_alone() -> None:
    game = two("invariant modest(): sum(h.gold for h: Hero) < 3 "
               "action grab() { me.gold += 2 }")  # fmt: skip
    game.do("grab()")
    record = game.do("grab()")
    assert (record.status, record.time_passed, breach(record)["code"]) == (
        "rolled_back", False, "TW1001",
    )  # fmt: skip
    assert (game.get("anna.gold"), game.get("bran.gold"), game.get("anna.age")) == (2, 0, 0)
    assert (record.next, game.do("pass").time_passed, game.get("anna.age")) == ("bran", True, 1)


def test_an_invariant_is_checked_before_the_next_actor() -> None:
    game = two("invariant modest(): sum(h.gold for h: Hero) < 2 "
               "action grab() { me.gold += 2 }")  # fmt: skip
    record = game.do("grab()")
    assert (record.status, record.next, game.state.turn) == ("rolled_back", "anna", 0)
    assert (game.do("earn").status, game.get("anna.gold")) == ("executed", 1)


def test_a_breach_in_the_phases_undoes_the_last_step_alone() -> None:
    game = two(
        "function load(): 0 to 99 = 98  law burst(h: Hero) when h.gold == 2 and h.age == 1 "
        "{ h.gold += load() }"
    )
    game.do("earn")
    game.do("earn")
    game.do("pass")
    before = game.hash
    record = game.do("earn")
    assert (record.status, record.time_passed, breach(record)["rule"]) == (
        "rolled_back", False, "law burst",
    )  # fmt: skip
    assert (game.get("anna.gold"), game.get("bran.gold"), game.hash) == (1, 1, before)
    assert (game.state.tick, game.state.turn, record.next) == (1, 1, "bran")
    assert (game.do("pass").status, game.state.tick) == ("executed", 2)


def test_a_law_that_repeats_a_unique_value_undoes_the_last_step() -> None:
    game = two("type Seat { } function mark(h: Hero): 0 to 9 = 0 unique "
               "law same(h: Hero) when h.gold == 1 { mark(h) = 7 }")  # fmt: skip
    game.do("earn")
    record = game.do("earn")
    assert (record.status, record.next, breach(record)["kind"]) == ("rolled_back", "bran", "unique")
    assert (game.do("pass").status, game.get("anna.gold")) == ("executed", 1)


def test_a_round_that_breaks_ends_nothing_and_tells_nothing() -> None:
    game = two("function load(): 0 to 99 = 99  "
               "law burst(h: Hero) when h.gold == 1 { h.gold += load() } "
               'watch rich(h: Hero) when h.gold > 0 { say "{h} is rich." }',
               'goal wealth: anna.gold > 0 "Wealth."')  # fmt: skip
    game.do("earn")
    record = game.do("pass")
    assert (record.status, record.latched, record.said) == ("rolled_back", (), ())
    assert game.do("pass").status == "rolled_back"


# ---- endings and output ------------------------------------------------------------------------


def test_endings_are_tested_at_the_end_of_the_round() -> None:
    game = two(lines='goal rich: anna.gold > 0 "Rich."')
    assert game.do("earn").latched == ()
    record = game.do("look")
    assert record.latched == ("rich",)  # a free action is a round of its own
    assert game.do("earn").status == "halted"


def test_a_halted_world_halts_every_actor() -> None:
    game = two(lines="goal rich: anna.gold > 0")
    game.do("earn")
    assert game.do("earn").latched == ("rich",)
    before = game.hash
    assert [game.do("earn").status for _ in range(3)] == ["halted"] * 3
    assert game.hash == before


def test_watches_speak_once_in_a_round_also_around_a_free_action() -> None:
    game = two('watch rich(h: Hero) when h.gold > 0 { say "{h} is rich." }')
    assert game.do("earn").said == ("anna earns.",)
    assert game.do("look").said == ("bran looks.", "anna is rich.")
    assert game.do("earn").said == ("bran earns.", "bran is rich.")


def test_a_round_of_many_free_actions_keeps_one_state_of_them() -> None:
    """Watches ask about the last one alone; a chain of them could not be put away."""
    game = two()
    game.all("earn")
    for _ in range(40):
        game.all("look")
    reported = game.state.reported
    assert reported is not None
    assert reported.reported is None


def test_rewards_of_a_tick_come_with_the_record_that_closes_it() -> None:
    game = two(lines="reward 5 when anna.gold > 0")
    assert [game.do("earn").reward, game.do("pass").reward] == [0, 5]


# ---- states and intents -------------------------------------------------------------------------


def test_the_turn_is_part_of_the_state_and_its_hash() -> None:
    game = two()
    start = game.hash
    assert "turn" not in game.session.state_json()
    game.do("pass")
    assert game.session.state_json()["turn"] == 1
    assert game.hash != start


@pytest.mark.parametrize(
    "intent", [CallIntent("earn", {}, "bran"), TypedIntent("earn", "bran"), PassIntent("bran")]
)
def test_an_intent_of_somebody_else_says_whose_turn_it_is(intent: CallIntent) -> None:
    game = two(lines="time passes always")
    before = game.hash
    record = game.do(intent)
    assert record.no_match is not None
    assert record.no_match.message == "It is the turn of `anna`, not of `bran`."
    assert (record.status, record.next, game.hash) == ("no_match", "anna", before)
    game.do("pass")
    assert game.do(intent).status == "executed"


def test_an_intent_of_something_that_takes_no_turns() -> None:
    record = two().do(TypedIntent("earn", "hall"))
    assert record.no_match is not None
    assert record.no_match.message == "`hall` takes no turns. It is the turn of `anna`."


def test_legal_commands_are_those_of_whose_turn_it_is() -> None:
    game = two()
    game.do("go yard")
    game.do("pass")
    assert "go(yard)" not in [one.call for one in game.session.legal()]
    game.do("pass")
    assert "go(yard)" in [one.call for one in game.session.legal()]
    assert game.session.why_not("go hall").allowed is False


@pytest.mark.parametrize("seed", range(2))
def test_the_laws_of_the_journal_hold_in_rounds(seed: int) -> None:
    game = two(
        "phase p sequentially  law wear(h: Hero) during p when h.gold > 1 { h.gold -= 1 } "
        "law drop(r: Room) during p { chance 20% { for h: Hero where h.at == r { h.gold += 2 } } } "
        "invariant poor(): sum(h.gold for h: Hero) < 30  action slay(h: Hero) { destroy h }",
        seed=seed,
    )
    random, words = (
        Random(seed),
        ["earn", "look", "nap", "pass", "go yard", "go hall", "hm", "pass"],
    )
    asked = "anna"
    for step in range(120):
        before, known = game.state, game.hash
        records = game.records(random.choice(words) if step < 110 else "slay(bran)")
        assert {one.actor for one in records} == {asked}
        assert (records[0].hash_before, records[-1].hash_after) == (known, game.hash)
        assert game.state.tick - before.tick == sum(one.time_passed for one in records)
        assert all(not one.changes for one in records if one.status in ("refused", "no_match"))
        assert all(broken_law(one.to_json()) is None for one in records)
        assert [facts_hash(before), facts_hash(game.state)] == [before.facts, game.state.facts]
        asked = records[-1].next or ""
        assert asked == game.session.actor


# ---- planning -----------------------------------------------------------------------------------


def test_a_plan_is_made_of_the_moves_of_all_actors() -> None:
    game = two(lines="goal met: all(h.at == yard for h: Hero)")
    simulator = EngineSimulator(game.session.engine)
    verdict = plan(simulator, simulator.start(), None, time_limit=20)
    assert [step.command for step in verdict.plan] == ["anna: go(yard)", "bran: go(yard)"]
    assert (verdict.answer, verdict.ticks) == ("winnable", 1)
    assert verdict.optimal is None  # there are free actions and long ones
    assert "  1. anna: go(yard)" in summary_lines(verdict)


@pytest.mark.parametrize(
    ("rules", "same"),
    [
        ("", True),
        ("law l(h: Hero) when h.gold > was h.gold { h.seen = true }", False),
        ("law l(h: Hero) when did(h, earn) { h.seen = true }", False),
    ],
)
def test_a_search_looks_back_in_the_round_only_where_rules_do(rules: str, same: bool) -> None:
    game = play(
        "type Hero { gold: 0 to 9 = 0  seen: bool = true } actor me: Hero "
        f"action earn() {{ me.gold += 1 }} {rules} "
        "world w { object anna, bran: Hero  turns anna, bran }"
    )
    simulator, engine = EngineSimulator(game.session.engine), game.session.engine
    now, _ = engine.play(game.state, Command("earn"))
    later, _ = engine.play(engine.play(now, PASS)[0], PASS)
    assert (now.tick, later.tick, now.turn, later.turn) == (0, 1, 1, 1)
    assert (simulator.key(now) == simulator.key(later)) is same


def test_within_counts_ticks_and_not_moves() -> None:
    game = two(lines="goal rich: anna.gold + bran.gold >= 3")
    simulator = EngineSimulator(game.session.engine)
    answers = [
        plan(simulator, simulator.start(), None, time_limit=20, within=ticks).answer
        for ticks in (1, 2)
    ]
    assert answers == ["unwinnable", "winnable"]


def test_what_one_actor_alone_cannot_do_is_proved_out_of_reach() -> None:
    text = """
        type Hero { up: bool }
        actor me: Hero
        action stand() { require not any(h.up for h: Hero) else busy_ "No."  me.up = true }
        action sit() { me.up = false }
        world w { object anna, bran: Hero  turns anna, bran  goal both: all(h.up for h: Hero) }
        """
    game = play(text)
    simulator = EngineSimulator(game.session.engine)
    assert plan(simulator, simulator.start(), None, time_limit=20).answer == "unwinnable"


def test_calls_by_name_carry_their_actor() -> None:
    game = two()
    assert game.do(call("earn")).actor == "anna"
    assert game.do(call("earn")).actor == "bran"


@pytest.mark.parametrize(
    ("rules", "lines", "said"),
    [
        ("", "turns anna, bran", "`turns` of several actors"),
        ("phase p sequentially law l(h: Hero) during p { h.age += 1 }", "", "`p` sequentially"),
    ],
)
def test_the_encoding_refuses_what_it_cannot_say(rules: str, lines: str, said: str) -> None:
    text = TWO.replace("turns anna, bran", lines).replace("MORE", rules)
    game = play(text.replace("LINES", "goal rich: anna.gold > 3"))
    simulator = EngineSimulator(game.session.engine)
    found = encode(simulator.instance, simulator, simulator.start(), None)
    assert isinstance(found, Unencodable)
    assert any(said in one.construct for one in found.obstacles)


BORN = """
type Place
type Thing { at: Place? }
type Hero : Thing
actor me: Hero
function born(): 0 to 99 = 0
action make() takes 0 { create t: Thing { at = me.at } }
law count_them(x: Thing) when was x.at is Place and not (x is Hero) { born() += 1 }
world w {
  object hall: Place
  object ann: Hero { at = hall }
  object bob: Hero { at = hall }
  turns ann, bob
}
"""


def test_a_law_reads_what_several_free_actions_of_a_round_created() -> None:
    """Free actions after the first turn of a round create; a law then reads where each `was`."""
    game = play(BORN)
    for command in ("make()", "pass", "make()", "make()"):
        game.do(command)
    game.do("pass")
    assert game.get("born()") == 3
