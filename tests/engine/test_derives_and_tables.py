"""Derived facts and tables (language.md §3)."""

from __future__ import annotations

from itertools import product
from random import Random

from tiny import play

GRAPH = """
type N { open: bool = true }
actor me: N
relation e(a: N, b: N)
derive way(a: N, b: N) = e(a, b) or any(e(a, c) and c.open and way(c, b) for c: N)
derive loops(a: N) = way(a, a)
derive even(a: N, b: N) = any(e(a, c) and odd(c, b) for c: N)
derive odd(a: N, b: N) = e(a, b) or any(e(a, c) and even(c, b) for c: N)
derive cut_off(a: N) = not any(way(a, b) for b: N)
action link(a: N, b: N) { add e(a, b) }
action unlink(a: N, b: N) { remove e(a, b) }
action shut(a: N) { a.open = not a.open }
world w { object a, b, c, d, f: N }
"""
NAMES = "abcdf"


def reachable(edges: set[tuple[str, str]], shut: set[str]) -> set[tuple[str, str]]:
    """Rows of `way` by repeated joining."""
    found = set(edges)
    while True:
        more = {(x, z) for x, y in edges if y not in shut for y2, z in found if y == y2} - found
        if not more:
            return found
        found |= more


def test_a_recursive_derive_is_the_least_fixpoint() -> None:
    game = play(GRAPH)
    random = Random(4)
    edges: set[tuple[str, str]] = set()
    shut: set[str] = set()
    for _ in range(40):
        x, y = random.choice(NAMES), random.choice(NAMES)
        match random.randrange(4):
            case 0 | 1:
                game.all(f"link({x}, {y})")
                edges.add((x, y))
            case 2:
                game.all(f"unlink({x}, {y})")
                edges.discard((x, y))
            case _:
                game.all(f"shut({x})")
                shut ^= {x}
        expected = reachable(edges, shut)
        found = {pair for pair in product(NAMES, NAMES) if game.ask("way", *pair)}
        assert found == expected
        for one in NAMES:
            assert game.ask("loops", one) is ((one, one) in expected)
            assert game.ask("cut_off", one) is not any(start == one for start, _ in expected)


def test_derives_that_need_each_other() -> None:
    game = play(GRAPH)
    game.all("link(a, b)", "link(b, c)", "link(c, d)", "link(d, a)")
    assert game.ask("odd", "a", "b") is True
    assert game.ask("even", "a", "b") is False
    assert game.ask("even", "a", "c") is True
    assert game.ask("even", "a", "a") is True
    assert game.ask("odd", "a", "c") is False


def test_a_recursive_derive_without_support_is_false() -> None:
    game = play(
        """
        type N
        derive lucky(a: N) = lucky(a)
        derive all_lucky() = all(lucky(a) for a: N)
        world w { object a: N }
        """
    )
    assert game.ask("lucky", "a") is False
    assert game.ask("all_lucky") is False


def test_a_recursive_derive_needs_no_argument() -> None:
    """Grounded PDDL has derived predicates without parameters that need each other."""
    game = play(
        """
        type N { on: bool }
        action light(a: N) { a.on = true }
        derive live() = any(a.on for a: N) or fed()
        derive fed() = live()
        world w { object a: N }
        """
    )
    assert game.ask("fed") is False
    game.all("light(a)")
    assert game.ask("fed") is True


def test_a_recursive_derive_over_was_reads_the_earlier_state() -> None:
    game = play(
        """
        type N
        actor me: N
        relation e(a: N, b: N)
        derive r(a: N, b: N) = e(a, b) or any(e(a, c) and r(c, b) for c: N)
        watch joined(a: N, b: N) when r(a, b) and not was r(a, b) { say "{a}{b}" }
        action link(a: N, b: N) { add e(a, b) }
        action rest() { }
        world w { object a, b, c: N }
        """
    )
    assert game.all("link(a, b)").said == ("ab",)
    assert game.all("link(b, c)").said == ("ac", "bc")
    assert game.all("rest()").said == ()


def test_a_recursive_derive_over_was_reads_a_row_from_before_a_slot_was_made() -> None:
    """The rooms are not numbered one after the other, so that each pair gets a slot when it is
    first written."""
    game = play(
        """
        type N
        type Other
        actor me: N
        relation e(a: N, b: N)
        derive r(a: N, b: N) = e(a, b) or any(e(a, c) and r(c, b) for c: N)
        law joined(a: N, b: N) when r(a, b) and not was r(a, b) { say "{a}{b}" }
        action link(a: N, b: N) { add e(a, b) }
        world w {
          object a: N
          object between: Other
          object b: N
        }
        """
    )
    assert game.all("link(a, b)").said == ("ab",)


def test_derives_over_numbers_enums_and_ranges() -> None:
    game = play(
        """
        enum Way { up, down }
        type N { n: 0 to 9 = 4 }
        derive step(w: Way, by: 1 to 3) = if w == up then by else -by
        derive total() = sum(step(w, k) * (if w == up then 2 else 1) for w: Way, k: 1 to 3)
        derive text_of(x: N): text = "n is {x.n}"
        derive name_or(x: N): N? = if x.n > 3 then x else none
        world w { object a: N  object b: N { n = 2 } }
        """
    )
    assert game.ask("total") == 6
    assert game.ask("text_of", "a") == "n is 4"
    assert (game.ask("name_or", "a"), game.ask("name_or", "b")) == ("a", None)


