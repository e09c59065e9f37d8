"""The verbs about rules: new, check, lint, fmt, test, mutate, judge, fuzz; and those that print
them: explain, rules, graph, grammar, card, schema, model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tokenworld.cli.frame import (
    Flag,
    Json,
    Paths,
    Pedantic,
    Played,
    Seed,
    Whole,
    World,
    app,
    does,
    verb,
)


@does("files.new.new")
def new(
    name: Annotated[str, Parameter(help="The name of the world.")],
    /,
    *,
    template: Annotated[
        Literal["adventure", "grid", "economy", "puzzle", "pddl"],
        Parameter(help="The world to begin with."),
    ] = "adventure",
    folder: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="The folder; by default NAME.")
    ] = None,
    json: Json = False,
) -> None:
    """Write a small world with scenarios to start from; it passes all checks and can be won."""


@does("check.check")
def check(
    files: Annotated[tuple[str, ...], Parameter(help="Files to check.")],
    /,
    *,
    fix: Annotated[Flag, Parameter(help="Apply the safe repairs.")] = False,
    unsafe: Annotated[Flag, Parameter(help="Apply the other repairs too.")] = False,
    order: Annotated[Flag, Parameter(help="List laws whose order matters.")] = False,
    proofs: Annotated[Flag, Parameter(help="List what is proved.")] = False,
    stats: Annotated[Flag, Parameter(help="Print the CPU time of each pass.")] = False,
    group: Annotated[
        Flag, Parameter(help="Show the first finding of each code, and where the others are.")
    ] = False,
    pedantic: Pedantic = False,
    form: Annotated[
        Literal["text", "json", "sarif", "lsp"], Parameter(name="--format", help="How to print.")
    ] = "text",
    json: Json = False,
) -> None:
    """Check files: names, types, rules, and that each world can start."""


@does("check.lint")
def lint(
    files: Annotated[tuple[str, ...], Parameter(help="Files to check.")],
    /,
    *,
    pedantic: Pedantic = False,
    quirks: Annotated[Flag, Parameter(help="List the declared quirks with their reasons.")] = False,
    json: Json = False,
) -> None:
    """Print warnings about constructs that are allowed; --quirks: those declared as intended."""


@does("files.fmt.fmt")
def fmt(
    paths: Paths = (),
    /,
    *,
    check: Annotated[Flag, Parameter(help="Write nothing; 1 if a file differs.")] = False,
    diff: Annotated[Flag, Parameter(help="Write nothing; show the changes.")] = False,
    stdin: Annotated[Flag, Parameter(help="From stdin to stdout.")] = False,
    json: Json = False,
) -> None:
    """Format files: those of `rules` and `domains` by default."""


@does("test.test", limited=True)
def test(
    paths: Paths = (),
    /,
    *,
    junit: Annotated[Path | None, Parameter(help="Write a JUnit report here.")] = None,
    time_limit: Whole = None,
    coverage: Annotated[
        Flag, Parameter(help="List the rules, requires and branches that were reached.")
    ] = False,
    json: Json = False,
) -> None:
    """Run scenarios: those of `rules` and `domains` by default."""


@does("mutate.mutate", limited=True)
def mutate(
    file: Annotated[str, Parameter(help="A file whose rules are changed.")],
    /,
    *,
    sample: Annotated[int | None, Parameter(help="Judge this many mutants only.")] = None,
    seed: Annotated[int, Parameter(help="The seed that draws the sample.")] = 0,
    least: Annotated[float, Parameter(help="Percent that must be noticed, for exit code 0.")] = 0.0,
    rows: Annotated[
        tuple[Path, ...],
        Parameter(
            help="Recorded rows of a text game that judge too.", consume_multiple=True, negative=""
        ),
    ] = (),
    time_limit: Whole = None,
    json: Json = False,
) -> None:
    """Change the rules a little, one place at a time: do the world's own tests notice?"""


