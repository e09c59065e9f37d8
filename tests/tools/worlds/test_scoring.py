"""The paper's scorer is blind where it is said to be, and the strict one is not."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tokenworld.verbs.records.answers import Difference, published, same_score, strict, unequal

Objects = list[dict[str, Any]]
WANTED: Objects = [
    {
        "name": "room (ID: 1)", "uuid": 1, "type": "World",
        "properties": {"open": True, "dial": [1, 2], "links": {"a": ["b", None]}, "heat": 20},
        "contains": ["cup (ID: 2)", "pot (ID: 3)"],
    },
    {"name": "cup (ID: 2)", "uuid": 2, "type": "Cup", "properties": {"on": False}, "contains": []},
    {"name": "pot (ID: 3)", "uuid": 3, "type": "Pot", "properties": {}, "contains": []},
]  # fmt: skip


def changed(change: Callable[[Objects], object]) -> Objects:
    objects = copy.deepcopy(WANTED)
    change(objects)
    return objects


def ghost(objects: Objects) -> None:
    objects.append({**objects[1], "uuid": 9, "name": "ghost"})


BLIND: dict[str, Callable[[Objects], object]] = {
    "a ghost": ghost,
    "another property": lambda o: o[1]["properties"].update(smell="good"),
    "a wrong name": lambda o: o[1].update(name="bowl"),
    "a wrong type": lambda o: o[1].update(type="Bowl"),
    "the order of contents": lambda o: o[0]["contains"].reverse(),
    "the order of objects": lambda o: o.reverse(),
    "a number for a truth": lambda o: o[1]["properties"].update(on=0),
}
SEEN: dict[str, Callable[[Objects], object]] = {
    "a missing object": lambda o: o.pop(),
    "a wrong value": lambda o: o[0]["properties"].update(heat=21),
    "a missing property": lambda o: o[0]["properties"].pop("heat"),
    "a wrong list": lambda o: o[0]["properties"].update(dial=[2, 1]),
    "a wrong map": lambda o: o[0]["properties"]["links"].update(a=["c", None]),
    "other contents": lambda o: o[0]["contains"].pop(),
}


@pytest.mark.parametrize("name", [*BLIND, *SEEN])
def test_what_each_scorer_takes(name: str) -> None:
    found = changed({**BLIND, **SEEN}[name])
    assert published(found, WANTED) is (name in BLIND)
    assert not strict(found, 4, WANTED, 4)
    assert next(unequal(found, 4, WANTED, 4))


def test_an_equal_state_passes_both() -> None:
    found = changed(lambda o: o[0]["properties"].update(heat=20.0))
    assert published(found, WANTED)
    assert strict(found, 4, WANTED, 4)
    assert strict(found, None, WANTED, 4)
    assert not strict(found, 5, WANTED, 4)
    assert not strict(WANTED, 5, WANTED, 4)
    assert list(unequal(found, 5, WANTED, 4)) == [Difference(None, "", "max_UUID", 4, 5)]


def test_what_is_no_state_is_no_answer() -> None:
    broken: list[Any] = [
        [{"uuid": 1}], [{"uuid": 1, "properties": 3, "contains": []}], ["x"], [{"name": "room"}],
    ]  # fmt: skip
    for found in broken:
        assert not published(found, WANTED)


def test_differences_name_what_is_otherwise() -> None:
    def change(objects: Objects) -> None:
        objects[0]["properties"].update(heat=25.0)
        objects[1].update(name="bowl")
        ghost(objects)

    found = list(unequal(changed(change), 4, WANTED, 4))
    assert found == [
        Difference(1, "room (ID: 1)", "heat", 20, 25.0),
        Difference(2, "cup (ID: 2)", "name", "cup (ID: 2)", "bowl"),
        Difference(9, "ghost", "", "is not there", "is there"),
        Difference(None, "", "order of objects", [1, 2, 3], [1, 2, 3, 9]),
    ]


def test_scores() -> None:
    wanted = {"score": 1, "gameOver": True, "gameWon": True}
    assert same_score(dict(wanted), wanted, strictly=True)
    assert same_score({"score": 1, "gameOver": 1, "gameWon": 1}, wanted, strictly=False)
    assert not same_score({"score": 1, "gameOver": 1, "gameWon": 1}, wanted, strictly=True)
    assert not same_score({"score": 2, "gameOver": True, "gameWon": True}, wanted, strictly=False)
    assert not same_score({"score": 1, "gameOver": True}, wanted, strictly=False)
    assert not same_score({}, wanted, strictly=False)
