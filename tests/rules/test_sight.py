"""Sight on a grid against a walk along the line of view, on small grids with random walls."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import floor
from pathlib import Path
from random import Random

import pytest

from tokenworld.session.loading import load_program
from tokenworld.session.scenarios import run_scenario

ROOT = Path(__file__).resolve().parents[2]
WIDE, HIGH = 5, 4
HALF = Fraction(1, 2)
Square = tuple[int, int]
SQUARES: list[Square] = list(product(range(WIDE), range(HIGH)))


@pytest.mark.parametrize("seed", range(3))
def test_sight_is_what_a_walk_along_the_line_of_view_meets(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    walls = set(Random(seed).sample(SQUARES, 6))
    pairs = list(product(SQUARES, SQUARES))
    seen = {pair for pair in pairs if is_open(*pair, walls)}
    assert all((b, a) in seen for a, b in seen)
    assert 100 < len(seen) < len(pairs)
    (tmp_path / "walls.tw").write_text(world(walls, pairs, seen), encoding="utf-8")
    monkeypatch.chdir(ROOT)
    loaded = load_program(tmp_path / "walls.tw")
    result = run_scenario(loaded, loaded.program.scenarios[0])
    assert [f"{one.wanted}: {one.found}" for one in result.failed] == []


def is_open(a: Square, b: Square, walls: set[Square]) -> bool:
    """Whether the line between the middles passes through no wall and between no two of them.

    The line crosses the borders of squares at known fractions of its length. Between two of them
    it is inside one square; where it crosses a column and a row at once, it is at a corner, whose
    other two squares must not both be walls.
    """
    cuts = sorted({Fraction(0), Fraction(1), *borders(a[0], b[0]), *borders(a[1], b[1])})
    inside = [at(a, b, (one + two) / 2) for one, two in pairwise(cuts)]
    if any(one in walls for one in inside if one not in (a, b)):
        return False
    return not any(
        {(one[0], two[1]), (two[0], one[1])} <= walls
        for one, two in pairwise(inside)
        if one[0] != two[0] and one[1] != two[1]
    )


def borders(start: int, end: int) -> list[Fraction]:
    """Return the fractions of the way at which it leaves a column, or a row."""
    low, high = sorted((start, end))
    return [(n + HALF - start) / (end - start) for n in range(low, high)]


def at(a: Square, b: Square, part: Fraction) -> Square:
    """Return the square that holds the point of the line at a fraction of its length."""
    x, y = (floor(one + (two - one) * part + HALF) for one, two in zip(a, b, strict=True))
    return x, y


def world(walls: set[Square], pairs: list[tuple[Square, Square]], seen: set[object]) -> str:
    rows = ["".join(".#"[(x, y) in walls] for x in range(WIDE)) for y in range(HIGH)]
    layout = "\n".join(f'    "{row}"' for row in rows)
    checks = "\n".join(
        f"  then {'' if (a, b) in seen else 'not '}sees_square({named(a)}, {named(b)})"
        for a, b in pairs
    )
    return f"""edition 1
use grid.sight
world walls {{
  object ann: Person
  layout Square {{
{layout}
    legend "#" {{ here.wall = true }}
  }}
}}
scenario "all pairs" in walls {{
{checks}
}}
"""


def named(one: Square) -> str:
    return f"square_{one[0]}_{one[1]}"
