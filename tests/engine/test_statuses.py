"""Every status of language.md §9: when it is given, what it carries, what it leaves alone."""

from __future__ import annotations

from tiny import Game, call, play

RULES = """
type Room
type Thing { at: Room  n: 0 to 9 = 0  gold: 0 to 9 = 0 }
actor me: Thing
action go(r: Room) as "go to {r}" {
  require r != me.at else here "You are in {the r} already."
  me.at = r
}
action idle() { }
action bump() { me.n += 4 }
action mint() { me.gold += 1 - me.gold }
action clash(t: Thing) { me.n = 3  t.n = 4 }
action spoil() { me.n = 9 - me.gold }
action divide() { me.n = 4 div me.gold }
action toil() as "toil" takes 3 {
  require me.gold == 0 else rich "You need not."
  me.n += 1
  cancelled { me.gold += 0  say "You stop." }
}
invariant sound(t: Thing): t.n != 9
conserve gold: sum(t.gold for t: Thing)
world w "W" {
  object hall, cellar: Room
  object hero: Thing { at = hall }
  object rock: Thing { at = hall }
  %s
}
"""


def world(lines: str = "") -> Game:
    return play(RULES % lines)


def unchanged(game: Game, intent: object, status: str) -> None:
    before, hash_before = game.session.state_json(), game.hash
    (record,) = game.records(intent)  # type: ignore[arg-type]
    assert record.status == status
    assert record.changes == () == record.law_changes
    assert record.hash_before == record.hash_after == hash_before
    assert game.session.state_json() == before
    assert not record.time_passed


def test_executed_carries_the_action_its_arguments_and_its_changes() -> None:
    game = world()
    (record,) = game.records("go(cellar)")
    assert (record.status, record.action, record.args) == ("executed", "go", {"r": "cellar"})
    (change,) = record.changes
    assert (change.fluent, change.args, change.old, change.new, change.rule) == (
        "Thing.at", ("hero",), "hall", "cellar", "action go",
    )  # fmt: skip
    assert record.time_passed
    assert not record.noop
    assert (record.tick, game.session.tick) == (0, 1)
    assert record.hash_before != record.hash_after == game.hash


def test_executed_without_changes_is_a_noop_and_time_passes() -> None:
    game = world()
    record = game.do("idle()")
    assert (record.status, record.noop, record.time_passed) == ("executed", True, True)
    assert record.to_json()["noop"] is True
    assert "noop" not in game.do("go(cellar)").to_json()


def test_pass_is_executed() -> None:
    game = world()
    record = game.do("pass")
    assert (record.status, record.action, record.args) == ("executed", "pass", {})
    assert game.session.tick == 1


def test_refused_changes_nothing() -> None:
    game = world()
    unchanged(game, "go(hall)", "refused")
    assert game.do("go(hall)").refusal is not None


def test_rolled_back_by_an_invariant_names_it_and_keeps_what_was_discarded() -> None:
    game = world()
    unchanged(game, "spoil()", "rolled_back")
    record = game.do("spoil()")
    assert record.breach is not None
    assert (record.breach["code"], record.breach["rule"]) == ("TW1001", "sound")
    assert record.breach["witness"] == ["hero"]
    assert record.breach["culprits"] == ["action spoil"]
    (lost,) = record.discarded
    assert (lost.fluent, lost.old, lost.new) == ("Thing.n", 0, 9)
    assert (record.said, record.events) == ((), ())


def test_rolled_back_by_conservation_tells_both_sums() -> None:
    game = world()
    unchanged(game, "mint()", "rolled_back")
    breach = game.do("mint()").breach
    assert breach is not None
    assert (breach["code"], breach["rule"], breach["before"], breach["after"]) == (
        "TW1002", "gold", 0, 1,
    )  # fmt: skip


def test_rolled_back_by_a_law_that_leaves_a_range() -> None:
    game = play(
        """
        type T { n: 0 to 2 = 0 }
        actor me: T
        law up(t: T) { t.n += 1 }
        action a() { }
        world w { object h: T }
        """
    )
    game.all("a()", "a()")
    unchanged(game, "a()", "rolled_back")
    breach = game.do("a()").breach
    assert breach is not None
    assert breach["code"] == "TW1004"
    assert game.get("h.n") == 2


def test_two_values_for_one_slot_are_an_error_and_name_the_slot() -> None:
    game = world()
    assert game.do("clash(rock)").status == "executed"
    unchanged(game, "clash(hero)", "error")
    breach = game.do("clash(hero)").breach
    assert breach is not None
    assert breach["code"] == "TW1003"
    assert "`n`" in str(breach["message"])


def test_two_laws_that_set_one_slot_are_both_named() -> None:
    game = play(
        """
        type T { n: 0 to 9 = 0  m: 0 to 9 = 1 }
        actor me: T
        law one(t: T) { t.n = t.m }
        law two(t: T, u: T) when u != t { t.n = u.m }
        action a() { me.m = 5 }
        world w { object h, k: T }
        """
    )
    breach = game.do("a()").breach
    assert breach is not None
    assert breach["code"] == "TW1003"
    assert {"law one", "law two"} <= set(breach["culprits"])  # type: ignore[arg-type]


def test_an_undefined_number_is_an_error() -> None:
    game = world()
    unchanged(game, "divide()", "error")
    breach = game.do("divide()").breach
    assert breach is not None
    assert breach["code"] == "TW1006"


