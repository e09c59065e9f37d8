"""Texts that control a terminal, mislead readers, or are markup to the screen's library."""

from __future__ import annotations

import re
from typing import Final

from tokenworld.diagnostics import invisible

__all__ = ["MARKUP", "STEERING", "assert_harmless", "hostile_world"]

MARKUP: Final = ("[/x]", "[@click=app.quit]go[/]", "[b]", "[", "$text", "[link=x]")
STEERING: Final = ("\x1b[2J\x1b]0;owned\x07", "\x9b31m", "\u202eab\u2066", "a\u200b\ufeffb\x7f\r")

_WORLD: Final = """
type Room
type Box { at: Room? nested inverse contents  full: bool  note: text = "note <>" }
type Hero { at: Room? }
actor me: Hero
enum Mood { calm, `mood <>` }
function `feels <>`(b: Box): Mood = calm
event `heard <>`(b: Box)
action take(b: Box) as "take {b}" {
  require not b.full else `full <>` "No <> {the b}."
  b.full = true
  `feels <>`(b) = `mood <>`
  emit `heard <>`(b)
  say "Said <> of {the b}."
}
action shout() as "shout" { say "<>"  describe me.at }
action `rest <>`() as "rest" takes 3 { say "Rested <>." }
law `law <>`(b: Box) when `feels <>`(b) == `mood <>` { say "The law says <>." }
called b: Box = "box <> {b.note}" aka "chest <>"
describe r: Room { say "You see <> and {a list r.contents}." }
invariant `kept <>`(b: Box): b.full or not b.full
world w "Title <>" {
  object hall: Room "hall <>"
  object hero: Hero "me <>" { at = hall }
  object `box <>`: Box { at = hall }
  object other: Box "other <>" aka "thing <>" { at = hall }
  goal `all <>`: all(b.full for b: Box) "Won <>."
}
scenario "test <>" in w {
  when take(other)
  then other.full
}
"""


def hostile_world(bad: str) -> str:
    """A world with this text in every place that allows one."""
    raw, text = bad.replace("`", ""), bad.replace("\\", "\\\\").replace('"', '\\"')
    parts = re.split(r"(`[^`\n]*`)", _WORLD)
    return "".join(
        one.replace("<>", raw if one.startswith("`") else text.replace("{", "\\{")) for one in parts
    )


def assert_harmless(text: str, where: object = "") -> None:
    """Check that printed text neither controls a terminal nor hides characters."""
    found = sorted({f"U+{ord(text[at]):04X}" for at in invisible(text)})
    assert not found, (where, found, text[:2000])
