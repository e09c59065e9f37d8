"""Did-you-mean."""

import pytest

from tokenworld.diagnostics import closest, did_you_mean


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