@does("judge.verb.judge", limited=True)
def judge(
    world: World,
    /,
    *,
    contract: Annotated[
        str, Parameter(help="game, pddl, free, rows:FILE, or a JSON file.")
    ] = "game",
    brief: Annotated[Flag, Parameter(help="Print only the brief for a model.")] = False,
    states: Annotated[int, Parameter(help="States of each search and of the audit.")] = 20_000,
    ticks: Annotated[int, Parameter(help="Ticks of seeded play in each world.")] = 400,
    mutants: Annotated[int, Parameter(help="Changed rules that the tests must notice.")] = 40,
    time_limit: Annotated[float, Parameter(help="Seconds for all of it.")] = 120.0,
    json: Json = False,
) -> None:
    """Judge a world by all that the other verbs find: accepted, refused or unproven."""


@app.command
def fuzz(
    *,
    number: Annotated[int, Parameter(name="--n", help="Ticks to compare in total.")] = 2000,
    seed: Seed = 0,
    ticks: Annotated[int, Parameter(help="Ticks of each world at most.")] = 100,
    coverage: Annotated[Flag, Parameter(help="List every construct.")] = False,
    verdicts: Annotated[
        int | None,
        Parameter(
            help="Instead: compare plans of this many small worlds with an exhaustive search."
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Play random worlds with the engine and with a second, plain evaluator; 1 if they differ."""
    if verdicts is not None:
        from tokenworld.verbs.fuzz.verdicts import run_verdicts

        return verb(json, lambda out: run_verdicts(verdicts, seed, out))
    from tokenworld.verbs.fuzz.campaign import run_fuzz

    return verb(json, lambda out: run_fuzz(number, seed, ticks, coverage, out))


# ---- verbs that print sources --------------------------------------------------------------------


@does("explain.explain")
def explain(
    what: Annotated[
        str | None, Parameter(help="A code (TW0403); with --stages a FILE or FILE:rule.")
    ] = None,
    /,
    *,
    stages: Annotated[Flag, Parameter(help="Show each stage from the text to the tick.")] = False,
    json: Json = False,
) -> None:
    """Explain a diagnostic code, or show how a source becomes a running world."""


@does("reading.rules")
def rules(
    file: Annotated[str, Parameter(help="The file.")],
    /,
    *,
    context: Annotated[
        Flag, Parameter(help="Three texts for a language model: actions, objects, score.")
    ] = False,
    signatures: Annotated[
        Flag, Parameter(help="Only what can be named: declarations without bodies.")
    ] = False,
    json: Json = False,
) -> None:
    """The rulebook of a file in English: things, actions, laws, endings, score."""


@does("reading.graph")
def graph(
    world: World,
    /,
    *,
    form: Annotated[
        Literal["mermaid", "dot", "svg"],
        Parameter(name="--format", help="mermaid, dot, or svg (by Graphviz)."),
    ] = "mermaid",
    rule: Annotated[str | None, Parameter(help="Only this rule and its neighbours.")] = None,
    json: Json = False,
) -> None:
    """Draw which rule enables, feeds or blocks which."""


@does("grammars.verb.grammar")
def grammar(
    *,
    dialect: Annotated[
        Literal["lark", "llguidance", "openai", "gbnf"],
        Parameter(name="--for", help="lark, llguidance, openai or gbnf (llama.cpp, XGrammar)."),
    ] = "lark",
    world: Annotated[
        str | None,
        Parameter(name=["--world", "--names"], help="Allow only the names of this file."),
    ] = None,
    commands: Annotated[
        str | None, Parameter(help="Allow only what can be typed in this world now.")
    ] = None,
    script: Annotated[Played, Parameter(name=["--at", "--script"])] = None,
    json: Json = False,
) -> None:
    """The grammar of the language, for parsers and for constrained decoding."""


@does("card.making.print_card")
def card(
    *,
    purpose: Annotated[
        Literal["author", "player", "repair"], Parameter(name="--for", help="Who reads it.")
    ] = "author",
    json: Json = False,
) -> None:
    """Print the language in 3,000 tokens, for a language model."""


@does("reading.schema")
def schema(*, json: Json = True) -> None:
    """The JSON schema of a checked program: what `tw model FILE` prints."""


@does("reading.model")
def model(
    file: Annotated[str, Parameter(help="A file to check and print.")], /, *, json: Json = True
) -> None:
    """The checked model of a file as JSON: names resolved, types settled."""
