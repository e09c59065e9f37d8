"""Worlds with a lock, each with another kind of secret. ``SECRET`` stands for its value.

A player without knowledge of the value must get the same information in two worlds that differ in
it alone, until a command is executed in the one and refused in the other.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KINDS", "Kind"]


@dataclass(frozen=True)
class Kind:
    """``text`` is the world; ``values`` two values of its secret. ``tried`` are commands with the
    same result for both, ``right`` the one that is right for the first value."""

    text: str
    values: tuple[str, str]
    tried: tuple[str, ...]
    right: str

    def source(self, number: int) -> str:
        return self.text.replace("SECRET", self.values[number])


_OPEN = """
type Hero
actor me: Hero
"""

KINDS = {
    "number": Kind(
        _OPEN
        + """
type Safe { secret code: 0 to 9 = SECRET  open: bool = false }
action dial(s: Safe, n: 0 to 9) as "dial {n} on {s}" {
  require not s.open  else open "The safe is open."
  require n == s.code else wrong "Nothing clicks."
  s.open = true
}
action shut(s: Safe) as "shut {s}" { require s.open else shut "It is shut."  s.open = false }
world w { object hero: Hero  object safe: Safe  goal opened: safe.open }
""",
        ("3", "7"),
        ("dial 5 on safe", "dial(safe, 2)", "shut safe", "dial x", "pass"),
        "dial 3 on safe",
    ),
    "enum": Kind(
        _OPEN
        + """
enum Colour { red, blue, green, white }
type Safe { open: bool = false  secret colour: Colour = SECRET }
action paint(s: Safe, c: Colour) as "paint {s} {c}" {
  require c == s.colour else wrong "Wrong colour."
  s.open = true
}
world w { object hero: Hero  object safe: Safe  goal opened: safe.open }
""",
        ("blue", "green"),
        ("paint safe red", "paint safe white", "paint safe pink"),
        "paint safe blue",
    ),
    "reference": Kind(
        _OPEN
        + """
type Guest
type Case { secret thief: Guest?  solved: bool = false }
object ann: Guest
object bob: Guest
object cyd: Guest
object k: Case { thief = SECRET }
action accuse(g: Guest) as "accuse {g}" {
  require k.thief == g else innocent "{The g} has an alibi."
  k.solved = true
}
world w {
  object hero: Hero
  goal solved: k.solved
}
""",
        ("ann", "bob"),
        ("accuse cyd", "accuse nobody"),
        "accuse ann",
    ),
    "function": Kind(
        _OPEN
        + """
secret function answer(): 0 to 9 = SECRET
function found(): bool = false
action guess(n: 0 to 9) as "guess {n}" {
  let told = answer()
  require not found() else found "You know it."
  require n >= told else low "That is too low."
  require n <= told else high "That is too high."
  found() = true
}
world w { object hero: Hero  goal found: found() }
""",
        ("4", "5"),
        ("guess 1", "guess 9", "guess 12"),
        "guess 4",
    ),
    "relation": Kind(
        _OPEN
        + """
type Guest
type Box
secret relation hides(g: Guest, b: Box)
function found(): bool = false
action search(g: Guest, b: Box) as "search {g} for {b}" {
  require hides(g, b) else nothing "{The g} has not got it."
  found() = true
}
world w {
  object hero: Hero  object ann: Guest  object bob: Guest  object cyd: Guest
  object ring: Box  object cup: Box
  setup { add hides(SECRET, ring) }
  goal found: found()
}
""",
        ("ann", "bob"),
        ("search ann for cup", "search cyd for ring"),
        "search ann for ring",
    ),
    "derive": Kind(
        _OPEN
        + """
type Safe { secret code: 0 to 99 = SECRET  open: bool = false }
derive digit(s: Safe): 0 to 9 = s.code mod 10
derive fits(s: Safe, n: 0 to 9) = digit(s) == n
action dial(s: Safe, n: 0 to 9) as "dial {n}" {
  require fits(s, n) else wrong "Nothing clicks."
  s.open = true
}
world w { object hero: Hero  object safe: Safe  goal opened: safe.open }
""",
        ("43", "57"),
        ("dial 5", "dial 1"),
        "dial 3",
    ),
    "called": Kind(
        _OPEN
        + """
type Guest { secret guilty: bool = false  seized: bool = false }
called g: Guest = "{if g.guilty then t1() else t2()} {n(g)}"
derive t1() = "bad"
derive t2() = "good"
derive n(g: Guest) = "guest"
action seize(g: Guest) as "seize {g}" {
  require not g.seized else seized "Seized already."
  require g.guilty else innocent "That is a mistake."
  g.seized = true
}
world w {
  object hero: Hero  object ann: Guest  object bob: Guest  object cyd: Guest
  setup { SECRET.guilty = true }
  goal seized: any(g.seized for g: Guest)
}
""",
        ("ann", "bob"),
        ("seize cyd", "seize(cyd)", "seize nobody"),
        "seize ann",
    ),
    "scope": Kind(
        _OPEN
        + """
