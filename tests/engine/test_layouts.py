"""Maps drawn with characters (language.md §12)."""

from __future__ import annotations

from tiny import Game, play

from tokenworld.verbs.fuzz.playing import first_difference

CELLS = """edition 1
enum Direction { north, east, south, west }
type Cell { static x: 0 to 9 = 0  static y: 0 to 9 = 0 }
static function step(c: Cell, d: Direction): Cell?
type Tile : Cell { ground: Ground }
enum Ground { grass, water, lava }
type Body { at: Tile? }
type Hero : Body { }
type Cat : Body { number: 0 to 99 = 0 }
actor me: Hero
action go(d: Direction) as "go {d}" {
  let spot = me.at  require spot is Tile else astray "Lost."  let to = step(spot, d)
  require to is Tile else edge "The world ends here."  me.at = to }
"""
WORLD = """
world w {
  layout Tile {
    "c@~"
    "~.c"
    legend "@" { create hero: Hero { at = here } }
    legend "c" { create cat: Cat { at = here } }
    legend "~" { here.ground = water }
  }
  goal home: hero.at == tile_1_1
}
"""


def game(world: str = WORLD, seed: int = 0) -> Game:
    return play(CELLS + world, seed)


def test_one_cell_per_character_row_by_row() -> None:
    world = game()
    names = [world.state.names[number] for number in world.state.live["Tile"]]
    assert names == ["tile_0_0", "tile_1_0", "tile_2_0", "tile_0_1", "tile_1_1", "tile_2_1"]
    assert [world.get(f"{name}.{axis}") for name in names for axis in "xy"] == [
        0, 0, 1, 0, 2, 0, 0, 1, 1, 1, 2, 1,
    ]  # fmt: skip


def test_cells_are_linked_to_their_neighbours() -> None:
    world = game()
    links = {d: world.get(f"step(tile_1_0,{d})") for d in ("north", "east", "south", "west")}
    assert links == {"north": None, "east": "tile_2_0", "south": "tile_1_1", "west": "tile_0_0"}


def test_legends_run_cell_by_cell_after_all_cells_are_made() -> None:
    world = game()
    numbers = {world.state.names[x]: x for x in world.state.live["Body"]}
    assert numbers == {"cat_6": 6, "hero": 7, "cat_8": 8}
    assert [world.get(f"{one}.at") for one in numbers] == ["tile_0_0", "tile_1_0", "tile_2_1"]
    assert (world.get("tile_2_0.ground"), world.get("tile_1_1.ground")) == ("water", "grass")


def test_an_actor_from_a_layout_takes_turns_and_rules_name_what_it_made() -> None:
    world = game()
    assert world.session.actor == "hero"
    assert world.all("go south").latched == ("home",)
    refusal = game().do("go north").refusal
    assert refusal is not None
    assert refusal.label == "edge"


def test_draws_of_a_legend_are_keyed_by_its_place() -> None:
    from tokenworld.ground import draw

    drawn = """
    world w { layout Tile { "ccc" "ccc"
                            legend "c" { chance 50% { create cat: Cat { at = here } } } }
              setup { create hero: Hero { } } goal home: hero.at == tile_1_1 }"""
    world = game(drawn, seed=3)
    lucky = [f"tile_{x}_{y}" for y in (0, 1) for x in (0, 1, 2)
             if draw(3, 0, "layout", (x, y), 0) < 1 << 63]  # fmt: skip
    cats = [world.state.names[x] for x in world.state.live["Cat"]]
    assert 0 < len(lucky) < 6
    assert [world.get(f"{cat}.at") for cat in cats] == lucky


def test_setups_come_after_layouts_and_find_the_cells() -> None:
    drawn = WORLD.replace("goal home", "setup { for c: Cat { c.number = id(c) + 1 } } goal home")
    assert game(drawn).get("cat_8.number") == 9


def test_two_runs_begin_alike() -> None:
    assert game().hash == game().hash


def test_an_object_begins_on_a_cell_and_legends_find_it_there() -> None:
    text = """
world w {
  object tom: Cat { at = tile_2_1 }  object tim: Cat { at = tom.at }
  layout Tile { "c@~" "~.~"
    legend "@" { create hero: Hero { at = here } }
    legend "c" { create cat: Cat { at = here } }
    legend "~" { if any(b.at == here for b: Cat) { here.ground = lava } }
  }
}
"""
    world = game(text)
    assert [world.get(f"{one}.at") for one in ("tom", "tim", "hero")] == [
        "tile_2_1", "tile_2_1", "tile_1_0",
    ]  # fmt: skip
    assert (world.get("tile_2_1.ground"), world.get("tile_0_1.ground")) == ("lava", "grass")
    assert first_difference(CELLS + text, [{"action": "go", "args": {"d": "south"}}], 0) is None
