"""What may be `none`: `otherwise`, narrowed paths, and `let` in derives (language.md §3, §4)."""

from __future__ import annotations

from tiny import play

HOMES = """
type Room { warmth: 0 to 9 = 3 }
type Beast { at: Room?  den: Room?  felt: 0 to 99 = 0 }
actor me: Beast
derive warmth(b: Beast) = b.at.warmth otherwise b.den.warmth otherwise 0
action feel() { me.felt = 10 * me.warmth + (me.at.warmth otherwise 7) }
action go(r: Room) { require me.at otherwise me.den != r else there  me.at = r }
action leave() { me.at = none }
action settle(r: Room) { me.den = r }
world w { endless  object hot: Room { warmth = 9 }  object cold: Room  object bear: Beast
  goal warm: bear.at.warmth otherwise 0 == 9 }
"""


def test_otherwise_is_the_value_or_the_next_one() -> None:
    game = play(HOMES)
    game.all("feel()")
    assert game.get("bear.felt") == 7
    game.all("settle(cold)", "feel()")
    assert game.get("bear.felt") == 37
    assert game.do("go(cold)").status == "refused"
    game.all("go(hot)", "feel()")
    assert game.get("bear.felt") == 99
    assert game.do("go(hot)").status == "refused"
    game.all("go(cold)")


def test_otherwise_is_planned_and_refuted() -> None:
    (step,) = play(HOMES).session.plan().plan
    assert step.command == "go(hot)"
    shut = HOMES.replace("9 }  object cold", "8 }  object cold")
    assert play(shut).session.plan().answer == "unwinnable"


NEAR = """
type Room { n: 0 to 9 }
type Beast { at: Room? }
actor me: Beast
derive sum_at(b: Beast) = let n = b.at.n otherwise 5 then let two = n + n then n * two - two
derive alone(b: Beast) =
  let here = b.at then here != none and not any(o.at == here for o: Beast where o != b)
action go(r: Room) { require me.sum_at != 40 else five  me.at = r }
world w { object r: Room { n = 3 }  object ann, bob: Beast { at = none }
  goal there: ann.alone and sum_at(ann) == 12 }
"""


def test_a_let_in_a_derive_stands_for_its_value() -> None:
    game = play(NEAR)
    assert game.do("go(r)").status == "refused"  # (5 + 5) * 5 - 10
    game = play(NEAR.replace("otherwise 5", "otherwise 4"))
    assert game.session.plan().ticks == 1
    game.all("go(r)")
    assert game.session.latched == ("there",)


CAVES = """
type Room { heat: 0 to 9 = 3  next: Room? }
type Cave : Room { bats: 0 to 9 = 4 }
type Beast { at: Room?  felt: 0 to 99 }
actor me: Beast
action on() {
  require me.at != none else nowhere
  require me.at.next != none else end "Nothing but {me.at.heat + 1} degrees."
  me.felt = me.at.heat + 10 * me.at.next.heat
  me.at = me.at.next
}
law startle(b: Beast) when b.at is Cave and b.at.bats + b.felt > 40 { b.felt += b.at.bats }
world w { endless  object deep: Cave { heat = 5 }  object out: Room { next = deep }
  object bear: Beast { at = out }  object stray: Beast
  goal scared: bear.at is Cave and bear.at.bats + bear.felt == 61 }
"""


def test_a_narrowed_path_is_read_where_the_condition_holds() -> None:
    game = play(CAVES)
    assert [step.command for step in game.session.plan().plan] == ["on()"]
    game.all("on()")
    assert (game.get("bear.felt"), game.get("stray.felt")) == (57, 0)
    refused = game.do("on()")
    assert refused.refusal is not None
    assert (refused.refusal.label, refused.refusal.text) == ("end", "Nothing but 6 degrees.")
    last = play(CAVES.replace("at = out", "at = none")).do("on()")
    assert last.refusal is not None
    assert last.refusal.label == "nowhere"


GIVEN = """
type Hero { n: 0 to 9 = 0 }
actor me: Hero
object hall: Hero
effect more(k: Hero?, told: text?) { if k != none and told != none { k.n += 1 } }
action go() { more(hall, "a") }
world w { object bear: Hero }
"""


def test_a_value_that_is_written_out_is_asked_for_without_a_warning() -> None:
    """Python warns of `0 is not None`; every warning is an error in tests."""
    game = play(GIVEN)
    game.all("go()")
    assert game.get("hall.n") == 1
