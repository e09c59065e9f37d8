"""Results to `Outcome` records: the shown form that players read and the log stores."""

from __future__ import annotations

from fractions import Fraction

from tokenworld.engine.applying import shown_key
from tokenworld.engine.compile import Code
from tokenworld.engine.delta import RawChange, Rule
from tokenworld.engine.digest import settle, state_hash
from tokenworld.engine.endings import Endings
from tokenworld.engine.result import BreachReport, Result
from tokenworld.engine.state import State
from tokenworld.engine.why import reports
from tokenworld.ground import (
    Change,
    Command,
    Instance,
    Json,
    Outcome,
    Refusal,
    RequireReport,
    show_value,
)

__all__ = ["Recorder", "number_json"]


def number_json(value: Fraction | float) -> int | float:
    """An exact number as a JSON number: whole where it can be."""
    if isinstance(value, float):
        return value
    return int(value) if value.denominator == 1 else float(value)


_NOTHING = Fraction(0)


class Recorder:
    """Shows results of one compiled world."""

    def __init__(self, instance: Instance, code: Code, endings: Endings) -> None:
        self._instance, self._code, self._endings = instance, code, endings
        self._names = instance.names  # of all objects in the record at hand

    def outcome(self, result: Result, base: State) -> Outcome:
        """The record of a result; ``base`` is the last state with a known hash before it."""
        self._names = result.names or result.after.names
        if result.before.facts is None:
            settle(base, result.before)
        if result.after is not result.before and result.after.facts is None:
            settle(result.before, result.after)
        actor, breach = result.before.acting, result.breach
        return Outcome(
            tick=result.before.tick,
            status=result.status,
            actor=None if actor is None else result.before.names[actor],
            action=self.action_name(result.command),
            args=self.arguments(result.command),
            time_passed=result.time_passed,
            refusal=self._refusal(result),
            no_match=result.no_match,
            changes=self._changes(result.changes),
            law_changes=self._changes(result.law_changes),
            discarded=self._changes(result.discarded),
            fired=tuple(self.rule_text(rule) for rule in result.fired),
            said=tuple(self._said(result)),
            events=tuple((name, self._event(name, args)) for name, args in result.events),
            draws=tuple(result.draws),
            latched=result.latched,
            progress=result.progress,
            cause=result.cause,
            breach=None if breach is None else self._breach(breach),
            reward=number_json(self._reward(result)),
            score=number_json(self._endings.score(result.after, result.after.me)),
            hash_before=state_hash(result.before),
            hash_after=state_hash(result.after),
            next=self._next(result.after),
        )

    def _next(self, after: State) -> str | None:
        """Who is asked next, where several actors take turns."""
        actor = after.acting
        return None if actor is None or len(after.actors) < 2 else after.names[actor]

    # ---- names ------------------------------------------------------------------------------

    def action_name(self, command: Command | None) -> str:
        """The action of a command; `pass` for none."""
        if command is None:
            return ""
        return "pass" if command.is_pass else command.action

    def arguments(self, command: Command | None) -> dict[str, Json]:
        """Arguments by parameter name, shown."""
        if command is None or command.is_pass:
            return {}
        program = self._instance.program
        params = program.actions[command.action].params
        return {
            binder.name: show_value(program, self._names, binder.type, value)
            for binder, value in zip(params, command.args, strict=True)
        }

    def rule_text(self, rule: Rule) -> str:
        """A rule with its arguments: ``law grow(garden_bed, pea)``."""
        kind, _, name = rule.title.partition(" ")
        program = self._instance.program
        params = program.laws[name].params if kind == "law" else program.actions[name].params
        shown = (
            str(show_value(program, self._names, binder.type, value))
            for binder, value in zip(params, rule.args, strict=True)
        )
        return f"{rule.title}({', '.join(shown)})"

    # ---- parts ------------------------------------------------------------------------------

    def _changes(self, changes: list[RawChange]) -> tuple[Change, ...]:
        program = self._instance.program
        found = []
        for column, key, old, new, rule in changes:
            kind = column.fluent.type
            first, last = (show_value(program, self._names, kind, value) for value in (old, new))
            args = shown_key(program, self._names, column, key)
            found.append(Change(column.fluent.id, args, first, last, rule))
        return tuple(found)

    def _refusal(self, result: Result) -> Refusal | None:
        if result.refused is None or result.command is None:
            return None
        before, command = result.before, result.command
        found = reports(self._code, before, command, before.acting, result.start)
        if result.generated:
            found = (*found, self._generated(result, len(found)))
        first = found[result.refused]
        return Refusal(first.label, first.text, first.index, first.place, found)

    def _generated(self, result: Result, index: int) -> RequireReport:
        command = result.command
        assert command is not None
        text = result.cause or "This cannot be done."
        place = str(self._instance.program.actions[command.action].span)
        condition = f"the {result.generated} of every changed value is kept"
        return RequireReport(
            index, result.generated, condition, text, False, {}, place, result.generated
        )

    def _said(self, result: Result) -> list[str]:
        lines = [line.words(line.state, line.was, *line.args) for line in result.spoken]
        return [part for line in lines for part in line.split("\n") if part]

    def _event(
        self, name: str, args: tuple[bool | int | float | str | None, ...]
    ) -> tuple[Json, ...]:
        program = self._instance.program
        return tuple(
            show_value(program, self._names, binder.type, value)
            for binder, value in zip(program.events[name].params, args, strict=True)
        )

    def _reward(self, result: Result) -> Fraction | float:
        if not result.rewards and not self._endings.pays:
            return _NOTHING
        total: Fraction | float = Fraction(0)
        for amount, decimals in result.rewards:
            if isinstance(amount, float):
                total = float(total) + amount
            elif isinstance(amount, int):
                total = total + Fraction(amount, 10**decimals)
        if result.time_passed:
            was = result.start or result.before
            total = total + self._endings.paid(result.after, was, result.after.me)
        return total

    def _breach(self, breach: BreachReport) -> dict[str, Json]:
        """What was broken and where: an invariant's line, else that of the rule to blame."""
        rule = breach.rule or (breach.culprits[0] if breach.culprits else "")
        found: dict[str, Json] = {
            "code": breach.code,
            "kind": breach.kind,
            "message": breach.message,
            "rule": rule,
            "place": breach.place or self._place_of(rule),
            "witness": list(breach.witness),
            "culprits": list(breach.culprits),
        }
        if breach.before is not None:
            found["before"], found["after"] = breach.before, breach.after
        return found

    def _place_of(self, title: str) -> str:
        """Where a rule such as ``law grow`` stands."""
        program = self._instance.program
        kind, _, name = title.partition(" ")
        if kind == "action" and name in program.actions:
            return str(program.actions[name].span)
        if kind == "law" and name in program.laws:
            return str(program.laws[name].span)
        return ""
