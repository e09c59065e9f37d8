"""Small worlds for the tests of the PDDL export, by feature."""

BLOCKS = r"""
# Blocks: a planning domain as an import would write it. Foreign names stay verbatim in
# backquotes; actions, relations and types have separate namespaces, so the action
# `put-down` and a relation of the same name could live side by side.
edition 1
pddl {
  domain       = `blocks-world`
  requirements = strips, typing, equality, `conditional-effects`,
                 `universal-preconditions`, `derived-predicates`, `action-costs`
  Block        = block
}

type Block
type `table-top`
object `the-table`: `table-top`

relation on(x: Block, y: Block)
relation `on-table`(x: Block)
relation clear(x)                   # untyped, and exported untyped
relation `hand-empty`()
relation holding(x: Block)
function `lift-cost`(x: Block): int

action `pick-up`(b: Block) as "pick up {b}" cost `lift-cost`(b) {
  require clear(b)            else covered "Something is on {the b}."
  require `on-table`(b)       else stacked "{The b} is not on the table."
  require `hand-empty`()      else full    "Your hand is full."
  remove `on-table`(b)
  remove clear(b)
  remove `hand-empty`()
  add holding(b)
}

action `put-down`(b: Block) as "put down {b}" {
  require holding(b)          else empty   "You do not hold {the b}."
  remove holding(b)
  add clear(b)
  add `hand-empty`()
  add `on-table`(b)
}

action stack(b: Block, under: Block) as "stack {b} on {under}" cost 1 {
  require holding(b) and not b == under
  require clear(under)
  remove holding(b)
  remove clear(under)
  add clear(b)
  add `hand-empty`()
  add on(b, under)
}

action unstack(b: Block, under: Block) as "take {b} off {under}" cost 1 {
  require on(b, under) and clear(b) and `hand-empty`()
  add holding(b)
  add clear(under)
  remove clear(b)
  remove `hand-empty`()
  remove on(b, under)
}

action `tip-over`(b: Block) as "tip over {b}" cost 5 {
  require clear(b) implies not `on-table`(b)
  require all(on(x, b) implies clear(x) for x: Block)
  for x: Block {
    if on(x, b) { remove on(x, b)  add `on-table`(x)  add clear(b) }
  }
}

derive above(x: Block, y: Block) = on(x, y) or any(on(x, z) and above(z, y) for z: Block)

world tower "Three blocks" {
  object a, b, c: Block
  setup {
    add on(c, a)
    add `on-table`(a)  add `on-table`(b)
    add clear(b)       add clear(c)
    add `hand-empty`()
    `lift-cost`(a) = 1  `lift-cost`(b) = 2  `lift-cost`(c) = 1
  }
  goal built: on(a, b) and on(b, c)
}
"""

CELLAR = r"""
# Cellar: a key, a door and a chest. Every refusal says why.
enum Lock { open, closed, locked }
type Room
type Thing { at: Room? inverse things  holder: Hero? inverse carried }
type Hero { at: Room }
type Key : Thing
type Door { near: Room  far: Room  state: Lock = closed }
type Chest : Thing { state: Lock = locked  opened_by: Key?  inside: Thing? }
actor me: Hero

derive here(it: Thing) = it.at == me.at or it.holder == me
derive beside(d: Door) = me.at in [d.near, d.far]

action take(it: Thing) as "take {it}" {
  require not (it is Chest)     else fixed   "{The it} is too heavy to lift."
  require it.holder != me       else carried "You already have {the it}."
  require it.at == me.at        else absent  "There is no {it} here."
  it.holder = me
  it.at = none
}

action unlock(c: Chest, k: Key) as "unlock {c} with {k}" {
  require here(c)               else absent   "There is no {c} here."
  require k.holder == me        else no_key   "You are not holding {the k}."
  require c.state == locked     else unlocked "{The c} is not locked."
  require c.opened_by == k      else wrong    "{The k} does not fit {the c}."
  c.state = closed
  say "{The k} turns in {the c}."
}

action open(c: Chest) as "open {c}" {
  require here(c)               else absent "There is no {c} here."
  require c.state != locked     else locked "{The c} is locked."
  require c.state == closed     else opened "{The c} is already open."
  c.state = open
  for it: Thing where c.inside == it { it.at = me.at }
  c.inside = none
}

action go(d: Door) as "go through {d}" {
  require beside(d)             else absent "You are not at {the d}."
  require d.state == open       else shut   "{The d} is {d.state}."
  if me.at == d.near { me.at = d.far } else { me.at = d.near }
}

invariant one_place(it: Thing): not (it.at != none and it.holder != none)

world cellar "The Cellar" {
  object stairs, vault: Room
  object hero: Hero { at = stairs }
  object brass_key, iron_key: Key { at = stairs }
  object ruby: Thing
  object oak_chest: Chest { at = vault  opened_by = brass_key  inside = ruby }
  object arch: Door { near = stairs  far = vault  state = open }
  goal rich: ruby.holder == hero "The ruby is yours."
}
"""

