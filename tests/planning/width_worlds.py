"""Worlds without an encoding that are too large for breadth-first search."""

from __future__ import annotations

__all__ = ["LAUNDRY", "STUDIO", "TEA"]

LAUNDRY = """\
# Shirts for two machines that work one after another by nesting; soap is made on the way.
edition 1
type Thing { at: Holder? nested inverse contents closure inside }
type Holder : Thing { open: bool = true  static airy: bool = false }
type Machine : Holder { on: bool = false  stage: 0 to 3 = 0  open = false }
type Shirt : Thing { dirty: bool = true  wet: bool = false }
type Dispenser : Thing
type Soap : Thing
type Person : Holder
actor me: Person

action take(x: Shirt) as "take {x}" {
  require x.at != me     else held "You hold {the x}."
  require x.at.open      else shut "{The x.at} is closed."
  require count(y for y: Shirt where y.at == me) < 2 else full "Your hands are full."
  x.at = me
}
action put(x: Shirt, h: Holder) as "put {x} in {h}" {
  require x.at == me     else held "You do not hold {the x}."
  require h.open         else shut "{The h} is closed."
  require h != me        else self "You hold it already."
  x.at = h
}
action squirt(d: Dispenser, m: Machine) as "use {d} on {m}" {
  require m.open else shut "{The m} is closed."
  create drop: Soap { at = m }
}
action open(m: Machine) as "open {m}" {
  require not m.open else already "Open."
  m.open = true
  m.on = false
}
action close(m: Machine) as "close {m}" { require m.open else already "Shut."  m.open = false }
action start(m: Machine) as "start {m}" {
  require not m.open else ajar "It is open."
  m.on = true
  m.stage = 0
}

phase ticks sequentially by nesting
law wash(m: Machine) during ticks when m.on and not m.open {
  let now = min(m.stage + 1, 3)
  m.stage = now
  if now == 2 {
    if any(s is Soap for s in m.inside) {
      for x: Shirt in m.inside { x.dirty = false  x.wet = true }
    }
    for s: Soap in m.inside { destroy s }
    m.on = false
  }
}
law dry(x: Shirt) during ticks when x.at.airy { x.wet = false }

world laundry "Washing day" {
  time passes always
  object hero: Person { at = room }
  object room: Holder
  object garden: Holder { airy = true }
  object drum, tub: Machine { at = room }
  object bottle: Dispenser { at = room }
  object s1, s2, s3: Shirt { at = room }
  spare Soap 2
  goal done: all(not x.dirty and not x.wet and x.at == garden for x: Shirt) "All hangs on the line."
}
"""

STUDIO = """\
# Colours are made by mixing: every mix makes a new paint, and two of them use it up.
edition 1
enum Hue { red, yellow, blue, orange, green, violet, brown }
type Thing { at: Holder? nested inverse contents closure inside }
type Holder : Thing
type Cup : Holder
type Person : Holder
type Paint : Thing { hue: Hue }
type Wall { coat: Hue? }
table mixed(a: Hue, b: Hue): Hue? {
  red, yellow: orange   yellow, red: orange
  yellow, blue: green   blue, yellow: green
  red, blue: violet     blue, red: violet
  orange, blue: brown   green, red: brown   violet, yellow: brown
}
actor me: Person

action squeeze(t: Tube, c: Cup) as "squeeze {t} into {c}" {
  require count(p for p: Paint where p.at == c) < 2 else full "{The c} is full."
  create p: Paint { hue = t.hue  at = c }
}
type Tube { static hue: Hue }
action stir(c: Cup) as "stir {c}" {
  let a = first(p for p: Paint where p.at == c)
  let b = last(p for p: Paint where p.at == c)
  let h = mixed(a.hue, b.hue)
  require a != b    else one  "There is nothing to mix."
  require h != none else mud  "That makes mud."
  a.hue = h
  destroy b
}
action pour(c: Cup, d: Cup) as "pour {c} into {d}" {
  require c != d else same "That is the same cup."
  require any(p.at == c for p: Paint) else dry "{The c} is empty."
  require count(p for p: Paint where p.at == c or p.at == d) <= 2 else full "{The d} is full."
  for p: Paint where p.at == c { p.at = d }
}
action rinse(c: Cup) as "rinse {c}" {
  require any(p.at == c for p: Paint) else dry "{The c} is empty."
  for p: Paint where p.at == c { destroy p }
}
action paint(w: Wall, c: Cup) as "paint {w} from {c}" {
  let p = first(p for p: Paint where p.at == c)
  require count(q for q: Paint where q.at == c) == 1 else mixed "Stir first."
  w.coat = p.hue
  destroy p
}

world studio "Four walls" {
  object hero: Person
  object north, east, south, west: Wall
  object cup, jar, bowl: Cup
  object r: Tube { hue = red }
  object y: Tube { hue = yellow }
  object b: Tube { hue = blue }
  spare Paint 4
  goal done: north.coat == brown and east.coat == violet and south.coat == green
    and west.coat == brown
}
"""

