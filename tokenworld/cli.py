"""``tw``: the verbs. Each parses its arguments, calls one function and returns its exit code.

Exit codes: 0 fine; 1 a negative answer; 2 usage, or an input that is missing or unreadable;
3 unknown (no verdict in the limits); 4 an internal error; 130 interrupted.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from tokenworld import __version__

if TYPE_CHECKING:
    from tokenworld.tools.output import Output

__all__ = ["app", "main"]

app = App(
    name="tw",
    help="Write the rules of a world once: play them, prove its goals, export them as PDDL.",
    version=__version__,
    version_flags=["--version"],
    help_flags=["--help", "-h"],
)
runs = App(name="runs", help="Recorded runs: list, show, replay and verify, carry away.")
app.command(runs)

Json = Annotated[bool, Parameter(name="--json", negative="", help="One JSON object on stdout.")]
Store = Annotated[
    Path | None,
    Parameter(name="--store", help="The run store (.tokenworld/runs.sqlite in this folder)."),
]
Seed = Annotated[int, Parameter(name="--seed", help="The seed of all draws.")]
Goal = Annotated[str | None, Parameter(name="--goal", help="One goal line; any by default.")]
Limit = Annotated[float, Parameter(name="--time-limit", help="Seconds of planning at most.")]
States = Annotated[int, Parameter(name="--states", help="States of the explored graph at most.")]
Pedantic = Annotated[bool, Parameter(help="Add remarks that are often deliberate.", negative="")]
_ENCODINGS = "Only on this encoding: E, D (Fast Downward) or A (ENHSP)."
_ENGINES = "Only this engine: own, ff, blind, lama, symk, enhsp or up:NAME."
World = Annotated[str, Parameter(help="FILE, or FILE:world where a file has several worlds.")]
RunName = Annotated[
    str | None, Parameter(help="A run's number, its name, or a world; the latest by default.")
]


@app.command
def check(
    files: Annotated[tuple[str, ...], Parameter(help="Files to check.")],
    /,
    *,
    fix: Annotated[bool, Parameter(help="Apply the safe repairs.", negative="")] = False,
    unsafe: Annotated[bool, Parameter(help="Apply the other repairs too.", negative="")] = False,
    order: Annotated[bool, Parameter(help="List laws whose order matters.", negative="")] = False,
    proofs: Annotated[bool, Parameter(help="Say what is proved.", negative="")] = False,
    stats: Annotated[bool, Parameter(help="Tell the time of each pass.", negative="")] = False,
    pedantic: Pedantic = False,
    form: Annotated[
        Literal["text", "json", "sarif", "lsp"], Parameter(name="--format", help="How to print.")
    ] = "text",
    json: Json = False,
) -> int:
    """Check files: names, types, rules, and that each world can start."""
    from tokenworld.tools.checking import check as run_check

    return _verb(
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
    quirks: Annotated[bool, Parameter(help="List the declared oddities.", negative="")] = False,
    json: Json = False,
) -> int:
    """Print what is allowed and yet suspicious, or the oddities that are there on purpose."""
    from tokenworld.tools.linting import lint as run_lint

    return _verb(json, lambda out: run_lint(files, out, pedantic=pedantic, quirks=quirks))


@app.command
def fmt(
    paths: Annotated[tuple[str, ...], Parameter(help="Files and folders.")] = (),
    /,
    *,
    check: Annotated[bool, Parameter(help="Write nothing; 1 if a file differs.",
                                     negative="")] = False,
    diff: Annotated[bool, Parameter(help="Write nothing; show the changes.", negative="")] = False,
    stdin: Annotated[bool, Parameter(help="From stdin to stdout.", negative="")] = False,
    json: Json = False,
) -> int:  # fmt: skip
    """Lay files out in the one style: those of `rules` and `domains` by default."""
    from tokenworld.tools.formatting import fmt as format_files

    return _verb(json, lambda out: format_files(paths, out, check=check, diff=diff, stdin=stdin))


@app.command
def run(
    world: World,
    /,
    *,
    script: Annotated[Path | None, Parameter(help="A file with one intent per line.")] = None,
    player: Annotated[Literal["random"] | None, Parameter(help="Who plays.")] = None,
    policy: Annotated[Path | None, Parameter(help="A policy of `tw plan`, to play by.")] = None,
    ticks: Annotated[int | None, Parameter(help="Stop after so many records.")] = None,
    seed: Seed = 0,
    store: Store = None,
    json: Json = False,
) -> int:
    """Run a world without a screen and record it."""
    from tokenworld.tools.running import run as run_world

    return _verb(
        json,
        lambda out: run_world(
            world,
            out,
            script=script,
            player=player,
            policy=policy,
            ticks=ticks,
            seed=seed,
            store=store,
        ),
    )


@app.command
def rollout(
    world: World,
    /,
    *,
    policy: Annotated[str, Parameter(help="random, or a policy or script file.")] = "random",
    worlds: Annotated[int, Parameter(help="How many runs, each with the next seed.")] = 100,
    ticks: Annotated[int, Parameter(help="Records of a run at most.")] = 1000,
    engine: Annotated[
        Literal["auto", "fast", "plain", "play"],
        Parameter(help="Compiled, the same in Python, or the interpreter."),
    ] = "auto",
    digests: Annotated[
        bool, Parameter(help="Add the state hash of every run.", negative="")
    ] = False,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """Play a world many times and tell how often it is won, and how soon."""
    from tokenworld.tools.rolling import rollout as roll

    return _verb(
        json,
        lambda out: roll(
            world,
            out,
            policy=policy,
            worlds=worlds,
            ticks=ticks,
            seed=seed,
            engine=engine,
            digests=digests,
        ),
    )


@app.command
def play(
    world: World,
    /,
    *,
    plan: Annotated[bool, Parameter(help="Plan first; the plan can be stepped through.",
                                    negative="")] = False,
    goal: Goal = None,
    time_limit: Limit = 60.0,
    seed: Seed = 0,
    store: Store = None,
    json: Json = False,
) -> int:  # fmt: skip
    """Play a world on the screen. Without a terminal its plan is played and told."""
    from tokenworld.tools.playing import play as play_world

    return _verb(
        json,
        lambda out: play_world(
            world, out, seed=seed, store=store, planned=plan, time_limit=time_limit, goal=goal
        ),
    )


@app.command
def plan(
    world: World,
    problem: Annotated[
        Path | None, Parameter(help="The problem, where the first file is a PDDL domain.")
    ] = None,
    /,
    *,
    goal: Goal = None,
    luck: Annotated[
        Literal["possible", "certain", "probability"],
        Parameter(help="Luck is the planner's choice, or an adversary, or weighed."),
    ] = "possible",
    policy: Annotated[Path | None, Parameter(help="Write what to do in each state here.")] = None,
    certificate: Annotated[Path | None, Parameter(help="Write a certificate here.")] = None,
    check: Annotated[Path | None, Parameter(help="Check a certificate; 1 if it fails.")] = None,
    why: Annotated[bool, Parameter(help="All of why it is unwinnable.", negative="")] = False,
    explain: Annotated[bool, Parameter(help="What each encoding takes.", negative="")] = False,
    engine: Annotated[str | None, Parameter(help=_ENGINES)] = None,
    encoding: Annotated[str | None, Parameter(help=_ENCODINGS)] = None,
    optimal: Annotated[bool, Parameter(help="A plan proved cheapest.", negative="")] = False,
    top: Annotated[int | None, Parameter(help="So many plans, cheapest first.")] = None,
    all_optimal: Annotated[bool, Parameter(help="All cheapest plans.", negative="")] = False,
    honest: Annotated[bool, Parameter(help="One plan, whatever is secret.", negative="")] = False,
    quality: Annotated[
        Literal["satisficing", "anytime"] | None,
        Parameter(help="The first plan there is, or ever better ones."),
    ] = None,
    time_limit: Limit = 60.0,
    states: States = 200_000,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """Is the goal reachable? Winnable (0) with a plan, unwinnable (1) with proof, unknown (3)."""
    from tokenworld.tools.plan_extras import Extras
    from tokenworld.tools.solving import plan_luck as plan_world

    extras = Extras(
        certificate, check, why, explain, engine, optimal, top, all_optimal, encoding, honest,
        quality,
    )  # fmt: skip

    def work(out: Output) -> int:
        if problem is not None or world.lower().endswith(".pddl"):
            from tokenworld.tools.importing import plan_pddl

            pair, more = (Path(world), problem), extras.asked or luck != "possible" or policy
            return plan_pddl(
                *pair, out, goal=goal, time_limit=time_limit, seed=seed, more=bool(more)
            )
        return plan_world(
            world,
            out,
            luck=luck,
            goal=goal,
            states=states,
            time_limit=time_limit,
            seed=seed,
            policy=policy,
            extras=extras,
        )

    return _verb(json, work)


@app.command
def legal(
    world: World,
    /,
    *,
    focus: Annotated[str | None, Parameter(name="--with", help="Only with this object.")] = None,
    every: Annotated[bool, Parameter(name="--all", help="Also what cannot be done, and why.",
                                     negative="")] = False,
    script: Annotated[
        Path | None, Parameter(name=["--at", "--script"], help="What was played so far.")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> int:  # fmt: skip
    """What can be done now, in all or with one object; 1 if nothing can."""
    from tokenworld.tools.focusing import legal as run_legal

    return _verb(
        json,
        lambda out: run_legal(world, out, focus=focus, script=script, every=every, seed=seed),
    )


@app.command
def hint(
    world: World,
    /,
    *,
    script: Annotated[Path | None, Parameter(help="What was played so far.")] = None,
    goal: Goal = None,
    time_limit: Limit = 20.0,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """The next step of a shortest plan, the distance, and what every way must pass."""
    from tokenworld.tools.hinting import hint_after

    return _verb(
        json,
        lambda out: hint_after(
            world, out, script=script, goal=goal, time_limit=time_limit, seed=seed
        ),
    )


@app.command
def audit(
    world: World,
    /,
    *,
    goal: Goal = None,
    states: States = 1_000_000,
    time_limit: Limit = 60.0,
    past_goal: Annotated[
        bool, Parameter(help="Count what follows the goal as well.", negative="")
    ] = False,
    graph: Annotated[Path | None, Parameter(help="Draw the states: FILE.dot or FILE.svg.")] = None,
    json: Json = False,
) -> int:
    """What can become of a world: dead ends and how cruel they are, and what never happens."""
    from tokenworld.tools.auditing import audit as audit_world

    def work(out: Output) -> int:
        return audit_world(
            world, out, goal=goal, states=states, time_limit=time_limit, graph=graph,
            past_goal=past_goal,
        )  # fmt: skip

    return _verb(json, work)


@app.command
def test(
    paths: Annotated[tuple[str, ...], Parameter(help="Files and folders.")] = (),
    /,
    *,
    junit: Annotated[Path | None, Parameter(help="Write a JUnit report here.")] = None,
    time_limit: Limit = 60.0,
    coverage: Annotated[
        bool, Parameter(help="Tell which rules, requires and branches were reached.", negative="")
    ] = False,
    json: Json = False,
) -> int:
    """Run scenarios: those of `rules` and `domains` by default."""
    from tokenworld.tools.testing import test as run_tests

    def work(out: Output) -> int:
        return run_tests(paths, out, junit=junit, plan_seconds=time_limit, coverage=coverage)

    return _verb(json, work)


@app.command
def mutate(
    file: Annotated[str, Parameter(help="A file whose rules are changed.")],
    /,
    *,
    sample: Annotated[int | None, Parameter(help="Judge so many mutants only.")] = None,
    seed: Annotated[int, Parameter(help="The seed that draws the sample.")] = 0,
    least: Annotated[float, Parameter(help="Percent that must be noticed, for exit code 0.")] = 0.0,
    time_limit: Limit = 30.0,
    json: Json = False,
) -> int:
    """Change the rules a little, one place at a time: do the world's own tests notice?"""
    from tokenworld.tools.mutation import mutate as run_mutants

    def work(out: Output) -> int:
        return run_mutants(file, out, sample=sample, seed=seed, seconds=time_limit, least=least)

    return _verb(json, work)


