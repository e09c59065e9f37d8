"""Honest verdicts: the start states that setups can make and that look alike to a player."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.engine.luck import ExploringLuck, NoUniform
from tokenworld.ground import LuckyDraw
from tokenworld.planning.honest.plans import Question, honest_plan, judged
from tokenworld.planning.verdict import Verdict

MOST_SETUPS = 5_000
"""Ways in which the setup can come out that are looked at."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PossibleStart:
    """A start state, and the draws of setups and layouts that make it."""

    state: State
    draws: tuple[LuckyDraw, ...] = ()


def possible_starts(engine: Engine, seed: int) -> tuple[PossibleStart, ...]:
    """Return the start state of ``seed``, and every other one that differs only in secrets.

    Setups that cannot be carried out, or break an invariant, make no state. Raises `Failure`
    (TW0813) if there are too many, and (TW0801) where a setup draws a real number.
    """
    actual = engine.start(seed)
    looks, found = _looks(actual), {engine.hash(actual): PossibleStart(actual)}
    prefix: tuple[int, ...] = ()
    for _ in range(MOST_SETUPS):
        luck = ExploringLuck(prefix)
        try:
            state = engine.start(seed, luck)
        except NoUniform:
            raise _endless(engine) from None
        except Failure:
            pass
        else:
            name = engine.hash(state)
            if _looks(state) == looks and not (name in found and found[name].draws):
                found[name] = PossibleStart(state, tuple(luck.taken))
        following = luck.next_prefix()
        if following is None:
            return tuple(found.values())
        prefix = following
    raise _too_many(engine)


def _looks(state: State) -> tuple[object, ...]:
    """All of a state that a player can see: everything but secret values."""
    public = [column.index for column in state.layout.columns if not column.fluent.secret]
    return (
        state.kinds,
        state.names,
        state.tick,
        state.latched,
        state.awarded,
        [state.cols[index] for index in public],
        [state.kids[index] for index in public],
    )


def _differing(states: list[State]) -> tuple[str, ...]:
    """The secret fluents that are not the same in all states."""
    columns, first = states[0].layout.columns, states[0].cols
    return tuple(
        one.fluent.id
        for one in columns
        if one.fluent.secret and any(s.cols[one.index] != first[one.index] for s in states)
    )


def _too_many(engine: Engine) -> Failure:
    message = f"The setup can come out in more than {MOST_SETUPS:,} ways."
    hint = "Let the setup draw less: an honest plan must win for every outcome."
    return Failure(Diagnostic("TW0813", message, engine.instance.world.span, hint=hint))


def _endless(engine: Engine) -> Failure:
    message = "The setup draws a number with `uniform`: its outcomes cannot be listed."
    hint = "Draw with `chance` or `pick`, or plan without `--honest`."
    return Failure(Diagnostic("TW0801", message, engine.instance.world.span, hint=hint))


def question_from(engine: Engine, seed: int, goal: str | None) -> Question[State]:
    """The question whether an honest plan reaches ``goal`` from the start; `Failure` as above."""
    starts = [one.state for one in possible_starts(engine, seed)]
    simulator = EngineSimulator(engine, starts[0])
    return Question(simulator, tuple(starts), _differing(starts), goal)


def solve_honest(
    engine: Engine,
    seed: int,
    goal: str | None,
    *,
    time_limit: float,
    own_only: bool = False,
    ask: Callable[[], Verdict] | None = None,
    say: Say | None = None,
) -> Verdict:
    """Return the verdict on whether one plan wins for all values of secrets (language.md §16).

    ``ask`` asks a single engine about the start state in place of the ladder; ``own_only`` leaves
    all planners out. Where the outcomes of the setup cannot be listed the answer is *unknown*.
    """
    (say or (lambda line: None))("listing what the setup can hide")
    try:
        question = question_from(engine, seed, goal)
    except Failure as failure:
        if not {one.code for one in failure.diagnostics} <= {"TW0801", "TW0813"}:
            raise
        return Verdict("unknown", goal, None, "", "", notes=failure.diagnostics)
    if ask is not None:
        found = judged(question, ask())
    else:
        found = honest_plan(question, seconds=time_limit, own_only=own_only, say=say)
    return found.with_seed(seed, True) if found.answer == "winnable" else found
