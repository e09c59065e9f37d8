"""``tw bench cwmb``: accuracy and return of worlds on the benchmark's discrete environments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, assert_never

from tokenworld.diagnostics import Failure, usage
from tokenworld.gym.cwmb.envs import ENVS, Env
from tokenworld.gym.cwmb.model import Accuracy, Likelihood, Model, RowModel, accuracy, likelihood
from tokenworld.gym.cwmb.optimum import Best, best_return
from tokenworld.gym.cwmb.real import TrueModel, buffer_of, read_buffer, transitions
from tokenworld.gym.cwmb.search import PUBLISHED as PUBLISHED_EFFORT
from tokenworld.gym.cwmb.search import (
    Effort,
    Policy,
    cross_entropy,
    episode,
    planned,
    random_policy,
)
from tokenworld.verbs.bench.report import CWMB_DISCRETE as PUBLISHED
from tokenworld.verbs.bench.report import PAPER, Author, mean, publish
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output
from tokenworld.verbs.pages import Section

_FORMS: Final = ("{}.tw", "{}/world.tw")
_CLOSE: Final = 1e-9
Planner = Literal["mcts", "cem"]


@dataclass(frozen=True, slots=True)
class Returns:
    """Sums of rewards of episodes: planned on the world, on the true dynamics, at random."""

    planner: Planner
    ours: tuple[float, ...]
    true: tuple[float, ...]
    random: tuple[float, ...]
    best: Best


@dataclass(frozen=True, slots=True)
class Scored:
    """One environment; ``fault`` says why a predicted world could not be tried."""

    env: Env
    rows: int = 0
    recorded: bool = False
    found: Accuracy | None = None
    ceiling: Accuracy | None = None
    likely: Likelihood | None = None
    returns: tuple[Returns, ...] = ()
    fault: str = ""

    def to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "environment": self.env.name, "rows": self.rows, "recorded": self.recorded,
            "accuracy": None if self.found is None else self.found.to_json(),
            "ceiling": None if self.ceiling is None else self.ceiling.to_json(),
            "likelihood": None if self.likely is None else self.likely.to_json(),
            "fault": self.fault,
            "returns": [
                {
                    "planner": one.planner, "ours": list(one.ours), "true": list(one.true),
                    "random": list(one.random), "best": one.best.value, "claim": one.best.claim,
                }
                for one in self.returns
            ],
        }  # fmt: skip
        return told


def cwmb(
    path: Path | None,
    out: Output,
    *,
    author: Author,
    only: tuple[str, ...],
    rows: int,
    episodes: int,
    planners: tuple[Planner, ...],
    samples: int,
    output: Path | None,
) -> int:
    """Score the six worlds, or predicted ones; return 1 if a bundled one is below its ceiling.

    ``path`` is the folder of recorded buffers; without it, transitions come from gymnasium.
    """
    known = {env.name.lower(): env for env in ENVS}
    unknown = [one for one in only if one.lower() not in known]
    if unknown:
        hint = f"There are {', '.join(env.name for env in ENVS)}."
        raise usage(f"There is no environment `{unknown[0]}`.", hint)
    if rows < 1 or episodes < 0 or samples < 1:
        raise usage(
            "There must be rows and samples, and not fewer than no episodes.",
            "Give `--rows N` and `--samples N`, N > 0.",
        )
    say = out.each_second()
    scored: list[Scored] = []
    asked = _Planning(planners, episodes, PUBLISHED_EFFORT.of(samples), say)
    for env in [known[one.lower()] for one in only] or ENVS:
        say(f"{env.name}: accuracy")
        scored.append(_scored(env, path, author.predictions, rows, asked))
    sections = [_summary(scored, author), _accuracies(scored)]
    sections += [_returned(scored)] if episodes else []
    told = {
        "ok": True, "benchmark": "cwmb", "set": "discrete (6)",
        "author": author.to_json(),
        "environments": [one.to_json() for one in scored], "published": {PAPER: PUBLISHED},
    }  # fmt: skip
    publish("Code World Models benchmark, discrete (6)", sections, told, out, output)
    whole = not author.is_engine or all(map(_at_ceiling, scored))
    return EXIT_OK if whole else EXIT_NEGATIVE


def _at_ceiling(one: Scored) -> bool:
    """Return whether a world predicts as the true dynamics do, or with chance allows every step."""
    if one.likely is not None:
        return one.likely.possible == one.likely.rows
    assert one.found is not None
    assert one.ceiling is not None
    return one.found.formula >= one.ceiling.formula - _CLOSE


# ---- one environment ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Planning:
    """The episodes that are planned, and how."""

    planners: tuple[Planner, ...]
    episodes: int
    effort: Effort
    say: Callable[[str], None]


def _scored(
    env: Env, path: Path | None, predictions: Path | None, count: int, planning: _Planning
) -> Scored:
    try:
        model = RowModel(env, None if predictions is None else _predicted(env, predictions))
    except Failure as failure:
        return Scored(env, fault=failure.diagnostics[0].message)
    except KeyError as missing:
        return Scored(env, fault=f"the world has no {missing}")
    file = None if path is None else buffer_of(env, path)
    if path is not None and file is None:
        hint = "Name the folder `data/replay_buffers` of the code-world-models repository."
        raise usage(f"There is no buffer of `{env.ids[-1]}` in `{path}`.", hint)
    recorded = transitions(env, count, 0) if file is None else read_buffer(file)
    true = TrueModel(env)
    found, ceiling = accuracy(env, model, recorded), accuracy(env, true, recorded)
    likely = likelihood(model, recorded) if env.name == "Blackjack" else None
    returns = tuple(_played(env, model, true, planning)) if planning.episodes else ()
    return Scored(env, len(recorded), file is not None, found, ceiling, likely, returns)


def _predicted(env: Env, folder: Path) -> Path:
    name = env.world.rpartition("/")[2]
    for form in _FORMS:
        if (folder / form.format(name)).is_file():
            return folder / form.format(name)
    raise usage("no prediction", f"Write `{name}.tw` into `{folder}`.")


def _played(env: Env, model: RowModel, true: TrueModel, planning: _Planning) -> Iterator[Returns]:
    """Yield the returns of each planner on the episodes of seeds from 0 on."""
    planning.say(f"{env.name}: the best return")
    seeds = range(planning.episodes * env.short)
    best = best_return(env, model, seeds)

    def sums(name: str, policy: Policy) -> Iterator[float]:
        for seed in seeds:
            planning.say(f"{env.name}: {name}, episode {seed + 1} of {len(seeds)}")
            yield episode(env, policy, seed)

    by_chance = tuple(sums("random", random_policy(len(env.actions))))
    for planner in planning.planners:
        here, there = (_policy(planner, one, env, planning.effort) for one in (model, true))
        yield Returns(planner, tuple(sums(planner, here)), tuple(sums(planner, there)), by_chance,
                      best)  # fmt: skip


def _policy(planner: Planner, model: Model, env: Env, effort: Effort) -> Policy:
    match planner:
        case "mcts":
            return planned(model, len(env.actions))
        case "cem":
            return cross_entropy(model, env, effort)
        case _:
            assert_never(planner)


# ---- tables -------------------------------------------------------------------------------------


def _summary(scored: Sequence[Scored], author: Author) -> Section:
    ours = [0.0 if one.found is None else one.found.formula for one in scored]
    best = [one.ceiling.formula for one in scored if one.ceiling is not None]
    intro = (
        "The mean over the environments. Accuracy: by the paper's formula. Return: normalised, 0 "
        "is that of random actions and 1 that of the same planner on the true dynamics. The 11 "
        "environments of the benchmark that compute with MuJoCo, and Pendulum, whose actions are "
        "continuous, are no rules and are not in this table; the benchmark plans those with the "
        "cross-entropy method (CEM), and these with Monte Carlo tree search (MCTS)."
    )
    planners = tuple(dict.fromkeys(run.planner for one in scored for run in one.returns))
    rows = [
        ("true dynamics: the ceiling", mean(best).shown(4) if best else "–",
         *("1.00" for _ in planners), "–"),
        (author.shown("rules"), mean(ours).shown(4),
         *(_normalised(scored, one) for one in planners), author.paid),
        (PAPER, f"{PUBLISHED['accuracy']:.4f}",
         *(f"{PUBLISHED['return']:.4f}" if one == "mcts" else "–" for one in planners), "–"),
    ]  # fmt: skip
    title = f"Code World Models benchmark, discrete ({len(scored)})"
    heads = ("who", "accuracy", *(f"return, {one.upper()}" for one in planners), "cost")
    return Section(title, intro, heads, tuple(rows))


def _normalised(scored: Sequence[Scored], planner: Planner) -> str:
    runs = [run for one in scored for run in one.returns if run.planner == planner]
    values = [value for run in runs for value in _normal(run)]
    return mean(values).shown(2) if values else "–"


def _normal(one: Returns) -> Iterator[float]:
    ours, true, low = (mean(each).value for each in (one.ours, one.true, one.random))
    if abs(true - low) > _CLOSE:
        yield (ours - low) / (true - low)


def _accuracies(scored: Sequence[Scored]) -> Section:
    heads = ("environment", "rows", "accuracy", "ceiling", "whole rows", "likelihood", "note")
    intro = (
        "Transitions of a random policy. The ceiling is gymnasium's own environment, set from the "
        "observation: it does not know when time is up, nor which card is drawn. Likelihood: the "
        "steps that are possible, and the mean of the logarithm of their exact probability beside "
        "its expectation."
    )
    return Section("Accuracy", intro, heads, tuple(map(_accuracy_row, scored)))


def _accuracy_row(one: Scored) -> tuple[str, ...]:
    if one.found is None or one.ceiling is None:
        return (one.env.name, *("–",) * 5, one.fault)
    likely = "–"
    if one.likely is not None:
        likely = (
            f"{one.likely.possible} of {one.likely.rows} possible, "
            f"{one.likely.mean:.3f} beside {one.likely.expected:.3f}"
        )
    source = "recorded" if one.recorded else "gymnasium, seed 0"
    whole = f"{one.found.whole} of {one.rows} (ceiling {one.ceiling.whole})"
    return (one.env.name, f"{one.rows}", f"{one.found.formula:.4f}", f"{one.ceiling.formula:.4f}",
            whole, likely, source)  # fmt: skip


def _returned(scored: Sequence[Scored]) -> Section:
    heads = ("environment", "planner", "episodes", "planned on the world", "on the true dynamics",
             "random", "best", "claim")  # fmt: skip
    intro = (
        "The sum of rewards of an episode of the real environment, with seeds from 0 on and "
        "intervals of 95 %. MCTS: 25 simulations a step, as the benchmark's code does. CEM: plans "
        "of 100 actions, 20 rounds of `--samples` plans (1000 in the benchmark), the best of the "
        "last round carried out to its end. Best: the optimum where it is exact (value iteration, "
        "or no episode can be worth more), else the best that a search of the rules found."
    )
    rows = (row for one in scored for row in _return_rows(one))
    return Section("Return", intro, heads, tuple(rows))


def _return_rows(one: Scored) -> Iterator[tuple[str, ...]]:
    if not one.returns:
        yield (one.env.name, *("–",) * 7)
    for run in one.returns:
        shown = [mean(each).shown(2) for each in (run.ours, run.true, run.random)]
        best = f"{run.best.value:.2f}".removesuffix(".00")
        yield (one.env.name, run.planner.upper(), f"{len(run.ours)}", *shown, best, run.best.claim)
