"""Compiled rollouts are the runs of the interpreter: records, endings, rewards and state hashes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tokenworld import rollout
from tokenworld.diagnostics import Failure
from tokenworld.engine.rows.code.compiled import Compiled, compiler_missing
from tokenworld.engine.rows.code.numeric import Uncompiled
from tokenworld.engine.rows.runs import Runs
from tokenworld.prose.wording import EnglishProse
from tokenworld.session import OpenWorld, load_program, open_world
from tokenworld.session.rollouts import draws_in_setup

DOMAINS = Path(__file__).parents[3] / "domains"
pytestmark = pytest.mark.skipif(bool(compiler_missing()), reason="needs the extra `fast`")


def compared(world: OpenWorld, seeds: int, most: int, found: Counter[str]) -> None:
    """Play a world both ways; what came of it is counted."""
    if draws_in_setup(world):
        found["start by chance"] += 1
        return
    engine = world.engine
    runs = Runs(engine.instance, engine.layout, EnglishProse(), output="", fixed=True)
    runs.begin(engine.start(0))
    try:
        compiled = Compiled(runs.stepper.slots)
    except Uncompiled as reason:
        found[reason.what] += 1
        return
    found["compiled"] += 1
    first = compiled.encode(runs.row.S)
    plain = rollout(world, worlds=seeds, ticks=most, engine="plain", digests=True)
    assert plain.digests is not None
    for seed in range(seeds):
        try:
            records, ended_at, paid = compiled.play(first, seed, most)
        except (ArithmeticError, ValueError, IndexError):
            records = -1
        found["runs"] += 1
        if records < 0:
            found["escaped"] += 1
            continue
        runs.restart(seed)
        compiled.decode(compiled.row, runs.row.S)
        assert engine.hash(runs.state()) == plain.digests[seed], seed
        assert (records, ended_at) == (plain.records[seed], plain.ended_at[seed]), seed
        assert paid / 10**compiled.scale == plain.reward[seed], seed
        assert runs.reached() == plain.ending[seed], seed


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


def compare_all(folder: Path) -> Counter[str]:
    """Compare the bundled worlds, and one of odd rules."""
    found: Counter[str] = Counter()
    odd = folder / "odd.tw"
    odd.write_text(ODD, encoding="utf-8")
    every = (one for one in DOMAINS.glob("*/world.tw") if one.parent.name != "crafter")  # too large
    for file in (odd, *sorted(every)):
        for name in load_program(file).program.worlds:
            compared(open_world(f"{file}:{name}"), 4, 30, found)
    return found


def test_all_worlds_come_to_the_same(tmp_path: Path) -> None:
    """The text that numba compiles, run by Python as it is: compiling them all takes minutes."""
    variables = {**os.environ, "NUMBA_DISABLE_JIT": "1", "XDG_CACHE_HOME": str(tmp_path)}
    given = [sys.executable, "-W", "ignore", __file__, str(tmp_path)]
    ran = subprocess.run(given, capture_output=True, text=True, check=False, env=variables)
    assert ran.returncode == 0, ran.stderr[-3000:]
    found = dict(line.rsplit(" ", 1) for line in ran.stdout.splitlines())
    assert int(found["compiled"]) >= 9
    assert int(found.get("escaped", "0")) <= 0.1 * int(found["runs"])


@pytest.mark.parametrize(
    "name", ["cliff_walking", "taxi", pytest.param("island", marks=pytest.mark.slow)]
)
def test_compiled_runs_are_those_of_rows(name: str) -> None:
    both = [
        rollout(name, worlds=20, ticks=60, seed=3, engine=engine, digests=True)
        for engine in ("fast", "plain")
    ]
    assert [one.engine for one in both] == ["fast", "plain"]
    assert both[0].escaped == 0
    one, other = (found.to_json() for found in both)
    for key in ("outcomes", "endings", "statuses", "runs", "digests"):
        assert one[key] == other[key], key


def test_what_cannot_be_compiled_is_told() -> None:
    with pytest.raises(Failure, match="TW0801: This world cannot be compiled: objects come and go"):
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
