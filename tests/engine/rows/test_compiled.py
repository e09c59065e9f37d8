"""Compiled rollouts are the runs of the interpreter: records, endings, rewards and state hashes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from functools import lru_cache
from pathlib import Path

import pytest

from tokenworld import rollout
from tokenworld.diagnostics import Failure
from tokenworld.engine.rows.code.compiled import Compiled, compiler_missing
from tokenworld.prose.wording import EnglishProse
from tokenworld.session import OpenWorld, load_program, open_world, rollouts
from tokenworld.session.rollouts import Rollout, draws_in_setup

DOMAINS = Path(__file__).parents[3] / "domains"
pytestmark = pytest.mark.skipif(bool(compiler_missing()), reason="needs the extra `fast`")


def compared(world: OpenWorld, seeds: int, most: int, found: Counter[str]) -> None:
    """Play a world both ways; what came of it is counted."""
    if draws_in_setup(world):
        found["start by chance"] += 1
        return
    played = {"worlds": seeds, "ticks": most, "digests": True}
    try:
        fast = rollout(world, engine="fast", **played)
    except Failure as failure:
        found[failure.diagnostics[0].message] += 1
        return
    plain = rollout(world, engine="plain", **played)
    found["compiled"] += 1
    found["escaped"] += fast.escaped
    found["runs"] += seeds
    assert same(fast, plain)


def same(one: Rollout, other: Rollout) -> bool:
    first, second = one.to_json(), other.to_json()
    return all(
        first[key] == second[key] for key in ("outcomes", "endings", "statuses", "runs", "digests")
    )


ODD = """
type Box { at: Box? nested inverse contents closure inside  load: 0 to 5 = 2
  worth: -9 to 9 clamped = 0  mark: 0 to 3 = 0 unique }
type Crate : Box
enum Colour { red, green, blue }
relation joined(a: Box, b: Box) symmetric
function colour(b: Box): Colour? = none
function total(): int = 0
actor me: Box
phase late sequentially
phase turns sequentially
law settle(b: Box) during late when b.load > 3 { b.load -= 1  total() += 7 }
law drift(b: Box) during turns { chance 30% { b.worth += 2 } or 20% { b.worth -= 3 } }
law spread(a: Box, b: Box) when joined(a, b) and a.worth > 3 { b.worth += 1 }
action into(a: Box, b: Box) as "put {a} in {b}" { require a != b  a.at = b }
action join(a: Box, b: Box) as "join {a} {b}" { require a != b and not joined(a, b)
  add joined(a, b)  reward 2 }
action part(a: Box, b: Box) as "part {a} {b}" { require joined(a, b)  remove joined(a, b) }
action spend(b: Box) as "spend {b}" { b.load -= 2  swap b.worth, me.worth }
action number(b: Box, n: 0 to 3) as "number {b} {n}" { b.mark = n }
action paint(b: Box) as "paint {b}" {
  require colour(b) == none or colour(b) in [red, blue]
  require 6 div (b.load - 1) > 0
  pick c: Colour by weight (if c == red then 3 else 1) { colour(b) = c }  b.worth += total() mod 3 }
action share(b: Box) as "share {b}" { b.load = b.load div (b.load - 3) }
action empty(b: Box) as "empty {b}" { require any(b.inside)
  for x in b.contents { x.at = b.at } reward -0.5 }
action double() as "double" { total() = total() * 2 + count(b for b: Box where b.at == none) }
world w {
  object a: Box { mark = 1 }
  object b: Box { mark = 2 }
  object c: Crate { mark = 3 }
  object d: Crate { mark = 0 }
  goal rich: total() > 400
  award 3 when any(b.worth > 6 for b: Box)
  reward 1 when a.at == b
  score = a.load + b.worth
}
"""


POOLS = """
type Thing { at: Box? nested inverse contents closure inside  weight: 0 to 9 = 1 }
type Box : Thing { mark: 0 to 40 = 40 unique }
type Mouse : Thing { prey: Thing? inverse hunters  age: 0 to 60 clamped = 0
  tame: bool  friend: Mouse? }
