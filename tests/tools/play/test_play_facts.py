"""The world pane and the inventory, for worlds that nest, refer, or only relate."""

from __future__ import annotations

from collections.abc import Callable

from tokenworld.play.model.records import View
from tokenworld.session import Session
from tokenworld.verbs.output import plain_text


def test_a_described_place_comes_first_and_secrets_stay_secret(attic: Session) -> None:
    view = View(attic)
    assert view.title == "attic"
    assert plain_text(view.lines).split("\n") == [
        "You are in the attic. You see a robot and a trunk.",
        "",
        "child (Child): at attic, energy 5",
        "attic (Place)",
        "robot (Toy): at attic, wound 0",
        "trunk (Box): at attic, locked",
    ]


def test_what_is_nested_in_the_actor_is_carried(attic: Session) -> None:
    assert View(attic).carried == ()
    attic.intend("take robot")
    assert View(attic).carried == ("robot",)


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
    text = plain_text(view.lines)
    assert "a, b, c (Block)" in text
    assert "on: c a" in text
    assert "hand-empty: yes" in text
    assert "holding" not in text
    assert "lift-cost: a 1; b 2; c 1" in text


def test_numbers_have_their_units(open_domain: Callable[[str], Session]) -> None:
    text = plain_text(View(open_domain("kitchen/world.tw")).lines)
    assert "level 3l" in text
    assert "not drain open" in text


def test_only_what_is_in_scope_is_told(open_domain: Callable[[str], Session]) -> None:
    cottage = open_domain("cottage/world.tw")
    assert "whetstone" not in plain_text(View(cottage).lines)
    cottage.intend("go through cottage door")
    assert "whetstone" in plain_text(View(cottage).lines)
