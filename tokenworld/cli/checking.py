"""The verbs that look at rules and try them: check, lint, fmt, test, mutate, fuzz."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from tokenworld.cli.frame import app, verb
from tokenworld.cli.parameters import Flag, Json, Limit, Paths, Pedantic, Seed

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
    from tokenworld.verbs.lint import lint as run_lint

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
    from tokenworld.verbs.fuzz.verb import run_fuzz, run_verdicts

    if verdicts is not None:
        return verb(json, lambda out: run_verdicts(verdicts, seed, out))
    return verb(json, lambda out: run_fuzz(number, seed, ticks, coverage, out))
