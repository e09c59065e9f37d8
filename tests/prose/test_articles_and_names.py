"""Articles, lists and numbers as language.md §11 words them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenworld.ground import Prose
from tokenworld.model import scaled_text
from tokenworld.prose.wording import EnglishProse

PROSE: Prose = EnglishProse()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cup", "a cup"), ("oak chest", "an oak chest"), ("egg", "an egg"),
        ("hour", "an hour"), ("honest man", "an honest man"), ("heirloom", "an heirloom"),
        ("horse", "a horse"), ("unicorn", "a unicorn"), ("uniform", "a uniform"),
        ("umbrella", "an umbrella"), ("uninvited guest", "an uninvited guest"),
        ("used match", "a used match"), ("one-eyed cat", "a one-eyed cat"),
        ("onerous task", "an onerous task"), ("onion", "an onion"), ("x-ray", "an x-ray"),
        ("u-turn", "a u-turn"), ("8-ball", "an 8-ball"), ("80 coins", "an 80 coins"),
        ("18th key", "an 18th key"), ("11 eggs", "an 11 eggs"), ("118 eggs", "a 118 eggs"),
        ("1 egg", "a 1 egg"), ("(old) lamp", "an (old) lamp"), ("", ""), ("§", "a §"),
    ],
)  # fmt: skip
def test_indefinite_article_goes_by_sound(name: str, expected: str) -> None:
    assert PROSE.named(name, "a") == expected


@pytest.mark.parametrize(
    ("name", "article", "expected"),
    [
        ("oak chest", "", "oak chest"), ("oak chest", "the", "the oak chest"),
        ("oak chest", "The", "The oak chest"), ("oak chest", "A", "An oak chest"),
        ("Pip", "the", "Pip"), ("Pip", "A", "Pip"), ("yourself", "the", "yourself"),
        ("yourself", "The", "Yourself"), ("Émile", "a", "Émile"),
    ],
)  # fmt: skip
def test_names_with_articles(name: str, article: str, expected: str) -> None:
    assert PROSE.named(name, article) == expected


@pytest.mark.parametrize(
    ("names", "article", "expected"),
    [
        ([], "", "nothing"), ([], "A", "Nothing"), (["cup"], "a", "a cup"),
        (["cup", "pot"], "a", "a cup and a pot"),
        (["cup", "pot", "key"], "a", "a cup, a pot and a key"),
        (["cup", "egg", "Pip"], "A", "A cup, an egg and Pip"),
        (["cup", "pot"], "", "cup and pot"), (["cup", "pot"], "The", "The cup and the pot"),
    ],
)  # fmt: skip
def test_lists(names: list[str], article: str, expected: str) -> None:
    assert PROSE.listing(names, article) == expected


@pytest.mark.parametrize(
    ("value", "decimals", "unit", "expected"),
    [
        (4, 0, "l", "4l"), (125, 1, "", "12.5"), (-5, 2, "m", "-0.05m"), (0, 1, "c", "0.0c"),
        (25, 2, "%", "25%"), (125, 3, "%", "12.5%"), (1, 0, "%", "100%"), (5, 1, "%", "50%"),
        (-5, 3, "%", "-0.5%"), (25, 2, "", "0.25"),
    ],
)  # fmt: skip
def test_numbers_with_units(value: int, decimals: int, unit: str, expected: str) -> None:
    assert PROSE.number(value, decimals, unit) == expected


@given(st.integers(-(10**9), 10**9), st.integers(0, 6))
def test_a_percentage_is_the_number_times_a_hundred(value: int, decimals: int) -> None:
    from fractions import Fraction

    shown = PROSE.number(value, decimals, "%").removesuffix("%")
    assert Fraction(shown) == Fraction(scaled_text(value, decimals)) * 100


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_reals_read_back_as_the_same_double(value: float) -> None:
    assert float(PROSE.real(value)) == value
    assert len(PROSE.real(value)) <= len(json.dumps(value))


def test_identifiers_print_underscores_as_spaces() -> None:
    assert PROSE.identifier("old_chest") == "old chest"
    assert PROSE.identifier("hand-empty") == "hand-empty"
