"""What an audit finds in a world whose dead ends are known, and how it counts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "planning"))

from space_brute import brute

from tokenworld.session import OpenWorld, open_world
from tokenworld.verbs.audit.analysis import Audit, audit

DOMAINS = Path(__file__).parents[2] / "domains"
Tiny = Callable[[str], OpenWorld]

ISLE = """
enum Place { home, isle, cave }
type Hero { at: Place = home  bread: bool = true  mood: 0 to 3 = 0 }
type Bridge { whole: bool = true }
type Bird { fed: bool = false }
actor me: Hero
action eat() { require me.at != cave  require me.bread  me.bread = false  say "It was good." }
action enter() { require me.at == home  me.at = cave }
action cross(b: Bridge) { require me.at == home  me.at = isle  b.whole = false }
action feed(b: Bird) { require me.at == isle  require me.bread  me.bread = false  b.fed = true }
action sing(b: Bird) { require b.fed  me.mood = 1 }
action dance(b: Bridge) { require me.at == isle  require b.whole  me.mood = 2 }
law rust(b: Bridge) when not b.whole and me.at == home { b.whole = true }
watch sated(b: Bird) when b.fed { say "It sings." }
watch hungry(h: Hero) when not h.bread and h.at == cave { say "The lion is not." }
world w {
  object hero: Hero
  object bridge: Bridge
  object bird: Bird
  lose eaten: hero.at == cave "The lion eats you."
  goal sated: bird.fed
}
"""

GREENHOUSE = """
type Sink { on: bool = false }
type Jug { w: 0 to 40 = 0 }
type Pot { w: 0 to 100 = 0 }
type Pea { pot: Pot  water: 0 to 100 = 0  moist: 0 to 3 = 0  stage: 0 to 4 = 0 }
type Hero { fills: 0 to 9 = 0 }
param most: 0 to 9 = MOST
actor me: Hero
phase soak
phase drink
phase feel
phase grow
action turn(s: Sink) { s.on = not s.on }
action fill(s: Sink, j: Jug) {
  require s.on
  require j.w < 40
  require me.fills < most
  j.w = 40
  me.fills += 1
}
action pour(j: Jug, p: Pot) { require j.w > 0  require p.w + j.w <= 100  p.w += j.w  j.w = 0 }
law soak(p: Pea) during soak when p.pot.w >= 10 and p.water <= 90 {
  transfer 10 of p.pot.w to p.water
}
law drink(p: Pea) during drink when p.water >= 5 { p.water -= 5 }
law feel(p: Pea) during feel { p.moist = if p.water >= 30 then min(p.moist + 1, 3) else 0 }
law grow(p: Pea) during grow when p.moist == 3 and p.stage < 4 { p.stage += 1  p.moist = 0 }
world w {
  object hero: Hero
  object sink: Sink
  object jug: Jug
  object pot: Pot
  object pea: Pea { pot = pot }
  goal grown: pea.stage == 4
}
"""

DICE = """
type Hero { rung: 0 to 5 = 1 }
actor me: Hero
action bold() { require me.rung > 0  chance 40% { me.rung += 1 } else { me.rung -= 1 } }
action timid() {
  require me.rung > 0 and me.rung < 4
  chance 50% { me.rung += 1 } or 10% { me.rung -= 1 }
}
world w { object hero: Hero  goal top: hero.rung == 5 }
"""


def audited(world: OpenWorld, goal: str | None = None, states: int = 200_000) -> Audit:
    return audit(world, goal, states=states, seconds=60)


def counts(found: Audit) -> list[int]:
    return [found.parts.count(place) for place in ("won", "winnable", "dead", "undecided")]


@pytest.fixture(scope="module")
def isle() -> Audit:
    from tokenworld.diagnostics import Source
    from tokenworld.session.loading import open_text

    return audited(open_text((Source("t.tw", None, ISLE),), "w"))


# ---- counts against brute force ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["cellar/world.tw", "cellar/twin.tw", "blocks/world.tw"])
def test_counts_of_the_project_are_those_of_brute_force(name: str) -> None:
    world = open_world(str(DOMAINS / name))
    assert counts(audited(world))[:3] == brute(world.engine, world.engine.start())


@pytest.mark.parametrize("text", [ISLE, DICE], ids=["isle", "dice"])
def test_counts_with_laws_and_with_luck_are_those_of_brute_force(tiny: Tiny, text: str) -> None:
    world = tiny(text)
    assert counts(audited(world))[:3] == brute(world.engine, world.engine.start())


@pytest.mark.parametrize(
    ("most", "states", "dead", "steps"),
    [(2, 102, 102, None), (3, 406, 330, 19), (4, 1208, 457, 19)],
)
def test_the_greenhouse_has_the_dead_ends_that_were_counted_elsewhere(
    tiny: Tiny, most: int, states: int, dead: int, steps: int | None
) -> None:
    """Counted before by a search of another kind, without any rules."""
    found = audited(tiny(GREENHOUSE.replace("MOST", str(most))))
    assert (len(found.graph), found.parts.count("dead"), found.parts.steps) == (states, dead, steps)


# ---- dead ends ---------------------------------------------------------------------------------


def test_the_partition_of_the_isle(isle: Audit) -> None:
    assert counts(isle) == [1, 2, 4, 0]
    assert (isle.parts.lost, isle.graph.complete) == (2, True)


def test_each_kind_of_dead_end_is_told_once(isle: Audit) -> None:
    found = [(k.action, k.cause, k.edges, k.states, k.told) for k, _ in isle.dead_ends]
    assert found == [("eat", "", 2, 2, "never"), ("enter", "eaten", 1, 1, "at once")]
    assert isle.cruelty == "cruel"


def test_an_example_tells_the_way_the_place_and_what_happens(isle: Audit) -> None:
    (_, eating), (_, entering) = isle.dead_ends
    assert (eating.path, eating.step.command, eating.place.line) == ((), "eat()", 7)
    assert [(one.fluent, one.new) for one in eating.changes] == [("Hero.bread", False)]
    assert eating.said == ("It was good.",)
    assert entering.said == ("The lion eats you.",)


def test_without_the_temptation_the_isle_is_polite(tiny: Tiny) -> None:
    found = audited(tiny(ISLE.replace("action eat() { require me.at != cave",
                                      "action eat() { require me.at == cave")))  # fmt: skip
    assert (found.cruelty, [kind.action for kind, _ in found.dead_ends]) == ("polite", ["enter"])


def test_an_unwinnable_world_has_no_class(tiny: Tiny) -> None:
    found = audited(tiny(GREENHOUSE.replace("MOST", "2")))
    assert (found.cruelty, found.dead_ends) == (None, ())


# ---- rules that never happen -------------------------------------------------------------------


def test_what_never_happens_is_listed_with_what_blocks_it(isle: Audit) -> None:
    found = {(one.kind, one.name): (one.reason, one.blocking) for one in isle.idle}
    assert found == {
        ("action", "sing"): ("this never holds", ("b.fed",)),
        ("action", "dance"): ("these never hold together", ("me.at == isle", "b.whole")),
        ("law", "rust"): (
            "these never hold together when it is looked at", ("not b.whole", "me.at == home"),
        ),
    }  # fmt: skip


def test_requires_that_never_refuse(isle: Audit) -> None:
    found = [(one.action, one.condition) for one in isle.never_refuses]
    assert found == [("eat", "me.at != cave")]


def test_facts_that_nothing_reads(isle: Audit) -> None:
    assert [(one.name, one.shown) for one in isle.unread] == [("Hero.mood", False)]


def test_an_action_that_the_language_refuses_says_so(tiny: Tiny) -> None:
    text = """
