"""The village of `benchmarks.village` in several sizes, played through a session."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from shared import Json, digest, per_call, serve

sys.path.append(str(Path(__file__).parents[3]))
from benchmarks.village import village
from tokenworld import Session, Source
from tokenworld.ground import Command
from tokenworld.session.loading import open_text


class Village:
    def tick(self, objects: int, budget: float) -> Json:
        """Take a thing and put it down again, while nine lamps burn; the digest is of changes."""
        session = _session(objects)
        thing = (session.state.numbers["thing0"],)
        records: list[Any] = []

        def round_trip() -> None:
            records[:] = [session.intend(Command(one, thing))[-1] for one in ("take", "drop")]

        round_trip()
        seconds = per_call(round_trip, budget) / len(records)
        told = (f"{one.status} {len(one.changes)} {len(one.law_changes)}" for one in records)
        return {"seconds": seconds, "digest": digest(told)}


@lru_cache(maxsize=1)
def _session(objects: int) -> Session:
    session = Session(open_text((Source("village.tw", None, village(objects)),), "village"))
    session.remembers = False
    return session


if __name__ == "__main__":
    serve(Village())
