"""``tw bench cwmb``: accuracy and return of worlds on the benchmark's discrete environments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tokenworld.diagnostics import Failure, usage
from tokenworld.gym.cwmb.accuracy import Accuracy, Likelihood, accuracy, likelihood
from tokenworld.gym.cwmb.buffers import buffer_of, read_buffer
from tokenworld.gym.cwmb.envs import ENVS, Env
from tokenworld.gym.cwmb.model import RowModel
from tokenworld.gym.cwmb.optimum import Best, best_return
from tokenworld.gym.cwmb.real import TrueModel, transitions
from tokenworld.gym.cwmb.search import episode, planned, random_policy
from tokenworld.verbs.bench.published import CWMB_DISCRETE as PUBLISHED
from tokenworld.verbs.bench.published import PAPER
from tokenworld.verbs.bench.report import ENGINE, Author, mean, publish
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output
from tokenworld.verbs.pages.sections import Section

_FORMS: Final = ("{}.tw", "{}/world.tw")
_CLOSE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Returns:
    """Sums of rewards of episodes: planned on the world, on the true dynamics, at random."""

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
    returns: Returns | None = None
    fault: str = ""

    def to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "environment": self.env.name, "rows": self.rows, "recorded": self.recorded,
            "accuracy": None if self.found is None else self.found.to_json(),
            "ceiling": None if self.ceiling is None else self.ceiling.to_json(),
            "likelihood": None if self.likely is None else self.likely.to_json(),
            "returns": None, "fault": self.fault,
        }  # fmt: skip
        if self.returns is not None:
            one = self.returns
            told["returns"] = {
                "ours": list(one.ours), "true": list(one.true), "random": list(one.random),
                "best": one.best.value, "claim": one.best.claim,
            }  # fmt: skip
        return told


def cwmb(
    path: Path | None,
    out: Output,
    *,
    predictions: Path | None,
    model: str | None,
    date: str | None,
    cost: str | None,
    only: tuple[str, ...],
    rows: int,
    episodes: int,
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
    if rows < 1 or episodes < 0:
        raise usage(
            "There must be rows, and not fewer than no episodes.", "Give `--rows N`, N > 0."
        )
    author = None if predictions is None else Author(model, date, cost)
    say = out.each_second()
    scored: list[Scored] = []
    for env in [known[one.lower()] for one in only] or ENVS:
        say(f"{env.name}: accuracy")
        scored.append(_scored(env, path, predictions, rows, episodes, say))
    sections = [_summary(scored, author), _accuracies(scored)]
    sections += [_returned(scored)] if episodes else []
    told = {
        "ok": True, "benchmark": "cwmb", "set": "discrete (6)",
        "author": ENGINE if author is None else author.to_json(),
        "environments": [one.to_json() for one in scored], "published": {PAPER: PUBLISHED},
    }  # fmt: skip
    publish("Code World Models benchmark, discrete (6)", sections, told, out, output)
    return EXIT_OK if author is not None or all(map(_at_ceiling, scored)) else EXIT_NEGATIVE


def _at_ceiling(one: Scored) -> bool:
    """Whether a world predicts as the true dynamics do, or with chance allows every step."""
    if one.likely is not None:
        return one.likely.possible == one.likely.rows
    assert one.found is not None
    assert one.ceiling is not None
    return one.found.formula >= one.ceiling.formula - _CLOSE


# ---- one environment ----------------------------------------------------------------------------


def _scored(
    env: Env, path: Path | None, predictions: Path | None, count: int, episodes: int, say: Any
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
    returns = _played(env, model, true, episodes, say) if episodes else None
    return Scored(env, len(recorded), file is not None, found, ceiling, likely, returns)


def _predicted(env: Env, folder: Path) -> Path:
    name = env.world.rpartition("/")[2]
    for form in _FORMS:
        if (folder / form.format(name)).is_file():
            return folder / form.format(name)
    raise usage("no prediction", f"Write `{name}.tw` into `{folder}`.")


def _played(env: Env, model: RowModel, true: TrueModel, episodes: int, say: Any) -> Returns:
    actions = len(model.actions)
    policies = planned(model, actions), planned(true, actions), random_policy(actions)
    sums: list[list[float]] = [[], [], []]
    for seed in range(episodes):
        for each, policy in zip(sums, policies, strict=True):
            say(f"{env.name}: episode {seed + 1} of {episodes}")
            each.append(episode(env, policy, seed))
    say(f"{env.name}: the best return")
    planned_here, planned_there, by_chance = map(tuple, sums)
    best = best_return(env, model, range(episodes))
    return Returns(planned_here, planned_there, by_chance, best)


# ---- tables -------------------------------------------------------------------------------------


def _summary(scored: Sequence[Scored], author: Author | None) -> Section:
    who = f"rules ({ENGINE})" if author is None else author.shown
    paid = "no tokens" if author is None else author.cost or "not told"
    ours = [0.0 if one.found is None else one.found.formula for one in scored]
    best = [one.ceiling.formula for one in scored if one.ceiling is not None]
    intro = (
        "The mean over the environments. Accuracy: by the paper's formula. Return: normalised, 0 "
        "is that of random actions and 1 that of the same planner on the true dynamics. The 11 "
        "environments of the benchmark that compute with MuJoCo, and Pendulum, whose actions are "
        "continuous, are no rules and are not in this table; the benchmark plans those with the "
        "cross-entropy method, and these with Monte Carlo tree search."
    )
    rows = [
        ("true dynamics: the ceiling", mean(best).shown(4) if best else "–", "1.00", "–"),
        (who, mean(ours).shown(4), _normalised(scored), paid),
        (PAPER, f"{PUBLISHED['accuracy']:.4f}", f"{PUBLISHED['return']:.4f}", "–"),
    ]
    title = f"Code World Models benchmark, discrete ({len(scored)})"
    return Section(title, intro, ("who", "accuracy", "return", "cost"), tuple(rows))


def _normalised(scored: Sequence[Scored]) -> str:
    values = [value for one in scored for value in _normal(one.returns)]
    return mean(values).shown(2) if values else "–"


def _normal(one: Returns | None) -> Iterator[float]:
    if one is None:
        return
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
    heads = ("environment", "episodes", "planned on the world", "on the true dynamics", "random",
             "best", "claim")  # fmt: skip
    intro = (
        "The sum of rewards of an episode of the real environment, with seeds from 0 on and "
        "intervals of 95 %. Both are planned with 25 simulations a step, as the benchmark's code "
        "does. Best: the optimum where it is exact (value iteration, or no episode can be worth "
        "more), else the best that a search of the rules found."
    )
    rows: list[tuple[str, ...]] = []
    for one in scored:
        found = one.returns
        if found is None:
            rows.append((one.env.name, *("–",) * 6))
            continue
        shown = [mean(each).shown(2) for each in (found.ours, found.true, found.random)]
        best = (
            f"{found.best.value:.2f}"
            if found.best.value != int(found.best.value)
            else (f"{found.best.value:.0f}")
        )
        rows.append((one.env.name, f"{len(found.ours)}", *shown, best, found.best.claim))
    return Section("Return", intro, heads, tuple(rows))
