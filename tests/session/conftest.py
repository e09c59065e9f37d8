"""Sessions on small worlds and on the worlds of the project."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tokenworld.diagnostics import Source
from tokenworld.session import Loaded, OpenWorld, open_world
from tokenworld.session.loading import open_text
from tokenworld.store.log import RunStore

DOMAINS = Path(__file__).parents[2] / "domains"


@pytest.fixture
def tiny() -> Callable[[str], OpenWorld]:
    """The world ``w`` of a program."""

    def make(text: str) -> OpenWorld:
        return open_text((Source("t.tw", None, text),), "w")

    return make


@pytest.fixture
def loaded(tiny: Callable[[str], OpenWorld]) -> Callable[[str], Loaded]:
    """A program with scenarios."""
    return lambda text: tiny(text).loaded


@pytest.fixture
def willowbrook() -> OpenWorld:
    return open_world(str(DOMAINS / "willowbrook" / "world.tw"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore.open(tmp_path / "runs.sqlite") as opened:
        yield opened
