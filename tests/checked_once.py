"""Checks of the same texts, kept from test to test: hundreds of tests open the same worlds.

A check depends on the text of its root and on the files that it reads, nothing else. So a kept
result stands as long as each file that was read then reads the same now. The model is frozen.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import tokenworld.check as checker
from tokenworld.check import Checked, Watch, run_pass
from tokenworld.check.draft import Draft
from tokenworld.check.modules import DataLoader, Loader
from tokenworld.diagnostics import Failure, Source

Check = Callable[[Draft, Source, Loader, Watch], Checked]
Key = tuple[Source, bool]

LIMIT = 100
"""Results that are kept; the one that was used the longest ago goes first."""


@dataclass
class Reading:
    """The files that a check asked for, each with the answer, and its result."""

    modules: list[tuple[tuple[str, ...], Source, Source | None]] = field(default_factory=list)
    data: list[tuple[str, Source, Source]] = field(default_factory=list)
    result: Checked | None = None

    def loader(self, load: Loader) -> Loader:
        def noted(path: tuple[str, ...], user: Source) -> Source | None:
            found = load(path, user)
            self.modules.append((path, user, found))
            return found

        return noted

    def data_loader(self, read: DataLoader) -> DataLoader:
        def noted(name: str, user: Source) -> Source:
            found = read(name, user)
            self.data.append((name, user, found))
            return found

        return noted

    def stands(self, load: Loader, read: DataLoader) -> bool:
        """Whether each file still reads the same."""
        try:
            return all(load(path, user) == found for path, user, found in self.modules) and all(
                read(name, user) == found for name, user, found in self.data
            )
        except Failure:
            return False


@dataclass
class CheckedOnce:
    """A check that looks first whether it has the result; ``on`` is false where tests are about
    the checker itself, or about its time."""

    check: Check
    on: bool = True
    kept: OrderedDict[Key, Reading] = field(default_factory=OrderedDict)

    def __call__(self, draft: Draft, root: Source, loader: Loader, run: Watch) -> Checked:
        if not self.on or run is not run_pass:
            return self.check(draft, root, loader, run)
        key = (root, draft.pedantic)
        reading = self.kept.pop(key, None)
        if reading is None or reading.result is None or not reading.stands(loader, draft.read):
            reading = Reading()
            draft.read = reading.data_loader(draft.read)
            reading.result = self.check(draft, root, reading.loader(loader), run)
        self.kept[key] = reading
        if len(self.kept) > LIMIT:
            self.kept.popitem(last=False)
        return reading.result


def install() -> CheckedOnce:
    """Put it in the place of the check of this process."""
    kept = CheckedOnce(checker._checked)
    checker._checked = kept  # type: ignore[assignment]
    return kept