@app.command
def fuzz(
    *,
    number: Annotated[int, Parameter(name="--n", help="Ticks to compare in total.")] = 2000,
    seed: Seed = 0,
    ticks: Annotated[int, Parameter(help="Ticks of each world at most.")] = 100,
    coverage: Annotated[bool, Parameter(help="List every construct.", negative="")] = False,
    json: Json = False,
) -> int:
    """Play random worlds with the engine and with a second, plain evaluator; 1 if they differ."""
    from tokenworld.tools.fuzzing.verb import run_fuzz

    return _verb(json, lambda out: run_fuzz(number, seed, ticks, coverage, out))


@app.command
def export(
    world: World,
    /,
    *,
    pddl: Annotated[bool, Parameter(help="Write PDDL.", negative="")] = False,
    ppddl: Annotated[bool, Parameter(help="Write PPDDL, with chances.", negative="")] = False,
    sanitize: Annotated[
        bool, Parameter(help="Names that every planner takes.", negative="")
    ] = False,
    output: Annotated[Path | None, Parameter(name=["-o", "--output"], help="A folder.")] = None,
    plan: Annotated[
        Path | None, Parameter(name="--read-plan", help="Play a plan of these files.")
    ] = None,
    goal: Goal = None,
    json: Json = False,
) -> int:
    """Write a world as PDDL: `domain.pddl` and `problem.pddl`."""
    from tokenworld.diagnostics import Diagnostic, Failure
    from tokenworld.tools.exporting import export_pddl

    def work(out: Output) -> int:
        if pddl == ppddl:
            hint = "Add `--pddl`, or `--ppddl` to keep probabilities."
            raise Failure(Diagnostic("TW0006", "Say which form to export.", hint=hint))
        return export_pddl(
            world, out, folder=output, goal=goal, names=sanitize, plan=plan, luck=ppddl
        )

    return _verb(json, work)


