"""Desugaring: each construct in the words of core, told by a printer that knows core alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.check import check_source
from tokenworld.core import Rules, lowered
from tokenworld.core.show import shown
from tokenworld.diagnostics import Source, has_errors, read_source

DOMAINS = Path(__file__).parents[2] / "domains"
WORLDS = sorted(DOMAINS.glob("*/world.tw"))

HEAD = """
type Box { n: 0 to 9  open: bool  price: 0.0 to 9.0  next: Box? }
relation near(a: Box, b: Box)
event done(b: Box)
"""


def rules(text: str) -> Rules:
    checked = check_source(Source("test.tw", None, HEAD + text))
    assert not has_errors(checked.diagnostics), checked.diagnostics
    assert checked.program is not None
    return lowered(checked.program)


def body(text: str, params: str = "a: Box, b: Box") -> list[str]:
    """The body of an action, a line for each statement of core."""
    return shown(rules(f"action act({params}) {{ {text} }}").actions["act"].body)


def condition(text: str) -> str:
    (require,) = rules(f"action act(a: Box, b: Box) {{ require {text} }}").actions["act"].requires
    return shown((require,))[0].removeprefix("require ")


@pytest.mark.parametrize(
    ("written", "core"),
    [
        ("a != b", "not(a == b)"),
        ("a.n > b.n", "Box.n(b) < Box.n(a)"),
        ("a.n >= b.n", "Box.n(b) <= Box.n(a)"),
        ("a.open implies b.open", "or(not(Box.open(a)), Box.open(b))"),
        ("a.price < a.n", "Box.price(a) < (Box.n(a) scale 10)"),
        ("a in [b]", "a in [b]"),
        ("any(c.open for c: Box where c != a)", "any(Box.open(c) for c: Box where not(c == a))"),
        ("a.next == none", "Box.next(a) == none"),
    ],
)
def test_conditions(written: str, core: str) -> None:
    assert condition(written) == core


@pytest.mark.parametrize(
    ("written", "core"),
    [
        ("a.n -= 1", ["Box.n(a) += neg(1)"]),
        (
            "swap a.n, b.n",
            ["let `0 = Box.n(a)", "let `1 = Box.n(b)", "Box.n(a) = `1", "Box.n(b) = `0"],
        ),
        (
            "transfer 2 of a.n to b.n",
            [
                "let `0 = amount(2)", "if not(`0 == none)", "  Box.n(a) += neg(`0)",
                "  Box.n(b) += `0",
            ],
        ),
        (
            "chance 25% { a.n = 1 } or 50% { a.n = 2 } else { a.n = 3 }",
            [
                "let `0 = branch(25, 50)", "if `0 == 0", "  Box.n(a) = 1", "else",
                "  if `0 == 1", "    Box.n(a) = 2", "  else", "    Box.n(a) = 3",
            ],
        ),
        (
            "pick c: Box where c.open { c.n = 1 } else { a.n = 2 }",
            [
                "let c = pick(c: Box where Box.open(c) uniform)", "if not(c == none)",
                "  Box.n(c) = 1", "else", "  Box.n(a) = 2",
            ],
        ),
        (
            "let lucky = chance 50%  if lucky { a.n = 1 }",
            ["let `0 = branch(50)", "let lucky = `0 == 0", "if lucky", "  Box.n(a) = 1"],
        ),
        ("add near(a, b)", ["add near(a, b)"]),
        (
            "create c: Box { n = 4 }  emit done(c)",
            ["create c: Box (Box.n = 4, Box.open = false)", "emit done(c)"],
        ),
    ],
)  # fmt: skip
def test_changes(written: str, core: list[str]) -> None:
    assert body(written) == core


def test_the_defaults_of_a_type_are_filled_in() -> None:
    text = "type Crate : Box { n = 7 }  action act() { create c: Crate { open = true } }"
    assert shown(rules(text).actions["act"].body) == [
        "create c: Crate (Box.n = 7, Box.open = true)"
    ]


@pytest.mark.parametrize("path", WORLDS, ids=lambda path: path.parent.name)
def test_every_bundled_world_has_a_core(path: Path) -> None:
    program = check_source(read_source(path)).program
    assert program is not None
    found = lowered(program)
    assert found.actions.keys() == program.actions.keys()
    for action in found.actions.values():
        assert shown((*action.guards, *action.body, *action.cancelled)) or not action.guards
