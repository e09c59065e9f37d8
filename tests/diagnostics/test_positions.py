"""Offsets and positions of an editor belong to each other, whatever the text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenworld.diagnostics.positions import Positions, units

TEXTS = st.text(st.sampled_from("ab\n\r\u2028\x0c🔦é"), max_size=30)


@settings(max_examples=25)
@given(TEXTS, st.data())
def test_a_position_leads_back_to_its_offset(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    if text[max(0, offset - 1) : offset + 1] == "\r\n":
        return  # within a line end there is no place of its own
    places = Positions(text)
    assert places.offset(*places.at(offset)) == offset


@given(TEXTS)
def test_lines_are_those_of_the_protocol(text: str) -> None:
    lines = re.split("\r\n|\r|\n", text)
    line, unit = Positions(text).at(len(text))
    assert line == len(lines) - 1
    assert unit == len(lines[-1].encode("utf-16-le")) // 2


@pytest.mark.parametrize(
    ("line", "unit", "offset"),
    [(0, 99, 3), (1, 2, 5), (1, 1, 4), (9, 9, 6), (-1, 5, 0), (0, -1, 0), (1, 3, 6)],
)
def test_positions_beside_the_text_are_clipped(line: int, unit: int, offset: int) -> None:
    assert Positions("abc\n🔦x").offset(line, unit) == offset


def test_units_count_two_for_what_lies_beyond_the_basic_plane() -> None:
    assert units("aé🔦") == 4
