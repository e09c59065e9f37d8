"""``tw simbench score`` of a folder of sets: each predictor's mean over their games."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Annotated, Any, Final

from tokenworld.diagnostics import usage
from tokenworld.planning.space.policy import wilson
from tokenworld.store.usage import Prices, read_prices
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_OK, Output
from tokenworld.verbs.pages import Bar, Section, bar_chart
from tokenworld.verbs.simbench.asking import of_set, read_transcript
from tokenworld.verbs.simbench.baselines import WITHOUT
from tokenworld.verbs.simbench.page import (
    NAMES,
    PAPER,
    PAPER_GAMES,
    card_json,
    notes,
    percent,
    score_set,
    show,
)
from tokenworld.verbs.simbench.scoring import Card, Kind, Share, baseline_cards, card_of
from tokenworld.verbs.simbench.sets import MANIFEST, PARTS, Part, QuestionSet, read_set

REDUCED: Final = "rules without one of them"
"""All baselines of a world that leave out a rule, as one."""
_SINGLE: Final = PARTS[:-1]


@dataclass(frozen=True, slots=True)
class Scored:
    """A set with the cards of its predictors, those of transcripts first."""

    found: QuestionSet
    scored: tuple[Card, ...]
    baselines: tuple[Card, ...]

    @property
    def game(self) -> str:
        return str(self.found.manifest["game"])


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of the games' shares: each game counts the same, as in the paper's table.

    The interval of 95 % adds the squares of the distances between each share and the ends of its
    own interval (Newcombe 1998, method 10, for a mean in place of a difference).
    """

    games: int
    lenient: float
    strict: float
    low: float
    high: float

    def to_json(self) -> dict[str, Any]:
        within = [round(one, 4) for one in (self.low, self.high)]
        return {"games": self.games, "lenient": self.lenient, "strict": self.strict,
                "interval": within}  # fmt: skip


def score(
    folder: Annotated[Path, "The folder of a set of questions, or of several sets."],
    answers: Annotated[tuple[Path, ...], "Transcripts of runs."],
    out: Output,
    *,
    output: Annotated[Path | None, opt.OUTPUT, "A folder for score.md and score.html."] = None,
    prices: opt.Prices = None,
) -> int:
    """Score transcripts of a set; of a folder of sets, those with these names in each of them."""
    priced = read_prices(prices)
    if not answers:
        raise usage("No answers are named.", "Name a transcript of `tw simbench run`.")
    folders = () if (folder / MANIFEST).exists() else _sets_in(folder)
    if not folders:
        return score_set(folder, answers, out, output=output, prices=priced)
    scored = _scored(folders, answers, out, priced)
    sections = (*_means(scored), _by_game(scored))
    games = sorted({one.game for one in scored})
    files = show(f"Who predicts {len(games)} games?", sections, out, output)
    out.json({
        "schema_version": 1, "ok": True, "games": games, "files": files,
        "means": _means_json(scored),
        "sets": [
            {"folder": one.found.folder.name, "set": one.found.digest, "game": one.game,
             "predictors": [card_json(card) for card in (*one.scored, *one.baselines)]}
            for one in scored
        ],
        "paper": PAPER if PAPER_GAMES.issuperset(games) else None,
    })  # fmt: skip
    return EXIT_OK


def _sets_in(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(one.parent for one in folder.glob(f"*/{MANIFEST}")))


def _scored(
    folders: Sequence[Path], answers: Sequence[Path], out: Output, prices: Prices | None
) -> tuple[Scored, ...]:
    """The cards of every set. A set that has no transcript of a name is left out for it."""
    found = []
    for folder in folders:
        one, cards = read_set(folder), []
        for name in answers:
            path = folder / name
            if path.exists():
                answered = of_set(read_transcript(path), one, path)
                cards.append(card_of(one, answered, name.stem, prices))
                notes(cards[-1], out, folder.name)
            else:
                out.note(f"{folder.name}: there is no `{name}`")
        found.append(Scored(one, tuple(cards), tuple(baseline_cards(one))))
    for name in answers:
        if not any(card.who == name.stem for one in found for card in one.scored):
            message = f"No set has a transcript `{name}`."
            raise usage(
                message, "Name it as it is called in each set: `answers-full-english.jsonl`."
            )
    return tuple(found)


# ---- means ----------------------------------------------------------------------------------


def _cards(scored: Iterable[Scored]) -> dict[str, dict[str, list[Card]]]:
    """The cards of each predictor by game. Baselines without a rule count as one predictor."""
    found: dict[str, dict[str, list[Card]]] = {}
    for place in ("scored", "baselines"):
        for one in scored:
            for card in getattr(one, place):
                who = REDUCED if card.who.startswith(WITHOUT) else card.who
                found.setdefault(who, {}).setdefault(one.game, []).append(card)
    return found


