"""How limits are told."""

from __future__ import annotations

import pytest

from tokenworld.diagnostics import in_seconds


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.0, "less than 0.1 s"),
        (2.5e-05, "less than 0.1 s"),
        (0.5, "0.5 s"),
        (12.4317, "12.4 s"),
        (30.0, "30 s"),
        (3600.0, "3,600 s"),
        (1e6, "1,000,000 s"),
    ],
)
def test_seconds_are_told_plainly(seconds: float, told: str) -> None:
    assert in_seconds(seconds) == told
