"""The verbs that print what is written: explain, rules, graph, grammar, schema, model."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from tokenworld.cli.frame import app, verb
from tokenworld.cli.parameters import Flag, Json, World


@app.command
def explain(
    what: Annotated[
        str | None, Parameter(help="A code (TW0403); with --stages a FILE or FILE:rule.")
    ] = None,
    /,
    *,
    stages: Annotated[Flag, Parameter(help="From the text to the tick.")] = False,
    json: Json = False,
) -> int:
    """What a diagnostic code means, or how a source becomes a running world."""
    from tokenworld.verbs.explain import explain_code, explain_stages

    if stages or what is None:
        return verb(json, lambda out: explain_stages(what, out))
    return verb(json, lambda out: explain_code(what, out))


@app.command
def rules(
    file: Annotated[str, Parameter(help="A file to tell.")],
    /,
    *,
    context: Annotated[
        Flag, Parameter(help="As a language model is told: actions, objects, score.")
    ] = False,
    json: Json = False,
) -> int:
    """The rulebook of a file in English: things, actions, laws, endings, score."""
    from tokenworld.verbs.reading import context as tell_context
    from tokenworld.verbs.reading import rules as tell

    return verb(json, lambda out: (tell_context if context else tell)(file, out))


@app.command
def graph(
    world: World,
    /,
    *,
    form: Annotated[
        Literal["mermaid", "dot"], Parameter(name="--format", help="mermaid or dot.")
    ] = ("mermaid"),
    rule: Annotated[str | None, Parameter(help="Only this rule and its neighbours.")] = None,
    json: Json = False,
) -> int:
    """Which rule enables, feeds or blocks which, as a picture."""
    from tokenworld.verbs.reading import graph as draw

    return verb(json, lambda out: draw(world, out, form, rule))


@app.command
def grammar(
    *,
    dialect: Annotated[
        Literal["lark", "llguidance"], Parameter(name="--for", help="lark or llguidance.")
    ] = "lark",
    names: Annotated[
        str | None, Parameter(help="A file: only its names can be written (llguidance).")
    ] = None,
    json: Json = False,
) -> int:
    """The grammar of the language, for parsers and for constrained decoding."""
    from tokenworld.verbs.reading import grammar as print_grammar

    return verb(json, lambda out: print_grammar(dialect, names, out))


@app.command
def schema(*, json: Json = True) -> int:
    """The JSON schema of a checked program: what `tw model FILE` prints."""
    from tokenworld.verbs.reading import schema as print_schema

    return verb(True, print_schema)


@app.command
def model(
    file: Annotated[str, Parameter(help="A file to check and print.")], /, *, json: Json = True
) -> int:
    """The checked model of a file as JSON: names resolved, types settled."""
    from tokenworld.verbs.reading import model as print_model

    return verb(True, lambda out: print_model(file, out))
