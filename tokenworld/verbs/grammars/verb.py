"""``tw grammar``: the grammar for a parser or a decoder, whole, of a program, or of commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, assert_never

from tokenworld.assets import grammar_path
from tokenworld.diagnostics import usage
from tokenworld.session import Session, load_program, open_world
from tokenworld.session.loading import split_target
from tokenworld.session.players import played
from tokenworld.syntax import parse_source
from tokenworld.verbs import options as opt
from tokenworld.verbs.grammars.dialects import llguidance_grammar, openai_tool
from tokenworld.verbs.grammars.gbnf import gbnf_grammar
from tokenworld.verbs.grammars.narrowing import command_grammar, narrowed, symbols_of
from tokenworld.verbs.output import EXIT_OK, Output

Dialect = Literal["lark", "llguidance", "openai", "gbnf"]


def grammar(
    out: Output,
    *,
    dialect: Annotated[
        Dialect, opt.Option("--for"), "lark, llguidance, openai or gbnf (llama.cpp, XGrammar)."
    ] = "lark",
    world: Annotated[
        str | None, opt.Option(("--world", "--names")), "Allow only the names of this file."
    ] = None,
    commands: Annotated[str | None, "Allow only what can be typed in this world now."] = None,
    script: opt.PlayedAt = None,
) -> int:
    """Print the grammar. With ``world``, only the names of that file can be mentioned; with
    ``commands``, only what `tw legal` lists can be typed, after a ``script``.

    Raises `Failure` (TW0006) where these exclude each other.
    """
    if world is not None and commands is not None:
        raise usage("`--world` and `--commands` are two grammars.", "Leave one of them out.")
    if script is not None and commands is None:
        raise usage("`--at` needs `--commands`.", "Add `--commands WORLD`.")
    if commands is not None:
        text = _of_commands(commands, script)
    else:
        text = grammar_path().read_text(encoding="utf-8")
        text = text if world is None else _of_world(text, world)
    shown = _written(text, dialect)
    out.data(shown.rstrip("\n"))
    out.json({"schema_version": 1, "dialect": dialect, "grammar": shown})
    return EXIT_OK


def _written(text: str, dialect: Dialect) -> str:
    match dialect:
        case "lark":
            return text
        case "llguidance":
            return llguidance_grammar(text)
        case "openai":
            return openai_tool(text)
        case "gbnf":
            return gbnf_grammar(text)
    assert_never(dialect)


def _of_world(text: str, world: str) -> str:
    """Return the grammar restricted to the names of a file and of the modules that it uses."""
    loaded = load_program(split_target(world)[0])
    return narrowed(text, symbols_of(parse_source(source)[0] for source in loaded.sources))


def _of_commands(world: str, script: Path | None) -> str:
    """Return the grammar of the legal commands, as calls and as words, and of `pass`."""
    session = played(Session(open_world(world)), script)
    return command_grammar(typed_now(session))


def typed_now(session: Session) -> list[str]:
    """List the legal commands in both forms, and `pass` during play."""
    listed = [text for one in session.legal() for text in (one.call, one.text)]
    return listed if session.ended() else [*listed, "pass"]
