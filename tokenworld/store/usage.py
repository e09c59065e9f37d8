"""Tokens that a language model used, as its answers state them, and their cost.

Nothing is estimated here: an unstated number is ``None``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Final

from tokenworld.diagnostics import usage as usage_failure

_MOST: Final = 1 << 53
_IN: Final = ("tokens_in", "prompt_tokens", "input_tokens")
_OUT: Final = ("tokens_out", "completion_tokens", "output_tokens")


@dataclass(frozen=True, slots=True)
class Prices:
    """The cost of a million tokens in and out, in any currency."""

    tokens_in: float
    tokens_out: float


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one answer, in and out, and its cost; ``None``: not stated."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None

    @property
    def told(self) -> bool:
        """Return whether the answer states its tokens."""
        return self.tokens_in is not None or self.tokens_out is not None

    @property
    def is_empty(self) -> bool:
        return not self.told and self.cost is None

    def at(self, prices: Prices | None) -> Usage:
        """Return the same with its cost by prices, if it states tokens and no cost."""
        if prices is None or not self.told or self.cost is not None:
            return self
        paid = (self.tokens_in or 0) * prices.tokens_in + (self.tokens_out or 0) * prices.tokens_out
        return replace(self, cost=paid / 1e6)


UNTOLD: Final = Usage()
"""The usage of an answer that states none."""


def usage_of(answer: object) -> Usage:
    """The usage that an answer tells in JSON: in ``usage``, or beside its text.

    The names are ours (``tokens_in``, ``tokens_out``, ``cost``), those of the completions of OpenAI
    (``prompt_tokens``, ``completion_tokens``) or of pydantic-ai (``input_tokens``,
    ``output_tokens``).
    """
    found = answer if isinstance(answer, Mapping) else {}
    inner = found.get("usage")
    found = inner if isinstance(inner, Mapping) else found
    return Usage(
        _first(found, _IN),
        _first(found, _OUT),
        _amount(found.get("cost")),
    )


def _first(found: Mapping[str, object], names: Iterable[str]) -> int | None:
    counts = (_whole(found.get(name)) for name in names)
    return next((one for one in counts if one is not None), None)


def _whole(found: object) -> int | None:
    good = isinstance(found, int) and not isinstance(found, bool) and 0 <= found < _MOST
    return found if good else None  # type: ignore[return-value]


def _amount(found: object) -> float | None:
    good = isinstance(found, int | float) and not isinstance(found, bool) and 0 <= found < 1e9
    return float(found) if good else None  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Total:
    """The usage of several answers: ``told`` of them state tokens. ``cost`` is ``None`` unless all
    of them have one."""

    answers: int = 0
    told: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None

    @property
    def text(self) -> str:
        """In words: ``1,200 tokens in, 80 out, cost 0.0031 (told by 3 of 4 answers)``."""
        paid = "" if self.cost is None else f", cost {self.cost:,.6f}".rstrip("0").rstrip(".")
        if not self.told:
            return f"tokens not told by the model{paid}"
        some = f" (told by {self.told:,} of {self.answers:,} answers)"
        part = "" if self.told == self.answers else some
        return f"{self.tokens_in:,} tokens in, {self.tokens_out:,} out{paid}{part}"


def total(answers: Iterable[Usage], prices: Prices | None = None) -> Total:
    """Add up the usage of answers; ``prices`` are for those that state no cost."""
    found = [one.at(prices) for one in answers]
    paying = [one for one in found if not one.is_empty]
    costs = [one.cost for one in paying if one.cost is not None]
    return Total(
        len(found),
        sum(one.told for one in found),
        sum(one.tokens_in or 0 for one in found),
        sum(one.tokens_out or 0 for one in found),
        sum(costs) if costs and len(costs) == len(paying) else None,
    )


def read_prices(text: str | None) -> Prices | None:
    """The prices of an option, such as ``0.5,1.5``; `Failure` TW0006 where they are none."""
    if text is None:
        return None
    try:
        given, made = (float(one) for one in text.split(","))
    except ValueError:
        given = made = float("nan")
    if not (isfinite(given) and isfinite(made) and given >= 0 and made >= 0):
        hint = "Give the prices of a million tokens in and out, such as `--prices 0.5,1.5`."
        raise usage_failure(f"`--prices {text}` are no two numbers.", hint)
    return Prices(given, made)
