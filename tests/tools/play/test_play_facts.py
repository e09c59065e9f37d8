"""The player's view: the place and what is in sight, the map, what is carried, and values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tokenworld.play.model.view import View, title_line
from tokenworld.session import Session
from tokenworld.verbs.output import UNICODE, Line, plain_text

FINDINGS = Path(__file__).parents[2] / "findings" / "play"


def text(session: Session, *, whole: bool = False) -> str:
    return plain_text(View(session, whole=whole).lines)


def test_a_described_place_comes_first_and_secrets_stay_secret(attic: Session) -> None:
    view = View(attic)
    assert view.title == "attic"
    assert plain_text(view.lines).split("\n") == [
        "You are in the attic. You see a robot and a trunk.",
        "",
        "child (you): energy 5",
        "robot (Toy): wound 0",
        "trunk (Box): locked",
    ]


def test_what_is_nested_in_the_actor_is_carried(attic: Session) -> None:
    assert View(attic).carried == ()
    attic.intend("take robot")
    assert View(attic).carried == ("robot (wound 0)",)


def test_what_refers_to_the_actor_is_carried(open_domain: Callable[[str], Session]) -> None:
    cellar = open_domain("cellar/world.tw")
    cellar.intend("take brass key")
    assert View(cellar).carried == ("brass key",)
    assert View(cellar).title == "stairs"


def test_relations_and_functions_are_facts_and_nobody_carries(
    open_domain: Callable[[str], Session],
) -> None:
    view = View(open_domain("blocks/world.tw"))
    assert view.carried is None
    told = plain_text(view.lines)
    assert "b (Block): lift-cost 2" in told
    assert "on: c a" in told
    assert "hand-empty: yes" in told
    assert "holding" not in told


def test_numbers_have_their_units(open_domain: Callable[[str], Session]) -> None:
    told = text(open_domain("kitchen/world.tw"))
    assert "level 3 l" in told
    assert "not drain open" in told


def test_only_what_is_in_scope_is_told(open_domain: Callable[[str], Session]) -> None:
    cottage = open_domain("cottage/world.tw")
    assert "whetstone" not in text(cottage)
    cottage.intend("go through cottage door")
    assert "whetstone" in text(cottage)


def test_other_places_and_what_is_in_them_are_not_shown(
    open_domain: Callable[[str], Session],
) -> None:
    cellar = open_domain("cellar/world.tw")
    assert text(cellar).split("\n") == [
        "hero (you)",
        "brass key, iron key (Key)",
        "to vault by arch: state open",
    ]
    for one in ("ruby", "oak chest"):
        assert one not in text(cellar)
    whole = text(cellar, whole=True)
    assert "oak chest (Chest): at vault, state locked, opened by brass key, inside ruby" in whole
    cellar.intend("go through arch")
    told = text(cellar)
    assert "oak chest (Chest): state locked" in told
    assert "key" not in told  # what opens the chest lies elsewhere
    assert "ruby" not in told  # it lies nowhere, and the chest that names it does not tell
    assert "to stairs by arch: state open" in told


def test_what_is_held_here_is_shown_and_what_is_nowhere_in_particular(
    open_text_world: Callable[[str], Session],
) -> None:
    session = open_text_world(HELD)
    told = text(session)
    assert "coin (Item): holder Bo" in told
    assert "pearl" not in told
    assert "luck (Idea): strength 3" in told
    assert "attic" not in told
    assert "attic (Room)" in text(session, whole=True)


HELD = """
type Room
type Person { at: Room }
type Item { holder: Person?  at: Room? }
type Idea { strength: 0 to 9 = 3 }
actor me: Person
action stay() as "stay" { }
world w {
  object hall, attic: Room
  object ann: Person { at = hall }
  object bo: Person "Bo" { at = hall }
  object cy: Person { at = attic }
  object coin: Item { holder = bo }
  object pearl: Item { holder = cy }
  object luck: Idea
}
"""


def test_a_scope_of_the_world_comes_before_the_default(
    open_text_world: Callable[[str], Session],
) -> None:
    seen = HELD.replace("action stay", "scope i: Item = i.holder != me\naction stay")
    assert "pearl" in text(open_text_world(seen))


def test_functions_of_one_object_are_told_with_it() -> None:
    session = Session.open(str(FINDINGS / "bakery.tw"), 0)
    session.intend("buy flour")
    told = text(session).split("\n")
    assert told[0] == "Ines (you): purse 19 coin"
    assert "flour (Good): price 1 coin, stock 1" in told
    assert "bread (Product): price 6 coin, baking 2, stock 0" in told
    assert "sold: 0" in told


def test_a_map_shows_the_things_on_it_and_no_cells_are_listed() -> None:
    view = View(Session.open(str(FINDINGS / "rover.tw"), 0))
    assert view.title == "The Rover"
    assert plain_text(view.lines).split("\n") == [
        "rover 1 (you): battery 12 wh",
        "lander (Lander): here",
        "dust (Sample): 3 south, not aboard, not delivered, weight 1",
        "basalt (Sample): 4 east, not aboard, not delivered, weight 3",
    ]
    assert [row[0] for row in view.map_lines[:1]] == [("@", "typed")]
    assert plain_text(view.map_lines).split("\n")[:4] == ["@..#B", ".#~~.", "..~#*", "D.*.."]
    legend = plain_text(view.map_lines[-1:])
    for one in ("# rock", "~ sand", "* sunny", "B basalt", "@ rover 1"):
        assert one in legend


def test_a_map_follows_the_actor_and_lists_what_the_window_shows() -> None:
    session = Session.open(str(FINDINGS / "rover.tw"), 0)
    (before,) = View(session, window=(3, 2)).maps
    assert before.rows == ("@..", ".#~")
    assert "dust" not in plain_text(View(session, window=(3, 2)).lines)
    for _ in range(3):
        session.intend("drive south")
    (after,) = View(session, window=(3, 2)).maps
    assert after.rows == ("..~", "@.*")
    assert "basalt" not in plain_text(View(session, window=(3, 2)).lines)


def test_where_several_act_the_title_tells_whose_turn_it_is(
    open_domain: Callable[[str], Session],
) -> None:
    def last(session: Session) -> Line:
        return title_line(session, UNICODE)[-1:]

    assert last(open_domain("willowbrook/world.tw")) == (("Mira's turn", "link"),)
    assert last(open_domain("cellar/world.tw")) == (("playing", "plain"),)
