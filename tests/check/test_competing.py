"""Words, names and births that two rules would claim (TW0603, TW0604)."""

from __future__ import annotations

import pytest

from tokenworld.diagnostics import Source
from tokenworld.session import check_text

BASE = """
enum Way { north, `far south` }
enum Side { on, `in` }
type Thing { side: Side  way: Way  at: Thing?  n: 0 to 99 = 0 }
type Lamp : Thing
type Rug : Thing
type Mat : Rug
object brass_lamp: Lamp
object carpet: Rug "Persian carpet" aka "the rug"
"""


def codes(rules: str) -> list[str]:
    found = check_text(Source("t.tw", None, BASE + rules)).diagnostics
    return [one.code for one in found if one.is_error]


def two(first: str, second: str) -> str:
    """Two actions with the parameters and phrase of each, as `x: T|phrase`."""
    actions = []
    for name, text in (("a", first), ("b", second)):
        params, _, phrase = text.partition("|")
        said = " ".join(f"{{{one.split(':')[0].strip()}}}" for one in params.split(",") if one)
        actions.append(f'action {name}({params}) as "{phrase}" {{ say "{name} {said}" }}')
    return "\n".join(actions)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("|wave", "|Wave."),
        ("|look around", "|look  around"),
        ("x: Lamp|light {x}", "y: Thing|light {y}"),
        ("x: Thing|take {x}", "y: Thing|take the {y}"),
        ("w: Way|go {w}", "|go far south"),
        ("w: Way|go {w} now", "v: Way|go {v} now"),
        ("n: 1 to 9|wait {n}", "m: 5 to 20|wait {m}"),
        ("n: 1 to 9|wait {n}", "|wait 5"),
        ("x: Thing|rub {x}", "|rub brass lamp"),
        ("x: Thing|rub {x}", "|rub the rug"),
        ("x: Rug|roll {x}", "|roll Persian carpet"),
        ("x: Thing|put {x} {x.side} it", "y: Thing|put {y} in it"),
    ],
)
def test_phrases_that_can_mean_two_actions(first: str, second: str) -> None:
    assert codes(two(first, second)) == ["TW0603"]
    assert codes(two(second, first)) == ["TW0603"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("x: Lamp|open {x}", "y: Rug|open {y}"),
        ("x: Thing|take {x}", "y: Thing|take {y} off"),
        ("x: Thing|take {x}", "|take"),
        ("n: 1 to 4|wait {n}", "m: 5 to 20|wait {m}"),
        ("w: Way|go {w}", "|go south"),
        ("w: Way|go {w}", "s: Side|go {s}"),
        ("x: Rug|roll {x}", "|roll carpet"),
        ("x: Thing|put {x} {x.side} it", "y: Thing|put {y} under it"),
        ("x: Thing, y: Thing|put {x} on {y}", "z: Thing|put down {z}"),
    ],
)
def test_phrases_that_words_keep_apart(first: str, second: str) -> None:
    assert codes(two(first, second)) == []


def test_phrases_of_one_action_may_overlap() -> None:
    assert codes('action a(x: Lamp) as "rub {x}" or "rub the {x}" { say "{x}" }') == []


def test_an_object_that_is_called_otherwise_is_not_named_by_its_identifier() -> None:
    rules = two("x: Lamp|rub {x}", "|rub brass lamp")
    assert codes('called l: Lamp = "shiny thing"\n' + rules) == []


@pytest.mark.parametrize("word", ["called", "describe"])
def test_two_parents_that_both_speak_for_a_type(word: str) -> None:
    def rule(name: str) -> str:
        if word == "called":
            return f'called x: {name} = "{name}"\n'
        return f'describe x: {name} {{ say "{{x}}" }}\n'

    both = rule("Lamp") + rule("Rug")
    assert codes(both) == []
    torch = "type Torch : Lamp, Mat\n"
    assert codes(torch + both) == ["TW0604"]
    assert codes(torch + both + rule("Torch")) == []
    assert codes(torch + both + rule("Thing")) == ["TW0604"]
    assert codes(torch + "type Flare : Torch\n" + both) == ["TW0604"]


def test_births_of_two_parents_both_run() -> None:
    births = "birth x: Lamp { x.n = 1 }\nbirth x: Rug { x.way = north }\n"
    make = 'action a(t: Torch) { create u: Torch { }  say "{t}" }\n'
    assert codes("type Torch : Lamp, Rug\n" + births + make) == []
    assert codes(births + "birth y: Lamp { y.way = north }") == ["TW0604"]


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ("table t(s: Side): 0 to 9 { on: 1 }", ["TW0306"]),
        ("table t(s: Side): 0 to 9 = 3 { on: 1 }", []),
        ("table t(s: Side): Way? { on: north }", []),
        ("table t(s: Side): bool { on: true }", []),
        ("table t(s: Side) { on }", []),
        ("table t(s: Side, n: 1 to 2): 0 to 9 { on, 1: 1  on, 2: 1  `in`, 1: 1 }", ["TW0306"]),
        ("table t(n: 0 to 4000000000): 0 to 9 { 0: 1  1: 1 }", ["TW0306"]),
        ("table t(r: Rug): 0 to 9 { carpet: 1 }", []),
        ("table t(r: Thing): 0 to 9 { carpet: 1 }", ["TW0306"]),
        ("table t(s: Side): 0 to 9 { on: 77 }", ["TW0308"]),
    ],
)
def test_tables_have_a_row_for_every_key(table: str, found: list[str]) -> None:
    assert codes(table) == found


def test_the_missing_row_is_named() -> None:
    table = "table t(s: Side, n: 1 to 2): 0 to 9 { on, 1: 1  on, 2: 1  `in`, 1: 1 }"
    (found,) = check_text(Source("t.tw", None, BASE + table)).diagnostics
    assert "`in, 2`" in found.message
