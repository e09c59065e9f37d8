"""A hint names the very line to write, if the item has no error with it; else it stays a form."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.session import check_text

DOMAINS = Path(__file__).parents[3] / "domains"
ROWS = (
    # the world, what is replaced, by what, the hint
    ("blocks/world", "add on(b, under)", "add on b under", "Write `add on(b, under)`."),
    ("greenhouse/world", "static pot: Pot unique", "pot: static Pot unique",
     "Write `static pot: Pot unique`."),
    ("workshop/world", 'draw(b: Blade) as "draw {b}" or "take {b} out"',
     'draw as "draw {b}" or "take {b} out" (b: Blade)',
     'Write `action draw(b: Blade) as "draw {b}" or "take {b} out" {`.'),
    ("cellar/world", "!= locked     else locked", "!= locked     locked",
     'Write `require c.state != locked else locked "{The c} is locked."`.'),
    ("cellar/world", "c.state = closed\n", "closed = c.state\n", "Write `c.state = closed`."),
    ("workshop/world", '"{The b} has its shape."', "{The b} has its shape.",
     'Write `require b.blows < 3 else done "{The b} has its shape."`.'),
    ("island/world", "pick d: Direction where", "pick Direction where",
     "Write `pick d: Direction where walkable(step(z.at, d)) { z.at = step(z.at, d) }`."),
    ("island/world", "yields(spot.ground)", "yeilds(spot.ground)",
     "Write `let gain = yields(spot.ground)`."),
    ("island/world", "carried(me, gain) += 1", "carried(gain) += 1",
     "Write `carried(me, gain) += 1`."),
    ("cellar/world", 'require here(c)               else absent   "',
     'require here(c, me) else a "',
     'Write `require here(c) else a "There is no {c} here."`.'),
    ("island/world", "me.facing = d", "me.facing = me.at", "Write `me.facing = d`."),
    ("templates/economy", "100% = 25%", "100% = 25", "Write `param appetite: 0% to 100% = 25%`."),
    ("skirmish/world", "g.alive and g.away > 0 {", "g.alive and g.away => 0 {",
     "Write `law come(g: Goblin) during coming when g.alive and g.away >= 0 { g.away -= 1 }`."),
    ("cellar/world", "in [d.near, d.far]", "in d.near, d.far",
     "Write `derive beside(d: Door) = me.at in [d.near, d.far]`."),
    ("cellar/world", "unlock(oak_chest, iron_key)", "unlock(iron_key, oak_chest)",
     "Write `when unlock(oak_chest, iron_key) then refused because wrong`."),
    ("frozen_lake/world", "skater.at.hole", "skater.hole",
     'Write `lose drowned: skater.at.hole "The ice breaks."`.'),
    ("templates/adventure", "static function exit", "function static exit",
     "Write `static function exit(r: Room, w: Way): Room? = none`."),
    ("blocks/world", "derive above(", "def above(",
     "Write `derive above(x: Block, y: Block) = on(x, y) or any(on(x, z) and above(z, y) "
     "for z: Block)`."),
    ("blocks/world", "  add `hand-empty`()", "  add hand-empty()",
     "Write `` add `hand-empty`() ``."),
    ("blocks/world", "require clear(b)            else", "require hand-empty() else",
     'Write `` require `hand-empty`() else covered "Something is on {the b}." ``.'),
    ("frozen_lake/world", "param slippery", "const slippery",
     "Write `param slippery: bool = true`."),
    ("cottage/world", "takes 4 until", "takes 4 turns until",
     "Leave the word away: `takes 4` counts ticks."),
    ("greenhouse/world", "j.water to p.water", "j.water into p.water",
     "Write `transfer j.water of j.water to p.water`."),
    ("cottage/world", "count(me.contents) < bag ", "me.contents.count < bag ",
     'Write `require count(me.contents) < bag else bag "You can carry no more."`.'),
    ("errands/world", "depot, market, bridge, mill: P", "depot market bridge mill: P",
     "Write `object depot, market, bridge, mill: Place`."),
    ("errands/world", "not at_most_once me", "not at-most-once me",
     'Write `lose toll: not at_most_once me.at == bridge "The second toll is too much."`.'),
    ("boil_water/world", "type Sink : Container, Device", "type Sink : Container Device",
     'Write `type Sink : Container, Device { label = "sink" isMoveable = false }`.'),
    ("kitchen/world", "emit boiled(p) ", "emit boiled(p.heat) ",
     'Write `watch boiling(p: Pot) when p.heat == 100c { emit boiled(p) say "{The p} comes to the '
     'boil." }`.'),
    ("workshop/world", "b.in_fire and f.heat", "b.in_fire and b.heat",
     "Write `law warm(b: Blade, f: Fire) during warming when b.in_fire and f.heat >= 2 "
     "{ b.glow += 2 }`."),
    ("willowbrook/world", "require count(p.contents)", "require count p.contents",
     'Write `require count(p.contents) < hands else full "{The p} has no hand free."`.'),
    ("willowbrook/world", "Box { state = locked", "Box { state: locked",
     "Write `type Chest : Box { state = locked static opened_by: Key? }`."),
    ("templates/adventure", 'way = east', 'way = "east"', "Write `east`, without quotes."),
    ("templates/adventure", "porch.exit(north)", "porch.north", "Write `porch.exit(north)`."),
    ("island/world", "at: Tile? unique ", "at: Tile? uniqe ",
     "Write `type Body { at: Tile? unique health: 0 to 9 clamped = 9 }`."),
    ("island/world", "in [tile_2_1, tile_1_2]", "in [tile_2_9, tile_1_2]",
     "The cells are `tile_0_0` to `tile_4_2`: the column first, then the row."),
    ("island/world", "in [tile_2_1, tile_1_2]", "in [tile(2, 1), tile_1_2]", "Write `tile_2_1`."),
    ("cottage/world", "and was c.hunger < 60", "and was(c.hunger) < 60",
     "Write `law sulk(c: Cat) during animals when c.hunger == 60 and was c.hunger < 60 "
     "{ c.mood = prev(c.mood) }`."),
    ("cottage/world", "Lock = closed }", "Lock = Closed }",
     "Write `type Door { near: Room far: Room state: Lock = closed }`."),
    ("cwmb/blackjack", "not turned() else stuck", "not turned else stuck",
     "Write `turned()`."),
    ("cwmb/blackjack", "result() = loss", "result() = lost", "Write `result() = loss`."),
    ("cwmb/blackjack", "by weight", "weight", "Write `pick c: Card by weight c.weight {`."),
    ("cellar/world", "require here(c)", "require hear(c)",
     'Write `require here(c) else absent "There is no {c} here."`.'),
    ("cellar/world", "winnable within 8", "winnable within eight",
     "Write `then winnable within 8`."),
    ("cottage/world", 'if k.sharpness >= 60 then "keen knife" else',
     '"keen knife" if k.sharpness >= 60 else',
     'Write `called k: Knife = if k.sharpness >= 60 then "keen knife" else "dull knife" '
     'aka "knife"`.'),
    # two objects would fit, so which one is meant stays open
    ("cellar/world", "unlock(oak_chest, iron_key)    then refused because wrong",
     "unlock(oak_chest) then refused because wrong",
     "Give it `c: Chest` and `k: Key`, in this order: 1 is missing."),
)  # fmt: skip


@pytest.mark.parametrize(("world", "old", "new", "hint"), ROWS)
def test_the_hint_is_what_the_author_meant(world: str, old: str, new: str, hint: str) -> None:
    text = (DOMAINS / f"{world}.tw").read_text(encoding="utf-8")
    assert old in text
    (only,) = [o for o in check_text(text.replace(old, new, 1)).diagnostics if o.is_error]
    assert only.hint == hint
    if only.fix is not None:  # the repair brings back the world that was checked before
        broken = text.replace(old, new, 1)
        (edit,) = only.fix.edits
        mended = f"{broken[: edit.span.start]}{edit.text}{broken[edit.span.end :]}"
        assert not [o for o in check_text(mended).diagnostics if o.is_error]


PLACES = (
    # the world, what is replaced, by what, the message, the words that it points at
    ("greenhouse/world", "j.water to p.water", "j.water into p.water",
     "`into` stands where `to` should in the action `pour`.", "into"),
    ("errands/world", "not at_most_once me", "not at-most-once me",
     "`at-most-once` stands where `at_most_once` should in the world `town`.", "at-most-once"),
    ("errands/world", "depot, market, bridge, mill: P", "depot market bridge mill: P",
     "Commas are missing around `market bridge` in the object `depot`.", "market bridge"),
)  # fmt: skip


@pytest.mark.parametrize(("world", "old", "new", "message", "place"), PLACES)
def test_the_message_tells_the_edit_at_its_place(
    world: str, old: str, new: str, message: str, place: str
) -> None:
    text = (DOMAINS / f"{world}.tw").read_text(encoding="utf-8")
    broken = text.replace(old, new, 1)
    (only,) = [o for o in check_text(broken).diagnostics if o.is_error]
    assert only.span is not None
    assert (only.message, broken[only.span.start : only.span.end]) == (message, place)
