"""Claims in prose that another program wrote: what is read, what is true, what stays unread."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tokenworld.diagnostics import Source
from tokenworld.engine import EngineSpeaker
from tokenworld.engine.reference import Reference
from tokenworld.engine.reference.values import Env
from tokenworld.prose.claims import ClaimReader
from tokenworld.prose.lexicon import Lexicon
from tokenworld.prose.wording import EnglishProse
from tokenworld.session.loading import open_text
from tokenworld.session.session import Session
from tokenworld.verbs.recheck import holds, mirrored, play_plainly

RULES = """
unit l
enum Lock { open, closed }
enum Light { dark, dim, bright }
type Place { }
type Thing { at: Object? nested inverse contents closure inside }
type Chest : Thing { state: Lock = closed  secret trap: bool = true }
type Lamp : Thing { lit: bool = false  oil: 0l to 9l = 4l }
type Person : Thing { eggs: 0 to 9 = 3  strength: 0 to 9 = 5 }
relation linked(a: Place, b: Place) symmetric
function light(): Light = dim
function fear(p: Person): 0 to 9 = 1
derive heavy(c: Chest) = count(c.contents) > 0
derive knows(p: Person, q: Person) = p != q and p.at == q.at
scope x: Thing = x in me.at.inside
actor me: Person
action open_it(c: Chest) as "open {c}" {
  require c.state == closed else done "Open."
  c.state = open
}
action light_it(l: Lamp) as "light {l}" or "kindle {l}" { l.lit = true  l.oil -= 1l }
action take(x: Thing) as "take {x}" { x.at = me  say "You take {the x}." }
world small {
  object hall, attic: Place
  object bran: Person "Bran" { at = hall }
  object mira: Person "Mira" { at = hall }
  object oak_chest: Chest aka "chest" { at = hall }
  object iron_chest: Chest aka "chest" { at = hall  state = open }
  object lamp: Lamp "old lamp" aka "lamp" { at = hall }
  object key: Thing "brass key" { at = oak_chest }
  object ring: Thing { at = attic }
  setup { add linked(hall, attic) }
}
"""

Tell = Callable[[str, str], list[tuple[str, bool | None]]]


@pytest.fixture(scope="module")
def tell() -> Tell:
    """What is read of a prose after a command: the clauses with their truth, "" for unread ones."""
    world = open_text((Source("small.tw", None, RULES),), "small")
    reader, reference = ClaimReader(world.program), Reference(world.instance, EnglishProse())

    def told(command: str, prose: str) -> list[tuple[str, bool | None]]:
        session = Session(world)
        before = session.state
        resolved = session.why_not(command).command
        assert resolved is not None
        session.intend(command)
        plain, records = play_plainly(reference, mirrored(reference, before), resolved)
        lexicons = [Lexicon(EngineSpeaker(world.engine, one)) for one in (before, session.state)]
        found = reader.told(prose, lexicons[0], lexicons[1], before.acting)
        env, made = Env(plain, plain, before.acting), [one.record for one in records]
        claims = [(one.text, holds(reference.words, one, env, made)) for one in found.claims]
        return [*claims, *[("", None)] * found.unread]

    return told


def one(tell: Tell, command: str, prose: str) -> bool | str | None:
    """The truth of prose of one clause; "unread"."""
    ((text, so),) = tell(command, prose)
    return so if text else "unread"


@pytest.mark.parametrize(
    "prose",
    [
        "The lamp is lit.",
        "The old lamp is now lit!",
        "Now the lamp is still lit",
        "The oak chest is closed.",
        "The oak chest is not open.",
        "The oil of the lamp is 3l.",
        "The lamp's oil is 3.",
        "The light is dim.",
        "Your strength is 5.",
        "Bran's eggs are three.",
        "Bran has 3 eggs.",
        "You have three eggs.",
        "Mira has 3 eggs.",
        "The fear of Bran is one.",
        "The brass key is in the oak chest.",
        "The oak chest is in the hall.",
        "The brass key is in the hall.",
        "The oak chest contains the brass key.",
        "The oak chest is heavy.",
        "The iron chest is not heavy.",
        "You are in the hall.",
        "The hall is linked to the attic.",
        "The attic is linked with the hall",
        "Bran knows Mira.",
        "Bran is in the hall.",
        "You light the lamp.",
        "Bran lights the old lamp.",
        "Bran kindles the lamp.",
        "You have no brass key.",
        "You are not carrying the brass key.",
    ],
)
def test_what_is_true(tell: Tell, prose: str) -> None:
    assert one(tell, "light lamp", prose) is True


@pytest.mark.parametrize(
    "prose",
    [
        "The lamp is not lit.",
        "The oak chest is open.",
        "The iron chest is closed.",
        "The oil of the lamp is 4l.",
        "The lamp's oil is 9 l.",
        "The light is bright.",
        "Bran has four eggs.",
        "You have 0 eggs.",
        "You have no eggs.",
        "The brass key is in the iron chest.",
        "The oak chest is in the attic.",
        "You have the brass key.",
        "You carry the ring.",
        "The iron chest is heavy.",
        "You open the oak chest.",
        "Bran takes the brass key.",
    ],
)
def test_what_is_false(tell: Tell, prose: str) -> None:
    assert one(tell, "light lamp", prose) is False


@pytest.mark.parametrize(
    "prose",
    [
        "The lamp is beautiful.",
        "The dragon is lit.",
        "It is lit.",
        "Is the lamp lit?",
        "If you look closely, the lamp is lit.",
        "Bran says that the lamp is lit.",
        "“The lamp is not lit,” says Bran.",
        '"The lamp is not lit. The oak chest is open."',
        "The lamp was dark.",
        "The lamp might be lit.",
        "You could open the oak chest.",
        "You try to open the oak chest.",
        "You opened the oak chest.",
        "The lamp is lit or beautiful.",
        "The ring is in the attic.",
        "The oak chest is trap.",
        "The trap of the oak chest is true.",
        "Mira opens the oak chest.",
        "The lamp holds 3 hopes.",
        "x" * 5000,
        "\x1b[2J\x00 \u202e",
        "{}",
    ],
)
def test_what_is_not_read(tell: Tell, prose: str) -> None:
    found = tell("light lamp", prose)
    assert found
    assert not [text for text, _ in found if text]


def test_names_of_several_things_decide_only_where_they_agree(tell: Tell) -> None:
    assert one(tell, "light lamp", "The chest is open.") is None  # one is, one is not
    assert one(tell, "open oak chest", "The chest is open.") is True
    assert one(tell, "open oak chest", "The chest is closed.") is False


def test_clauses_of_a_sentence_are_read_one_by_one(tell: Tell) -> None:
    found = tell("light lamp", "You light the lamp, and the oak chest is open, but it creaks.")
    assert found == [("you light the lamp", True), ("the oak chest is open", False), ("", None)]


def test_what_was_refused_was_not_done(tell: Tell) -> None:
    assert one(tell, "open iron chest", "You open the iron chest.") is False
    assert one(tell, "open oak chest", "You open the oak chest.") is True


def test_what_moved_is_where_it_is_now(tell: Tell) -> None:
    prose = "You take the brass key. You have the brass key. The brass key is in the oak chest."
    assert [so for _, so in tell("take brass key", prose)] == [True, True, False]