def mean_of(games: Iterable[Sequence[Share]]) -> Mean | None:
    """Return the mean over games, each of which has one share or several that are added up;
    ``None`` if no game was asked."""
    totals = [(sum(one.rows for one in shares), sum(one.published for one in shares),
               sum(one.strict for one in shares)) for shares in games]  # fmt: skip
    asked = [one for one in totals if one[0]]
    if not asked:
        return None
    number = len(asked)
    strict = sum(right / rows for rows, _, right in asked) / number
    ends = [(right / rows, *wilson(right, rows)) for rows, _, right in asked]
    below = sqrt(sum((share - low) ** 2 for share, low, _ in ends)) / number
    above = sqrt(sum((high - share) ** 2 for share, _, high in ends)) / number
    lenient = sum(loose / rows for rows, loose, _ in asked) / number
    return Mean(number, lenient, strict, strict - below, strict + above)


def _mean(games: dict[str, list[Card]], share: Callable[[Card], Share]) -> Mean | None:
    return mean_of([share(card) for card in cards] for cards in games.values())


def _part(games: dict[str, list[Card]], part: Part, kind: Kind) -> Mean | None:
    return _mean(games, lambda card: card.share(part, kind))


def _means(scored: Sequence[Scored]) -> Iterator[Section]:
    every, games = _cards(scored), {one.game for one in scored}
    rows: list[tuple[str, ...]] = []
    bars: list[Bar] = []
    for part in _SINGLE:
        for who, by_game in every.items():
            both = _part(by_game, part, "dynamic"), _part(by_game, part, "static")
            if any(both):
                rows.append((NAMES[part], who, *_cells(both[0]), *_cells(both[1])))
                bars += _bar(f"{NAMES[part]}: {who}", both[0])
        if part in PAPER and games <= PAPER_GAMES:
            rows.append((NAMES[part], "GPT-4, mean of 31 games", "31", percent(PAPER[part]), "–",
                         *("–",) * 3))  # fmt: skip
    intro = (
        "Right answers where something changes, and where nothing does, as a mean over the games: "
        "each game counts the same. By the paper's scorer, and strictly, with the interval of 95 % "
        "of the latter; “games” is how many have such rows."
    )
    heads = ("part", "who", "games, changing", "lenient", "strict", "games, static", "lenient",
             "strict")  # fmt: skip
    chart = bar_chart("right strictly, of rows that change something, mean over games", bars)
    yield Section("Mean over the games", intro, heads, tuple(rows), chart)
    yield from _by_steps(every)


def _by_steps(every: dict[str, dict[str, list[Card]]]) -> Iterator[Section]:
    rows = []
    for who, by_game in every.items():
        cards = [card for held in by_game.values() for card in held]
        for step in sorted({step for card in cards for step in card.steps}):
            found = _mean(by_game, lambda card, k=step: card.steps.get(k, Share()))  # type: ignore[misc]
            powers = [card.one_step**step for card in cards if card.one_step is not None]
            power = percent(sum(powers) / len(powers)) if powers else "–"
            rows.append((who, f"{step}", *_cells(found), power))
    if rows:
        intro = "Whole steps from the predictor's own states, beside p^k, as means over the games."
        heads = ("who", "k", "games", "lenient", "strict", "p^k")
        yield Section("Mean over the games: k steps", intro, heads, tuple(rows))


def _by_game(scored: Sequence[Scored]) -> Section:
    rows = [
        (
            one.found.folder.name,
            card.who,
            *(_short(card.share(part, "dynamic")) for part in _SINGLE),
        )
        for one in scored
        for card in (*one.scored, *one.baselines)
    ]
    intro = "Right answers strictly, of rows that change something, with the number of rows."
    return Section("By set", intro, ("set", "who", *(NAMES[one] for one in _SINGLE)), tuple(rows))


def _short(share: Share) -> str:
    exact = share.share(strictly=True)
    return "–" if exact is None else f"{percent(exact)} of {share.rows}"


def _cells(mean: Mean | None) -> tuple[str, str, str]:
    if mean is None:
        return "0", "–", "–"
    exact = f"{percent(mean.strict)} ({mean.low:.0%} to {mean.high:.0%})"
    return f"{mean.games}", percent(mean.lenient), exact


def _bar(name: str, mean: Mean | None) -> list[Bar]:
    return [] if mean is None else [Bar(name, mean.strict, mean.low, mean.high)]


def _means_json(scored: Sequence[Scored]) -> list[dict[str, Any]]:
    kinds: tuple[Kind, ...] = ("dynamic", "static")
    return [
        {
            "who": who,
            "parts": {
                part: {
                    kind: None if found is None else found.to_json()
                    for kind in kinds
                    for found in (_part(by_game, part, kind),)
                }
                for part in _SINGLE
            },
        }
        for who, by_game in _cards(scored).items()
    ]
