"""The state as an operator sees it: changed slots, containment, maps, and no secrets."""

from __future__ import annotations

from pathlib import Path

from tokenworld.play.model.inspection import Inspection, Place, SlotRow, window
from tokenworld.session import Session

ROOT = Path(__file__).parents[2]


def opened(world: str) -> Session:
    return Session.open(str(ROOT / world), 7)


def test_changed_slots_tell_both_values_and_the_rule() -> None:
    session = opened("domains/cellar/world.tw")
    assert not any(one.changed for one in Inspection(session).rows)
    session.intend("take brass key")
    assert [one for one in Inspection(session).rows if one.changed] == [
        SlotRow("brass_key.at", "stairs", None, True, ("action take",)),
        SlotRow("brass_key.holder", None, "hero", True, ("action take",)),
    ]
    session.intend("fly")
    assert not any(one.changed for one in Inspection(session).rows)


def test_secret_slots_stay_secret() -> None:
    session = opened("tests/tools/play/worlds/attic.tw")
    slots = {one.slot for one in Inspection(session).rows}
    assert "trunk.locked" in slots
    assert "trunk.inside" not in slots
    assert "pearls" not in str(Inspection(session).rows)


def test_objects_are_told_by_containment() -> None:
    session = opened("tests/tools/play/worlds/attic.tw")
    session.intend("take robot")
    robot, trunk = Place("robot", "Toy", ()), Place("trunk", "Box", ())
    assert Inspection(session).tree == (
        Place("attic", "Place", (trunk, Place("child", "Child", (robot,)))),
    ) or Inspection(session).tree == (
        Place("attic", "Place", (Place("child", "Child", (robot,)), trunk)),
    )


def test_without_nesting_the_first_reference_counts() -> None:
    tree = Inspection(opened("domains/cellar/world.tw")).tree
    stairs = next(one for one in tree if one.name == "stairs")
    assert {one.name for one in stairs.inside} == {"hero", "brass_key", "iron_key", "arch"}


def test_a_map_follows_what_moves() -> None:
    session = opened("domains/frozen_lake/world.tw")
    (before,) = Inspection(session).maps
    assert before.rows == ("@...", ".o.o", "...o", "o..G")
    assert before.signs == (("@", "skater"), ("G", "gift"))
    start = session.state_json()
    while session.state_json()["objects"] == start["objects"]:
        session.intend(session.legal()[-1].command)
    (after,) = Inspection(session).maps
    assert after.rows != before.rows
    assert "".join(after.rows).count("@") == 1
    assert "".join(after.rows).count("o") >= 3


def test_a_map_shows_what_became_of_the_ground() -> None:
    session = opened("domains/island/world.tw")
    (shown,) = Inspection(session).maps
    signs = dict(shown.signs)
    assert signs["@"] == "hero"
    assert all(len(row) == len(shown.rows[0]) for row in shown.rows)
    assert "~" in "".join(shown.rows)


def test_a_map_that_is_larger_than_the_pane_is_cut_around_the_acting_object() -> None:
    rows = tuple(f"{y}abcdefgh" for y in range(9))
    assert window(rows, (4, 1), (3, 3)) == (range(3, 6), range(0, 3))
    assert window(rows, (4, 1), (3, 9)) == (range(3, 6), range(0, 9))
    assert window(rows, (8, 8), (4, 2)) == (range(5, 9), range(7, 9))
    assert window(rows, (8, 8), (80, 24)) == (range(0, 9), range(0, 9))
    assert window(rows, None, (2, 2)) == (range(0, 2), range(0, 2))


def test_a_window_shows_the_same_signs_as_the_whole_map() -> None:
    inspection = Inspection(opened("domains/island/world.tw"))
    (whole,), (part,) = inspection.maps, inspection.windows(3, 2)
    assert part.at == whole.at
    assert part.rows == tuple(row[:3] for row in whole.rows[:2])
    assert dict(part.signs) == {"@": "hero"}
    (unseen,) = inspection.windows(5, 3, seen=())
    assert not unseen.signs


def test_a_map_shows_ground_that_was_not_there_at_the_start() -> None:
    session = opened("domains/crafter/quarry.tw")
    for call in ("interact()", "move(north)", "move(east)", "interact()", "place(table)"):
        session.intend(call)
    (shown,) = Inspection(session).maps
    assert shown.at == (5, 2)
    assert shown.rows[2][5:7] == "@t"
