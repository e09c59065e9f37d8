"""What a user set for the play screen: keys and theme, from a file of theirs."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean

__all__ = ["PRESETS", "Settings", "read_settings", "settings_path"]

_VIM: Final[Mapping[str, str]] = {
    "list.down": "down,j",
    "list.up": "up,k",
    "list.first": "home,g",
    "list.last": "end,G",
    "list.page_down": "pagedown,ctrl+f",
    "list.page_up": "pageup,ctrl+b",
    "pane.down": "down,j",
    "pane.up": "up,k",
    "pane.first": "home,g",
    "pane.last": "end,G",
    "play.leave": "escape,i,colon",
    "play.undo": "ctrl+z,u",
    "play.redo": "ctrl+y,ctrl+r",
    "laws.earlier": "left,h",
    "laws.later": "right,l",
    "timeline.redo": "r,ctrl+r",
    "inspect.redo": "r,ctrl+r",
}
_SWITCHES: Final = {"watch": True, "reduced_motion": False}
PRESETS: Final[Mapping[str, Mapping[str, str]]] = {"vim": _VIM}


@dataclass(frozen=True, slots=True)
class Settings:
    """Keys by the id of what they do (several with commas between), the name of a theme, whether
    the files of the world are watched, and whether nothing is to move on the screen by itself."""

    keys: Mapping[str, str] = field(default_factory=dict)
    theme: str | None = None
    watch: bool = True
    reduced_motion: bool = False


def settings_path() -> Path:
    """``$TW_PLAY_SETTINGS``, else ``tw/play.toml`` in the user's folder for configuration."""
    named = os.environ.get("TW_PLAY_SETTINGS")
    if named:
        return Path(named)
    folder = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(folder) / "tw" / "play.toml"


def read_settings(path: Path, ids: frozenset[str], themes: tuple[str, ...]) -> Settings:
    """The settings of a file; none where there is no file.

    Raises `Failure` with TW0006 for a file that does not fit: unknown entries, ids and the like.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
        raise _wrong(path, f"it cannot be read: {error}", "Write it as TOML.") from None
    for entry in found:
        _known(path, "entry", entry, ("preset", "theme", *_SWITCHES, "keys"))
    keys: dict[str, str] = {}
    if "preset" in found:
        keys |= PRESETS[_known(path, "preset", found["preset"], tuple(PRESETS))]
    own = found.get("keys", {})
    if not isinstance(own, dict):
        raise _wrong(
            path, "`keys` is no table", 'Write `[keys]`, then lines as `"play.undo" = "u"`.'
        )
    for name, key in own.items():
        _known(path, "key id", name, tuple(sorted(ids)))
        if not isinstance(key, str) or not all(one.strip() for one in key.split(",")):
            raise _wrong(path, f"the keys of `{name}` are no text", 'Write them as `"ctrl+z,u"`.')
        keys[name] = key
    theme = found.get("theme")
    theme = None if theme is None else _known(path, "theme", theme, themes)
    watch, still = (_switch(path, found, name) for name in _SWITCHES)
    return Settings(keys, theme, watch, still)


def _switch(path: Path, found: Mapping[str, object], name: str) -> bool:
    value = found.get(name, _SWITCHES[name])
    if not isinstance(value, bool):
        other = str(not _SWITCHES[name]).lower()
        hint = f"Write `{name} = {other}`, or leave it out."
        raise _wrong(path, f"`{name}` is no truth value", hint)
    return value


def _known(path: Path, what: str, name: object, known: tuple[str, ...]) -> str:
    if isinstance(name, str) and name in known:
        return name
    hint = did_you_mean(str(name), known) or f"Known are: {', '.join(known)}."
    raise _wrong(path, f"there is no {what} `{name}`", hint)


def _wrong(path: Path, reason: str, hint: str) -> Failure:
    return Failure(Diagnostic("TW0006", f"The settings `{path}` do not fit: {reason}.", hint=hint))