type Cheese : Thing { left: 0 to 3 = 2  kind: Colour = red }
type Crumb : Cheese
enum Colour { red < green < blue }
function meals(m: Mouse): int = 3
function seen(t: Thing): bool = false
function total(): 0 to 9999 clamped = 0
actor me: Mouse
derive weight_in(b: Box) = sum(t.weight for t in b.inside)
derive young(m: Mouse) = born(m) > tick() - 3
birth m: Mouse { meals(m) += 1  total() += id(m) mod 3 }
birth c: Crumb { c.weight = 0 }
phase living sequentially
phase mixing sequentially
phase pairs sequentially
law ages(m: Mouse) during living {
  let age = m.age + 1  m.age += 1  if age mod 7 == 0 { meals(m) -= 1 } }
law eats(m: Mouse) during living when m.prey != none {
  let p = m.prey
  if p is Cheese { if p.left > 0 { p.left -= 1  meals(m) += 1 } else { destroy p } }
}
law hunts(m: Mouse) during living when m.prey == none {
  chance 60% { pick c: Cheese where c.kind != blue or m.tame by least id(c) { m.prey = c } }
  or 20% { pick t: Thing where t != m by weight (t.weight + 1) { m.prey = t } }
}
law breeds(m: Mouse) during living when m.age mod 5 == 3 and m != me {
  chance 40% { create young: Mouse { at = m.at  tame = not m.tame  friend = m }  m.friend = none }
}
law dies(m: Mouse) during living when m != me and (m.age > 14 or meals(m) <= 0) { destroy m }
law mice_meet(a: Mouse, b: Mouse) during pairs when a != b and a.at == b.at and a.at != none {
  if id(a) < id(b) and a.weight + b.weight > 3 and b != me { destroy b  a.weight = 2 }
  else { chance 10% { a.weight += 1 } }
}
law moulds(c: Cheese, k: Colour) during pairs when c.kind == k { chance 30% { c.kind = next(k) } }
law crumbles(c: Cheese) during mixing when c.left == 0 and not (c is Crumb) {
  create a: Crumb { at = c.at }
  create b: Crumb { at = c.at  left = 1 }
  destroy c
}
law look(t: Thing) when t.at != none and not seen(t) { seen(t) = true }
law count_gone(m: Mouse) when was m.prey != none and m.prey == none { total() += 1 }
action bake(b: Box, n: 0 to 4) as "bake {n} in {b}" { create c: Cheese { at = b  left = n } }
action nest(b: Box) as "nest {b}" { create n: Box { at = b  mark = b.mark }  }
action crush(b: Box) as "crush {b}" { require any(b.contents)  destroy b }
action put(t: Thing, b: Box) as "put {t} in {b}" { require t != b  t.at = b }
action feed(m: Mouse, c: Cheese) as "feed {m} {c}" {
  require m.prey != c  let many = count(x for x in c.hunters)
  m.prey = c  seen(c) = false  reward 0.1 * many }
action number(b: Box) as "number {b}" { b.mark = count(t for t: Thing where seen(t)) mod 41 }
action clear() as "clear" { for c: Crumb { destroy c }  reward count(c for c: Crumb) }
action box() as "box" { require count(b for b: Box) < 12  create b: Box { mark = tick() mod 41 } }
action sack() as "sack" {
  create s: Mouse { tame = true }  s.weight = 3  seen(s) = true  s.friend = s }