type Stone { secret real: bool = false  taken: bool = false }
scope s: Stone = s.real or not s.taken
action take(s: Stone) as "take {s}" or "get {s}" {
  require s.real else fake "It crumbles."
  s.taken = true
}
world w {
  object hero: Hero  object ruby: Stone  object opal: Stone  object jade: Stone
  setup { SECRET.real = true }
  goal taken: any(s.taken for s: Stone)
}
""",
        ("ruby", "opal"),
        ("take jade", "get jade", "take thing"),
        "take ruby",
    ),
    "ask": Kind(
        _OPEN
        + """
type Button { secret live: bool = false  pressed: bool = false }
called b: Button = "button" aka "knob"
action press(b: Button) as "press {b}" {
  require b.live else dead "Nothing happens."
  b.pressed = true
}
world w {
  ambiguous ask
  object hero: Hero  object left: Button  object mid: Button  object right: Button
  setup { SECRET.live = true }
  goal pressed: any(b.pressed for b: Button)
}
""",
        ("left", "mid"),
        ("press button", "press knob", "press right"),
        "press(left)",
    ),
    "range": Kind(
        _OPEN
        + """
type Tank { secret level: 0 to 9 = SECRET  pumps: 0 to 99 clamped = 0 }
action pump(t: Tank, n: 0 to 9) as "pump {n}" { t.level += n  t.pumps += 1 }
action drain(t: Tank) as "drain {t}" {
  require t.level + t.pumps > 8 else low "There is too little in it."
  t.level = 0
}
world w { object hero: Hero  object tank: Tank  goal pumped: tank.pumps >= 3 }
""",
        ("4", "5"),
        ("pump 9", "pump 8", "drain tank"),
        "pump 5",
    ),
    "nested": Kind(
        _OPEN
        + """
type Place
type Thing { secret at: Place? nested inverse contents closure inside }
type Box : Thing, Place
type Coin : Thing { mine: bool = false }
function stamps(): 0 to 9 = 0
action open(b: Box, c: Coin) as "look for {c} in {b}" {
  require c in b.inside else absent "There is no {c} in {the b}."
  require count(b.contents) < 3 else full "It is full."
  c.mine = true
}
action stamp() as "stamp" { stamps() += 1 }
world w {
  object hero: Hero  object red: Box  object tan: Box  object wet: Box
  object coin: Coin { at = SECRET }
  goal mine: coin.mine
}
""",
        ("red", "tan"),
        ("look for coin in wet", "stamp", "look for gem in red"),
        "look for coin in red",
    ),
    "law": Kind(
        _OPEN
        + """
type Fuse { secret left: 0 to 9 clamped = SECRET  burnt: bool = false }
type Door { secret jams: bool = false  shut: bool = true  tries: 0 to 9 clamped = 0 }
law burn(f: Fuse) when f.left > 0 { f.left -= 1 }
law jam(d: Door, f: Fuse) when f.left == 0 and f.burnt { d.jams = true }
action light(f: Fuse) as "light {f}" { require not f.burnt else burnt "Burnt."  f.burnt = true }
action push(d: Door, f: Fuse) as "push {d}" {
  require d.jams or f.left > 8 else shut "It holds ({d.tries})."
  d.shut = false
}
describe d: Door { say "A door."  if d.jams { say "It is jammed." }  say "Tried {d.tries} times." }
action look(d: Door) as "look" takes 0 { describe d }
world w { object hero: Hero  object fuse: Fuse  object door: Door  goal open: not door.shut }
""",
        ("7", "6"),
        ("push door", "look", "pass", "light fuse"),
        "",
    ),
    "slot": Kind(
        _OPEN
        + """
enum Side { top, bottom, inner, outer }
type Shelf { secret side: Side = SECRET  marked: bool = false }
action mark(s: Shelf) as "mark {s.side} {s}" or "mark {s}" {
  require s.side != outer else outer "You cannot reach it."
  require s.side == inner else wrong "It does not hold."
  s.marked = true
}
world w { object hero: Hero  object shelf: Shelf  goal marked: shelf.marked }
""",
        ("top", "bottom"),
        ("mark shelf", "mark left shelf"),
        "",
    ),
    "kept": Kind(
        _OPEN
        + """
type Vase { secret weak: 0 to 9 = SECRET  hits: 0 to 9 clamped = 0 }
event heard(n: 0 to 99)
invariant whole(v: Vase): v.hits * 9 <= v.weak + 9
conserve weight: sum(v.weak + v.hits for v: Vase) except hit
action hit(v: Vase) as "hit {v}" { v.hits += 1  emit heard(v.weak) }
action melt(v: Vase) as "melt {v}" { v.weak = v.hits }
watch broken(v: Vase) when v.hits > 8 { say "Crash." }
world w { object hero: Hero  object vase: Vase  goal hit: vase.hits == 9 }
""",
        ("2", "3"),
        ("hit vase", "melt vase", "hit vase"),
        "",
    ),
}
