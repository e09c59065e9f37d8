"""Which module has which verb: a command imports the one that it needs, and help imports all."""

from __future__ import annotations

from importlib import import_module

__all__ = ["MODULES", "add_all", "add_verb"]

MODULES = {
    "checking": ("check", "lint", "fmt", "test", "mutate", "fuzz"),
    "conforming": ("conform",),
    "judging": ("quality", "report"),
    "pddl": ("export", "import", "equiv"),
    "planning": ("plan", "hint", "audit", "doctor"),
    "playing": ("run", "rollout", "play", "legal"),
    "reading": ("explain", "rules", "graph", "grammar", "schema", "model"),
    "recorded": ("runs", "log"),
    "sweeping": ("sweep",),
}
_HOME = {verb: module for module, verbs in MODULES.items() for verb in verbs}


def add_verb(verb: str) -> None:
    """Give the application this verb, or all of them where it is none."""
    if verb in _HOME:
        import_module(f"tokenworld.cli.{_HOME[verb]}")
    else:
        add_all()


def add_all() -> None:
    """Give the application all its verbs: to import a module is what adds them."""
    for module in MODULES:
        import_module(f"tokenworld.cli.{module}")
