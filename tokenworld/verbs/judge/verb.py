"""``tw judge``: the verdict as text or JSON; 0 accepted, 1 refused, 3 unproven."""

from __future__ import annotations

from typing import Annotated

from tokenworld.diagnostics import read_source, usage
from tokenworld.session.loading import split_target
from tokenworld.verbs import options as opt
from tokenworld.verbs.judge.contract import Budget, read_contract
from tokenworld.verbs.judge.findings import Judgement, Status
from tokenworld.verbs.judge.findings import brief as brief_of
from tokenworld.verbs.judge.judging import judge as judge_source
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, EXIT_UNKNOWN, Output

_CODES: dict[Status, int] = {
    "accepted": EXIT_OK, "refused": EXIT_NEGATIVE, "unproven": EXIT_UNKNOWN,
}  # fmt: skip


def judge(
    target: opt.World,
    out: Output,
    *,
    contract: opt.Contract = "game",
    brief: Annotated[bool, "Print only the brief for a model."] = False,
    states: Annotated[int, "States of each search and of the audit."] = 20000,
    ticks: Annotated[int, "Ticks of seeded play in each world."] = 400,
    mutants: Annotated[int, "Changed rules that the tests must notice."] = 40,
    time_limit: Annotated[float, "Seconds for all of it."] = 120.0,
) -> int:
    """Judge ``FILE[:world]``; ``brief`` prints only the report for a language model."""
    if states < 1 or ticks < 0 or mutants < 0:
        raise usage("A budget is a whole number.", "Give `--states` from 1, the others from 0.")
    wanted = read_contract(contract)
    path, world = split_target(target)
    budget = Budget(states, ticks, mutants, time_limit)
    found = judge_source(read_source(path), wanted, budget, world=world, say=out.each_second())
    out.json(found.to_json())
    if brief:
        out.line(brief_of(found).rstrip("\n"))
    else:
        _tell(found, out)
    return _CODES[found.status]


def _tell(found: Judgement, out: Output) -> None:
    """Every finding with its source line, then the figures, then the verdict."""
    if not out.as_json:
        out.diagnostics([one.found for one in found.findings], found.sources, to="stdout")
    for tier, figures in found.figures.items():
        shown = ", ".join(f"{name} {value}" for name, value in _flat(figures))
        out.line(f"  {tier:<8} {shown}".rstrip())
    out.line(found.status)


def _flat(figures: object) -> list[tuple[str, object]]:
    """The numbers of a tier in a row; a list by its entries' own words."""
    if not isinstance(figures, dict):
        return []
    row: list[tuple[str, object]] = []
    for name, value in figures.items():
        if isinstance(value, list):
            row += [(_entry(one), "") for one in value]
        else:
            row.append((name, value))
    return row


def _entry(one: object) -> str:
    return " ".join(str(part) for part in one.values()) if isinstance(one, dict) else str(one)
