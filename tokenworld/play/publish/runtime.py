"""Pyodide, the runtime of a published page: downloaded once, verified, kept in the cache.

Pyodide is CPython compiled to WebAssembly (https://pyodide.org, Mozilla Public License 2.0). Its
npm package has all that a page needs; its version and its digest are fixed here.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import os
import tarfile
import urllib.request
from collections.abc import Iterator, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from tokenworld.assets import cache_folder, grammar_path
from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.verbs.output import Output

__all__ = ["ARCHIVE", "FILES", "runtime_files"]

VERSION: Final = "0.29.5"
ARCHIVE: Final = f"pyodide-{VERSION}.tgz"
URL: Final = f"https://registry.npmjs.org/pyodide/-/{ARCHIVE}"
DIGEST: Final = (
    "TkYrUv9m8QmfImADKRmpwZulL48E0uUaBSO+dvRQKyAJc0qh9gu7jn8btyHPh3NZm1r2IH2YrJhIr7Q2B9urAw=="
)
"""SHA-512 of the archive in base64, as the registry tells it."""
FILES: Final = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
LOCK: Final = "pyodide-lock.json"
"""Names the packages that Pyodide may load: a page keeps its head and loads none."""
_SECONDS: Final = 60.0
_MOST: Final = 64 << 20
"""A download of more bytes is given up."""


def runtime_files(given: Path | None, out: Output) -> Mapping[str, bytes]:
    """The files of Pyodide by name: of an archive that the user names, of the cache, or fetched.

    Raises `Failure`: TW0001 for a file that cannot be read, TW0811 where there is no network or
    the archive is not the one that the digest names.
    """
    if given is not None:
        try:
            return _unpacked(given.read_bytes(), str(given))
        except OSError as error:
            hint = f"Name the file {ARCHIVE}, as `npm pack pyodide@{VERSION}` writes it."
            message = f"`{given}` cannot be read: {error.strerror}."
            raise Failure(Diagnostic("TW0001", message, hint=hint)) from error
    folder = cache_folder()
    kept = None if folder is None else folder / ARCHIVE
    if kept is not None and kept.is_file():
        data = kept.read_bytes()
        if _digest(data) == DIGEST:
            return _unpacked(data, str(kept))
    data = _fetched(out)
    files = _unpacked(data, URL)
    if kept is not None:
        _keep(kept, data, out)
    return files


def _keep(kept: Path, data: bytes, out: Output) -> None:
    """Put the archive into the cache; if that fails, print a note and continue."""
    part = kept.with_name(f"{kept.name}.{os.getpid()}")
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(kept)
    except OSError as error:
        out.note(
            f"`{kept}` cannot be written, so the next call fetches it again: {error.strerror}."
        )


def _digest(data: bytes) -> str:
    return base64.b64encode(hashlib.sha512(data).digest()).decode()


def _fetched(out: Output) -> bytes:
    out.progress(f"fetching {ARCHIVE} (5.6 MB), once")
    try:
        with urllib.request.urlopen(URL, timeout=_SECONDS) as reply:
            data: bytes = reply.read(_MOST)
            return data
    except OSError as error:
        reason = getattr(error, "reason", None) or error
        hint = f"Fetch {URL} elsewhere, and name the file with `--runtime {ARCHIVE}`."
        message = f"Pyodide, which runs the page, cannot be fetched: {reason}."
        raise Failure(Diagnostic("TW0811", message, hint=hint)) from error


def _unpacked(data: bytes, name: str) -> dict[str, bytes]:
    if _digest(data) != DIGEST:
        hint = f"Fetch {URL}; its version and digest are fixed, so that every page is the same."
        message = f"`{name}` is not {ARCHIVE}: its digest differs."
        raise Failure(Diagnostic("TW0811", message, hint=hint))
    with tarfile.open(fileobj=BytesIO(data)) as archive:
        found = {file: _member(archive, file) for file in FILES}
        lock = json.loads(_member(archive, LOCK))
    found[LOCK] = json.dumps({**lock, "packages": {}}).encode()
    return found


def _member(archive: tarfile.TarFile, file: str) -> bytes:
    member = archive.extractfile(f"package/{file}")
    assert member is not None  # the digest fits
    return member.read()


# ---- The modules of this project ----------------------------------------------------------------
# The modules of this project that a published page needs: all that the first one leads to.

FIRST: Final = "tokenworld.play.publish.browser"
_ROOT: Final = Path(__file__).resolve().parents[2]
_SCREEN: Final = ("screens", "widgets", "web")
"""Packages of `play` that need a terminal or a server."""


@cache
def modules() -> dict[str, Path]:
    """The modules that `FIRST` imports, at once or inside functions, by their dotted names.

    Their packages are among them. Names that are imported for the type checker alone count, since
    a package may import those by text.
    """
    found: dict[str, Path] = {}
    open_ = [FIRST]
    while open_:
        name = open_.pop()
        path = _path(name)
        if path is None or name in found:
            continue
        found[name] = path
        parent = name.rpartition(".")[0]
        open_ += [parent] if parent else []
        open_ += _imported(path)
    return found


def _path(name: str) -> Path | None:
    """The file of a module or a package of ours."""
    top, _, rest = name.partition(".")
    if top != _ROOT.name or rest.startswith(tuple(f"play.{one}" for one in _SCREEN)):
        return None
    place = _ROOT.joinpath(*rest.split(".")) if rest else _ROOT
    files = (place / "__init__.py", place.with_suffix(".py"))
    return next((one for one in files if one.is_file()), None)


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (one.name for one in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield module
                yield from (f"{module}.{one.name}" for one in names)
            case _:
                pass


def zipped() -> bytes:
    """The modules and the grammar as a zip file, the same bytes for the same files."""
    files = {path.relative_to(_ROOT.parent).as_posix(): path for path in modules().values()}
    for path in grammar_path().parent.iterdir():
        files[f"{_ROOT.name}/_data/grammars/{path.name}"] = path
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED, compresslevel=9) as archive:
        for name, path in sorted(files.items()):
            info = ZipInfo(name)
            info.compress_type = ZIP_DEFLATED
            archive.writestr(info, path.read_bytes())
    return buffer.getvalue()
