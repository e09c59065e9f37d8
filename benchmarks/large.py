"""A correct program of any length."""

from __future__ import annotations

__all__ = ["large_file"]

_ITEMS = """
enum Lock{i} {{ open, closed, locked }}
type Room{i} {{ lit: bool = true }}
type Thing{i} {{ at: Room{i}?  holder: Hero?  n: 0 to 9 clamped = 1  k: 0 to 9 = 1 }}
type Chest{i} : Thing{i} {{ state: Lock{i} = locked  inside: Thing{i}? }}
relation linked{i}(a: Room{i}, b: Room{i}) symmetric
derive here{i}(x: Thing{i}) = x.at == me.at{i} or x.holder == me
## Take what lies about, {i}.
action take{i}(it: Thing{i}) as "take{i} {{it}}" {{
  require not (it is Chest{i}) else fixed "{{The it}} is too heavy to lift."
  require it.holder != me else carried "You already have {{the it}}."
  it.holder = me
  it.at = none
}}
action open{i}(c: Chest{i}) as "open{i} {{c}}" {{
  require here{i}(c) else absent "There is no {{c}} here."
  require c.state == closed else already "{{The c}} is already open."
  c.state = open
  for x: Thing{i} where c.inside == x {{
    x.at = me.at{i}
  }}
  c.inside = none
  say "{{The c}} opens {i}."
}}
action go{i}(to: Room{i}) as "go{i} to {{to}}" {{
  require linked{i}(me.at{i}, to) else far "You cannot go there from {{me.at{i}}}."
  me.at{i} = to
}}
law grow{i}(x: Thing{i}) when x.at != none and x.n < 9 {{
  x.n += 1
}}
law swell{i}(x: Thing{i}) when x.k < 9 and x.k + {i} < {i} + 10 {{
  x.k += 1
}}
watch full{i}(x: Thing{i}) when x.n == 9 {{
  say "{{The x}} is full."
}}
invariant one{i}(x: Thing{i}): not (x.at != none and x.holder != none)
describe r: Room{i} {{
  say "You are in {{the r}}."
}}
scenario "taking {i}" in w {{ when take{i}(lamp{i}) then executed, lamp{i}.holder == hero }}
"""


def large_file(times: int) -> str:
    """A correct program of about 45 lines per repetition. Repetitions share only `Hero`."""
    places = "".join(f"  at{i}: Room{i}?\n" for i in range(times))
    objects = "".join(
        f"  object room{i}: Room{i}\n"
        f"  object lamp{i}: Thing{i} {{ at = room{i} }}\n"
        f"  object box{i}: Chest{i} {{ at = room{i}  inside = lamp{i} }}\n"
        for i in range(times)
    )
    items = "".join(_ITEMS.format(i=i) for i in range(times))
    items = items.replace("then executed,", "then")
    head = f"edition 1\ntype Hero {{\n{places}}}\nactor me: Hero\n"
    return f"{head}{items}world w {{\n  object hero: Hero\n{objects}}}\n"
