"""`takes n`, `until`, cancelling, and who does what when (language.md §6, §8 steps 3 to 5)."""

from __future__ import annotations

from tiny import Game, play

RULES = """
type T { n: 0 to 99 = 0  done: bool  ok: bool = true  ticks: 0 to 99 = 0 }
actor me: T
action look() as "look" takes 0 { say "You see {me.n}." }
action free() takes 0 { me.n += 1 }
action dig(k: 2 to 5) takes k {
  require me.ok else no "You cannot."
  me.done = true
  cancelled { me.n += 10  say "You stop digging." }
}
action rest() takes 4 until me.n >= 5 { me.n += 40  cancelled { me.n += 1 } }
action spoil() { me.ok = false }
action refuse() { require me.n > 90 else small "Too small." me.n = 0 }
phase clock
law tick_tock() during clock { me.ticks += 1 }
law gain() during clock when busy(me, rest) { me.n += 2 }
%s
world w { object h: T  %s }
"""


def world(lines: str = "", settings: str = "") -> Game:
    return play(RULES % (lines, settings))


def statuses(game: Game, *intents: str) -> list[str]:
    return [one.status for intent in intents for one in game.records(intent)]


def test_an_action_that_takes_no_time_runs_no_phase() -> None:
    for policy in ("time passes executed", "time passes always"):
        game = world(settings=policy)
        record = game.do("free()")
        assert (record.status, record.time_passed) == ("executed", False)
        assert (game.session.tick, game.get("h.ticks"), game.get("h.n")) == (0, 0, 1)
        assert record.changes
        assert record.hash_after != record.hash_before


def test_changes_apply_on_the_last_tick_and_phases_run_on_each() -> None:
    game = world()
    assert statuses(game, "dig(3)") == ["waiting"]
    assert (game.get("h.done"), game.get("h.ticks")) == (False, 1)
    assert statuses(game, "pass") == ["waiting"]
    assert statuses(game, "pass") == ["executed"]
    assert (game.get("h.done"), game.get("h.ticks"), game.session.tick) == (True, 3, 3)
    assert statuses(game, "pass") == ["executed"]
    assert game.session.state_json()["long"] == {}


def test_the_number_of_ticks_may_depend_on_an_argument() -> None:
    for ticks in (2, 3, 5):
        game = world()
        found = statuses(game, f"dig({ticks})", *["pass"] * (ticks - 1))
        assert found == ["waiting"] * (ticks - 1) + ["executed"]


def test_a_long_action_is_shown_in_the_state() -> None:
    game = world()
    game.do("dig(3)")
    assert game.session.state_json()["long"] == {
        "h": {"action": "dig", "args": {"k": 3}, "done": 1, "total": 3}
    }


def test_requires_are_checked_at_the_start() -> None:
    game = world()
    game.all("spoil()")
    record = game.do("dig(3)")
    assert (record.status, record.refusal.label) == ("refused", "no")  # type: ignore[union-attr]
    assert game.session.state_json()["long"] == {}


def test_requires_are_checked_again_on_completion_and_only_then() -> None:
    game = world("law sabotage() when me.ticks == 1 { me.ok = false }")
    assert statuses(game, "dig(3)", "pass") == ["waiting", "waiting"]
    record = game.do("pass")
    assert (record.status, record.cause, record.progress) == ("interrupted", "no", (2, 3))
    assert record.said == ("You stop digging.",)
    assert (game.get("h.done"), game.get("h.n")) == (False, 10)
    assert record.time_passed
    assert game.session.state_json()["long"] == {}


def test_a_range_that_breaks_on_completion_interrupts_too() -> None:
    game = play(
        """
        type T { n: 0 to 5 = 0  m: 0 to 9 = 0 }
        actor me: T
        action fill() takes 2 { me.n += 5  cancelled { me.m += 1 } }
        law drip(t: T) when t.n == 0 { t.n += 1 }
        world w { object h: T }
        """
    )
    assert statuses(game, "fill()") == ["waiting"]
    record = game.do("pass")
    assert (record.status, record.cause) == ("interrupted", "range")
    assert (game.get("h.n"), game.get("h.m")) == (1, 1)
    assert statuses(game, "pass") == ["executed"]