def test_tables_have_keys_of_several_kinds_and_default_rows() -> None:
    game = play(
        """
        enum Ground { tree, rock }
        type Tool
        object axe, pick: Tool
        table needs(g: Ground): Tool? { tree: axe }
        table wear(g: Ground, t: Tool): 0 to 9 = 5 { tree, axe: 1  rock, pick: 2 }
        table fits(g: Ground, t: Tool) { tree, axe  rock, pick }
        table level(n: 1 to 3): 0 to 99 = 7 { 2: 20 }
        derive tool_of(t: Tool) = first(g for g: Ground where needs(g) == t)
        derive sums(t: Tool) = sum(wear(g, t) for g: Ground)
        derive fit(t: Tool) = count(g for g: Ground where fits(g, t) and t.fits_too(g))
        derive fits_too(t: Tool, g: Ground) = fits(g, t)
        derive levels() = sum(level(n) for n: 1 to 3)
        derive missing() = count(g for g: Ground where needs(g) == none)
        world w { object spade: Tool }
        """
    )
    assert (game.ask("tool_of", "axe"), game.ask("tool_of", "pick")) == ("tree", None)
    assert [game.ask("sums", name) for name in ("axe", "pick", "spade")] == [6, 7, 10]
    assert [game.ask("fit", name) for name in ("axe", "pick", "spade")] == [1, 1, 0]
    assert (game.ask("levels"), game.ask("missing")) == (34, 1)


def test_static_facts_are_set_up_once() -> None:
    game = play(
        """
        type N { static size: 0 to 9 = 2 }
        actor me: N
        static function cost(a: N, b: N): 0 to 9 = 3
        static relation joined(a: N, b: N) symmetric
        derive sum_of(a: N, b: N) = a.size + cost(a, b)
        action x() { }
        world w {
          object a: N
          object b: N { size = 5 }
          setup { cost(a, b) = 1  add joined(b, a) }
        }
        """
    )
    assert (game.ask("sum_of", "a", "b"), game.ask("sum_of", "b", "a")) == (3, 8)
    assert game.get("joined(a, b)") or game.get("joined(b, a)")


def test_functions_keep_defaults_that_are_not_the_first_of_their_kind() -> None:
    game = play(
        """
        enum Mood { wary, calm, glad }
        type N
        actor me: N
        param high: 1 to 9 = 6
        function mood(a: N, b: N): Mood = glad
        function debt(a: N, b: N): -9 to 9 = -4
        function height(a: N, w: Mood): 0 to 9 = high
        function spot(a: N, b: N): N?
        derive m(a: N) = mood(a, a)
        derive d(a: N) = debt(a, a)
        derive h(a: N) = height(a, calm)
        derive s(a: N) = spot(a, a)
        action x() { mood(me, me) = wary  debt(me, me) = 0  height(me, calm) += 1
                     spot(me, me) = me }
        action back() { mood(me, me) = glad  debt(me, me) = -4  height(me, calm) -= 1
                        spot(me, me) = none }
        world w { object a: N }
        """
    )
    first = game.state
    assert [game.ask(name, "a") for name in "mdhs"] == ["glad", -4, 6, None]
    game.all("x()")
    assert [game.ask(name, "a") for name in "mdhs"] == ["wary", 0, 7, "a"]
    game.all("back()")
    assert game.session.same_facts(first)


def test_inherited_attributes_and_overridden_defaults() -> None:
    game = play(
        """
        type Box { size: 0 to 9 = 1 }
        type Big : Box { size = 7 }
        type Wet { damp: bool = true }
        type Tub : Big, Wet
        type Hot : Wet, Box { damp = false }
        world w {
          object plain: Box
          object tub: Tub
          object hot: Hot { size = 4 }
        }
        """
    )
    assert [game.get(f"{name}.size") for name in ("plain", "tub", "hot")] == [1, 7, 4]
    assert (game.get("tub.damp"), game.get("hot.damp")) == (True, False)


def test_truths_and_reals_as_arguments() -> None:
    game = play("""
    type Room { heat: 0.0 to 9.0 = 3.0  lit: bool }
    type Beast { at: Room  felt: 0.0 to 99.0 }
    actor me: Beast
    derive felt(r: Room, share: real, dark: bool): real = if dark then 0.0 else r.heat * share
    derive both(r: Room): real = felt(r, 1 / 4, r.lit == false) + felt(r, 3, false)
    action feel() { me.felt = round(both(me.at), 1) }
    action switch() { me.at.lit = not me.at.lit }
    world w { object hall: Room  object bear: Beast { at = hall }  goal warm: bear.felt == 9.8 }
    """)
    assert [step.command for step in game.session.plan().plan] == ["switch()", "feel()"]
    game.all("feel()")
    assert game.get("bear.felt") == 9
    game.all("switch()", "feel()")
    assert game.get("bear.felt") == 9.8
