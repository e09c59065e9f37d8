"""``tw simbench score``: the scores of predictors as text, Markdown, and one page with charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from tokenworld.diagnostics import counted, fields_json, visible
from tokenworld.planning.space.policy import wilson
from tokenworld.store.usage import Prices
from tokenworld.verbs.output import EXIT_OK, Output, write_file
from tokenworld.verbs.pages import (
    PAGE_END,
    Bar,
    Section,
    bar_chart,
    page_head,
    sections_markdown,
    sections_text,
    stacked_chart,
    table_html,
    text_html,
)
from tokenworld.verbs.simbench.asking import of_set, read_transcript
from tokenworld.verbs.simbench.scoring import KINDS, WAYS, Card, Share, baseline_cards, card_of
from tokenworld.verbs.simbench.sets import PARTS, Part, QuestionSet, read_set

NAMES: Final[dict[Part, str]] = {
    "act": "action", "env": "environment", "score": "progress", "step": "whole step",
    "chain": "whole step, consecutive", "own": "from own predictions",
}  # fmt: skip
PAPER: Final[dict[Part, float]] = {"act": 0.771, "env": 0.497, "step": 0.599}
"""Of GPT-4, the best of all prompts for each part, on rows that change something, as a mean over 31
games, by the lenient scorer: section 4 of Wang et al. 2024, as docs/textgames.md cites it. For
single games, and for GPT-3.5, the paper has no figures in its text."""
PAPER_GAMES: Final = frozenset(
    """
    balance-scale-heaviest balance-scale-weigh bath-tub-water-temperature bird-life-cycle blood-type
    boil-water clean-energy conductivity cooking dishwasher forge-key hang-painting inclined-plane
    lit-lightbulb make-campfire make-ice-cubes metal-detector mix-paint multimeter plant-tree
    refrigerate-food scale-weigh space-walk sunburn sweep-floor take-photo thermometer use-bandage
    volume volume-container volume-stone
    """.split()  # noqa: SIM905
)
_FAULTS = 5


def score_set(
    folder: Path, answers: tuple[Path, ...], out: Output, *, output: Path | None,
    prices: Prices | None,
) -> int:  # fmt: skip
    """Score transcripts of a set, and those who use no model."""
    found = read_set(folder)
    scored = [
        card_of(found, of_set(read_transcript(one), found, one), one.stem, prices)
        for one in answers
    ]
    cards = (*scored, *baseline_cards(found))
    sections = tuple(_sections(found, scored, cards))
    title = f"Who predicts `{found.manifest['game']}`?"
    files = show(title, sections, out, output)
    for card in scored:
        notes(card, out)
    out.json({
        "schema_version": 1, "ok": True, "set": found.digest, "game": found.manifest["game"],
        "predictors": [card_json(one) for one in cards], "files": files,
        "paper": PAPER if found.manifest["game"] in PAPER_GAMES else None,
    })  # fmt: skip
    return EXIT_OK


def show(
    title: str, sections: Sequence[Section], out: Output, output: Path | None
) -> tuple[str, ...]:
    """Print tables, or write them into a folder; the files that were written."""
    if output is None:
        out.line(visible(sections_text(sections)))
        return ()
    hint = "Name a folder that can be written to, with `-o DIR`."
    texts = {"score.md": sections_markdown(title, sections), "score.html": _html(title, sections)}
    for name, text in texts.items():
        write_file(output / name, visible(text), hint, folder=output)
    files = tuple(str(output / name) for name in texts)
    out.line(f"wrote {' and '.join(files)}")
    return files


def notes(card: Card, out: Output, where: str = "") -> None:
    """Note what of the answers of a predictor was not scored; ``where`` names the set."""
    who = f"{where}: {card.who}" if where else card.who
    if card.unanswered:
        out.note(f"{who}: {counted(card.unanswered, 'question')} not answered, not counted")
    for fault in card.faults[:_FAULTS]:
        out.note(f"{who}: {fault}")
    if len(card.faults) > _FAULTS:
        out.note(f"{who}: and {len(card.faults) - _FAULTS} more that cannot be read")
    if card.partial:
        out.note(f"{who}: {counted(len(card.partial), 'answer')} leave out objects that are "
                 f"still there (the first: question {card.partial[0]})")  # fmt: skip


def card_json(card: Card) -> dict[str, Any]:
    return {
        "who": card.who,
        "parts": {
            part: {kind: card.share(part, kind).to_json() for kind in KINDS} for part in PARTS
        },
        "verbs": {f"{verb} {kind}": one.to_json() for (verb, kind), one in card.verbs.items()},
        "properties": card.ways,
        "steps": {step: one.to_json() for step, one in sorted(card.steps.items())},
        "one_step": card.one_step,
        "calibration": card.calibration(), "brier": card.brier(),
        "usage": None if card.used is None else fields_json(card.used),
        "unanswered": card.unanswered, "faults": card.faults, "partial": card.partial,
    }  # fmt: skip


# ---- sections -----------------------------------------------------------------------------------


def _sections(
    found: QuestionSet, scored: Sequence[Card], cards: Sequence[Card]
) -> Iterator[Section]:
    yield _by_part(found, cards)
    yield from cost_of(scored)
    for card in scored:
        yield _by_verb(card)
        yield _by_property(card)
        yield from _by_steps(card)
        if card.sure:
            yield _by_probability(card)


def cost_of(cards: Sequence[Card]) -> Iterator[Section]:
    """The tokens and the cost of each predictor, where there is one."""
    rows = tuple(
        (one.who, f"{one.used.answers:,}", one.used.text) for one in cards if one.used is not None
    )
    if rows:
        intro = "Each try counts. Tokens are those that the answers tell."
        yield Section("Tokens", intro, ("who", "answers", "tokens and cost"), rows)


def _by_part(found: QuestionSet, cards: Sequence[Card]) -> Section:
    rows: list[tuple[str, ...]] = []
    bars: list[Bar] = []
    for part in PARTS[:-1]:
        for card in cards:
            shares = card.share(part, "dynamic"), card.share(part, "static")
            if shares[0].rows or shares[1].rows:
                rows.append((NAMES[part], card.who, *_cells(shares[0]), *_cells(shares[1])))
                bars += _bar(f"{NAMES[part]}: {card.who}", shares[0])
        if part in PAPER and found.manifest["game"] in PAPER_GAMES:
            rows.append((NAMES[part], "GPT-4, mean of 31 games", "–", percent(PAPER[part]), "–",
                         *("–",) * 3))  # fmt: skip
    intro = (
        "Right answers where something changes, and where nothing does: by the paper's scorer, "
        "which accepts corrupted states, and strictly, with the interval of 95 % of the latter. "
        "Who has no model copies the state, does as in the most similar known row, or plays by "
        "the rules of the world with one of them left out."
    )
    if found.manifest["game"] in PAPER_GAMES:
        intro += (" The figures of GPT-4 are those of the paper, on its own rows: they are not "
                  "directly comparable.")  # fmt: skip
    heads = ("part", "who", "changing", "lenient", "strict", "static", "lenient", "strict")
    return Section(
        "Right answers",
        intro,
        heads,
        tuple(rows),
        bar_chart("right strictly, of rows that change something", bars),
    )


def _bar(name: str, share: Share) -> list[Bar]:
    exact = share.share(strictly=True)
    return [] if exact is None else [Bar(name, exact, *wilson(share.strict, share.rows))]


def _cells(share: Share) -> tuple[str, str, str]:
    loose, exact = share.share(strictly=False), share.share(strictly=True)
    if loose is None or exact is None:
        return "0", "–", "–"
    low, high = wilson(share.strict, share.rows)
    return f"{share.rows}", percent(loose), f"{percent(exact)} ({low:.0%} to {high:.0%})"


def percent(share: float) -> str:
    """Return a share as text; a share below 1 is never shown as 100 %."""
    shown = f"{share:.1%}"
    return "<100%" if shown == "100.0%" and share < 1 else shown


def _by_verb(card: Card) -> Section:
    verbs = sorted({verb for verb, _ in card.verbs})
    rows = tuple(
        (verb, *_cells(card.verbs.get((verb, "dynamic"), Share())),
         *_cells(card.verbs.get((verb, "static"), Share())))
        for verb in verbs
    )  # fmt: skip
    heads = ("verb", "changing", "lenient", "strict", "static", "lenient", "strict")
    return Section(
        f"{card.who}: by verb", "All questions but those about consecutive rows.", heads, rows
    )


def _by_property(card: Card) -> Section:
    counts = {
        what: tuple(held.get(way, 0) for way in WAYS)
        for what, held in sorted(card.ways.items(), key=lambda one: (-_wrong(one[1]), one[0]))
    }
    rows = tuple((what, *map(str, held)) for what, held in counts.items())
    intro = (
        "Properties of objects in all answers: right, or another value than the one it changes to; "
        "changed where it should not be; unchanged where it should change; not told at all; of "
        "another kind, or an answer that cannot be read."
    )
    wrong = {what: held[1:] for what, held in counts.items() if sum(held[1:])}
    chart = stacked_chart("wrong properties, by kind of error", WAYS[1:], wrong)
    return Section(f"{card.who}: by property", intro, ("property", *WAYS), rows, chart)


def _wrong(held: Any) -> int:
    return sum(number for way, number in held.items() if way != "right")


def _by_steps(card: Card) -> Iterator[Section]:
    if not card.steps:
        return
    base = card.one_step
    rows, bars = [], []
    for step, share in sorted(card.steps.items()):
        power = None if base is None else base**step
        rows.append((f"{step}", *_cells(share), "–" if power is None else percent(power)))
        bars += _bar(f"{step}: measured", share)
        bars += [] if power is None else [Bar(f"{step}: p^k", power, power, power)]
    intro = (
        "Whole steps from the predictor's own states: whether the state after k of them is right, "
        "beside p^k, where p is the share of right answers to the same rows from their true states."
    )
    heads = ("k", "asked", "lenient", "strict", "p^k")
    yield Section(f"{card.who}: over k steps", intro, heads, tuple(rows),
                  bar_chart("right strictly after k steps", bars))  # fmt: skip


def _by_probability(card: Card) -> Section:
    bins = card.calibration()
    rows = tuple((percent(stated), percent(right), f"{number}") for stated, right, number in bins)
    bars = [
        bar for stated, right, _ in bins
        for bar in (Bar(f"stated {stated:.0%}", stated, stated, stated),
                    Bar("right", right, right, right))
    ]  # fmt: skip
    intro = f"Brier score {card.brier():.3f}: 0 is best, and 0.25 is to say 50 % always."
    heads = ("stated probability", "right, strictly", "answers")
    title = f"{card.who}: stated probabilities"
    return Section(
        title, intro, heads, rows, bar_chart("stated probability and share of right answers", bars)
    )


# ---- text ---------------------------------------------------------------------------------------


def _html(title: str, sections: Sequence[Section]) -> str:
    return "\n".join(_parts(title, sections)) + "\n"


def _parts(title: str, sections: Sequence[Section]) -> Iterator[str]:
    yield from page_head(title.replace("`", ""))
    for section in sections:
        yield f"<h2>{escape(section.title)}</h2><p>{text_html(section.intro)}</p>"
        yield f'<div class="wide">{section.chart}</div>' if section.chart else ""
        yield from table_html(section.heads, section.rows)
    yield PAGE_END