TEA = """\
# Tea in a cluttered house: nearly five hundred things to do at a time, and few of them matter.
edition 1
type Thing { at: Holder? nested inverse contents }
type Holder : Thing { open: bool = true }
type Kettle : Holder { heat: real = 20.0 }
type Stove : Holder { on: bool = false }
type Tap : Holder { running: bool = false }
type Cup : Holder { steeped: 0 to 9 clamped = 0 }
type Water : Thing { hot: bool = false }
type Leaves : Thing
type Person : Holder
actor me: Person

action take(x: Thing) as "take {x}" {
  require x != me and x.at != none and not (x is Stove or x is Tap) else no "You cannot."
  require x.at.open else shut "{The x.at} is closed."
  require not (x is Water) else wet "It runs through your fingers."
  x.at = me
}
action put(x: Thing, h: Holder) as "put {x} in {h}" {
  require x.at == me and h != me and x != h else no "You cannot."
  require h.open else shut "{The h} is closed."
  x.at = h
}
action turn(s: Stove) as "turn {s}" { s.on = not s.on }
action twist(t: Tap) as "twist {t}" { t.running = not t.running }
action pull(h: Holder) as "open {h}" { require not h.open else no "It is open."  h.open = true }
action push(h: Holder) as "close {h}" { require h.open and h != me else no "No."  h.open = false }
action pour(k: Kettle, c: Cup) as "pour {k} into {c}" {
  require k.at == me else no "You do not hold it."
  for w: Water where w.at == k { w.at = c }
}

phase ticks sequentially
law fill(t: Tap, k: Kettle) during ticks when t.running and k.at == t and k.open {
  if not any(w.at == k for w: Water) { create w: Water { at = k } }
}
law heat(s: Stove, k: Kettle) during ticks when s.on and k.at == s { k.heat += 12.5 }
law boil(k: Kettle, w: Water) during ticks
  when w.at == k and k.heat > 99.0 and not k.open { w.hot = true }
law steep(c: Cup) during ticks
  when any(w.at == c and w.hot for w: Water) and any(x.at == c for x: Leaves) { c.steeped += 1 }

world house "Tea" {
  time passes always
  object hero: Person { at = kitchen }
  object kitchen, cupboard, drawer, box: Holder
  object kettle: Kettle { at = kitchen }
  object stove: Stove { at = kitchen }
  object sink: Tap { at = kitchen }
  object cup, mug, bowl, glass, pot, pan: Cup { at = cupboard }
  object leaves: Leaves { at = drawer }
  object fork, knife, spoon, whisk, grater, peeler, sieve: Thing { at = kitchen }
  object funnel, ladle, tongs: Thing { at = kitchen }
  setup { for h: Holder where h == cupboard or h == drawer { h.open = false } }
  spare Water 1
  goal tea: cup.steeped >= 3
}
"""
