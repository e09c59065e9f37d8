"""Intents as numbers, a list of them at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tokenworld.engine.rollout.learning import Intent

__all__ = ["Script", "Scripts"]


@dataclass(frozen=True, slots=True)
class Script:
    """Intents in order; ``flat``: the same, `INTENT` numbers each.

    ``codes`` keeps what a player made of them, by the player.
    """

    intents: tuple[Intent, ...]
    flat: Any
    codes: dict[object, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scripts:
    """Scripts of one length, for runs side by side."""

    rows: tuple[Script, ...]
    codes: dict[object, Any] = field(default_factory=dict)
