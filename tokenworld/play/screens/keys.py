"""The keys that do something now, read from the bindings: those of the focused pane, then the rest.

The user's own keys are shown, as they are in force.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from textual.app import App
from textual.binding import ActiveBinding
from textual.keys import key_to_character
from textual.screen import Screen

_NAMES: Final = {
    "escape": "Esc", "pagedown": "Page Down", "pageup": "Page Up",
    "up": "↑", "down": "↓", "left": "←", "right": "→",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeyHelp:
    """The keys of one action by their names, and its purpose."""

    keys: tuple[str, ...]
    told: str


@dataclass(frozen=True, slots=True)
class KeysHere:
    """The keys of the focused pane, those that work everywhere, and those that edit text."""

    pane: tuple[KeyHelp, ...]
    everywhere: tuple[KeyHelp, ...]
    editing: tuple[KeyHelp, ...]


def key_name(key: str) -> str:
    """Return how a key is written: ``Ctrl+Z``, ``F1``, ``?``."""
    *modifiers, last = key.split("+")
    name = _NAMES.get(last) or key_to_character(last) or last.title()
    shown = name.strip() or last.title()
    if modifiers and len(shown) == 1:
        shown = shown.upper()
    return "+".join((*(one.title() for one in modifiers), shown))


def key_of(screen: Screen[Any], id: str) -> str:
    """Return the key that an action has now, by the id of the action; empty where it has none."""
    found = (one.binding for one in screen.active_bindings.values() if one.binding.id == id)
    return next((key_name(one.key) for one in found), "")


def keys_here(screen: Screen[Any], *, alone: bool) -> KeysHere:
    """The keys of a screen as it is focused now; ``alone``: its own keys are those of a pane.

    Keys without an id are Textual's: those that a focused input has edit text.
    """
    found: dict[str, list[ActiveBinding]] = {"pane": [], "everywhere": [], "editing": []}
    for one in sorted(screen.active_bindings.values(), key=_place):
        if one.binding.system or not one.enabled:
            continue
        over = isinstance(one.node, App) or (one.node is screen and not alone)
        ours = one.binding.id is not None
        found["everywhere" if over else "pane" if ours else "editing"].append(one)
    # Textual's keys of the screen itself, such as Tab, are no keys of a pane
    found["everywhere"] += [one for one in found["editing"] if one.node is screen]
    found["editing"] = [one for one in found["editing"] if one.node is not screen]
    return KeysHere(*(_grouped(found[name]) for name in ("pane", "everywhere", "editing")))


def _place(one: ActiveBinding) -> tuple[bool, int]:
    """Function keys come first, in their order, and Textual's own keys last."""
    key = one.binding.key
    return one.binding.id is None, int(key[1:]) if key[1:].isdigit() else 99


def _grouped(found: Iterable[ActiveBinding]) -> tuple[KeyHelp, ...]:
    """Keys that do the same, in one entry."""
    told: dict[tuple[int, str], KeyHelp] = {}
    for one in found:
        binding = one.binding
        place, name = (id(one.node), binding.action), key_name(binding.key)
        before = told.get(place, KeyHelp((), binding.tooltip or binding.description))
        told[place] = KeyHelp((*before.keys, name), before.told)
    return tuple(told.values())


def as_list(keys: Iterable[KeyHelp]) -> str:
    """Return keys as a list in Markdown."""
    return "\n".join(f"- **{_plain(', '.join(one.keys))}**: {_plain(one.told)}" for one in keys)


def _plain(text: str) -> str:
    """Return a text whose signs Markdown does not read."""
    return "".join(f"\\{one}" if one in r"\`*_[]<>#+-" else one for one in text)