def test_undefined_numbers_anywhere_in_the_tick_are_errors_of_the_tick() -> None:
    rules = """
        type T { n: 0 to 9 = 3 }
        actor me: T
        action a() { me.n = 1 %s }
        %s
        world w { object h: T %s }
        """
    bad = "10 div (h.n - 1)"
    places = (
        ('say "{10 div (me.n - 1)}"', "", ""),
        ("", "", f"goal g: {bad} > 7"),
        ("", "", f"score = {bad}"),
        ("", "", f"award 1 when {bad} > 7"),
        ("", "", f"reward 1 when {bad} > 7"),
        ("", "law l(t: T) when 10 div (t.n - 1) > 20 { t.n += 1 }", ""),
        ("", "invariant i(t: T): 10 div (t.n - 1) < 99", ""),
        ("", 'watch v(t: T) when 10 div (t.n - 1) > 99 { say "x" }', ""),
    )
    for place in places:
        game = play(rules % place)
        unchanged(game, "a()", "error")
        assert game.do("a()").breach["code"] == "TW1006", place  # type: ignore[index]
        assert game.do("pass").status == "executed", place


def test_no_match_of_every_kind_changes_nothing() -> None:
    game = world()
    kinds = {
        "dance": "unknown_verb",
        "fly(cellar)": "unknown_verb",
        "go(cellar, hall)": "bad_arity",
        "go(attic)": "no_such_object",
        "go to attic": "no_such_object",
        "go(rock)": "wrong_type",
    }
    for words, kind in kinds.items():
        unchanged(game, words, "no_match")
        record = game.do(words)
        assert record.no_match is not None
        assert record.no_match.kind == kind, words
        assert record.no_match.message


def test_another_actor_is_no_match() -> None:
    from tokenworld.prose.intents import PassIntent

    game = world()
    unchanged(game, PassIntent("rock"), "no_match")


def test_an_intent_in_json_form_checks_names_and_types() -> None:
    game = world()
    assert game.do(call("go", r="cellar")).status == "executed"
    assert game.do(call("go", r="rock")).status == "no_match"
    assert game.do(call("go")).status == "no_match"


def test_waiting_says_how_far_it_is() -> None:
    game = world()
    first = game.do("toil()")
    assert (first.status, first.progress, first.changes) == ("waiting", (1, 3), ())
    assert first.time_passed
    assert first.hash_before != first.hash_after
    second = game.do("pass")
    assert (second.status, second.action, second.progress) == ("waiting", "toil", (2, 3))
    last = game.do("pass")
    assert (last.status, last.progress) == ("executed", (3, 3))
    assert game.get("hero.n") == 1


def test_interrupted_comes_before_the_record_of_the_new_intent() -> None:
    game = world()
    game.do("toil()")
    first, second = game.records("go(cellar)")
    assert (first.status, first.action, first.progress) == ("interrupted", "toil", (1, 3))
    assert first.said == ("You stop.",)
    assert first.cause
    assert (second.status, second.action) == ("executed", "go")
    assert first.hash_after == second.hash_before
    assert (first.tick, second.tick) == (1, 1)
    assert (first.time_passed, second.time_passed) == (False, True)
    assert game.session.tick == 2


def test_halted_after_the_end() -> None:
    game = world("goal down: hero.at == cellar")
    assert game.do("go(cellar)").latched == ("down",)
    for intent in ("go(hall)", "pass", "dance"):
        unchanged(game, intent, "halted")
    assert game.do("pass").cause


def test_time_policy_always_moves_time_after_refusals_and_nonsense() -> None:
    for policy, ticks in (("", 0), ("time passes executed", 0), ("time passes always", 2)):
        game = world(policy)
        game.do("go(hall)")
        record = game.do("dance")
        assert record.time_passed is (ticks > 0)
        assert game.session.tick == ticks


def test_no_time_passes_in_a_tick_that_is_rolled_back_or_in_error() -> None:
    game = world("time passes always")
    unchanged(game, "spoil()", "rolled_back")
    unchanged(game, "divide()", "error")
    assert game.session.tick == 0


def test_laws_run_after_a_refusal_where_time_always_passes() -> None:
    rules = """
        type T { n: 0 to 99 = 0 }
        actor me: T
        law up(t: T) { t.n += 1  reward 2 }
        action grow_up() { require me.n > 50 else young "No." }
        world w { object h: T  time passes %s }
        """
    for policy, n, reward in (("executed", 0, 0), ("always", 1, 2)):
        game = play(rules % policy)
        record = game.do("grow_up()")
        assert (record.status, record.changes) == ("refused", ())
        assert (game.get("h.n"), record.reward) == (n, reward)
        assert [one.new for one in record.law_changes] == [1] * n


def test_what_time_did_before_it_was_discarded_is_not_told_of_the_intent() -> None:
    game = play("""
        type T { n: 0 to 99 = 0 }
        actor me: T
        function step(): 0 to 9 = 1
        law up(t: T) { t.n += step()  say "Up." }
        invariant low(t: T): t.n == 0
        world w { object h: T  time passes always }
        """)
    nonsense, broken = game.records("dance")
    assert (nonsense.status, broken.status, broken.by) == ("no_match", "rolled_back", "time")
    assert (nonsense.law_changes, nonsense.said, nonsense.fired) == ((), (), ())
    assert [one.new for one in broken.discarded] == [1]
    assert game.get("h.n") == 0


def test_a_refused_command_drew_nothing() -> None:
    game = play("""
    type Hero { n: 0 to 1 = 1 }
    actor me: Hero
    action up() as "up" { chance 50% { } me.n += 1 }
    world w { object hero: Hero }
    """)
    (record,) = game.records("up")
    assert record.refusal is not None
    assert (record.status, record.refusal.label) == ("refused", "range")
    assert record.draws == ()
