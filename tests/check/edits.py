"""Random edits of a text's items, and a generated file of any length."""

from __future__ import annotations

import random

_ITEMS = """
enum Lock{i} {{ open, closed, locked }}
type Room{i} {{ lit: bool = true }}
type Thing{i} {{ at: Room{i}?  holder: Hero?  n: 0 to 9 clamped = 1  k: 0 to 9 = 1 }}
type Chest{i} : Thing{i} {{ state: Lock{i} = locked  inside: Thing{i}? }}
relation linked{i}(a: Room{i}, b: Room{i}) symmetric
derive here{i}(x: Thing{i}) = x.at == me.at{i} or x.holder == me
## Take what lies about.
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
  say "{{The c}} opens."
}}
action go{i}(to: Room{i}) as "go{i} to {{to}}" {{
  require linked{i}(me.at{i}, to) else far "You cannot go there from {{me.at{i}}}."
  me.at{i} = to
}}
law grow{i}(x: Thing{i}) when x.at != none and x.n < 9 {{
  x.n += 1
}}
law swell{i}(x: Thing{i}) when x.k < 9 {{
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


def generated(times: int) -> str:
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


def edited(text: str, chance: random.Random) -> str:
    """The text with one line changed, doubled or taken away, or one number or word changed."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    line = lines[at]
    match chance.randrange(8):
        case 0:
            lines[at : at + 1] = [line, line]
        case 1:
            del lines[at]
        case 2:
            lines.insert(at, "## A remark.")
        case 3:
            lines[at] = line.replace("9", "8", 1).replace("= none", "!= none", 1)
        case 4:
            lines[at] = line.replace("1", "2", 1)
        case 5:
            lines.insert(at, '  say "More."')
        case 6:
            words = line.split(" ")
            other = chance.choice(text.split())
            words[chance.randrange(len(words))] = other
            lines[at] = " ".join(words)
        case _:
            place = chance.randrange(len(line) + 1)
            lines[at] = line[:place] + chance.choice(' "#{}x\n') + line[place:]
    return "\n".join(lines)
