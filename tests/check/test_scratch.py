"""Scratch slots: they have their defaults at the start of every tick (language.md §19)."""

from __future__ import annotations

from tokenworld.diagnostics import Source
from tokenworld.session.loading import open_text
from tokenworld.session.session import Session
from tokenworld.verbs.fuzz.playing import first_difference

FIGHT = """
type Body { hp: 0 to 9 clamped = 5 }
type Bones : Body { shots: 0 to 9 clamped }
actor me: Body
scratch hurt(b: Body): bool = false
scratch pull(): -3 to 3 clamped = 0
scratch aim(k: Bones, n: 1 to 2): Body? = none
action hit(b: Body) as "hit {b}" {
  require not hurt(b) else sore
  b.hp -= 1
  hurt(b) = true
  pull() += 2
}
action raise() as "raise" { create k: Bones  hurt(k) = true }
phase marking sequentially
law mark(k: Bones) during marking when hurt(k) { aim(k, 1) = me  hurt(me) = true }
phase shooting
law shoot(k: Bones) during shooting when aim(k, 1) != none {
  k.shots += 1
  say "{aim(k, 1)} is shot, {pull()}."
}
law cry(b: Body) during shooting when b.hurt and pull() > 1 { say "{The b} cries." }
world w {
  object hero: Body  object rib: Bones
  goal done: rib.shots == 2
  lose late: any(k.shots > 2 for k: Bones)
}
"""
ROUNDS = (
    FIGHT.replace("  goal done", "  object friend: Body  turns hero, friend\n  goal done")
    .replace("aim(k, 1) = me  hurt(me) = true", "aim(k, 1) = k")
)  # fmt: skip
HIT = {"action": "hit", "args": {"b": "rib"}}
PASS = {"pass": True}
RAISE = {"action": "raise", "args": {}}


def opened(text: str) -> Session:
    return Session(open_text((Source("t.tw", None, text),), "w"))


def test_laws_read_what_the_tick_wrote_and_the_next_tick_has_forgotten_it() -> None:
    session = opened(FIGHT)
    (first,) = session.intend("hit rib")
    assert first.said == ("hero is shot, 2.", "The hero cries.", "The rib cries.")
    (second,) = session.intend("pass")
    assert not second.said
    (third,) = session.intend("hit rib")
    assert third.latched == ("done",)


def test_no_json_and_no_hash_has_it() -> None:
    session = opened(FIGHT)
    (outcome,) = session.intend("raise")
    shown = session.state_json()
    assert not {"hurt", "pull", "aim"} & {*shown["functions"], *shown["relations"]}
    other = opened(FIGHT.replace("scratch pull(): -3 to 3 clamped = 0", "derive pull() = 0")
                   .replace("  pull() += 2\n", ""))  # fmt: skip
    (without,) = other.intend("raise")
    assert outcome.hash_after == without.hash_after


def test_the_others_of_a_round_read_it() -> None:
    session = opened(ROUNDS)
    (first,) = session.intend("hit rib")
    assert session.state_json()["relations"]["hurt"] == [["rib"]]
    (second,) = session.intend("hit rib")
    assert second.refusal is not None
    assert second.refusal.label == "sore"
    assert (first.hash_after, second.status) == (second.hash_before, "refused")
    session.intend("pass")
    assert "hurt" not in session.state_json()["relations"]


def test_evaluators_agree() -> None:
    for text in (FIGHT, ROUNDS):
        done = [HIT, PASS, RAISE, HIT, HIT, PASS, RAISE, PASS, HIT, HIT]
        assert first_difference(text, done, 3) is None
