"""Comparing a recorded run with its replay: the pure half of `tw runs replay --verify`.

`session` re-executes the intents and hands both lists over; nothing is executed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import cast

from tokenworld.diagnostics import Diagnostic
from tokenworld.ground import Json
from tokenworld.store.chain import canonical
from tokenworld.store.records import Run

__all__ = ["Divergence", "first_divergence", "world_differs"]

Record = Mapping[str, Json]

# In the order in which a difference explains the later ones; what is not listed comes last.
_PARTS = (
    "hash_before", "status", "action", "args", "refusal", "no_match", "breach", "draws",
    "changes", "discarded", "law_changes", "time_passed", "fired", "hash_after",
)  # fmt: skip
_WITH_RULES = ("draws", "changes", "discarded", "law_changes")


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first record that came out differently, and in what.

    ``part`` is a key of the outcome, or `missing` (the replay ended early) or `extra`. ``rule``
    is the rule whose doing differs (`law grow`), or "" where no single rule is to blame.
    """

    seq: int
    part: str
    rule: str
    recorded: Json
    replayed: Json

    def to_json(self) -> dict[str, Json]:
        return {
            "tick": self.seq,
            "part": self.part,
            "rule": self.rule or None,
            "recorded": self.recorded,
            "replayed": self.replayed,
        }

    def diagnostic(self, run: Run) -> Diagnostic:
        """TW1105 with the tick, the rule and both values."""
        by = f" by `{self.rule}`" if self.rule else ""
        match self.part:
            case "missing":
                what = "is not reached by the replay"
            case "extra":
                what = "is made by the replay only"
            case _:
                what = f"differs in `{self.part}`{by} when replayed"
        notes = (f"recorded: {canonical(self.recorded)}", f"replayed: {canonical(self.replayed)}")
        return Diagnostic(
            "TW1105",
            f"Tick {self.seq} of run `{run.slug}` {what}.",
            notes=notes,
            hint="Compare the rules with the sources stored in the run.",
        )


def first_divergence(
    recorded: Sequence[Record], replayed: Sequence[Record], first: int = 1
) -> Divergence | None:
    """The first difference between two lists of outcomes (`Outcome.to_json`), or None.

    `first` is the number of the first record. Values are compared in canonical JSON, so that a
    stored and a fresh outcome compare alike.
    """
    for seq, (old, new) in enumerate(zip_longest(recorded, replayed), first):
        if old is None or new is None:
            part = "missing" if new is None else "extra"
            return Divergence(seq, part, "", _brief(old), _brief(new))
        found = _difference(seq, old, new)
        if found:
            return found
    return None


def world_differs(run: Run, digest: str) -> Diagnostic | None:
    """TW1105 where the program at hand is not the one that the run was recorded with."""
    if digest == run.header.digest:
        return None
    return Diagnostic(
        "TW1105",
        f"World `{run.header.world}` is not the one that run `{run.slug}` was recorded with.",
        hint="Replay with the sources stored in the run, or begin a new run.",
    )


def _difference(seq: int, old: Record, new: Record) -> Divergence | None:
    for part in (*_PARTS, *sorted(old.keys() | new.keys())):
        before, after = old.get(part), new.get(part)
        if _same(before, after):
            continue
        if part in _WITH_RULES:
            return _first_item(seq, part, _list(before), _list(after))
        return Divergence(seq, part, _culprit(part, old, new), before, after)
    return None


def _first_item(seq: int, part: str, old: Sequence[Json], new: Sequence[Json]) -> Divergence:
    """The first entry of two lists that differs, with the rule that made it."""
    pair = next((o, n) for o, n in zip_longest(old, new) if not _same(o, n))
    made = cast(Record, pair[0] if pair[0] is not None else pair[1])
    return Divergence(seq, part, str(made.get("rule", "")), *pair)


def _culprit(part: str, old: Record, new: Record) -> str:
    """Whose doing a difference outside the lists of changes is."""
    if part == "fired":
        pairs = zip_longest(_list(old.get(part)), _list(new.get(part)))
        return str(next(o if o is not None else n for o, n in pairs if o != n))
    action = old.get("action")
    if part in ("status", "refusal") and action and action == new.get("action"):
        return f"action {action}"
    return ""


def _brief(outcome: Record | None) -> Json:
    if outcome is None:
        return None
    return {key: outcome.get(key) for key in ("status", "action", "args")}


def _same(left: Json, right: Json) -> bool:
    return canonical(left) == canonical(right)


def _list(value: Json | None) -> Sequence[Json]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
