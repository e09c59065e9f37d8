"""The modules of this project that a published page needs: all that the first one leads to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from tokenworld.assets import grammar_path

__all__ = ["FIRST", "modules", "zipped"]

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
