"""Columns in chunks behave as lists do, and copies do not touch each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.tiny import play
from tokenworld.engine import state as engine_state
from tokenworld.engine.state import LONG, Wide, column_of, copied

OPS = st.lists(
    st.tuples(st.sampled_from(["set", "append", "copy", "back"]), st.integers(0, 10**6)),
    max_size=60,
)


@given(size=st.integers(1, 700), ops=OPS)
def test_as_a_list(size: int, ops: list[tuple[str, int]]) -> None:
    pairs = [(Wide(range(size)), list(range(size)))]
    at = 0
    for op, number in ops:
        ours, plain = pairs[at]
        match op:
            case "set":
                ours[number % len(plain)] = number
                plain[number % len(plain)] = number
            case "append":
                ours.append(number)
                plain.append(number)
            case "copy":
                pairs.append((ours.copy(), list(plain)))
                at = len(pairs) - 1
            case _:
                at = number % len(pairs)
    for ours, plain in pairs:
        assert list(ours) == plain
        assert [ours[one] for one in range(len(plain))] == plain
        assert len(ours) == len(plain)
        assert (plain[-1] in ours, -1 in ours) == (True, False)
        assert ours == plain


def test_only_long_ones_are_in_chunks() -> None:
    assert column_of([None] * (LONG - 1)) == [None] * (LONG - 1)
    assert isinstance(column_of([None] * LONG), Wide)
    assert isinstance(copied(list(range(LONG))), Wide)
    assert copied({1: 2}) == {1: 2}


RULES = """
type Place
type Thing { at: Place? nested inverse holds ordered  lit: bool }
action carry(x: Thing, p: Place) as "carry {x} to {p}" { x.at = p }
action light(x: Thing) as "light {x}" { require x.at != none  x.lit = true }
action make(p: Place) as "make in {p}" { create n: Thing { at = p } }
action burn(x: Thing) as "burn {x}" { destroy x }
law glow(x: Thing) when x.lit { x.lit = false }
world w { object here, there: Place  object a, b, c, d: Thing }
"""


def test_the_same_world_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    script = ("carry(a, here)", "carry(b, here)", "light(a)", "make(here)", "carry(a, there)",
              "burn(b)", "make(there)", "light(c)", "carry(c, here)")  # fmt: skip
    hashes = []
    for long in (2048, 2):
        monkeypatch.setattr(engine_state, "LONG", long)
        game = play(RULES)
        hashes.append([game.do(one).hash_after for one in script])
        assert isinstance(game.state.cols[0], Wide) == (long == 2)
        back = game.session.engine.restored(game.session.engine.json(game.state))
        assert game.session.engine.hash(back) == hashes[-1][-1]
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize("size", [0, 255, 256, 300, 512, 769])
def test_the_end_is_cut_off_without_touching_a_copy(size: int) -> None:
    values = list(range(770))
    whole = Wide(values)
    cut = whole.copy()
    del cut[size:]
    assert list(cut) == values[:size]
    assert len(cut) == size
    cut.append(-1)
    assert list(cut) == [*values[:size], -1]
    assert list(whole) == values
