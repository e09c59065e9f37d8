"""A world to functions: everything that is generated, and the tables it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tokenworld.engine.rollout.acting import BEFORE, BEGAN
from tokenworld.engine.rollout.actions import Actions
from tokenworld.engine.rollout.commits import Commits
from tokenworld.engine.rollout.expressible import check
from tokenworld.engine.rollout.keys import Keys, player_keys
from tokenworld.engine.rollout.laws import Laws
from tokenworld.engine.rollout.scratch import FIXED, LIMIT, NONE
from tokenworld.engine.rollout.slots import NAN_BITS, Cell, Plan
from tokenworld.engine.rollout.terms import Writer
from tokenworld.model import ROOT, BoolType, NumberType, ObjectType

__all__ = ["Generated", "generate"]

LOG_SIZE = 4096


@dataclass(frozen=True, slots=True)
class Generated:
    """The source of one world, the values of its places and tables, the size of its scratch.

    ``timeless``: no rule reads the number of the tick.
    """

    source: str
    values: dict[str, Any]
    scratch: int
    score_decimals: int
    reward_decimals: int
    timeless: bool


def generate(plan: Plan) -> Generated:
    """Generate the functions of a world; `Inexpressible` where slots cannot hold it."""
    from tokenworld.engine.rollout.effects import reward_decimals

    check(plan.engine.instance)
    writer, keys = Writer(plan), Keys(plan)
    program = plan.program
    titles = [f"action {name}" for name in program.actions] + [f"law {n}" for n in program.laws]
    rules = {title: number for number, title in enumerate(titles)}
    actions, laws = Actions(writer, keys, rules), Laws(writer, keys, rules)
    actions.write()
    laws.write()
    commits = Commits(writer, rules)
    commits.write()
    values = {**_header(plan), **_columns(plan), **_types(plan), **actions.tables, **commits.tables}
    values |= writer.members
    values["DEEDED"] = int(any(chunk.startswith("def did_") for chunk in writer.chunks))
    values["RULES"] = max(1, len(rules))
    values["PLAYER_ACTION"], values["PLAYER_ARGUMENTS"] = player_keys()
    values["WORDS"] = keys.words
    regions = _regions(plan)
    regions |= writer.regions
    regions["MEMO"] = values["MEMO_SIZE"] = writer.memos
    place = FIXED
    for name, size in regions.items():
        values[name] = place
        place += size
    values["LOG_SIZE"] = LOG_SIZE
    source = "\n".join(writer.chunks)
    timeless = "S[1]" not in source
    decimals = commits.score_decimals(), reward_decimals(writer)
    return Generated(source, values, place, *decimals, timeless)


def _header(plan: Plan) -> dict[str, Any]:
    world = plan.world
    actors = plan.start.actors or (NONE,)
    return {
        "ROW": plan.row, "LATCHED": plan.latched, "AWARDED": plan.awarded, "LONGS": plan.longs,
        "DEEDS": plan.deeds, "KINDS": plan.kinds_at, "OBJECTS": plan.objects,
        "LONG_SIZE": plan.long_size, "ACTORS": list(actors), "ACTOR_COUNT": len(actors),
        "ME": actors[0], "ENDINGS": len(world.endings), "AWARDS": len(world.awards),
        "ENDLESS": int(world.endless), "LIVE": int(world.outcomes == "live"),
        "TIME_ALWAYS": int(world.time_always), "HAS_LONG": int(plan.has_long),
        "HAS_CONSERVES": int(bool(plan.program.conserves)), "ACTIONS": len(plan.actions),
        "COLUMNS": len(plan.cells), "KIND_COUNT": len(plan.kinds),
        "BEGAN": BEGAN if len(actors) > 1 else BEFORE,
    }  # fmt: skip


def _columns(plan: Plan) -> dict[str, Any]:
    rows = [_column(plan, cell) for cell in plan.cells]
    found: dict[str, Any] = {name: [row[name] for row in rows] for name in _column_names(rows)}
    owner = [0] * plan.row
    for index, cell in enumerate(plan.cells):
        if cell.base < plan.row:
            owner[cell.base : cell.base + cell.size] = [index] * cell.size
    shaped = any(
        (one.column.fluent.unique or one.column.fluent.nested or one.column.fluent.acyclic)
        and one.column.fluent.id in plan.changing
        for one in plan.cells
    )
    return {**found, "COL_OF": owner, "SHAPED": int(shaped)}


def _column_names(rows: list[dict[str, int]]) -> list[str]:
    return list(rows[0]) if rows else []


def _column(plan: Plan, cell: Cell) -> dict[str, int]:
    fluent, column = cell.column.fluent, cell.column
    kind = fluent.type
    spans = (*cell.spans, (0, 1), (0, 1))
    number = isinstance(kind, NumberType)
    low = kind.low if isinstance(kind, NumberType) else None
    high = kind.high if isinstance(kind, NumberType) else None
    refs = 0
    if plan.destroys:
        for place, param in enumerate(fluent.params[:2]):
            refs |= (1 << place) if isinstance(param.type, ObjectType) else 0
        refs |= 4 if isinstance(kind, ObjectType) else 0
    default = plan.encoded(column.default)
    if cell.real:
        default = NAN_BITS if column.default is None else plan.encoded(float(column.default))
    return {
        "C_KIND": 1 if isinstance(kind, BoolType) else 2 if number else 3 if cell.real else 0,
        "C_LOW": -LIMIT if low is None else low, "C_HIGH": LIMIT if high is None else high,
        "C_CLAMPED": int(fluent.clamped), "C_BASE": cell.base, "C_SIZE": cell.size,
        "C_DEFAULT": default, "C_SHAPE": 0 if column.single else 1 if column.by_object else 2,
        "C_UNIQUE": int(fluent.unique), "C_ORDERED": int(fluent.ordered),
        "C_NESTED": int(fluent.nested and column.by_object), "C_ACYCLIC": int(fluent.acyclic),
        "C_SYMMETRIC": int(fluent.symmetric), "C_KIDS": cell.chains,
        "C_OFF0": spans[0][0], "C_LEN0": spans[0][1],
        "C_OFF1": spans[1][0] if len(cell.spans) > 1 else 0,
        "C_LEN1": spans[1][1] if len(cell.spans) > 1 else 1, "C_REFS": refs,
    }  # fmt: skip


def _types(plan: Plan) -> dict[str, Any]:
    """Which kinds of objects are of which types."""
    program = plan.program
    return {
        "ISA": [
            int(of == ROOT or (kind != ROOT and program.is_subtype(kind, of)))
            for of in plan.kinds
            for kind in plan.kinds
        ]
    }


def _regions(plan: Plan) -> dict[str, int]:
    slots = LOG_SIZE + 2
    return {
        "LOG_SLOT": LOG_SIZE, "LOG_OP": LOG_SIZE, "LOG_VALUE": LOG_SIZE,
        "LOG_RULE": LOG_SIZE, "MARK": plan.row, "SUM_SLOT": slots, "SUM_OPS": slots,
        "SUM_SET": slots, "SUM_BY": slots, "SEEN": plan.objects, "WALK": 4 * plan.objects + 8,
        "OFFERED": len(plan.actions),
        "TOUCHED": len(plan.cells) + 1, "DOOM": 2 * LOG_SIZE,
    }  # fmt: skip