@app.command(name="import")
def import_pddl_(
    domain: Annotated[Path, Parameter(help="A PDDL domain.")],
    problems: Annotated[tuple[Path, ...], Parameter(help="Problems of the domain.")] = (),
    /,
    *,
    output: Annotated[
        Path | None, Parameter(name=["-o", "--output"], help="A folder; printed without it.")
    ] = None,
    force: Annotated[bool, Parameter(help="Replace a file that is there.", negative="")] = False,
    json: Json = False,
) -> int:
    """Take a PDDL domain and its problems as a `.tw` file, each problem a world."""
    from tokenworld.tools.importing import import_pddl

    return _verb(json, lambda out: import_pddl(domain, problems, out, folder=output, force=force))


@app.command
def equiv(
    first: Annotated[str, Parameter(help="A PDDL domain or a `.tw` FILE[:world].")],
    second: Annotated[str, Parameter(help="Another one.")],
    problems: Annotated[tuple[Path, ...], Parameter(help="PDDL problems for both.")] = (),
    /,
    *,
    limit: Annotated[int, Parameter(help="States to explore at most.")] = 10_000,
    walks: Annotated[int, Parameter(help="Random walks beyond the limit.")] = 100,
    json: Json = False,
) -> int:
    """Do two domains behave alike? Equivalent (0), different (1), no difference found (3)."""
    from tokenworld.tools.equivalence import equivalence

    def work(out: Output) -> int:
        return equivalence(first, second, problems, out, limit=limit, walks=walks)

    return _verb(json, work)