KITCHEN = r"""
# Kitchen: a tap fills a sink, a jug dips, a pot boils, a pea cooks.
edition 1
unit l unit c
type Vessel { level: 0l to 20l = 0l }
type Device { on: bool = false }
type Sink : Vessel { flow: 0l to 2l = 0l  drain_open: bool = false }
type Jug : Vessel { capacity: 0l to 5l = 2l }
type Pot : Vessel { capacity: 0l to 9l = 4l  heat: 0c to 100c clamped = 20c  hob: Hob? }
type Hob : Device
type Pea { in_pot: Pot?  doneness: 0 to 10 clamped = 0 }
type Cook
actor me: Cook
param boil_rate: 1c to 20c = 8c learned
event boiled(p: Pot)

phase flow
phase heat
phase cooking

derive hot(p: Pot) = p.hob.on         # false for a pot on no hob

action wait() as "wait" { }
action turn(s: Sink) as "turn {s}" or "turn the tap of {s}" {
  s.flow = if s.flow == 0l then 1l else 0l
}
action switch(d: Device) as "switch {d}" { d.on = not d.on }

action dip(j: Jug, s: Sink) as "dip {j} in {s}" {
  let scoop = min(s.level, j.capacity - j.level)
  require s.level >= 1l          else dry  "{The s} is almost dry."
  require j.level < j.capacity   else full "{The j} is full."
  transfer scoop of s.level to j.level
}

action pour(j: Jug, p: Pot) as "pour {j} into {p}" {
  require j.level > 0l                      else empty "{The j} is empty."
  require p.level + j.level <= p.capacity   else spill "That would overflow {the p}."
  transfer j.level of j.level to p.level
}

action drop(it: Pea, p: Pot) as "drop {it} in {p}" or "put {it} in {p}" {
  require it.in_pot == none else inside "{The it} is already in {the it.in_pot}."
  it.in_pot = p
}

law fill(s: Sink) during flow when s.level + s.flow <= 20l { s.level += s.flow }
law drain(s: Sink) during flow when s.drain_open and s.level >= 1l { s.level -= 1l }
law warm(p: Pot) during heat when hot(p) and p.level > 0l { p.heat += boil_rate }
law cool(p: Pot) during heat when not hot(p) and p.heat > 20c { p.heat -= 2c }
law cook(x: Pea, p: Pot) during cooking
  when x.in_pot == p and p.heat == 100c and p.level > 0l { x.doneness += 1 }

watch boiling(p: Pot) when p.heat == 100c { emit boiled(p) say "{The p} comes to the boil." }
invariant fits(p: Pot): p.level <= p.capacity
conserve water: sum(v.level for v: Vessel) except fill, drain

world kitchen "The Kitchen" {
  object cook: Cook
  object sink: Sink { level = 3l }
  object jug: Jug
  object hob: Hob { on = true }
  object pot: Pot { hob = hob }
  object pea: Pea
  goal cooked: pea.doneness >= 3 and pea.in_pot == pot "The pea is cooked."
}
"""

