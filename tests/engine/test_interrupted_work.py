"""An interruption while the engine moves its row leaves nothing behind."""

from __future__ import annotations

import pytest

from tokenworld.diagnostics import Source
from tokenworld.engine.rows import live
from tokenworld.ground import Command
from tokenworld.session.loading import open_text

LAMPS = """
type Lamp { on: bool }
action press(l: Lamp) { require not l.on  l.on = true }
world w { object a, b, c: Lamp  goal all_on: all(l.on for l: Lamp) }
"""


def engine():
    return open_text((Source("t.tw", None, LAMPS),), "w").engine


def test_the_engine_answers_after_an_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    one, moved = engine(), live._moved
    start = one.start()
    later = one.play(one.play(start, Command("press", (0,)))[0], Command("press", (1,)))[0]
    expected = [tuple(engine().legal(state)) for state in (start, later)]
    assert len(set(expected)) == 2

    def interrupted(*given: object) -> bool:
        moved(*given)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(live, "_moved", interrupted)
    with pytest.raises(KeyboardInterrupt):
        one.legal(start)
    monkeypatch.setattr(live, "_moved", moved)
    assert [tuple(one.legal(state)) for state in (later, start)] == [expected[1], expected[0]]
