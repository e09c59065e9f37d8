"""Outcomes of intents: the record that the engine makes, the log stores and players read.

The status has one producer (the engine's tick); nobody else infers it (language.md §9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal, get_args

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground.values import Json, Raw, show_value
from tokenworld.model import Program, StatusName

Status = StatusName
STATUSES: tuple[Status, ...] = get_args(StatusName)
FRUITLESS: frozenset[Status] = frozenset(("refused", "no_match", "yielded", "rolled_back", "error"))
"""The statuses of intents that change nothing: no fluent, no long action, no draw and no turn."""
By = Literal["player", "time", "runner"]
"""The origin of an intent: a player, time itself (a pass where time always passes), or the
runner, for a player whose tries are used up."""
NoMatchKind = Literal["unknown_verb", "bad_arity", "no_such_object", "wrong_type", "ambiguous"]


@frozen
class Command:
    """A resolved intent: an action with raw arguments; an empty ``action`` is `pass`."""

    action: str
    args: tuple[Raw, ...] = ()

    @property
    def is_pass(self) -> bool:
        return self.action == ""


PASS = Command("")


def call_text(program: Program, names: Sequence[str], command: Command) -> str:
    """A command as a call: ``take(brass_key)``; ``names`` are object names by number."""
    if command.is_pass:
        return "pass"
    shown = (
        str(show_value(program, names, binder.type, value))
        for binder, value in zip(program.actions[command.action].params, command.args, strict=True)
    )
    return f"{command.action}({', '.join(shown)})"


@frozen
class NoMatch:
    """Words or arguments that resolve to nothing, with what might have been meant.

    ``out_of_turn``: it came for an actor whose turn it is not, so nobody's turn is used up.
    ``yielded``: it is handed over to an operator, who may write a rule for it.
    """

    kind: NoMatchKind
    message: str
    suggestions: tuple[str, ...] = ()
    out_of_turn: bool = False
    yielded: bool = False

    @property
    def status(self) -> Status:
        """The status of a record of it."""
        return "yielded" if self.yielded else "no_match"


@frozen
class RequireReport:
    """One require of an intent: did it hold, and which values decided.

    ``holds`` is ``None`` where it could not be evaluated (after an earlier one failed).
    ``values`` maps the source text of each atom to its shown value. ``generated`` names the kind
    of a require that the language adds (`range`, `unique`, `cycle`). ``hidden``: whether it holds
    depends on secrets that a player does not know.
    """

    index: int
    label: str
    condition: str
    text: str
    holds: bool | None
    values: Mapping[str, Json]
    place: str
    generated: str = ""
    hidden: bool = False

    def to_json(self) -> dict[str, Json]:
        return {
            "index": self.index,
            "label": self.label,
            "condition": self.condition,
            "text": self.text,
            "holds": self.holds,
            "values": dict(self.values),
            "span": self.place,
            **({"hidden": True} if self.hidden else {}),
        }


@frozen
class Refusal:
    """The first false require, all that failed, and every require as it was found."""

    label: str
    text: str
    index: int
    place: str
    requires: tuple[RequireReport, ...]

    @property
    def failed(self) -> tuple[RequireReport, ...]:
        return tuple(report for report in self.requires if report.holds is not True)

    def to_json(self) -> dict[str, Json]:
        return {
            "label": self.label,
            "text": self.text,
            "index": self.index,
            "span": self.place,
            "failed": [report.to_json() for report in self.failed],
            "requires": [report.to_json() for report in self.requires],
        }


@frozen
class Change:
    """One committed or discarded change of a slot, in shown values.

    ``rule`` is the rule that made it: ``action take``, ``law grow``, ``given``.
    """

    fluent: str
    args: tuple[Json, ...]
    old: Json
    new: Json
    rule: str

    @property
    def slot(self) -> str:
        """The slot as authors write it: ``chest.state``, ``road(a, b)``."""
        args = [str(one) for one in self.args]
        _, dot, name = self.fluent.rpartition(".")
        return f"{args[0]}.{name}" if dot and len(args) == 1 else f"{name}({', '.join(args)})"

    def to_json(self) -> dict[str, Json]:
        return {
            "fluent": self.fluent,
            "args": list(self.args),
            "old": self.old,
            "new": self.new,
            "rule": self.rule,
        }


@frozen
class LuckyDraw:
    """One draw of chance: its rule, and the alternative that it took, of how many.

    Key as in language.md §13: the rule, its arguments and the number of the draw in it. ``site`` is
    the place of its `chance` or `pick` (`cellar.tw:17:3`) and ``weights`` are the alternatives in
    proportion to their probabilities, both empty if the draw is from an encoding. Draws are equal
    by all but these two.
    """

    rule: str
    args: tuple[Json, ...]
    draw: int
    choice: int
    alternatives: int
    site: str = field(default="", compare=False)
    weights: tuple[int, ...] = field(default=(), compare=False)

    @property
    def chances(self) -> tuple[float, ...]:
        """The probability of each alternative."""
        total = sum(self.weights)
        return tuple([one / total for one in self.weights])

    def to_json(self) -> dict[str, Json]:
        found: dict[str, Json] = {
            "rule": self.rule,
            "args": list(self.args),
            "draw": self.draw,
            "choice": self.choice,
            "alternatives": self.alternatives,
        }
        return {**found, "site": self.site, "chances": list(self.chances)} if self.site else found

    def text(self) -> str:
        """As people read it: ``outcome 2 of 3 (25%), at cellar.tw:17:3``."""
        shown = f"outcome {self.choice + 1} of {self.alternatives}"
        if not self.site:
            return shown
        return f"{shown} ({self.chances[self.choice] * 100:.3g}%), at {self.site}"


@frozen
class Outcome:
    """The full record of one intent (``tw-outcome/1``). ``tick`` is the tick it was given in.

    ``breach`` is the reason of a rollback or an error: code, rule, place, witness, sums.
    ``latched`` names endings latched in this tick. ``progress`` is (n, m) of a long action.
    ``next`` is the next actor, in worlds where several actors take turns. ``by`` is the source of
    the intent: the player, the passage of time, or the runner.
    """

    tick: int
    status: Status
    actor: str | None = None
    action: str = ""
    args: Mapping[str, Json] = field(default_factory=dict)
    text: str | None = None
    time_passed: bool = False
    refusal: Refusal | None = None
    no_match: NoMatch | None = None
    changes: tuple[Change, ...] = ()
    law_changes: tuple[Change, ...] = ()
    discarded: tuple[Change, ...] = ()
    fired: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    events: tuple[tuple[str, tuple[Json, ...]], ...] = ()
    draws: tuple[LuckyDraw, ...] = ()
    latched: tuple[str, ...] = ()
    progress: tuple[int, int] | None = None
    cause: str | None = None
    breach: Mapping[str, Json] | None = None
    reward: int | float = 0
    score: int | float = 0
    hash_before: str = ""
    hash_after: str = ""
    next: str | None = None
    by: By = "player"

    @property
    def fruitless(self) -> bool:
        """Return whether the intent changed nothing, and the same actor is asked again."""
        return self.status in FRUITLESS

    @property
    def noop(self) -> bool:
        """Executed without changing anything."""
        return self.status == "executed" and not self.changes

    def to_json(self) -> dict[str, Json]:
        """The exchange form; keys that say nothing are left out, the fixed ones never."""
        record: dict[str, Json] = {
            "format": "tw-outcome/1",
            "tick": self.tick,
            "status": self.status,
            "actor": self.actor,
            "by": self.by,
            "action": self.action,
            "args": dict(self.args),
            "time_passed": self.time_passed,
            "changes": [change.to_json() for change in self.changes],
            "law_changes": [change.to_json() for change in self.law_changes],
            "fired": list(self.fired),
            "said": list(self.said),
            "events": [[name, list(args)] for name, args in self.events],
            "reward": self.reward,
            "score": self.score,
            "hash_before": self.hash_before,
            "hash_after": self.hash_after,
        }
        record.update(self._optional_json())
        return record

    def _optional_json(self) -> dict[str, Json]:
        found: dict[str, Json | None] = {
            "text": self.text,
            "refusal": self.refusal.to_json() if self.refusal else None,
            **({self.no_match.status: _no_match_json(self.no_match)} if self.no_match else {}),
            "discarded": [change.to_json() for change in self.discarded] or None,
            "draws": [draw.to_json() for draw in self.draws] or None,
            "latched": list(self.latched) or None,
            "progress": list(self.progress) if self.progress else None,
            "cause": self.cause,
            "breach": self.breach,
            "noop": True if self.noop else None,
            "next": self.next,
        }
        return {name: value for name, value in found.items() if value is not None}


def _no_match_json(no_match: NoMatch) -> dict[str, Json]:
    return {
        "kind": no_match.kind,
        "message": no_match.message,
        "suggestions": list(no_match.suggestions),
    }