type Jar { n: 0 to 3 = 3 }
action add(j: Jar) { j.n += 1 }
action take(j: Jar) { require j.n == 3  j.n -= 3 }
action pass_on(j: Jar) { require j.n >= 3  require j.n <= 2 }
world w { object jar: Jar  goal empty: jar.n == 0 }
"""
    found = {one.name: one for one in audited(tiny(text)).idle}
    assert found["add"].reason.startswith("it is always refused: ")
    assert found["pass_on"].blocking == ("j.n <= 2",)


def test_a_part_makes_no_claim_about_never(tiny: Tiny) -> None:
    found = audited(tiny(GREENHOUSE.replace("MOST", "4")), states=20)
    assert not found.graph.complete
    assert found.never_refuses == ()
    assert all("never" not in one.reason for one in found.idle)


# ---- secrets -----------------------------------------------------------------------------------

SAFE = """
type Safe { secret code: 0 to 9 = 7  open: bool }
type Note { read: bool }
derive fits(s: Safe, n: 0 to 9) = s.code == n
READ
action dial(s: Safe, n: 0 to 9) { if s.code == n { s.open = true } }
world w { object safe: Safe  object note: Note  goal rich: safe.open WITH }
"""


def test_a_plan_that_reads_a_secret_is_warned_of(tiny: Tiny) -> None:
    found = audited(tiny(SAFE.replace("READ", "").replace("WITH", "")))
    assert [(one.code, one.span and one.span.line) for one in found.secrets] == [("TW0808", 6)]


def test_a_secret_that_was_told_is_none_any_more(tiny: Tiny) -> None:
    told = 'action look(n: Note) { n.read = true  for s: Safe { say "{s.code}" } }'
    found = audited(tiny(SAFE.replace("READ", told).replace("WITH", "and note.read")))
    assert [step.command for step in found.solution] == ["look(note)", "dial(safe, 7)"]
    assert found.secrets == ()


def test_a_secret_behind_a_derive_is_one(tiny: Tiny) -> None:
    text = SAFE.replace("if s.code == n", "if fits(s, n)").replace("READ", "").replace("WITH", "")
    assert [one.code for one in audited(tiny(text)).secrets] == ["TW0808"]


def test_the_number_of_guesses_is_told(tiny: Tiny) -> None:
    (guess,) = audited(tiny(SAFE.replace("READ", "").replace("WITH", ""))).guesses
    assert (guess.action, guess.params, guess.fluents, guess.tries) == (
        "dial", ("n",), ("Safe.code",), 10,
    )  # fmt: skip


STUCK = """
type D { n: 0 to 3  k: 0 to 3  top: 2 to 5 = 3 }
type H
actor me: H
action dig(d: D) takes 2 { d.n += 2  cancelled { d.k += 2 } }
action rise(d: D) { d.k += 1 }
action look(d: D) takes 0 { require d.k > 2  d.top = 5 }
invariant low(d: D): d.k + d.n < d.top
world w { %s object d: D  goal g: d.n == 3 }
"""


@pytest.mark.parametrize("turns", ["object h: H", "turns h, i object h, i: H"])
def test_an_action_that_can_neither_end_nor_be_broken_off_is_named(tiny: Tiny, turns: str) -> None:
    """With `k` at 1 both the end of `dig` and what breaks it off break `low`."""
    found = audit(tiny(STUCK % turns), None, states=5_000, seconds=60)
    assert found.graph.complete
    one = found.never_ends[0]
    assert one.action == "dig"
    assert one.command.endswith("dig(d)")
    assert one.states > 0
    assert any(step.command.endswith("dig(d)") for step in one.path)


def test_an_action_that_ends_is_not_named(tiny: Tiny) -> None:
    text = STUCK.replace("cancelled { d.k += 2 }", "cancelled { d.k = 0 }")
    found = audit(tiny(text % "object h: H"), None, states=5_000, seconds=60)
    assert found.graph.complete
    assert found.never_ends == ()
