"""Which world answers for which game: one file, or a folder with a world for each game."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tokenworld.assets import MissingAssetsError, domains_folder
from tokenworld.diagnostics import Diagnostic, Failure, read_source
from tokenworld.session.loading import open_world, split_target
from tokenworld.tools.worlds.mapping import (
    MAPPING_FILE,
    RecordMapping,
    mapping_beside,
    read_mapping,
)
from tokenworld.tools.worlds.replay import WorldAnswerer

__all__ = ["Games", "games_of"]


class Games:
    """Worlds by the game that their mapping names; each is opened when its first row comes."""

    def __init__(self, targets: Mapping[str, tuple[str, RecordMapping]]) -> None:
        self._targets = targets
        self._open: dict[str, WorldAnswerer] = {}

    def __contains__(self, game: str) -> bool:
        return game in self._targets

    @property
    def names(self) -> tuple[str, ...]:
        """The games there are, in order."""
        return tuple(self._targets)

    def answerer(self, game: str) -> WorldAnswerer:
        """The world of a game; `Failure` where it is not sound."""
        if game not in self._open:
            target, mapping = self._targets[game]
            self._open[game] = WorldAnswerer(open_world(target), mapping)
        return self._open[game]


def _folder(target: str) -> Path | None:
    """The folder of worlds that a target names, here or, by its bare name, among the bundled ones;
    ``None`` where it names a file."""
    path = Path(target)
    if path.exists() or path.suffix or ":" in target or len(path.parts) != 1:
        return path if path.is_dir() else None
    try:
        bundled = domains_folder() / target
    except MissingAssetsError:
        return None
    return bundled if bundled.is_dir() and not (bundled / "world.tw").exists() else None


def games_of(target: str) -> Games:
    """The games of ``FILE[:world]``, or of a folder: each ``*/world.tw`` with a mapping beside it.

    Raises `Failure` (TW0001, TW0006) where there is no world or no mapping.
    """
    folder = _folder(target)
    if folder is None:
        path, _ = split_target(target)
        read_source(path)  # where there is no world, its mapping is not what is missing
        mapping = mapping_beside(path)
        return Games({mapping.game: (target, mapping)})
    files = sorted(folder.glob(f"*/{MAPPING_FILE}"))
    if not files:
        message = f"`{target}` has no folder with a world and a `{MAPPING_FILE}`."
        raise Failure(Diagnostic("TW0001", message, hint="Name a world's file, or their folder."))
    mappings = [(file, read_mapping(file)) for file in files]
    return Games({one.game: (str(file.parent / "world.tw"), one) for file, one in mappings})
