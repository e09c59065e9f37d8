"""A village of any size, in which a tick always changes the same facts.

There is one place for every thousand things. In every size nine lamps burn, a tick changes the same
facts, and nine things are within reach, so any growth of the cost is overhead.
"""

from __future__ import annotations

__all__ = ["village"]

_RULES = """
type Place
type Thing { at: Place?  holder: Hero? }
type Lamp : Thing { lit: bool = false  oil: int = 1000000 }
type Hero { at: Place }
actor me: Hero
derive here(x: Thing) = x.at == me.at or x.holder == me
action take(x: Thing) as "take {x}" {
  require x.at == me.at else absent "There is no {x} here."
  x.holder = me
  x.at = none
}
action drop(x: Thing) as "drop {x}" {
  require x.holder == me else empty "You do not have {the x}."
  x.holder = none
  x.at = me.at
}
action light(x: Lamp) as "light {x}" {
  require here(x) else absent "There is no {x} here."
  require not x.lit else lit "It is lit."
  x.lit = true
}
law burn(x: Lamp) when x.lit { x.oil -= 1 }
"""


def village(objects: int) -> str:
    """The text of a village with a number of objects."""
    places = max(1, objects // 1000)
    lamps = max(9, objects // 10)
    things = objects - lamps
    lines = [
        *(f"  object place{one}: Place" for one in range(places)),
        "  object hero: Hero { at = place0 }",
        *(f"  object thing{one}: Thing {{ at = {_place(one, places)} }}" for one in range(things)),
        *(
            f"  object lamp{one}: Lamp {{ at = {at}  lit = {_is(one < 9)} }}"
            for one, at in enumerate(_place(things + one, places) for one in range(lamps))
        ),
    ]
    return "\n".join((_RULES, "world village {", *lines, "}", ""))


def _place(number: int, places: int) -> str:
    """The place of a thing: the first nine are beside the hero, the others elsewhere."""
    return "place0" if number < 9 else f"place{1 + number % (places - 1)}" if places > 1 else "none"


def _is(truth: bool) -> str:
    return "true" if truth else "false"
