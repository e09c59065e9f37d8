"""The law trace in lines: what the action did, then each phase, law by law, and what clashed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from tokenworld.ground import Json
from tokenworld.session.differing import SlotChange
from tokenworld.session.tracing import Asked, How, LawFired, PhaseRan, Shared, TickTrace
from tokenworld.tools.play.glyphs import Glyphs
from tokenworld.tools.play.lines import Line, Piece, line
from tokenworld.tools.play.records import json_text

__all__ = ["trace_lines"]

_ORDERS = {
    "simultaneous": "all laws at once",
    "sequential": "one object after another",
    "by_nesting": "containers before their contents",
}
_HOW: dict[How, str] = {
    "agree": "they agree",
    "sum": "added up",
    "add wins": "an addition beats a removal",
    "conflict": "they clash",
}


def trace_lines(found: TickTrace, glyphs: Glyphs) -> Iterator[Line]:
    """Everything that a trace tells, in the order in which it happened."""
    asked = f"  {found.asked}" if found.asked else ""
    status = found.status.replace("_", " ")
    good = found.status in ("executed", "waiting", "interrupted")
    yield (
        (f"{glyphs.of(found.status)} {status}", "good" if good else "bad"),
        (f" in tick {found.tick}", "dim"),
        (asked, "head"),
    )
    yield from _action(found, glyphs)
    if not found.phases:
        yield line("")
        yield line(_why_nothing(found), "dim")
    for phase in found.phases:
        yield line("")
        yield from _phase(phase, glyphs)
    if found.stopped:
        where = "It broke off here." if found.broke_off else "It was discarded at the end."
        yield line("")
        yield line(f"{glyphs.rolled_back} {found.stopped}", "bad")
        yield line(f"{where} Nothing of the tick was kept.", "bad")


def _why_nothing(found: TickTrace) -> str:
    if found.time_passed:
        return "No law is known of this tick: the world has none, or its rules were exchanged."
    return "No time passed, so no law ran."


def _action(found: TickTrace, glyphs: Glyphs) -> Iterator[Line]:
    if not found.action:
        return
    args = ", ".join(map(json_text, found.args.values()))
    yield line("")
    yield line(f"action {found.action}({args})" if found.action != "pass" else "pass", "head")
    yield from _changes(found.changes, glyphs)
    if found.status == "waiting":
        yield line("      goes on", "dim")
    elif not found.changes and not found.stopped:
        yield line("      changed nothing", "dim")


def _phase(phase: PhaseRan, glyphs: Glyphs) -> Iterator[Line]:
    name = f"phase {phase.name}" if phase.name else "laws without a phase"
    yield ((name, "head"), (f"  {_ORDERS[phase.order]}", "dim"))
    beside = {number for one in phase.shared for number, _ in one.by}
    for law in phase.fired:
        yield from _law(law, law.number in beside, phase.shared, glyphs)
    for one in phase.shared:
        yield from _shared(one, glyphs)
    if phase.idle:
        yield line(f"  did not fire: {', '.join(phase.idle)}", "dim")


def _law(law: LawFired, shares: bool, shared: Sequence[Shared], glyphs: Glyphs) -> Iterator[Line]:
    bound = ", ".join(f"{name} = {json_text(value)}" for name, value in law.bindings.items())
    yield ((f"{law.number:>3} ", "dim"), (f"law {law.law}", "plain"), (f"  {bound}", "dim"))
    yield from _changes(law.changes, glyphs)
    common = {one.slot for one in shared for number, _ in one.by if number == law.number}
    if shares:
        for asked in law.asked:
            if asked.slot in common:
                yield (("      ", "plain"), *_asks(asked), ("  shared", "dim"))
    elif not law.changes:
        yield line(
            "      changed nothing" if law.asked else "      spoke, or changed nothing", "dim"
        )


def _changes(changes: Sequence[SlotChange], glyphs: Glyphs) -> Iterator[Line]:
    for one in changes:
        values = f"{json_text(one.old)} {glyphs.becomes} {json_text(one.new)}"
        yield ((f"      {one.slot} ", "plain"), (values, "good"))


def _asks(asked: Asked) -> tuple[Piece, ...]:
    return ((f"{asked.slot} ", "plain"), (_request(asked), "typed"))


def _request(asked: Asked) -> str:
    """What a law asked for a slot: ``= 3``, ``+ 2``, ``- 1``, ``add``."""
    match asked.op:
        case "=":
            return f"= {json_text(asked.value)}"
        case "+":
            return _amount(asked.value)
        case "add" | "remove" | "create" | "destroy":
            return asked.op
        case _:
            assert_never(asked.op)


def _amount(value: Json) -> str:
    if isinstance(value, int | float) and value < 0:
        return f"- {json_text(-value)}"
    return f"+ {json_text(value)}"


def _shared(one: Shared, glyphs: Glyphs) -> Iterator[Line]:
    clash = one.how == "conflict"
    sign = f"{glyphs.refused} " if clash else f"{glyphs.dot} "
    change = one.change
    value = "stays" if change is None else f"{json_text(change.old)} {glyphs.becomes} "
    after = "" if change is None else json_text(change.new)
    asked = ", ".join(f"{number}: {_request(ask)}" for number, ask in one.by)
    yield (
        (f"  {sign}{one.slot} ", "bad" if clash else "plain"),
        (f"{value}{after}", "bad" if clash else "good"),
        (f"  {_HOW[one.how]} ({asked})", "bad" if clash else "dim"),
    )