def test_until_is_tested_at_the_intent_step_of_every_tick() -> None:
    game = world()
    assert statuses(game, "rest()") == ["waiting"]
    assert game.get("h.n") == 2
    assert statuses(game, "pass", "pass") == ["waiting", "waiting"]
    assert game.get("h.n") == 6
    record = game.do("pass")
    assert (record.status, game.get("h.n")) == ("executed", 46)
    assert record.time_passed


def test_until_may_complete_at_once() -> None:
    game = world()
    for _ in range(5):
        game.do("free()")
    record = game.do("rest()")
    assert (record.status, game.get("h.n")) == ("executed", 45)


def test_a_refused_command_breaks_nothing_off() -> None:
    game = world()
    game.do("dig(4)")
    before = game.hash
    (record,) = game.records("refuse()")
    assert (record.status, record.said, record.time_passed) == ("refused", (), False)
    assert (game.get("h.n"), game.hash, game.session.tick) == (0, before, 1)
    assert statuses(game, "pass", "pass", "pass") == ["waiting", "waiting", "executed"]


def test_a_refusal_tells_the_values_after_the_cancelled_block() -> None:
    game = world()
    game.do("dig(4)")
    refusal = game.do("refuse()").refusal
    assert refusal is not None
    assert refusal.requires[0].values == {"me.n": 10}
    assert game.session.why_not("refuse()").requires == refusal.requires


def test_what_cannot_be_cancelled_stays_under_way() -> None:
    game = play(
        """
        type T { n: 0 to 9 = 5 }
        actor me: T
        action dig() takes 3 { cancelled { me.n += 5 } }
        action hop() { }
        action look() takes 0 { }
        world w { object h: T }
        """
    )
    game.do("dig()")
    before = game.hash
    (record,) = game.records("hop()")
    assert (record.status, game.hash) == ("rolled_back", before)
    assert [one.call for one in game.session.legal()] == ["dig()", "look()"]
    assert statuses(game, "look()", "pass", "pass") == ["executed", "waiting", "executed"]


def test_a_broken_invariant_breaks_nothing_off() -> None:
    game = world("invariant even(t: T): t.n != 10")
    game.do("dig(4)")
    before = game.hash
    (record,) = game.records("spoil()")
    assert (record.status, game.hash, game.get("h.ok")) == ("rolled_back", before, True)
    assert statuses(game, "pass") == ["waiting"]


def test_draws_of_a_cancelled_block_count_only_if_it_is_carried_out() -> None:
    game = play(
        """
        type T { n: 0 to 9 = 0 }
        actor me: T
        action dig() takes 3 { cancelled { chance 50% { me.n = 1 } } }
        action wish() { require me.n == 5 }
        action hop() { }
        world w { object h: T }
        """
    )
    game.do("dig()")
    (refused,) = game.records("wish()")
    assert (refused.status, refused.draws) == ("refused", ())
    stopped, done = game.records("hop()")
    assert (stopped.status, done.status) == ("interrupted", "executed")
    assert [one.draw for one in (*stopped.draws, *done.draws)] == [0]


def test_the_new_intent_sees_what_the_cancelled_block_did() -> None:
    game = play(
        """
        type T { n: 0 to 9 = 0 }
        actor me: T
        action work() takes 3 { cancelled { me.n += 1 } }
        action next_one() { require me.n == 1 else early "Not yet." me.n = 7 }
        world w { object h: T }
        """
    )
    assert game.do("next_one()").status == "refused"
    game.do("work()")
    assert [one.status for one in game.records("next_one()")] == ["interrupted", "executed"]
    assert game.get("h.n") == 7


def test_the_same_command_continues_it_and_another_begins_anew() -> None:
    game = world()
    assert statuses(game, "dig(3)", "dig(3)") == ["waiting", "waiting"]
    assert game.do("dig(3)").progress == (3, 3)
    assert game.get("h.done") is True
    assert statuses(game, "dig(3)") == ["waiting"]
    first, second = game.records("dig(4)")
    assert (first.status, first.progress) == ("interrupted", (1, 3))
    assert (second.status, second.progress) == ("waiting", (1, 4))


def test_requires_of_the_same_command_are_not_asked_before_it_completes() -> None:
    game = world("law sabotage() when me.ticks == 1 { me.ok = false }")
    assert statuses(game, "dig(4)", "pass") == ["waiting", "waiting"]
    assert game.get("h.ok") is False
    legal = [one.call for one in game.session.legal()]
    assert "dig(4)" in legal
    assert "dig(3)" not in legal
    assert game.session.why_not("dig(4)").allowed
    assert statuses(game, "dig(4)") == ["waiting"]


