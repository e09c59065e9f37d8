"""Find the data that comes with the package: grammars, rules, domains, cards and pages of `docs`.

In a wheel they lie in `tokenworld/_data/`; in a checkout or an editable install they are folders
beside the package (`cards`, `errors` and `pages` in `docs`). Files that are generated from them or
fetched once are kept in the cache of the user.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

AssetKind = Literal["grammars", "rules", "domains", "cards", "errors", "pages"]

_PACKAGE = Path(__file__).resolve().parent
_IN_DOCS = {
    "cards": Path("docs", "cards"),
    "errors": Path("docs", "errors"),
    "pages": Path("docs"),
}


class MissingAssetsError(RuntimeError):
    """The installation lacks a data folder: a broken package, never the user's mistake."""


def asset_folder(kind: AssetKind) -> Path:
    """The folder of one kind of data; raises `MissingAssetsError` if the install lacks it."""
    beside = _IN_DOCS.get(kind, Path(kind))
    places = (_PACKAGE / "_data" / kind, _PACKAGE.parent / beside)
    for place in places:
        if place.is_dir():
            return place
    tried = " nor ".join(f"`{place}`" for place in places)
    raise MissingAssetsError(
        f"The data folder `{kind}` is missing: there is neither {tried}. "
        "Reinstall with `pip install --force-reinstall token-world`."
    )


def cache_folder() -> Path | None:
    """Return the user's cache folder of Token World, or ``None`` if no home folder is known."""
    root = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = Path(root) if root else Path.home() / ".cache"
    except RuntimeError:
        return None
    return folder / "token-world"


def grammar_path() -> Path:
    """The grammar of the language, `tw.lark`."""
    return asset_folder("grammars") / "tw.lark"


def rules_folder() -> Path:
    """The standard modules that `use std.…` and `use grid.…` find."""
    return asset_folder("rules")


def domains_folder() -> Path:
    """The example worlds."""
    return asset_folder("domains")


def error_page(code: str) -> Path:
    """The page of a diagnostic code, which `tw explain` prints."""
    return asset_folder("errors") / f"{code}.md"


def language_page() -> Path:
    """Return the page that lists the constructs of the language; `tw card` is made from it."""
    return asset_folder("pages") / "language.md"
