"""The commands of ``tw``, and how a command is made of the function that does it.

A command is made when it is run, or when its own help is asked for: cyclopts takes it from this
module by its name. The types of the function tell its parameters (`tokenworld.verbs.options`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from cyclopts import App
from cyclopts import Parameter as Told

COMMANDS: Mapping[str, tuple[str, str]] = {
    "new": ("verbs.files.new.new",
        "Write a small world with scenarios to start from; it passes all checks and can be won."),
    "check": ("verbs.check.check",
        "Check files: names, types, rules, and that each world can start."),
    "lint": ("verbs.check.lint",
        "Print warnings about constructs that are allowed; --quirks: those declared as intended."),
    "fmt": ("verbs.files.fmt.fmt",
        "Format files: those of `rules` and `domains` by default."),
    "test": ("verbs.test.test",
        "Run scenarios: those of `rules` and `domains` by default."),
    "mutate": ("verbs.mutate.mutate",
        "Change the rules a little, one place at a time: do the world's own tests notice?"),
    "judge": ("verbs.judge.judging.judge_world",
        "Judge a world by all that the other verbs find: accepted, refused or unproven."),
    "fuzz": ("verbs.fuzz.verdicts.fuzz",
        "Play random worlds with the engine and with a second, plain evaluator; 1 if they differ."),
    "explain": ("verbs.explain.explain",
        "Explain a diagnostic code, or show how a source becomes a running world."),
    "rules": ("verbs.reading.rules",
        "The rulebook of a file in English: things, actions, laws, endings, score."),
    "graph": ("verbs.reading.graph",
        "Draw which rule enables, feeds or blocks which."),
    "grammar": ("verbs.grammars.verb.grammar",
        "The grammar of the language, for parsers and for constrained decoding."),
    "card": ("verbs.card.print_card",
        "Print the language in 3,000 tokens, for a language model."),
    "schema": ("verbs.reading.schema",
        "The JSON schema of a checked program: what `tw model FILE` prints."),
    "model": ("verbs.reading.model",
        "The checked model of a file as JSON: names resolved, types settled."),
    "plan": ("verbs.plan.verb.plan_asked",
        "Is the goal reachable? Winnable (0) with a plan, unwinnable (1) with proof, unknown (3)."),
    "hint": ("verbs.plan.hint.hint_after",
        "The next step of a shortest plan, its length, and what every plan must pass."),
    "audit": ("verbs.audit.verb.audit",
        "Explore a world: its dead ends, how cruel they are, and the rules that never happen."),
    "doctor": ("verbs.plan.doctor.doctor",
        "List the installed planners, and the commands that install the others."),
    "sweep": ("verbs.sweep.verb.sweep",
        "Plan, play or audit a world for many values of its params and many seeds; resumable."),
    "export": ("verbs.plan.pddl.export_pddl",
        "Write a world as PDDL: `domain.pddl` and `problem.pddl`."),
    "import": ("verbs.plan.pddl.import_pddl",
        "Convert a PDDL domain and its problems to a `.tw` file; each problem becomes a world."),
    "equiv": ("verbs.equiv.equivalence",
        "Do two domains behave alike? Equivalent (0), different (1), no difference found (3)."),
    "run": ("verbs.runs.run.run",
        "Run a world without a screen and record it."),
    "rollout": ("verbs.runs.rollout.rollout",
        "Play a world many times and count how often it is won, and how soon."),
    "play": (
        "play.verb.play_asked",
        "Play a world on the screen. Without a terminal its plan is played and printed.\n\nWith "
        "`--run` a stored run is shown record by record; one can play on from any of them.",
    ),
    "publish": ("play.publish.verb.publish",
        "Write a world as one HTML file that plays in any browser, without a server."),
    "picture": ("play.picture.picture",
        "Draw the maps of a world, or of a stored run, with a legend (SVG or PNG)."),
    "legal": (
        "verbs.legal.legal",
        "List the commands that are possible now, all or with one object; exit 1 if there are "
        "none.",
    ),
    "why": ("verbs.refusals.why.why",
        "Why is a command refused? Its requires, since when they fail, and the way to it; exit 1."),
    "dist": ("verbs.dist.dist",
        "Print all outcomes that one command may have, with exact probabilities."),
    "learn": ("",
        "Learn rules, and numbers in rules, from recorded play."),
    "learn fit": ("verbs.learn.verb.fit_params",
        "The likeliest values of params that are `learned`, with standard errors."),
    "learn propose": ("verbs.learn.propose.verb.propose",
        "Learn the rules of a world from recorded rows alone: types, commands, effects and laws."),
    "learn explore": ("verbs.learn.exploring.explore",
        "Play a world without a goal and record what happens as rows, to learn from."),
    "learn rank": ("verbs.learn.ranking.rank",
        "Rank observed successors among mutants by their probability under the rules."),
    "duel": ("verbs.learn.duel.duel",
        "Compare two plans by their mean return, with its 95 % interval."),
    "author": ("verbs.author.verb.write_world",
        "Let language models write a world from a description; the judge accepts it, or not."),
    "runs": ("verbs.runs.listing.listing",
        "Recorded runs: list, show, replay, verify, branch, export."),
    "runs show": ("verbs.runs.listing.show",
        "Show a run record by record."),
    "runs replay": ("verbs.runs.listing.replay",
        "Play a run again from its seed and compare every hash."),
    "runs verify": (
        "verbs.runs.listing.verify",
        "Check the file, the hash chain, and every record by playing its run again.\n\nThe engine "
        "and the reference evaluator work out each record anew from the sources and the seed\nof "
        "the run. A chain without a secret cannot show a cut tail, nor who typed: for that keep "
        "the\nlink that `tw run` prints, and give it to `--link`.",
    ),
    "runs at": ("verbs.runs.provenance.at",
        "Show the whole state after a record."),
    "runs diff": ("verbs.runs.provenance.diff",
        "Compare two moments of a run, or of two branches."),
    "runs trace": ("verbs.runs.trace.trace",
     "List the laws that fired in a tick, in their order, with bindings, changes and conflicts."),
    "runs why": ("verbs.runs.provenance.why",
        "Name the rule and the record that set a value, and what enabled that rule."),
    "runs branch": ("verbs.runs.provenance.branch",
        "Begin a new run after a record of another one, and continue to play there."),
    "runs resume": ("verbs.runs.provenance.resume",
        "Continue a run that was cut off."),
    "runs export": ("verbs.runs.listing.export_runs",
        "Write runs as JSON lines."),
    "runs rows": ("verbs.runs.listing.write_rows",
        "Write a run as rows for a scenario's `replay`."),
    "runs import": ("verbs.runs.listing.import_runs",
        "Read runs from JSON lines into the store."),
    "log": ("verbs.runs.listing.log",
        "Print the records of a run, with `--follow` as they are committed."),
    "quality": ("verbs.quality.scorecard.quality",
        "Score the last records of a run in seven dimensions, and give a verdict."),
    "report": ("verbs.quality.report.report",
        "Write the morning report: which runs went bad, and where to look."),
    "conform": ("verbs.conform.conform",
        "Replay recorded transitions of a text game: are state, tick and score predicted rightly?"),
    "simbench": ("",
        "Make a benchmark of a world for predictors, run it, and score answers."),
    "simbench make": ("verbs.simbench.making.make",
        "Make a set of questions: what does this world make of a state and a command?"),
    "simbench run": ("verbs.simbench.playing.run",
        "Ask a predictor the questions of a set; continue where an earlier run stopped."),
    "simbench score": (
        "verbs.simbench.games.score",
        "Score answers: by part, verb and property, over several steps, beside baselines.\n\nFor "
        "a folder of sets, name transcripts as they are called in each set; the tables are then "
        "means\nover the games.",
    ),
    "simbench play": ("verbs.simbench.playing.play",
        "Answer the questions of a set yourself: what will be different?"),
    "lsp": ("protocols.editors.serve",
        "Serve an editor: findings, repairs, names, formatting (Language Server Protocol)."),
    "mcp": (
        "protocols.agents.serve",
        "Serve worlds to agents over the Model Context Protocol: check, judge, plan, play and "
        "more.",
    ),
    "bench": ("",
        "Published benchmarks: text2world, cwmb, bytesized32."),
    "bench text2world": ("verbs.bench.text2world.text2world",
        "Bring PDDL golds to .tw and back, or score predicted domains against them."),
    "bench cwmb": ("gym.cwmb.cwmb",
        "Score worlds on the discrete environments of the Code World Models benchmark."),
    "bench bytesized32": ("verbs.bench.bytesized32.bytesized32",
        "Check worlds as games: they start, run, can be won, not trivially, with their objects."),
}  # fmt: skip
"""Of each command the function below `tokenworld` that does it, and its help. A group of commands
has no function, or one for the case that none of them is named."""

VERBS = tuple(name for name in COMMANDS if " " not in name)
_LIMITED = ("test", "mutate", "judge", "plan", "hint", "audit", "sweep", "export")
"""`--time-limit` bounds these as a whole; `--memory-limit` always does."""
_PRINT_JSON = ("schema", "model")
_began = time.monotonic()
"""The time at which the command began; limits of time count from here."""


def begin() -> None:
    """A command begins now."""
    global _began
    _began = time.monotonic()


def add_commands(app: App, group: str = "") -> None:
    """Give the application, or a group of commands, its commands; none is imported."""
    for name, (_, told) in COMMANDS.items():
        above, _, last = name.rpartition(" ")
        if above == group:
            app.command(f"{__name__}:{name}", name=last, help=told)


def __getattr__(name: str) -> object:
    """A command, or a group with its commands, by its name: cyclopts looks up those it needs."""
    if name not in COMMANDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    work, told = COMMANDS[name]
    if not any(one.startswith(f"{name} ") for one in COMMANDS):
        return command(name)
    group = App(name=name, help=told)
    if work:
        group.default(command(name))
    add_commands(group, name)
    return group


def command(name: str) -> Callable[..., int]:
    """A function with the parameters of the command line; it calls the one that does the work."""
    from tokenworld.verbs.output import Output, ended

    function = function_of(name)
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, type[Any]] = {
        one: kind for one, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)
    }
    shape = Signature([*_parameters(function), _json(name in _PRINT_JSON)])

    def run(*arguments: object, **options: object) -> int:
        bound = shape.bind(*arguments, **options)
        bound.apply_defaults()
        given: dict[str, Any] = bound.kwargs
        out, seconds = Output(given.pop("json")), given.get("time_limit")
        megabytes = given.get("memory_limit")
        given |= {  # a group may have the name of a field of another one
            one: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for one, kind in groups.items()
        }
        return ended(
            out,
            lambda out: function_of(name)(*bound.args, out=out, **given),
            seconds if name in _LIMITED else None,
            megabytes,
            _began,
        )

    run.__annotations__ = {one.name: one.annotation for one in shape.parameters.values()}
    run.__dict__["__signature__"] = shape
    return run


def function_of(name: str) -> Callable[..., int]:
    """Import and return the function that does a command."""
    module, _, last = COMMANDS[name][0].rpartition(".")
    found: Callable[..., int] = getattr(import_module(f"tokenworld.{module}"), last)
    return found


def _parameters(function: Callable[..., int]) -> Iterator[Parameter]:
    """The parameters of a function as the command line has them; one without help is none."""
    hints = get_type_hints(function, include_extras=True)
    before = True
    for name, one in signature(function).parameters.items():
        kind = hints[name]
        if name == "out":
            before = False
        elif before:
            yield _by_place(name, kind)
        elif is_dataclass(kind):
            inner = get_type_hints(kind, include_extras=True)
            for field in fields(kind):
                missing = field.default is MISSING
                default = Parameter.empty if missing else field.default
                yield _by_name(field.name, inner[field.name], default)
        elif get_origin(kind) is not None and hasattr(kind, "__metadata__"):
            yield _by_name(name, kind, one.default)


def _json(default: bool) -> Parameter:
    from tokenworld.verbs.options import Json

    return _by_name("json", Json, default)


def _by_place(name: str, kind: Any) -> Parameter:
    """A parameter that is given by place. It may be left out if it may be `None` or several."""
    base, option, told = _taken_apart(kind)
    default: object = Parameter.empty
    if type(None) in get_args(base):
        default = None
    elif get_origin(base) is tuple and not option.needed:
        default = ()
    kind = Annotated[base, Told(help=told)]
    return Parameter(
        option.name or name, Parameter.POSITIONAL_ONLY, default=default, annotation=kind
    )


def _by_name(name: str, kind: Any, default: object) -> Parameter:
    base, option, told = _taken_apart(kind)
    more = Told(
        name=option.name or None, help=told, negative="", consume_multiple=option.many or None
    )
    kind = Annotated[base, more]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _taken_apart(kind: Any) -> tuple[Any, Any, str]:
    """The type of a parameter, how it is given, and its help: the last one of each counts."""
    from tokenworld.verbs.options import Option

    base, *notes = get_args(kind)
    options = [one for one in notes if isinstance(one, Option)]
    return base, options[-1] if options else Option(), [x for x in notes if isinstance(x, str)][-1]
