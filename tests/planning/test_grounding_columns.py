"""Operators made of whole columns are those that are made one by one."""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from grounding_worlds import facts_of, first_goal, grounded
from lower_worlds import Opened, opened
from sokoban import sokoban

from tokenworld.diagnostics import Source
from tokenworld.planning.grounding import task
from tokenworld.planning.grounding.operators import Columns, Uneven
from tokenworld.planning.grounding.task import GroundTask, plain_task
from tokenworld.planning.reader import import_pddl

OPTIONS = [(grouped, whole) for grouped in (True, False) for whole in (True, False)]
EVERYBODY = 10**9
IPC = os.environ.get("TW_IPC")
FAMILIES = (
    "agricola-opt18-strips", "barman-mco14-strips", "blocks", "childsnack-opt14-strips",
    "driverlog", "gripper", "logistics98", "openstacks", "rovers", "sokoban-opt08-strips",
    "zenotravel",
)  # fmt: skip
RELATIONS = {
    "free": (), "here": ("A",), "open": ("B",), "near": ("A", "A"), "holds": ("A", "B"),
    "fixed": ("A", "B"), "lit": ("B",),
}  # fmt: skip
"""No rule changes `fixed`."""
OBJECTS = {"A": ("a1", "a2", "a3"), "B": ("b1", "b2")}


def atom(draw: random.Random, names: dict[str, str], but: tuple[str, ...] = ()) -> str:
    """A fact over variables and objects."""
    relation = draw.choice([name for name in RELATIONS if name not in but])
    args = []
    for of in RELATIONS[relation]:
        known = [name for name, kind in names.items() if kind == of]
        args.append(draw.choice([*known, *known, *known, draw.choice(OBJECTS[of])]))
    return f"{relation}({', '.join(args)})"


def action(draw: random.Random, number: int) -> str:
    names = {name: draw.choice("AAB") for name in "xyz"[: draw.randrange(4)]}
    params = ", ".join(f"{name}: {of}" for name, of in names.items())
    asked = [f"require {'not ' * (draw.random() < 0.25)}{atom(draw, names)}"
             for _ in range(draw.randrange(1, 4))]  # fmt: skip
    made = dict.fromkeys(atom(draw, names, ("fixed",)) for _ in range(draw.randrange(1, 3)))
    gone = dict.fromkeys(
        one.removeprefix("require ") if draw.random() < 0.7 and "not " not in one else
        atom(draw, names, ("fixed",))
        for one in asked
    )  # fmt: skip
    changes = [f"add {one}" for one in made]
    changes += [f"remove {one}" for one in gone if one not in made and "fixed" not in one]
    cost = f" cost {draw.randrange(1, 4)}" if draw.random() < 0.3 else ""
    return f"action act{number}({params}){cost} {{ {'  '.join([*asked, *changes])} }}"


def strips(seed: int) -> str:
    """A random plain world."""
    draw = random.Random(seed)
    relations = "  ".join(
        f"relation {name}({', '.join(f'p{place}: {of}' for place, of in enumerate(kinds))})"
        for name, kinds in RELATIONS.items()
    )
    actions = "\n".join(action(draw, number) for number in range(draw.randrange(2, 6)))
    objects = "  ".join(f"object {one}: {of}" for of, every in OBJECTS.items() for one in every)
    start = dict.fromkeys(atom(draw, {}) for _ in range(draw.randrange(4, 12)))
    adds = "  ".join(f"add {one}" for one in start)
    goal = " and ".join(dict.fromkeys(atom(draw, {}, ("fixed",)) for _ in range(2)))
    world = f"world w {{ setup {{ {adds} }}  goal g: {goal} }}"
    return f"type A  type B\n{relations}\n{objects}\n{actions}\n{world}"


def task_of(world: Opened, few: int, grouped: bool, whole: bool) -> GroundTask | None:
    """The task, where actions with fewer bindings are made one by one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(task, "_FEW", few)
        line = first_goal(world)
        return plain_task(facts_of(world), grounded(world), line, grouped=grouped, whole=whole)


def compared(world: Opened) -> None:
    for options in OPTIONS:
        by_columns, listed = (task_of(world, few, *options) for few in (0, EVERYBODY))
        assert by_columns == listed


@pytest.mark.parametrize("seed", range(120))
def test_random_worlds(seed: int) -> None:
    compared(opened(strips(seed)))


def test_sokoban() -> None:
    compared(sokoban())


@pytest.mark.skipif(IPC is None, reason="no IPC problems: name their folder with `TW_IPC`")
@pytest.mark.parametrize("family", FAMILIES)
def test_problems_of_the_competitions(family: str) -> None:
    folder = Path(str(IPC)) / family
    path = min(one for one in folder.glob("*.pddl") if "domain" not in one.name)
    domain, problem = (
        Source(str(one), None, one.read_text(encoding="utf-8"))
        for one in (folder / "domain.pddl", path)
    )
    compared(opened(import_pddl(domain, (problem,)).text))


def test_random_worlds_meet_every_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the comparison is worth: both ways are taken, bindings are left out, values are
    missing, tasks are cut down to what matters."""
    met = Counter[str]()
    made = Columns.__init__

    def watched(self: Columns, bindings: object, *rest: object, **options: bool) -> None:
        try:
            made(self, bindings, *rest, **options)  # type: ignore[arg-type]
        except Uneven:
            met["uneven"] += 1
            raise
        met["even"] += 1
        met["left out"] += self._bindings is not bindings
        met["partly"] += any(None in one.variables for one in self._shape.asked)

    monkeypatch.setattr(Columns, "__init__", watched)
    for seed in range(120):
        world = opened(strips(seed))
        whole, cut = (task_of(world, 0, True, one) for one in (True, False))
        assert whole is not None
        assert cut is not None
        met["plain"] += 1
        met["cut"] += cut.goal is not None and len(cut.variables) < len(whole.variables)
    assert met["plain"] == 120
    assert min(met[one] for one in ("uneven", "even", "left out", "partly", "cut")) > 5, met
