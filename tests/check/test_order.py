"""Laws of sequential phases whose result may depend on the order; encodings refuse them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.check.analysis.laws import order_pairs
from tokenworld.diagnostics import Failure, Source
from tokenworld.session import check_text
from tokenworld.session.loading import open_text
from tokenworld.session.pddl import export
from tokenworld.verbs.check import check
from tokenworld.verbs.output import Output

BASE = """
type Box { at: Box? nested inverse parts closure inside  n: 0 to 9 = 0  m: 0 to 9 = 0  on: bool }
type Pot { n: 0 to 9 = 0 }
type Mote { box: Box? }
function total(): int = 0
function seen(): 0 to 9 clamped = 0
phase turns sequentially
"""


def pairs(laws: str) -> list[str]:
    found = check_text(Source("t.tw", None, BASE + laws))
    assert found.program is not None, found.diagnostics
    return [f"{one.first} {one.what} {one.use} {one.second}" for one in order_pairs(found.program)]


@pytest.mark.parametrize(
    "laws",
    [
        "law l(b: Box) during turns when b.n < 9 { b.n += 1 }",
        "law l(b: Box) during turns { b.n = b.m }",
        "law l(b: Box) during turns when b.on { b.on = false }",
        "law l(b: Box) during turns { b.n = 3 }\nlaw k(b: Pot) during turns { b.n = 4 }",
        "law l(b: Box) during turns { total() += 1 }",
        "law l(b: Box) during turns { total() += b.n }",
        "law l(b: Box) during turns { seen() += 1 }",
        "law l(b: Box) during turns { for x in b.parts { x.on = true } }",
        "law l(b: Box) { b.n = sum(x.m for x: Box) }\nlaw k(b: Box) { b.m = b.n }",
    ],
)
def test_independent_laws_are_not_listed(laws: str) -> None:
    assert pairs(laws) == []


@pytest.mark.parametrize(
    ("laws", "expected"),
    [
        ("law l(b: Box) during turns when b.at != none and b.at.n > b.n { b.n += 1 }",
         ["l n reads l"]),
        ("law l(b: Box) during turns { b.m = sum(x.m for x in b.parts) }", ["l m reads l"]),
        ("law l() during turns { create m: Mote }\n"
         "law k() during turns { let x = pick { m: Mote }  if x != none { x.box = none } }",
         ["l Mote reads k"]),
        ("law l(b: Box) during turns { b.n = b.m }\nlaw k(b: Box) during turns { b.m = 3 }",
         ["k m reads l"]),
        ("law l(b: Box) during turns { b.n = 1 }\nlaw k(b: Box) during turns { b.n = 2 }",
         ["l n writes k"]),
        ("law l(b: Box) during turns { seen() += b.n }", ["l seen writes l"]),
        ("law l(b: Box, c: Box) during turns { b.n = c.m }", ["l n writes l"]),
        ("law l(b: Box) during turns when b.on { create m: Mote { box = b } }\n"
         "law k() during turns { total() += count(m for m: Mote) }", ["l Mote reads k"]),
    ],
)  # fmt: skip
def test_what_depends_on_the_order_is_listed(laws: str, expected: list[str]) -> None:
    assert pairs(laws) == expected


def test_the_list_is_printed_with_both_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "boxes.tw"
    law = "law l(b: Box) during turns { b.n = 1 }\nlaw k(b: Box) during turns { b.n = 2 }\n"
    path.write_text(BASE + law, encoding="utf-8")
    assert check((str(path),), Output(), order=True) == 0
    said = capsys.readouterr().out
    assert "phase turns: `l` writes `n`" in said
    assert "boxes.tw:8:30" in said
    assert "boxes.tw:9:30" in said


WORLD = """
type Box { at: Box? nested  heat: 0 to 9 = 0 }
action wait() { }
phase heating sequentially ORDER
law spread(b: Box) during heating when b.at != none and b.at.heat > b.heat { b.heat += 1 }
world attic {
  object trunk: Box { heat = 5 }
  object tin: Box { at = trunk }
  goal warm: tin.heat == 5
}
"""


@pytest.mark.parametrize(("order", "code"), [("by nesting", "TW0805"), ("", "TW0801")])
def test_a_sequential_phase_is_never_encoded(order: str, code: str) -> None:
    opened = open_text((Source("t.tw", None, WORLD.replace("ORDER", order)),), "attic")
    with pytest.raises(Failure) as caught:
        export(opened, None)
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert found.span is not None
    assert found.span.line == 4


def test_an_independent_phase_by_nesting_is_no_order_problem() -> None:
    calm = WORLD.replace("ORDER", "by nesting").replace("b.at.heat > b.heat", "b.heat < 5")
    opened = open_text((Source("t.tw", None, calm),), "attic")
    with pytest.raises(Failure) as caught:
        export(opened, None)
    assert [one.code for one in caught.value.diagnostics] == ["TW0801"]
