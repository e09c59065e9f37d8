"""Joins of static facts leave the bindings that filtering the whole product leaves."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from tokenworld.check import check_source
from tokenworld.diagnostics import Failure, Source
from tokenworld.engine import Engine, EngineSimulator
from tokenworld.ground import Command, Instance, Pattern, Raw, instantiate, joined, refuse_huge
from tokenworld.planning.search.interpreted import Capped, Limits, search
from tokenworld.planning.space.graph import explore
from tokenworld.prose.wording import EnglishProse

ROADS = """
enum Side { left, right }
type Town { level: 0 to 3 = 0  twin: Town? }  type Hero { at: Town }
actor me: Hero
relation road(a: Town, b: Town, s: Side)
relation near(a: Town, b: Town) symmetric
relation open(a: Town)
relation used(a: Town, b: Town)
action go(a: Town, b: Town, s: Side) {
  require me.at == a  require road(a, b, s) and open(b)  require not used(a, b)
  me.at = b  add used(a, b)
}
action hop(a: Town, b: Town, c: Town) {
  require me.at == a  require near(a, b)  require b.twin == c  require c.level == 2  me.at = c
}
action stay(a: Town) { require near(a, a)  require road(a, a, left)  me.at = a }
world w {
  object a, c, d: Town  object b: Town { twin = c }  object e: Town { twin = d  level = 2 }
  object hero: Hero { at = a }
  setup { add road(a, b, left)  add road(b, c, right)  add road(c, c, left)  add open(b)
          add open(c)  add near(a, b)  add near(d, b)  add near(c, c)  c.level = 2 }
  goal there: hero.at == d
}
"""


def instance_of(text: str) -> Instance:
    checked = check_source(Source("t.tw", None, text))
    assert checked.program is not None, checked.diagnostics
    return instantiate(checked.program, next(iter(checked.program.worlds.values())), {})


@pytest.mark.parametrize("seed", range(60))
def test_a_join_is_a_filtered_product(seed: int) -> None:
    random = Random(seed)
    domains = [list(random.sample(range(6), random.randint(1, 5))) for _ in range(4)]
    tables: dict[str, set[tuple[Raw, ...]]] = {}
    patterns = []
    for number in range(random.randint(1, 4)):
        width = random.randint(1, 3)
        places = tuple(random.choice([0, 1, 2, 3, None]) for _ in range(width))
        if all(place is None for place in places):
            continue
        known = tuple((n, random.randrange(6)) for n, p in enumerate(places) if p is None)
        patterns.append(Pattern(f"r{number}", places, known[: random.randint(0, 1)], False))
        rows = list(product(range(6), repeat=width))
        tables[f"r{number}"] = set(random.sample(rows, len(rows) // 2))
    expected = [
        one
        for one in product(*domains)
        if all(
            any(_fits(pattern, row, one) for row in tables[pattern.fluent]) for pattern in patterns
        )
    ]
    assert joined(domains, patterns, lambda one: tables[one.fluent], 10_000) == expected
    if len(expected) > 1:
        assert joined(domains, patterns, lambda one: tables[one.fluent], len(expected) - 1) is None


def _fits(pattern: Pattern, row: tuple[Raw, ...], args: tuple[Raw, ...]) -> bool:
    bound = all(p is None or row[n] == args[p] for n, p in enumerate(pattern.places))
    return bound and pattern.matches(row)


def test_the_engine_lists_what_a_product_would_list() -> None:
    instance = instance_of(ROADS)
    engine = Engine(instance, EnglishProse())
    simulator = EngineSimulator(engine)
    graph = explore(simulator, engine.start(), None, Limits())
    towns = instance.members["Town"]
    sides = {"go": ([0, 1],), "hop": (towns,), "stay": ()}
    seen = set()
    for state in graph.states:
        for name, more in sides.items():
            widths = [towns] * (1 if name == "stay" else 2)
            every = [Command(name, args) for args in product(*widths, *more)]
            whole = [
                one.args
                for one in every
                if not engine.over(state) and all(x.holds for x in engine.why(state, one))
            ]
            listed = [one.args for one in simulator.commands(state) if one.action == name]
            assert listed == whole
            seen |= {name for _ in whole}
    assert seen == {"go", "hop", "stay"}


def test_an_edit_of_a_static_fact_is_seen() -> None:
    engine = Engine(instance_of(ROADS), EnglishProse())
    start = engine.start()
    before = engine.legal(start)
    edited = start.fork()
    column = engine.layout.by_id["road"]
    a, e = engine.instance.numbers["a"], engine.instance.numbers["e"]
    edited.put(column, (a, e, 0), True)
    edited.put(engine.layout.by_id["open"], e, True)
    more = [one.args for one in engine.legal(edited)]
    assert (a, e, 0) in more
    assert engine.legal(start) == before


HUGE = """
type Hero {{ n: 0 to 1000000 = 0 }}
actor me: Hero
{rule}
world w {{ object hero: Hero  goal far: hero.n == 7 }}
"""
FOUR = "a: 0 to 1000000, b: 0 to 1000000, c: 0 to 1000000, d: 0 to 1000000"


def test_an_action_that_cannot_be_listed_is_no_proof() -> None:
    instance = instance_of(HUGE.format(rule=f"action jump({FOUR}) {{ require a == b  me.n = a }}"))
    simulator = EngineSimulator(Engine(instance, EnglishProse()))
    assert simulator.unlisted == {"jump"}
    result = search(simulator, simulator.start(), None, Limits())
    assert isinstance(result, Capped)
    assert result.limit == "gaps"
    graph = explore(simulator, simulator.start(), None, Limits())
    assert (graph.limit, graph.complete) == ("gaps", False)


def test_a_law_of_astronomic_size_is_refused_at_once() -> None:
    instance = instance_of(HUGE.format(rule=f"law drift({FOUR}) when a == b {{ me.n = a }}"))
    with pytest.raises(Failure) as raised:
        refuse_huge(instance)
    (found,) = raised.value.diagnostics
    assert found.code == "TW0813"
    assert "1,000,004,000,006,000,004,000,001 bindings" in found.message
    small = instance_of(HUGE.format(rule="action step() { me.n += 1 }"))
    refuse_huge(small, slots=True)
