"""Limits of the language that several stages share."""

from __future__ import annotations

from typing import Final

DIGIT_LIMIT: Final = 1000
"""Digits of a number, in a program and at run time: Python limits the conversion to text."""
SLOT_LIMIT: Final = 250
"""Slots of one text."""
TOO_LARGE: Final = 10**DIGIT_LIMIT
"""The least number that has too many digits."""
TOO_LONG: Final = f"A number has more than {DIGIT_LIMIT:,} digits."
