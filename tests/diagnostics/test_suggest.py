"""Did-you-mean."""

import random

import pytest

from tokenworld.diagnostics import closest, did_you_mean, edit_distance


@pytest.mark.parametrize(
    ("word", "known", "best"),
    [
        ("tke", ["take", "drop"], ("take",)),
        ("taek", ["take"], ("take",)),
        ("Oak-Chest", ["oak_chest"], ("oak_chest",)),
        ("chest", ["oak_chest", "arch"], ("oak_chest",)),
        ("xyz", ["take", "drop"], ()),
        ("take", ["take"], ()),
        ("b", ["a", "c"], ("a", "c")),
        ("", ["take"], ()),
    ],
)
def test_closest(word: str, known: list[str], best: tuple[str, ...]) -> None:
    assert closest(word, known) == best


def test_the_order_of_the_known_names_does_not_matter() -> None:
    known = ["lamp", "lump", "limp", "damp"]
    assert closest("lmp", known) == closest("lmp", known[::-1]) == ("lamp", "limp", "lump")


def test_sentence() -> None:
    assert did_you_mean("lmp", ["lamp"]) == "Did you mean `lamp`?"
    assert did_you_mean("lmp", ["lamp", "limp"]) == "Did you mean `lamp` or `limp`?"
    assert did_you_mean("zzzz", ["lamp"]) is None


def test_a_long_name_has_few_edits_or_is_another_name() -> None:
    """Names of thousands of letters cost their length times the edits, not their square."""
    name = "ab" * 2500
    assert closest(name[:-10], [name]) == (name,)
    assert closest(name[:-17], [name]) == ()
    assert closest("x" * 5000, [name]) == ()


def every_cell(left: str, right: str) -> int:
    """The distance by the whole table."""
    found = {(i, 0): i for i in range(len(left) + 1)} | {(0, j): j for j in range(len(right) + 1)}
    for i, a in enumerate(left, 1):
        for j, b in enumerate(right, 1):
            ways = [found[i - 1, j] + 1, found[i, j - 1] + 1, found[i - 1, j - 1] + (a != b)]
            if i > 1 and j > 1 and (a, left[i - 2]) == (right[j - 2], b):
                ways.append(found[i - 2, j - 2] + 1)
            found[i, j] = min(ways)
    return found[len(left), len(right)]


def test_cells_far_from_the_diagonal_do_not_matter() -> None:
    dice = random.Random(1)
    for _ in range(2000):
        left, right = ("".join(dice.choices("abc", k=dice.randrange(9))) for _ in "lr")
        limit = dice.randrange(7)
        assert edit_distance(left, right, limit) == min(every_cell(left, right), limit + 1)
