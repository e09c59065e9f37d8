"""The verbs about rules: check, lint, fmt, test, mutate, fuzz; and those that print them: explain,
rules, graph, grammar, schema, model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from tokenworld.cli.frame import Flag, Json, Limit, Paths, Pedantic, Seed, World, app, verb

if TYPE_CHECKING:
    from tokenworld.verbs.output import Output


@app.command
def check(
    files: Annotated[tuple[str, ...], Parameter(help="Files to check.")],
    /,
    *,
    fix: Annotated[Flag, Parameter(help="Apply the safe repairs.")] = False,
    unsafe: Annotated[Flag, Parameter(help="Apply the other repairs too.")] = False,
    order: Annotated[Flag, Parameter(help="List laws whose order matters.")] = False,
    proofs: Annotated[Flag, Parameter(help="Say what is proved.")] = False,
    stats: Annotated[Flag, Parameter(help="Tell the time of each pass.")] = False,
    pedantic: Pedantic = False,
    form: Annotated[
        Literal["text", "json", "sarif", "lsp"], Parameter(name="--format", help="How to print.")
    ] = "text",
    json: Json = False,
) -> int:
    """Check files: names, types, rules, and that each world can start."""
    from tokenworld.verbs.check import check as run_check

    return verb(
        json or form != "text",
        lambda out: run_check(
            files,
            out,
            form=form,
            pedantic=pedantic,
            fix=fix,
            unsafe=unsafe,
            order=order,
            proofs=proofs,
            stats=stats,
        ),
    )


@app.command
def lint(
    files: Annotated[tuple[str, ...], Parameter(help="Files to look at.")],
    /,
    *,
    pedantic: Pedantic = False,
    quirks: Annotated[Flag, Parameter(help="List the declared oddities.")] = False,
    json: Json = False,
) -> int:
    """Print what is allowed and yet suspicious, or the oddities that are there on purpose."""
    from tokenworld.verbs.check import lint as run_lint

    return verb(json, lambda out: run_lint(files, out, pedantic=pedantic, quirks=quirks))


@app.command
def fmt(
    paths: Paths = (),
    /,
    *,
    check: Annotated[Flag, Parameter(help="Write nothing; 1 if a file differs.")] = False,
    diff: Annotated[Flag, Parameter(help="Write nothing; show the changes.")] = False,
    stdin: Annotated[Flag, Parameter(help="From stdin to stdout.")] = False,
    json: Json = False,
) -> int:
    """Lay files out in the one style: those of `rules` and `domains` by default."""
    from tokenworld.verbs.fmt import fmt as format_files

    return verb(json, lambda out: format_files(paths, out, check=check, diff=diff, stdin=stdin))


@app.command
def test(
    paths: Paths = (),
    /,
    *,
    junit: Annotated[Path | None, Parameter(help="Write a JUnit report here.")] = None,
    time_limit: Limit = 60.0,
    coverage: Annotated[
        Flag, Parameter(help="Tell which rules, requires and branches were reached.")
    ] = False,
    json: Json = False,
) -> int:
    """Run scenarios: those of `rules` and `domains` by default."""
    from tokenworld.verbs.test import test as run_tests

    def work(out: Output) -> int:
        return run_tests(paths, out, junit=junit, plan_seconds=time_limit, coverage=coverage)

    return verb(json, work)


@app.command
def mutate(
    file: Annotated[str, Parameter(help="A file whose rules are changed.")],
    /,
    *,
    sample: Annotated[int | None, Parameter(help="Judge so many mutants only.")] = None,
    seed: Annotated[int, Parameter(help="The seed that draws the sample.")] = 0,
    least: Annotated[float, Parameter(help="Percent that must be noticed, for exit code 0.")] = 0.0,
    time_limit: Annotated[
        float | None, Parameter(help="Seconds at most, for all of it; as long as it takes.")
    ] = None,
    json: Json = False,
) -> int:
    """Change the rules a little, one place at a time: do the world's own tests notice?"""
    from tokenworld.verbs.mutate import mutate as run_mutants

    def work(out: Output) -> int:
        return run_mutants(file, out, sample=sample, seed=seed, least=least)

    return verb(json, work, time_limit)


@app.command
def fuzz(
    *,
    number: Annotated[int, Parameter(name="--n", help="Ticks to compare in total.")] = 2000,
    seed: Seed = 0,
    ticks: Annotated[int, Parameter(help="Ticks of each world at most.")] = 100,
    coverage: Annotated[Flag, Parameter(help="List every construct.")] = False,
    verdicts: Annotated[
        int | None,
        Parameter(help="Instead: plan so many small worlds, and try all that play can do."),
    ] = None,
    json: Json = False,
) -> int:
    """Play random worlds with the engine and with a second, plain evaluator; 1 if they differ."""
    if verdicts is not None:
        from tokenworld.verbs.fuzz.verdicts import run_verdicts

        return verb(json, lambda out: run_verdicts(verdicts, seed, out))
    from tokenworld.verbs.fuzz.campaign import run_fuzz

    return verb(json, lambda out: run_fuzz(number, seed, ticks, coverage, out))


# ---- the verbs that print what is written --------------------------------------------------------


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
