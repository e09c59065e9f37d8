"""Words: how names and values read, and what typed commands mean (language.md §11)."""

from __future__ import annotations

from tokenworld.prose.commands import Ambiguity, Parser, choose, resolve
from tokenworld.prose.intents import (
    CallIntent,
    Intent,
    IntentLine,
    PassIntent,
    TypedIntent,
    parse_intent_json,
    read_script,
)
from tokenworld.prose.matching import command_text, command_texts, completions
from tokenworld.prose.wording import EnglishProse

__all__ = [
    "Ambiguity",
    "CallIntent",
    "EnglishProse",
    "Intent",
    "IntentLine",
    "Parser",
    "PassIntent",
    "TypedIntent",
    "choose",
    "command_text",
    "command_texts",
    "completions",
    "parse_intent_json",
    "read_script",
    "resolve",
]
