"""Raw and shown values, numbered objects, constants: what every back-end starts from."""

from __future__ import annotations

from typing import Any

import pytest

from tokenworld.diagnostics import Source
from tokenworld.ground import (
    Instance,
    NotConstant,
    bindings,
    constant,
    domain_of,
    instantiate,
    param_values,
    read_value,
    show_value,
    slots,
)
from tokenworld.model import BOOL, REAL, TEXT, EnumType, NumberType, ObjectType, scaled_text
from tokenworld.session.loading import open_text

RULES = """
enum Way { north, south, east }
type Room
type Hall : Room
type T { at: Room?  n: 0.0 to 9.9 = 0.5 }
actor me: T
param rate: 1 to 9 = 2
param twice: int = rate * 2
param half: real = rate / 4
function f(a: T, w: Way): 0 to 9 = 0
relation r()
action go(t: T, w: Way, n: 2 to 3) { t.n = 0 }
object sky: Room
world w { object den: Hall  object ann, bob: T { at = den }  param rate = 4 }
world other { object zed: T }
"""


@pytest.fixture
def instance() -> Instance:
    return open_text((Source("t.tw", None, RULES),), "w").instance


def test_objects_are_numbered_top_level_first_in_order_of_declaration(instance: Instance) -> None:
    assert instance.names == ("sky", "den", "ann", "bob")
    assert dict(instance.numbers) == {"sky": 0, "den": 1, "ann": 2, "bob": 3}
    assert instance.members["Room"] == (0, 1)
    assert instance.members["Hall"] == (1,)
    assert instance.members["T"] == (2, 3)
    assert instance.members["Object"] == (0, 1, 2, 3)
    assert instance.me == 2


def test_params_are_worked_out_with_the_settings_of_the_world(instance: Instance) -> None:
    program = instance.program
    assert instance.params["rate"] == 4
    assert param_values(program, None, {})["rate"] == 2
    assert param_values(program, None, {}) == {"rate": 2, "twice": 4, "half": 0.5}
    assert param_values(program, program.worlds["w"], {"rate": 7})["rate"] == 7


def test_params_that_build_on_a_param_follow_its_setting(instance: Instance) -> None:
    assert instance.params == {"rate": 4, "twice": 8, "half": 1.0}
    values = param_values(instance.program, instance.world, {"rate": 8})
    assert values == {"rate": 8, "twice": 16, "half": 2.0}


def test_the_actor_is_the_first_object_of_its_type_or_of_turns() -> None:
    text = RULES.replace("param rate = 4", "turns bob")
    assert open_text((Source("t.tw", None, text),), "w").instance.me == 3
    text = RULES.replace("actor me: T", "")
    assert open_text((Source("t.tw", None, text),), "w").instance.me is None


def test_bindings_and_slots_are_in_order(instance: Instance) -> None:
    params = instance.program.actions["go"].params
    found = list(bindings(instance, params))
    assert found[0] == (2, 0, 2)
    assert found[-1] == (3, 2, 3)
    assert found == sorted(found)
    assert len(found) == 2 * 3 * 2
    fluents = {one.name: one for one in instance.program.fluents.values()}
    assert list(slots(instance, fluents["f"]))[:2] == [(2, 0), (2, 1)]
    assert list(slots(instance, fluents["r"])) == [()]
    assert list(slots(instance, fluents["n"])) == [(2,), (3,)]


def test_domains(instance: Instance) -> None:
    assert domain_of(instance, BOOL) == (False, True)
    assert domain_of(instance, EnumType("Way")) == (0, 1, 2)
    assert domain_of(instance, ObjectType("Room")) == (0, 1)
    assert domain_of(instance, ObjectType("Room", optional=True)) == (0, 1, None)
    assert domain_of(instance, NumberType(2, 4)) == (2, 3, 4)
    for endless in (NumberType(), NumberType(0, None), REAL, TEXT):
        assert domain_of(instance, endless) is None


VALUES: list[tuple[Any, Any, Any]] = [
    (BOOL, True, True),
    (EnumType("Way"), 1, "south"),
    (ObjectType("Room"), 1, "den"),
    (ObjectType("Room", optional=True), None, None),
    (NumberType(0, 99, 1), 25, 2.5),
    (NumberType(0, 99, 2, "%"), 25, 0.25),
    (NumberType(), 10**30, 10**30),
    (NumberType(decimals=3), -1, -0.001),
    (REAL, 0.1, 0.1),
    (TEXT, "x", "x"),
]


@pytest.mark.parametrize(("kind", "raw", "shown"), VALUES)
def test_values_are_shown_and_read_back(
    instance: Instance, kind: Any, raw: Any, shown: Any
) -> None:
    found = show_value(instance.program, instance.names, kind, raw)
    assert found == shown
    assert type(found) is type(shown)
    back = read_value(instance.program, instance.numbers, kind, shown)
    assert back == raw
    assert type(back) is type(raw)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (BOOL, 1), (EnumType("Way"), "west"), (EnumType("Way"), 1), (ObjectType("Room"), "attic"),
        (ObjectType("Room"), None), (ObjectType("Room"), 1), (NumberType(0, 9), 10),
        (NumberType(0, 9), -1), (NumberType(0, 9), True), (NumberType(0, 9), 2.5),
        (NumberType(0, 99, 1), 2.55), (NumberType(0, 9), "two"), (REAL, "x"), (REAL, False),
        (TEXT, 3), (NumberType(0, 9), [3]), (NumberType(0, 9), float("nan")),
        (NumberType(), float("inf")),
    ],
)  # fmt: skip
def test_values_that_do_not_fit_say_so(instance: Instance, kind: Any, value: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_value(instance.program, instance.numbers, kind, value)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(125, 1, "12.5"), (5, 2, "0.05"), (-5, 2, "-0.05"), (0, 1, "0.0"), (7, 0, "7")],
)
def test_scaled_numbers_as_text(value: int, decimals: int, text: str) -> None:
    assert scaled_text(value, decimals) == text


def test_constant_terms_and_terms_that_are_none(instance: Instance) -> None:
    twice = instance.program.params["twice"].default
    assert constant(twice, {}, {"rate": 3}) == 6
    (assign,) = instance.program.actions["go"].body
    with pytest.raises(NotConstant):
        constant(assign.target, {}, {})  # type: ignore[union-attr]


def test_instances_are_independent(instance: Instance) -> None:
    other = instantiate(instance.program, instance.program.worlds["other"], instance.params)
    assert other.names == ("sky", "zed")
