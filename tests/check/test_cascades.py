"""One mistake is one error: what follows from it is not reported too."""

from __future__ import annotations

import pytest

from tokenworld.diagnostics import Source
from tokenworld.session import check_text

CASES = {
    "an action that a scenario calls": """
        action a(t: T) { require t.missing else no "No."  t.n = 1 }
        world w { object x: T  goal g: x.n == 1 }
        scenario "s" in w { when a(x) then won  when a(x) then refused because no }""",
    "an action that a conservation exempts": """
        action a(t: Tt) as "a {t}" { t.n = 1 }
        conserve c: sum(t.n for t: T) except a""",
    "the type of an attribute": """
        type U { at: Roomm inverse things }
        derive d(u: U) = u.at != none
        world w { object u: U { at = u }  goal g: d(u) }""",
    "the type of a function": """
        function f(t: T): Coloor
        derive d(t: T) = f(t) == f(t)
        law l(t: T) { f(t) = f(t) }""",
    "a parameter of a relation": """
        relation r(t: T, u: Tt)
        law l(t: T, u: T) when r(t, u) { add r(t, u) }""",
    "a derive that others use": """
        derive d(t: T) = t.q
        derive e(t: T) = d(t) > 2
        law l(t: T) when d(t) == 1 { t.n = d(t) }""",
    "a param": "param p: 0 to 5 = 9\nlaw l(t: T) { t.n += p }",
    "an event": "event e(x: Tt)\nlaw l(t: T) { emit e(t) }",
    "a unit": "unit l = 3.5ml\ntype U { n: 0l to 9l = 0l }\nlaw x(u: U) { u.n = 1l }",
    "a table": """
        enum G { a, b }
        table t(g: G): H { a: x  b: y }
        derive d(g: G) = t(g) == x""",
    "the type of an object": """
        type U { o: T? }
        world w { object a: Tt { n = 3 }  object b: U { o = a }  goal g: a.n == 3 }
        scenario "s" in w { then a.n == 3 }""",
    "the type of the actor": "actor me: Tt\naction a() { me.n += 1 }",
    "a parent": "type U : Base { m: 0 to 9 }\nlaw l(u: U) when u.size > 2 { u.m = 1 }",
    "an ending": """
        world w { object a: T  goal g: a.q == 3 }
        scenario "s" in w { then won g }""",
    "a let": 'action a(t: T) { let k = t.q  require k > 3 else no "No."  t.n = k }',
    "a rule that a conservation misspells": """
        action give(t: T) as "give {t}" { t.n = 1 }
        conserve c: sum(t.n for t: T) except gave""",
    "an enum without an order": """
        enum M { low, high }
        type U { m: M }
        law up(u: U) when u.m < high { u.m = next(u.m) }
        law down(u: U) when u.m > low { u.m = prev(u.m) }""",
    "an action that could not be read": """
        action a(t: T) { if t.n > 3: return "No." }
        world w { object x: T }
        scenario "s" in w { when a(x) then refused because no }""",
    "an object that is created": """
        type U { at: T }
        world w { object x: T  setup { create u: U { at = nowhere } } }""",
    "a module that could not be read": """
        use std/things
        action a(x: Portable) { x.at = none }
        world w { object p: Place }""",
    "an object before a fact of no object": """
        function now_on(): 0 to 9
        law l(t: T) { t.n = t.now_on }""",
    "a member that is there twice": """
        enum M { low, low }
        type U { m: M }
        law up(u: U) { u.m = high }""",
    "a variable of the wrong type": """
        type U { t: T  u: U }
        function f(t: T): 0 to 9
        law up(x: T, u: U) when f(u) == 1 and u.u.t == u { x.n = f(u) }""",
    "a parent that a type lacks": """
        type U { m: 0 to 9 }
        law l(u: U) when u.bulk > 2 { u.size = 1 }
        type S { size: 0 to 9  bulk: 0 to 9 }
        world w { object u: U { size = 3 }  goal g: u.bulk == 3 }""",
    "a division": """
        derive half(t: T): 0 to 4 = t.n / 2
        watch w(t: T) when t.n < was t.n and half(t) > 2 { say "Less." }""",
    "a module": """
        use nothing.here
        law l(t: T) when near(t, t) { t.n = 1 }
        law m(c: Cell) { c.x = 3 }""",
    "an action that is there twice": """
        action a(t: T) as "a {t}" { t.n += 1 }
        action a(t: T) as "a {t}" { t.n += 2 }
        world w { object x: T }
        scenario "s" in w { when a(x) then x.n == 1 }""",
    "a row that is there twice": """
        enum G { a, b }
        table t(g: G): 0 to 9 { a: 1  a: 2 }""",
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_one_mistake_is_one_error(what: str) -> None:
    text = "type T { n: 0 to 9 clamped = 0 }\n" + CASES[what]
    found = check_text(Source("t.tw", None, text)).diagnostics
    assert len([one for one in found if one.is_error]) == 1, [one.message for one in found]


def test_independent_mistakes_are_each_told() -> None:
    text = """type T { n: 0 to 9 clamped = 0  at: Roomm }
    law a(t: T) { t.m = 1 }
    law b(t: T) during dusk { t.n = 1 }
    derive d(t: T) = t.n == none"""
    codes = [one.code for one in check_text(Source("t.tw", None, text)).diagnostics]
    assert codes == ["TW0202", "TW0201", "TW0502", "TW0301"]


def test_a_label_does_not_hide_a_name() -> None:
    """`dirty` is the label of a require, and yet nothing that a text could speak of."""
    text = """
    type Dish { soiled: bool }
    called d: Dish = "{if d.soiled then dirty else clean} dish"
    action eat(d: Dish) as "eat {d}" {
      require not d.soiled  else dirty "No."
      d.soiled = true
    }"""
    codes = [one.code for one in check_text(Source("t.tw", None, text)).diagnostics if one.is_error]
    assert "TW0201" in codes


def test_a_name_is_misspelt_where_it_is_declared_if_all_others_agree() -> None:
    text = """type T { nummber: 0 to 9 }
law up(t: T) when t.number < 9 { t.number += 1 }
law down(t: T) when t.number > 5 { t.number -= 1 }
"""
    (only,) = [one for one in check_text(text).diagnostics if one.is_error]
    assert only.message == "`nummber` is declared, and only `number` is used."
    assert (f"{only.span}", only.hint) == ("text.tw:1:10", "Did you mean `number`?")
    assert only.fix is not None
    (edit,) = only.fix.edits
    mended = f"{text[: edit.span.start]}{edit.text}{text[edit.span.end :]}"
    assert not [one for one in check_text(mended).diagnostics if one.is_error]


def test_of_two_names_that_stand_once_both_are_told() -> None:
    text = "phase growth\nphase soil\nlaw l() during grwth { }\n"
    (only,) = [one for one in check_text(text).diagnostics if one.is_error]
    assert (f"{only.span}", only.hint) == ("text.tw:3:16", "Did you mean `growth`?")
    assert [(f"{one.span}", one.label) for one in only.related] == [
        ("text.tw:1:7", "nothing else names it")
    ]