invariant light(): all(weight_in(b) < 200 for b: Box)
world pools {
  object den: Box { mark = 0 }
  object hole: Box { at = den  mark = 1 }
  object me: Mouse { at = den }
  object mimi: Mouse { at = hole  tame = true }
  object cheddar: Cheese { at = hole }
  goal many: count(m for m: Mouse) > 9
  award 2 when any(young(m) for m: Mouse)
  reward 0.3 when count(c for c: Cheese) > 3
  score = count(t for t: Thing)
  endless
}
"""


def compare_all(folder: Path) -> Counter[str]:
    """Compare the bundled worlds, and two of odd rules; objects that come and go have many places,
    or so few that the interpreter must help."""
    found: Counter[str] = Counter()
    odd, pools = folder / "odd.tw", folder / "pools.tw"
    odd.write_text(ODD, encoding="utf-8")
    pools.write_text(POOLS, encoding="utf-8")
    every = [one for one in DOMAINS.glob("*/world.tw") if one.parent.name != "crafter"]  # too large
    every += [DOMAINS / "crafter" / one for one in ("rules.tw", "small_duels.tw")]
    for file in (odd, pools, *sorted(every)):
        for name in load_program(file).program.worlds:
            compared(open_world(f"{file}:{name}"), 4, 30, found)
    with pytest.MonkeyPatch.context() as patch:
        built = lru_cache(maxsize=1)(lambda slots: Compiled(slots, spare=9))
        patch.setattr(rollouts, "_built", built)
        helped: Counter[str] = Counter()
        compared(open_world(str(pools)), 4, 40, helped)
    assert helped["escaped"] == 4
    return found


def test_all_worlds_come_to_the_same(tmp_path: Path) -> None:
    """The text that numba compiles, run by Python as it is: compiling them all takes minutes."""
    variables = {**os.environ, "NUMBA_DISABLE_JIT": "1", "XDG_CACHE_HOME": str(tmp_path)}
    given = [sys.executable, "-W", "ignore", __file__, str(tmp_path)]
    ran = subprocess.run(given, capture_output=True, text=True, check=False, env=variables)
    assert ran.returncode == 0, ran.stderr[-3000:]
    found = dict(line.rsplit(" ", 1) for line in ran.stdout.splitlines())
    assert int(found["compiled"]) >= 14
    assert int(found.get("escaped", "0")) <= 0.1 * int(found["runs"])


@pytest.mark.parametrize(
    "name", ["cliff_walking", "taxi", pytest.param("island", marks=pytest.mark.slow)]
)
def test_compiled_runs_are_those_of_rows(name: str) -> None:
    equal_runs(name)


def equal_runs(name: str) -> None:
    one, other = (
        rollout(name, worlds=20, ticks=60, seed=3, engine=engine, digests=True)
        for engine in ("fast", "plain")
    )
    assert (one.engine, other.engine) == ("fast", "plain")
    assert one.escaped == 0
    assert same(one, other)


HATCH = """
type Nest {}
type Bird { at: Nest inverse birds  age: int = 0 }
phase living sequentially
law lays(b: Bird) during living when b.age == 3 {
  chance 70% { create young: Bird { at = b.at } }
}
law ages(b: Bird) during living { b.age += 1 }
law dies(b: Bird) during living when b.age > 4 { chance 50% { destroy b } }
action put(n: Nest) as "put {n}" { require not any(n.birds)  create b: Bird { at = n } }
world hatch {
  object oak: Nest
  object elm: Nest
  object hen: Bird { at = elm }
  lose gone: not any(true for b: Bird)
  score = count(b for b: Bird)
}
"""


@pytest.mark.slow
def test_compiled_objects_come_and_go(tmp_path: Path) -> None:
    file = tmp_path / "hatch.tw"
    file.write_text(HATCH, encoding="utf-8")
    equal_runs(str(file))


def test_what_cannot_be_compiled_is_told() -> None:
    with pytest.raises(Failure, match="TW0801: This world cannot be compiled: a real or a text"):
        rollout("dishwasher", worlds=1, ticks=1, engine="fast")


def test_a_script_is_played_without_compiling(tmp_path: Path) -> None:
    script = tmp_path / "wait.txt"
    script.write_text("pass\n", encoding="utf-8")
    found = rollout("taxi", worlds=2, policy=script, engine="fast")
    assert (found.engine, found.note) == (
        "plain",
        "A policy or script is played without compiling.",
    )
    assert [int(one) for one in found.records] == [1, 1]


def test_island_can_be_written_in_numbers() -> None:
    from tokenworld.engine.rows.code.numeric import NumericProgram
    from tokenworld.engine.rows.stepper import RowStepper

    engine = open_world("island").engine
    stepper = RowStepper(engine.instance, engine.layout, EnglishProse(), engine.start(), quiet=True)
    assert set(NumericProgram.of(stepper.slots).steps) == {"", *engine.instance.program.actions}


if __name__ == "__main__":
    for what, count in compare_all(Path(sys.argv[1])).items():
        sys.stdout.write(f"{what} {count}\n")