@app.command
def doctor(*, json: Json = False) -> int:
    """Which planners are installed, and how to install the others."""
    from tokenworld.tools.doctoring import doctor as examine

    return _verb(json, examine)


@app.command
def explain(
    what: Annotated[
        str | None, Parameter(help="A code (TW0403); with --stages a FILE or FILE:rule.")
    ] = None,
    /,
    *,
    stages: Annotated[bool, Parameter(help="From the text to the tick.", negative="")] = False,
    json: Json = False,
) -> int:
    """What a diagnostic code means, or how a source becomes a running world."""
    from tokenworld.tools.explaining import explain_code, explain_stages

    if stages or what is None:
        return _verb(json, lambda out: explain_stages(what, out))
    return _verb(json, lambda out: explain_code(what, out))


@app.command
def rules(file: Annotated[str, Parameter(help="A file to tell.")], /, *, json: Json = False) -> int:
    """The rulebook of a file in English: things, actions, laws, endings, score."""
    from tokenworld.tools.reading import rules as tell

    return _verb(json, lambda out: tell(file, out))


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
    from tokenworld.tools.graphing import graph as draw

    return _verb(json, lambda out: draw(world, out, form, rule))


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
    from tokenworld.tools.grammars import grammar as print_grammar

    return _verb(json, lambda out: print_grammar(dialect, names, out))


@app.command
def schema(*, json: Json = True) -> int:
    """The JSON schema of a checked program: what `tw model FILE` prints."""
    from tokenworld.tools.modelling import schema as print_schema

    return _verb(True, print_schema)


@app.command
def model(
    file: Annotated[str, Parameter(help="A file to check and print.")], /, *, json: Json = True
) -> int:
    """The checked model of a file as JSON: names resolved, types settled."""
    from tokenworld.tools.modelling import model as print_model

    return _verb(True, lambda out: print_model(file, out))