# Each lies within the lifted form; together they use all of it.
WORLDS = {
    "several parents": """
type Item
type Heavy : Item
type Sharp { keen: bool = true }
type Axe : Heavy, Sharp
type Knife : Item, Sharp
type Stone : Heavy
relation cut(a: Sharp, b: Item)
relation used(a: Sharp)
action chop(a: Sharp, b: Item) { require a.keen and not cut(a, b) require a != b
  add cut(a, b) add used(a) }
action blunt(i: Item) { require i is Sharp and i.keen  require not (i is Knife)  i.keen = false }
action rest() { require all(used(s) for s: Sharp) for s: Sharp where s is Axe {
  s.keen = true remove used(s) } }
world w "W" { object axe: Axe object knife: Knife object stone: Stone goal g: count(i
  for i: Item where any(cut(s, i) for s: Sharp)) >= 3 }
""",
    "wider questions": """
type Place { next: Place? }
type Room : Place { lit: bool = false  twin: Room? }
type Yard : Place
type Walker { at: Place?  home: Room?  met: bool = false }
actor me: Walker
action go() { require me.at != none  me.at = me.at.next }
action light(p: Place) { require p == me.at and p is Room and not p.lit  me.met = true }
action settle(p: Place) { require p is Room and p.lit  me.home = p }
action shine(r: Room) { require any(p.twin == r or r.twin == p for p: Room where p == me.at)
  r.lit = not r.lit }
action meet(p: Place) { require any(x.home == p for x: Walker)  me.met = not me.met }
action leave(p: Place) { require p is Room  require p.lit and p.twin != none and p != me.home
  me.at = p.twin }
world w {
  object yard: Yard
  object hall, den: Room { next = yard }
  object hero: Walker { at = hall }
  setup { yard.next = hall  hall.next = den  hall.twin = den }
  goal g: hero.met and hero.home == hall and den.lit
}
""",
    "ladders": """
enum Mood { sad < calm < glad }
type Cat { mood: Mood  cap: Mood = calm }
action pet(c: Cat) { require c.mood < glad c.mood = next(c.mood) }
action scold(c: Cat) { c.mood = prev(c.mood) }
action rise(c: Cat) { require c.mood >= c.cap  c.cap = next(c.cap) }
action sink(c: Cat) { require c.mood < c.cap  c.cap = c.mood }
action set_mood(c: Cat, m: Mood) { require m > c.mood  c.mood = m }
world w "W" { object tom, kit: Cat goal g: tom.mood == glad and kit.cap > calm }
""",
    "chance": """
type Box { open: bool = false  holds: Box? }
type Hero
actor me: Hero
action force(b: Box) { require not b.open chance 60% { b.open = true } }
action shake(b: Box) { chance 20% { b.open = true } or 30% { b.holds = none } else {
  b.open = false } }
action stash() { pick b: Box where b.open { b.open = false } else { for b: Box {
  b.open = true } } }
action guess(b: Box) { let lucky = chance 50% if lucky { b.open = true } else { b.open = false } }
action hide() { let y = pick { x: Box where not x.open } for b: Box { b.holds = y } }
world w "W" { object hero: Hero object red, blue: Box goal g: red.holds == blue and blue.open }
""",
    "counting": """
type Slot { full: bool = false }
relation taken(s: Slot)
action fill(s: Slot) { require not s.full require count(x for x: Slot where x.full) < 2
  s.full = true }
action take(s: Slot) { require count(x.full for x: Slot) == 2 require s.full s.full = false
  add taken(s) }
action clear() { require count(x for x: Slot where taken(x)) >= 2
  for s: Slot { remove taken(s) s.full = false } }
world w "W" { object a, b, c: Slot goal g: count(s for s: Slot where taken(s)) > 2 }
""",
    "containment": """
type Holder
type Thing { at: Holder? nested inverse contents closure inside }
type Box : Holder, Thing
type Room : Holder
type Hero : Holder, Thing
actor me: Hero
derive sees(x: Thing) = x in me.at.inside
action take(x: Thing) { require x != me require sees(x) x.at = me }
action put(x: Thing, b: Box) { require x.at == me x.at = b }
action drop(x: Thing) { require x in me.contents  x.at = me.at }
action dig(b: Box) { require any(t in b.inside for t: Box) b.at = none }
world w "W" { object hall: Room object hero: Hero { at = hall }
  object red, blue: Box { at = hall } object pea: Thing { at = red }
  goal g: pea in blue.inside and blue in red.inside }
""",
    "unique and symmetric": """
type Seat
type Guest { sits: Seat? unique  wants: Seat }
relation likes(a: Guest, b: Guest) symmetric
action sit(g: Guest, s: Seat) { g.sits = s }
action stand(g: Guest) { require g.sits != none g.sits = none }
action meet(a: Guest, b: Guest) { require a != b add likes(a, b) }
action part(a: Guest, b: Guest) { require likes(a, b) remove likes(b, a) }
action trade(a: Guest, b: Guest) { require likes(a, b) swap a.wants, b.wants }
world w "W" { object x, y: Seat object ann, bob: Guest { wants = x } setup { bob.wants = y }
  goal g: ann.sits == ann.wants and ann.wants == y }
""",
    "numbers": """
type Jar { level: 0 to 3 = 1  warm: 0 to 5 clamped = 2 half: 0.0 to 2.0 = 0.5 }
function bank(): 0 to 4 = 2
param step: 1 to 3 = 2
action give(a: Jar, b: Jar) { transfer 1 of a.level to b.level }
action empty(a: Jar, b: Jar) { require a != b transfer a.level of a.level to b.level }
action heat(a: Jar) { a.warm += step }
action cool(a: Jar) { a.warm -= a.level }
action pay(a: Jar, n: 1 to 2) { bank() -= n  a.level += n }
action sip(a: Jar) { require a.half > 0.2  a.half -= 0.3 }
action top(a: Jar) { a.half = min(a.half + 0.5, 2.0) }
action flip(a: Jar) { a.level = 3 - a.level }
action near(a: Jar) { a.level = toward(a.level, 2, 1)  a.warm = abs(a.warm - 4) }
world w "W" { object p, q: Jar { } goal g: p.level == 3 and q.warm >= 5 }
""",
    "endings": """
type Door { open: bool = false  locked: bool = false }
action push(d: Door) { require not d.locked d.open = not d.open }
action lock(d: Door) { require not d.open d.locked = true }
world w "W" { object a, b, c: Door
  lose jam: a.locked and c.open
  goal g: a.open and b.open
  lose cold: b.open and c.open
  stop late: c.locked and b.open }
""",
    "narrowing": """
type Place
type Shelf : Place { height: 0 to 3 = 1 owner: Person? }
type Person { at: Place? friend: Person? happy: bool = false }
actor me: Person
action climb() { let spot = me.at require spot is Shelf require spot.height >= 1
  me.happy = true spot.height -= 1 }
action go(p: Place) { require me.at != p me.at = p }
action claim() { let spot = me.at require spot is Shelf spot.owner = me.friend }
action cheer() { require me.friend.happy or me.friend.friend == me
  me.friend = if me.happy then me.friend else none }
action befriend(p: Person) { require me.friend == none and p.at == me.at
  me.friend = p p.friend = me }
action same() { require me.friend.at == me.at  me.at = none }
world w "W" { object hero: Person object pal: Person { happy = true } object floor: Place
  object top: Shelf { owner = hero }
  goal g: top.owner == none and hero.friend == pal and hero.at == pal.at and hero.happy }
""",
    "laws": """
type Tank { level: 0 to 4 = 2 on: bool = true next: Tank? heat: 0 to 3 clamped = 0 }
function sky(): bool = false
relation wet(t: Tank)
phase flow
phase after
action toggle(t: Tank) { t.on = not t.on }
action rain() takes 0 { sky() = not sky() }
action wait() { }
law fill(t: Tank) during flow when t.on and t.level < 4 { t.level += 1 }
law leak(t: Tank) during flow when not t.on and t.level > 0 { t.level -= 1 }
law damp(t: Tank) during after when t.level >= 3 { add wet(t) }
law dry(t: Tank) during after when t.level < 3 { remove wet(t) }
law pass_on(t: Tank, n: Tank) when t.next == n and t.heat >= 2 { t.heat -= 2 }
law warm(t: Tank) during after when t.on and t.heat < 3 { t.heat += 1 }
world w "W" { object a: Tank { next = b } object b: Tank goal g: wet(a) and not wet(b) }
""",
    "graph": """
type Node
relation edge(a: Node, b: Node) acyclic closure reach
relation blocked(n: Node)
derive open_to(a: Node, b: Node) = edge(a, b) and not blocked(b)
derive way(a: Node, b: Node) = open_to(a, b) or any(open_to(a, c) and way(c, b) for c: Node)
action link(a: Node, b: Node) { require not edge(a, b) require count(edge(a, c)
  for c: Node) < 1 add edge(a, b) }
action block(n: Node) { require any(way(n, m) for m: Node) require not blocked(n) add blocked(n) }
action cut(a: Node, b: Node) { require b in a.reach remove edge(a, b) }
world w "W" { object x, y, z: Node goal g: way(x, z) and blocked(x) }
""",
    "moves": """
enum Mood { calm, wild }
type Room { dark: bool }
type Pet { at: Room  mood: Mood = calm }
type Bag { in_room: Room? }
relation way(a: Room, b: Room)
action walk(p: Pet, r: Room) { require p.at != r require way(p.at, r)
  if p.at.dark { p.mood = wild }  p.at = r }
action leap(p: Pet, r: Room) { require not r.dark  p.at = r }
action follow(p: Pet, q: Pet) { require p.at.dark or way(q.at, p.at)
  if p.mood == calm { p.at = q.at } else { p.mood = q.mood } }
action carry(p: Pet, b: Bag, r: Room) { require b.in_room == p.at
  require way(b.in_room, r)  p.at = r  b.in_room = r }
world w "W" { object a, b, c: Room  object cat, dog: Pet { at = a }
  object bag: Bag { in_room = b }
  setup { b.dark = true add way(a, b) add way(b, c) add way(c, a) }
  goal g: cat.at == b and dog.at == c and cat.mood == wild and bag.in_room == a }
""",
    "optional": """
enum Side { left, right }
type Arm { side: Side? holds: Toy? }
type Toy { tag: Side? kept: bool }
action set_side(a: Arm, s: Side) { require a.side != s a.side = s }
action drop(a: Arm) { a.holds = none a.side = none }
action grab(a: Arm, t: Toy) { require not any(x.holds == t for x: Arm)
  require a.side in [left, right] implies t.tag == a.side  a.holds = t }
action mark(a: Arm, b: Arm) { require a.side == b.side require a != b  for t: Toy
  where a.holds == t { t.tag = b.side t.kept = a.side == none } }
action copy(a: Arm, b: Arm) { require a.holds == none and b.holds != none
  a.holds = b.holds b.holds = none }
world w "W" { object l, r: Arm object bear: Toy { tag = right } goal g: bear.kept
  and l.holds == bear and r.side == left }
""",
}
