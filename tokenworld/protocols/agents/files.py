"""The files of a served folder: resolve the `source` of a tool to a text, and check what may be
written.

A file is named from the root, without `..`; neither it nor a folder on the way is a link. The
bundled worlds are known by their names. The modules that a text uses are read through the same
`Reach`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from tokenworld.assets import domains_folder, rules_folder
from tokenworld.diagnostics import Diagnostic, Failure, Reach, usage
from tokenworld.verbs.output import tw_files, write_file

LARGEST: Final = 256 * 1024
"""Bytes of a text that is given or written."""


@dataclass(frozen=True, slots=True)
class Named:
    """One source of a tool: the name by which a verb finds it, with the text if it was given."""

    target: str
    texts: dict[Path, str]


@dataclass(frozen=True, slots=True)
class Root:
    """The folder that is served, resolved; ``writable``: tools may write into it."""

    folder: Path
    writable: bool = False

    def reach(self, texts: dict[Path, str] | None = None) -> Reach:
        """Return the files that may be read, with texts that replace files."""
        return Reach((self.folder, rules_folder(), domains_folder()), texts or {})

    def source(self, source: str, name: str = "text.tw", world: str | None = None) -> Named:
        """Return a text, ``FILE`` or ``FILE:world`` below the root, or a bundled world by its name.

        A source with a line feed or a brace is a text, named ``name``. Raises `Failure` (TW0001,
        TW0006) for a file that may not be read.
        """
        if not source.strip():
            raise usage("`source` is empty.", "Give the text of a world, or the name of a file.")
        behind = f":{world}" if world else ""
        if "\n" in source or "{" in source or source.lstrip().startswith("("):
            self._small(source)
            return Named(f"{name}{behind}", {self.folder / name: source})
        file, colon, named = source.partition(":")
        if colon and world and named != world:
            raise usage(f"`{source}` and `world` name two worlds.", "Leave one of them out.")
        self.path(file)
        return Named(f"{file}{f':{named}' if colon else behind}", {})

    def located(self, named: Named) -> str:
        """Return the target of a source for a reader in another folder."""
        file, colon, world = named.target.partition(":")
        path, bundled = self.path(file), domains_folder() / file / "world.tw"
        if path not in named.texts and not path.exists() and bundled.is_file():
            path = bundled
        return f"{path}{colon}{world}"

    def path(self, name: str) -> Path:
        """Return a path below the root. Raises `Failure` (TW0001) for one that leads out of it."""
        pure = PurePosixPath(name.replace("\\", "/"))
        if pure.is_absolute() or ".." in pure.parts or "\0" in name or Path(name).is_absolute():
            raise _refused(name, "leads out of the folder that is served")
        path = self.folder
        for part in pure.parts:
            path /= part
            if path.is_symlink():
                raise _refused(name, "is a link, or lies behind one")
        return path

    def write(self, name: str, text: str) -> None:
        """Write a whole file atomically. Raises `Failure` (TW0001, TW0006)."""
        if not self.writable:
            raise usage("Nothing may be written.", "Start the server with `--write`.")
        self._small(text)
        path = self.path(name)
        if path.suffix != ".tw":
            raise usage(f"`{name}` is no `.tw` file.", "Name a file that ends in `.tw`.")
        write_file(path, text, "Name a file that can be written.", folder=path.parent)

    def worlds(self) -> list[str]:
        """Return the `.tw` files below the root, links left out."""
        try:
            found: Iterable[Path] = tw_files((str(self.folder),))
        except Failure:
            return []
        plain = (one for one in found if one.resolve() == one)
        return [one.relative_to(self.folder).as_posix() for one in plain]

    def _small(self, text: str) -> None:
        if len(text.encode(errors="replace")) > LARGEST:
            message = f"The text is longer than {LARGEST:,} bytes."
            raise usage(message, "Put what others can use into modules of its own.")


def _refused(name: str, why: str) -> Failure:
    hint = "Name a file below the folder that is served."
    return Failure(Diagnostic("TW0001", f"`{name}` {why}.", hint=hint))
