"""``tw card``: print a card."""

from __future__ import annotations

from tokenworld.verbs.card.making import Purpose, card
from tokenworld.verbs.judge.findings import tokens
from tokenworld.verbs.output import EXIT_OK, Output


def print_card(out: Output, *, purpose: Purpose) -> int:
    """Print the card for a purpose."""
    text = card(purpose)
    out.data(text.removesuffix("\n"))
    out.json({"schema_version": 1, "for": purpose, "card": text, "tokens": tokens(text)})
    return EXIT_OK
