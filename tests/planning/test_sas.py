"""SAS+ text: exact, single-valued, the same on every run, and read back into plans."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import encoded, explore, opened

from tokenworld.ground import PASS, Command, LuckyDraw
from tokenworld.planning.lower.encode import simplified
from tokenworld.planning.task import (
    Effect,
    Literal,
    NotAPlan,
    Operator,
    Task,
    Variable,
    check_plan,
    decoded,
    operators_named,
    sas_text,
    single_valued,
)
from tokenworld.planning.verdict import PlanStep

LAMP = Task(
    (Variable("at (hero)", "slot", ("hall", "shed"), 0), Variable("lit", "slot", (False, True), 0)),
    (
        Operator("o0 go", (), (Effect(((0, (0,)),), 0, 1), Effect(((0, (1,)),), 0, 0)), 1),
        Operator("o1 light lamp", ((0, (1,)),), (Effect((), 1, 1),), 2),
    ),
    ((0, (0,)), (1, (1,))),
)
LAMP_TEXT = """\
begin_version
3
end_version
begin_metric
1
end_metric
2
begin_variable
at (hero)
-1
2
Atom at (hero) = hall
Atom at (hero) = shed
end_variable
begin_variable
lit
-1
2
Atom lit = False
Atom lit = True
end_variable
0
begin_state
0
0
end_state
begin_goal
2
0 0
1 1
end_goal
2
begin_operator
o0 go
0
2
1 0 0 0 -1 1
1 0 1 0 -1 0
1
end_operator
begin_operator
o1 light lamp
1
0 1
1
0 1 -1 1
2
end_operator
0
"""


def test_a_task_is_written_as_sas_plus() -> None:
    assert sas_text(LAMP) == LAMP_TEXT


def test_names_never_break_a_line() -> None:
    odd = Task(
        (Variable("a\nbegin_state", "slot", ("x\n1", "y"), 0),),
        (Operator("o0 a\nend_operator", (), (Effect((), 0, 1),)),),
        ((0, (1,)),),
    )
    lines = sas_text(odd).splitlines()
    assert lines.count("begin_state") == 1
    assert lines.count("end_operator") == 1


# ---- sets of values -------------------------------------------------------------------------


def random_task(seed: int) -> Task:
    """Variables, operators and a goal that ask for sets of values."""
    random = Random(seed)
    sizes = [random.randint(2, 4) for _ in range(3)]

    def values(size: int) -> tuple[int, ...]:
        return tuple(sorted(random.sample(range(size), random.randint(1, size - 1))))

    def literals(count: int) -> tuple[Literal, ...]:
        chosen = random.sample(range(3), count)
        return tuple((one, values(sizes[one])) for one in sorted(chosen))

    def effects() -> tuple[Effect, ...]:
        found = []
        for variable in random.sample(range(3), random.randint(1, 2)):
            test = random.randrange(3)
            size = sizes[test]
            cut = random.randint(0, size)
            for part in (range(cut), range(cut, size)):
                if len(part) in range(1, size):
                    conditions = ((test, tuple(part)),)
                    found.append(Effect(conditions, variable, random.randrange(sizes[variable])))
        return tuple(found)

    variables = tuple(
        Variable(f"v{index}", "slot", tuple(range(size)), random.randrange(size))
        for index, size in enumerate(sizes)
    )
    operators = tuple(
        Operator(f"o{number}", literals(random.randint(0, 2)), effects())
        for number in range(random.randint(2, 5))
    )
    return Task(variables, operators, literals(2))


@pytest.mark.parametrize("seed", range(60))
def test_sets_of_values_get_variables_that_watch_them(seed: int) -> None:
    task = random_task(seed)
    plain = single_valued(task)
    every = [plain.goal, *(one.precondition for one in plain.operators)]
    every += [effect.conditions for one in plain.operators for effect in one.effects]
    assert all(len(positions) == 1 for literals in every for _, positions in literals)
    first, second = explore(task), explore(plain)
    assert (first is None) == (second is None)
    if first is not None and second is not None:
        assert len(first) == len(second)


@pytest.mark.parametrize("seed", range(60))
def test_a_task_made_smaller_keeps_its_plans(seed: int) -> None:
    task = random_task(seed)
    smaller, reachable = simplified(task)
    first, second = explore(task), explore(smaller)
    assert (first is None) == (second is None)
    assert reachable or first is None
    if first is not None and second is not None:
        assert len(first) == len(second)
        check_plan(task, operators_named(task, [one.name for one in second]))


def test_watching_variables_follow_every_state() -> None:
    task = random_task(7)
    plain = single_valued(task)
    names = [one.name for one in plain.variables[len(task.variables) :]]
    sets = [literal for literal in _sets(task) if len(literal[1]) > 1]
    assert len(names) == len(sets)
    state, random = plain.initial, Random(1)
    for _ in range(200):
        for number, (variable, positions) in enumerate(sets, start=len(task.variables)):
            assert state[number] == int(state[variable] in positions)
        usable = [one for one in plain.operators if plain.holds(state, one.precondition)]
        if not usable:
            break
        state = plain.apply(state, random.choice(usable))


def _sets(task: Task) -> list[Literal]:
    found: dict[Literal, None] = {}
    for operator in task.operators:
        found.update(dict.fromkeys(operator.precondition))
        for effect in operator.effects:
            found.update(dict.fromkeys(effect.conditions))
    found.update(dict.fromkeys(task.goal))
    return list(found)


# ---- the same text every time -----------------------------------------------------------------

SCRIPT = """
import sys
sys.path.insert(0, {here!r})
from lower_worlds import bundled, encoded
print(encoded(bundled({name!r})).digest)
"""


@pytest.mark.parametrize("name", ["cellar", "kitchen", "cottage"])
def test_the_text_does_not_depend_on_hashes(name: str) -> None:
    script = SCRIPT.format(here=str(Path(__file__).parent), name=f"{name}/world")
    digests = set()
    for seed in ("1", "2", "77"):
        run = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        digests.add(run.stdout)
    assert len(digests) == 1


def test_equal_tasks_have_equal_digests() -> None:
    text = "function n(): 0 to 3 = 0\naction up() { n() += 1 }\nworld w { goal g: n() == 2 }"
    one, two = encoded(opened(text)), encoded(opened(text))
    assert one.digest == two.digest
    assert one.task.digest == two.task.digest
    assert one.digest != encoded(opened(text.replace("== 2", "== 3"))).digest


# ---- reading plans back -------------------------------------------------------------------------


def test_phases_are_left_out_and_their_draws_kept() -> None:
    first = LuckyDraw("action toss", (None,), 0, 1, 2)
    second = LuckyDraw("law rain", ("hall",), 0, 0, 3)
    operators = (
        Operator("o0 toss", (), (), 1, Command("toss"), (first,)),
        Operator("o1 draw", (), (), 0, None, (second,)),
        Operator("o2 phase", (), ()),
        Operator("o3 break off", (), ()),
        Operator("o4 pass", (), (), 1, PASS),
    )
    assert decoded(operators) == (PlanStep(Command("toss"), (first, second)), PlanStep(PASS))


def test_a_plan_that_is_none_is_recognised() -> None:
    with pytest.raises(NotAPlan, match="an operator `o7 fly` that does not exist"):
        operators_named(LAMP, ["o0 go", "o7 fly"])
    go, light = LAMP.operators
    check_plan(LAMP, (go, light, go))
    with pytest.raises(NotAPlan, match="operator 1, `o1 light lamp`, is not applicable"):
        check_plan(LAMP, (light, go))
    with pytest.raises(NotAPlan, match="does not end in the goal"):
        check_plan(LAMP, (go, light))


def test_operators_are_named_by_their_first_word() -> None:
    assert operators_named(LAMP, ["o1 whatever it is called", "o0"]) == LAMP.operators[::-1]
