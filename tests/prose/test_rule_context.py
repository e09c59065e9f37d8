"""The rules of a world as context for a language model: actions, objects, score."""

from __future__ import annotations

from tokenworld.check import check_source
from tokenworld.diagnostics import Source
from tokenworld.prose.rulebook import RuleContext, rule_context

WORLD = """
type Thing { warm: bool }
type Stove : Thing { on: bool }
## Light it.
action light(s: Stove) as "light {s}" { require not s.on else lit "It burns."  s.on = true }
phase heat sequentially
law warming(s: Stove) during heat when s.on { for x: Thing { x.warm = true } }
function clock(): int = 0
law striking() { clock() += 1 }
world one "One" { object stove: Stove  goal done: stove.warm "Warm."  score = clock() }
world two "Two" { object stove2: Stove  lose cold: not stove2.warm }
"""


def context(world: str) -> RuleContext:
    program = check_source(Source("test.tw", None, WORLD)).program
    assert program is not None
    return rule_context(program, program.worlds[world])


def test_actions_are_numbered_rules() -> None:
    assert context("one").actions == (
        "light:\nDescription: Light it.\nRules:\n1. Said as “light [the stove]”.\n"
        "2. With a stove.\n3. Only if:\n"
        "  - The stove is not on. Else: “It burns.”\n"
        "4. Then, all at once:\n  - From now on the stove is on."
    )


def test_laws_stand_with_their_kind_of_object() -> None:
    blocks = context("one").objects.split("\n==========\n")
    stove = next(one for one in blocks if one.startswith("Object: Stove"))
    assert "- Every stove is a thing." in stove
    assert "In every tick:\n- **warming**: for every stove when the stove is on:" in stove
    thing = next(one for one in blocks if one.startswith("Object: Thing"))
    assert "In every tick" not in thing
    assert "Object: The tick\nProperties:\n- Phase “heat”: One after the other" in blocks[-2]
    assert blocks[-1].startswith("Object: The world\nIn every tick:\n- **striking**: always:")


def test_the_score_is_that_of_one_world() -> None:
    assert context("one").score.splitlines() == [
        "- Won (done) when the stove is warm. “Warm.”",
        "- The score is the clock.",
    ]
    assert context("two").score.startswith("- Lost (cold) when")
    assert "stove2" not in context("one").score
