"""Files that verbs read and write: which `.tw` files are meant, and writing all or nothing."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure

__all__ = ["replace_bytes", "tw_files", "write_file"]


_FOLDERS = ("rules", "domains")


def tw_files(paths: tuple[str, ...]) -> list[Path]:
    """The ``.tw`` files of files and folders, sorted within a folder; `rules` and `domains` where
    no path is given. Raises `Failure` (TW0001) where there is none; whether a named file exists is
    for its reader to find."""
    found: list[Path] = []
    for name in paths or _FOLDERS:
        path = Path(name)
        if path.is_dir():
            found += sorted(path.rglob("*.tw"))
        elif path.exists() or paths:
            found.append(path)
    if not found:
        where = ", ".join(f"`{name}`" for name in paths or _FOLDERS)
        message = f"There is no `.tw` file in {where}."
        raise Failure(Diagnostic("TW0001", message, hint="Name a file or a folder that has one."))
    return found


def write_file(path: Path, text: str, hint: str, *, folder: Path | None = None) -> None:
    """Write a text, whole or not at all; ``folder`` is made where it is missing.

    Raises `Failure` (TW0001) with ``hint`` as the next step.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror or error}."
        raise Failure(Diagnostic("TW0001", message, hint=hint)) from None


def replace_bytes(path: Path, data: bytes) -> None:
    """Put new bytes in place of a file's at once; its mode stays, and so do links to it.

    Raises `OSError`, and then leaves the file as it was.
    """
    real = path.resolve()
    mode = real.stat().st_mode
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name[:40]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode & 0o7777)
        os.replace(name, real)
    except BaseException:
        os.unlink(name)
        raise