# ---- runs -------------------------------------------------------------------------------


@runs.default
def list_(
    *,
    world: Annotated[str | None, Parameter(help="Only runs of this world.")] = None,
    store: Store = None,
    json: Json = False,
) -> int:
    """List the recorded runs."""
    from tokenworld.tools.logs import listing

    return _verb(json, lambda out: listing(out, store, world))


@runs.command
def show(run: RunName = None, /, *, store: Store = None, json: Json = False) -> int:
    """Show a run record by record."""
    from tokenworld.tools.logs import show as show_run

    return _verb(json, lambda out: show_run(run, out, store))


@runs.command
def replay(
    run: RunName = None,
    /,
    *,
    verify: Annotated[bool, Parameter(help="Check the log itself too.", negative="")] = False,
    store: Store = None,
    json: Json = False,
) -> int:
    """Play a run again from its seed and compare every hash."""
    from tokenworld.tools.logs import replay as replay_run

    return _verb(json, lambda out: replay_run(run, out, store, verify=verify))


@runs.command(name="export")
def export_(
    runs: Annotated[tuple[str, ...], Parameter(help="Runs; the latest by default.")] = (),
    /,
    *,
    output: Annotated[Path, Parameter(name=["-o", "--output"], help="The file to write.")],
    store: Store = None,
    json: Json = False,
) -> int:
    """Write runs as JSON lines."""
    from tokenworld.tools.logs import export_runs

    return _verb(json, lambda out: export_runs(runs, output, out, store))


@runs.command
def rows(
    run: RunName = None,
    /,
    *,
    output: Annotated[Path, Parameter(name=["-o", "--output"], help="The file to write.")],
    store: Store = None,
    json: Json = False,
) -> int:
    """Write a run as rows for a scenario's `replay`."""
    from tokenworld.tools.logs import write_rows

    return _verb(json, lambda out: write_rows(run, output, out, store))


@runs.command(name="import")
def import_(
    file: Annotated[Path, Parameter(help="A file of JSON lines.")],
    /,
    *,
    store: Store = None,
    json: Json = False,
) -> int:
    """Take runs from JSON lines."""
    from tokenworld.tools.logs import import_runs

    return _verb(json, lambda out: import_runs(file, out, store))


# ---- the frame --------------------------------------------------------------------------


def _verb(json: bool, work: Callable[[Output], int]) -> int:
    """Run one verb: bad input becomes its diagnostics, an interruption 130, a defect 4."""
    from tokenworld.diagnostics import Failure
    from tokenworld.tools.output import EXIT_INTERRUPTED, Output

    out = Output(json)
    try:
        return work(out)
    except Failure as failure:
        return out.failure(failure)
    except KeyboardInterrupt:
        out.note("interrupted")
        out.json({"schema_version": 1, "ok": False, "interrupted": True})
        return EXIT_INTERRUPTED


def main() -> None:
    """The entry point of ``tw`` and ``token-world``."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"{__version__}\n")
        raise SystemExit(0)
    code = _main(sys.argv[1:])
    gc.freeze()  # the process ends: the collector need not walk through all that is left
    raise SystemExit(code)


def _main(arguments: list[str]) -> int:
    from cyclopts import CycloptsError

    try:
        code = app(arguments, exit_on_error=False, result_action="return_value")
    except CycloptsError as error:  # cyclopts has told it on stderr
        _not_done(arguments, "usage", str(error))
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        _not_done(arguments, "internal_error", f"{type(error).__name__}: {error}")
        return _defect(error)
    return code if isinstance(code, int) else 0


def _not_done(arguments: list[str], why: str, message: str) -> None:
    """The one object on stdout that ``--json`` promises, where no verb came to print it."""
    if "--json" in arguments:
        from tokenworld.tools.output import Output

        Output(as_json=True).json({"schema_version": 1, "ok": False, why: message})


def _defect(error: Exception) -> int:
    """An internal error: one line for the user, the trace for the report in a file."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile(
        "w", prefix="tw-defect-", suffix=".txt", delete=False, encoding="utf-8"
    ) as report:
        report.write("".join(traceback.format_exception(error)))
    sys.stderr.write(
        f"internal error: {type(error).__name__}: {error}\n"
        f"  help: please report it with the file {report.name}\n"
    )
    return 4
