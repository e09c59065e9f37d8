"""`frozen` makes the classes that the standard decorator makes, each method when it is needed."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field, fields, replace

import pytest

from tokenworld.diagnostics.frozen import frozen


@frozen
class Point:
    """Somewhere."""

    x: int
    y: int = 2
    marks: list[str] = field(default_factory=list)
    seen: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Standard:
    """The same."""

    x: int
    y: int = 2
    marks: list[str] = field(default_factory=list)
    seen: int = field(default=0, compare=False)


@frozen
class Measured:
    width: int
    height: int
    area: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "area", self.width * self.height)


@frozen
class Named(Point):
    name: str = "?"

    def __repr__(self) -> str:
        return f"<{self.name}>"


@frozen
class Same:
    """Equal to all of its kind."""

    number: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same)

    def __hash__(self) -> int:
        return 7


GIVEN: list[tuple[tuple[object, ...], dict[str, object]]] = [
    ((1,), {}),
    ((1, 3), {}),
    ((1,), {"marks": ["a"]}),
    ((), {"x": 5, "seen": 9}),
    ((1, 2, [], 4), {}),
]


def _values(one: object) -> list[object]:
    return [getattr(one, place.name) for place in fields(one)]  # type: ignore[arg-type]


@pytest.mark.parametrize(("args", "named"), GIVEN)
def test_values_are_those_of_the_standard_decorator(
    args: tuple[object, ...], named: dict[str, object]
) -> None:
    ours, theirs = Point(*args, **named), Standard(*args, **named)  # type: ignore[arg-type]
    assert _values(ours) == _values(theirs)
    assert repr(ours) == repr(theirs).replace("Standard", "Point")
    assert Point.__match_args__ == Standard.__match_args__


@pytest.mark.parametrize(("args", "named"), [((), {}), ((1, 2, [], 4, 5), {}), ((1,), {"z": 1})])
def test_what_does_not_fit_is_a_type_error(
    args: tuple[object, ...], named: dict[str, object]
) -> None:
    for kind in (Point, Standard):
        with pytest.raises(TypeError):
            kind(*args, **named)  # type: ignore[arg-type]


def test_they_compare_by_what_counts() -> None:
    everything = [args for args in GIVEN if not args[1]]
    for first, _ in everything:
        for second, _ in everything:
            ours = Point(*first) == Point(*second)  # type: ignore[arg-type]
            assert ours == (Standard(*first) == Standard(*second))  # type: ignore[arg-type]
    assert Point(1, seen=3) == Point(1, seen=4)
    assert Point(1) != Named(1)
    assert Named(1) != Point(1)
    assert Point(1) != 1


def test_equal_ones_have_equal_hashes() -> None:
    one, other = Measured(2, 3), Measured(2, 3)
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, other, Measured(3, 2)}) == 2
    with pytest.raises(TypeError):
        hash(Point(1))  # a list is among its values


def test_what_is_worked_out_after_the_values() -> None:
    assert Measured(2, 3).area == 6
    assert replace(Measured(2, 3), width=5).area == 15


def test_a_list_is_made_for_each() -> None:
    one, other = Point(1), Point(1)
    one.marks.append("a")
    assert other.marks == []


def test_its_own_methods_are_kept() -> None:
    assert repr(Named(1, name="here")) == "<here>"
    assert Same(1) == Same(2)
    assert hash(Same(3)) == 7


def test_copies_are_equal() -> None:
    one = Point(1, 5, ["a"])
    assert copy.copy(one) == one
    assert copy.deepcopy(one) == one
    assert pickle.loads(pickle.dumps(one)) == one
    assert not hasattr(one, "__dict__")


def test_methods_are_compiled_when_they_are_first_called() -> None:
    @frozen
    class Fresh:
        value: int

    before = Fresh.__init__
    assert Fresh(1) == Fresh(1)
    assert Fresh.__init__ is not before
    after = Fresh.__init__
    assert Fresh(2) != Fresh(1)
    assert Fresh.__init__ is after
