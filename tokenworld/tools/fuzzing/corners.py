"""Small worlds for what chance hits too seldom: rare refusals, words that mean two things."""

from __future__ import annotations

from tokenworld.tools.fuzzing.playing import Intent

__all__ = ["CORNERS"]

_SEATS = """
type Seat
type Person { seat: Seat? unique }
actor me: Person
action sit(s: Seat) as "sit on {s}" { me.seat = s }
world w {
  object ann: Person
  object bob: Person { seat = sofa }
  object sofa, stool: Seat
}
"""

_TWINS = """
type Cup { full: bool = true }
type Hero
actor me: Hero
action drink(c: Cup) as "drink {c}" { require c.full else empty "It is empty."  c.full = false }
called c: Cup = "cup" aka "mug"
world w {
  ambiguous ask
  object hero: Hero
  object left, right: Cup
}
"""

CORNERS: tuple[tuple[str, tuple[Intent, ...]], ...] = (
    (_SEATS, ({"text": "sit on sofa"}, {"text": "sit on stool"})),
    (_TWINS, ({"text": "drink cup"}, {"text": "drink(left)"}, {"text": "drink mug"})),
)
"""Each with the intents that reach the corner."""
