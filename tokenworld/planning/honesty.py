"""What a verdict says of honest plans: how many assignments it is about, and how near any comes."""

from __future__ import annotations

from tokenworld.diagnostics.frozen import frozen

__all__ = ["Honesty", "Shortfall", "honest_lines"]

_MOST_TOLD = 3
"""Steps of a plan and values for which it fails, as many as a line tells of."""


@frozen
class Shortfall:
    """How near the best plan comes where none wins whatever is secret.

    No plan wins for more than ``wins`` assignments of secrets. ``plan`` wins for so many; it fails
    (a step is refused, a loss comes, the goal is not reached) for those that ``fails`` lists.
    """

    wins: int
    plan: tuple[str, ...]
    fails: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        return {"wins": self.wins, "plan": list(self.plan), "fails": list(self.fails)}


@frozen
class Honesty:
    """That the question was one about an *honest* plan: one that wins whatever is secret.

    ``assignments`` is in how many ways the setup can fill the secrets that a player does not see,
    ``secrets`` are those that differ. ``together``: the plan wins for all of them, or the proof is
    one about all of them at once; otherwise it is about a single one, and holds for all the same.
    ``shortfall`` tells of the best plan where there is no honest one, if that is known.
    """

    assignments: int
    secrets: tuple[str, ...] = ()
    together: bool = True
    shortfall: Shortfall | None = None

    def to_json(self) -> dict[str, object]:
        return {
            "assignments": self.assignments,
            "secrets": list(self.secrets),
            "together": self.together,
            "shortfall": None if self.shortfall is None else self.shortfall.to_json(),
        }


def honest_lines(answer: str, honest: Honesty | None) -> list[str]:
    """How many values of secrets an ``answer`` is about, in plain lines."""
    if honest is None:
        return []
    count, names = honest.assignments, ", ".join(f"`{one}`" for one in honest.secrets)
    if count == 1:
        return ["honest: the setup can fill the secrets in one way only"]
    ways = f"{count:,} ways in which the setup can fill {names}"
    told = {"winnable": "the same plan wins in", "unwinnable": "no plan wins in"}
    line = f"honest: {told.get(answer, 'asked of')} all {ways}"
    return [line, *([] if honest.shortfall is None else _shortfall_lines(honest.shortfall))]


def _shortfall_lines(found: Shortfall) -> list[str]:
    """How near the best plan comes, and for which values it fails."""
    if found.wins == 0:
        return ["best: no plan wins in any of them"]
    most = f"best: no plan wins in more than {found.wins:,} of them"
    steps = ", ".join(found.plan[:_MOST_TOLD]) + (", …" if len(found.plan) > _MOST_TOLD else "")
    which = f"`{steps}` fails" if steps else "a plan without steps fails"
    told = [f"`{one}`" for one in found.fails[:_MOST_TOLD]]
    more = len(found.fails) - len(told)
    told += [f"{more:,} more"] if more else []
    rest = "" if len(told) == 1 else f"{', '.join(told[:-1])} and "
    return [f"{most}; {which} for {rest}{told[-1]}"] if told else [most]