def test_no_match_and_free_actions_neither_cancel_nor_continue() -> None:
    game = world()
    game.do("dig(3)")
    assert statuses(game, "dance", "look", "free()") == ["no_match", "executed", "executed"]
    assert game.session.state_json()["long"]["h"]["done"] == 1  # type: ignore[index,call-overload]
    assert statuses(game, "pass", "pass") == ["waiting", "executed"]


def test_time_that_always_passes_continues_a_long_action_in_a_record_of_its_own() -> None:
    game = world(settings="time passes always")
    game.do("dig(3)")
    first, second = game.records("dance")
    assert (first.status, first.by, first.time_passed) == ("no_match", "player", False)
    assert (second.status, second.by, second.time_passed) == ("waiting", "time", True)
    assert (game.session.tick, game.get("h.n")) == (2, 0)
    first, second = game.records("refuse()")
    assert (first.status, second.status, second.by) == ("refused", "executed", "time")
    assert (game.session.tick, game.get("h.done")) == (3, True)
    (alone,) = game.records("dance")
    assert (alone.status, alone.by, alone.time_passed) == ("no_match", "player", True)
    assert len(alone.law_changes) == 1


def test_busy_and_did_tell_what_is_done() -> None:
    game = play(
        """
        type T { a: 0 to 99 = 0  b: 0 to 99 = 0  c: 0 to 99 = 0  d: 0 to 99 = 0 }
        actor me: T
        action dig(k: 1 to 3) takes 3 { }
        action hop(t: T) { }
        derive idle() = not busy(me)
        law one() when did(me, dig) { me.a += 1 }
        law two() when did(me, dig, 2) { me.b += 1 }
        law three() when did(me, hop, me) { me.c += 1 }
        law four() when busy(me, dig) { me.d += 1 }
        world w { object h, k: T }
        """
    )
    assert game.ask("idle") is True
    game.do("dig(2)")
    assert game.ask("idle") is False
    game.do("pass")
    game.do("pass")
    assert [game.get(f"h.{name}") for name in "abcd"] == [3, 3, 0, 2]
    game.all("hop(h)", "hop(k)", "pass")
    assert [game.get(f"h.{name}") for name in "abcd"] == [3, 3, 1, 2]


def test_rewards_of_laws_count_in_every_tick_that_passes() -> None:
    game = play(
        """
        type T
        actor me: T
        action dig() takes 3 { reward 5  cancelled { reward -4 } }
        action hop() { reward 0.5 }
        law pay() { reward 2 }
        world w { object h: T  reward 1 when true }
        """
    )
    assert [game.do(one).reward for one in ("dig()", "pass", "pass")] == [3, 3, 8]
    game.do("dig()")
    assert [one.reward for one in game.records("hop()")] == [-4, 3.5]


def test_what_ends_early_need_not_find_what_its_requires_promised() -> None:
    game = play(
        """
        type Room { lit: bool = true  seats: 0 to 9 = 4 }
        type Hero { at: Room?  n: 0 to 99 = 0 }
        actor me: Hero
        derive cosy(r: Room) = r.lit and r.seats > 3
        action sit() takes 5 {
          let spot = me.at
          require spot is Room else nowhere "You are nowhere."
          me.n += spot.seats
          cancelled {
            me.n += if cosy(spot) or spot.lit then 7 else 1
            spot.lit = false
            say "You leave {spot}: {spot.seats}."
          }
        }
        action wait() { me.n += 20 }
        law leave() when tick() == 1 { me.at = none }
        world w { object hall: Room  object h: Hero { at = hall } }
        """
    )
    game.records("sit()")
    game.records("pass")
    assert game.get("h.at") is None
    stopped, done = game.records("wait()")
    assert (stopped.status, done.status, game.get("h.n")) == ("interrupted", "executed", 21)


def test_a_command_may_name_what_breaking_off_destroys() -> None:
    game = play("""
        type D { f: 0 to 1 clamped  g: 0 to 2 }
        type H { }
        action dig(x: D, h: H) takes 4 { cancelled { destroy x } }
        action look(x: D) { require (x.g != x.g + 1) implies (x.g < x.f + 1) }
        world w { object d: D  object h: H }
    """)
    game.do("dig(d, h)")
    assert [one.command.action for one in game.session.legal()] == ["dig", "look"]
    assert [one.status for one in game.records("look(d)")] == ["interrupted", "executed"]
