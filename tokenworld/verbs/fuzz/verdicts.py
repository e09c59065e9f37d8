"""Verdicts of `tw plan` on small random worlds, compared with a breadth-first search over sessions.

That search shares no code with the planners and takes nothing for granted: it gives every binding
of every action, legal or not, `pass`, unknown words, wrong arguments, and intents of actors whose
turn it is not. Two states are the same if their ``tw-state/1`` is equal.
"""

from __future__ import annotations

import json
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Annotated, Any

from tokenworld.diagnostics import Failure, Source, fields_json
from tokenworld.engine import ForcedLuck
from tokenworld.engine.luck import DrawKey
from tokenworld.ground import PASS, Command, Json, LuckyDraw, domain_of, value_text
from tokenworld.model import ObjectType, ValueType
from tokenworld.planning.verdict import PlanStep, Verdict
from tokenworld.prose.intents import CallIntent, PassIntent
from tokenworld.session import Moment, Session
from tokenworld.session.intents import AnyIntent
from tokenworld.session.loading import OpenWorld, open_text
from tokenworld.session.solving import explain_unwinnable
from tokenworld.verbs import options as opt
from tokenworld.verbs.fuzz.campaign import MOST_SHOWN, playable, run_fuzz, smaller
from tokenworld.verbs.fuzz.small import small_world
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output

MOST_OUTCOMES = 200
"""A step with more outcomes of luck is not followed to all of them."""
MOST_OBJECTS = 16
"""A world with more objects is left: a law may make one for each three of them in one tick."""
SURE = 20
"""Seeds are tried until a plan of share P would have failed with a chance of exp(-SURE)."""
MOST_SEEDS = 2_000
"""A plan that needs more seeds than this is not tried with any."""


class Listing:
    """Takes the alternatives of a prefix, then the first possible ones; knows what comes next."""

    def __init__(self, prefix: Sequence[int]) -> None:
        self._prefix, self._known = tuple(prefix), dict[tuple[DrawKey, tuple[int, ...]], int]()
        self._drawn: list[tuple[int, list[int]]] = []
        self.complete = True

    def choose(
        self, key: DrawKey, seed: int, tick: int, weights: Sequence[int], site: str = ""
    ) -> int:
        draw = (key, tuple(weights))
        if draw not in self._known:  # a repeated computation draws the same
            self._known[draw] = self._new([one for one, weight in enumerate(weights) if weight])
        return self._known[draw]

    def _new(self, possible: list[int]) -> int:
        depth = len(self._drawn)
        choice = self._prefix[depth] if depth < len(self._prefix) else possible[0]
        self._drawn.append((choice, possible))
        return choice

    def uniform(self, key: DrawKey, seed: int, tick: int) -> float:
        self.complete = False
        return 0.0

    def next(self) -> tuple[int, ...] | None:
        """The prefix of the next combination, ``None`` after the last."""
        for depth in range(len(self._drawn) - 1, -1, -1):
            choice, possible = self._drawn[depth]
            later = [one for one in possible if one > choice]
            if later:
                return (*(taken for taken, _ in self._drawn[:depth]), later[0])
        return None


@dataclass(frozen=True)
class _Node:
    """A reached moment, the node and intent before it, and the commands of its round so far."""

    moment: Moment
    before: _Node | None
    intent: AnyIntent | None
    round: tuple[str, ...] = ()


@dataclass
class Reached:
    """The result of the search: all states by key, and what to type to reach a goal, if it can be.

    ``complete``: nothing was left out, so that a goal that was not reached cannot be.
    """

    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    way: tuple[str, ...] | None = None
    complete: bool = True
    tried: int = 0

    @property
    def answer(self) -> str:
        """Winnable, unwinnable or unknown, in the words of a verdict."""
        if self.way is not None:
            return "winnable"
        return "unwinnable" if self.complete else "unknown"


def explore(session: Session, most: int) -> Reached:
    """All that can be reached from where a session stands, by at most ``most`` intents. A world
    that makes more than `MOST_OBJECTS` is left: one more tick of it may take minutes."""
    return _Walk(session, most).run()


class _Walk:
    def __init__(self, session: Session, most: int) -> None:
        self._session, self._most, self.reached = session, most, Reached()
        texts = session.world.loaded.sources
        self._clock = any("tick()" in one.text for one in texts)
        self._waiting: deque[_Node] = deque()

    def run(self) -> Reached:
        self._meet(_Node(self._session.moments[-1], None, None))
        while self._waiting and self.reached.way is None and self.reached.complete:
            self._expand(self._waiting.popleft())
        return self.reached

    def _expand(self, node: _Node) -> None:
        for intent in self._intents(node):
            for after in self._outcomes(node, intent):
                self._meet(self._behind(node, intent, after))
                if self.reached.way is not None or not self.reached.complete:
                    return

    def _intents(self, node: _Node) -> list[AnyIntent]:
        """Everything that may be said, from commands that are surely understood to nonsense."""
        session, state = self._session, node.moment.state
        instance = session.world.instance

        def domain(kind: ValueType) -> Sequence[Any]:
            if isinstance(kind, ObjectType):
                return state.live.get(kind.name, ())
            return domain_of(instance, kind) or ()

        found: list[AnyIntent] = [PASS]
        for action in session.world.program.actions.values():
            domains = [domain(binder.type) for binder in action.params]
            found += [Command(action.name, args) for args in product(*domains)]
        wrong = next(iter(session.world.program.actions), "none")
        return [*found, "xyzzy", CallIntent(wrong, {"nobody": "x"}), PassIntent("nobody")]

    def _outcomes(self, node: _Node, intent: AnyIntent) -> Iterator[Moment]:
        prefix: tuple[int, ...] = ()
        for _ in range(MOST_OUTCOMES):
            self.reached.tried += 1
            if self.reached.tried > self._most:
                break
            luck = Listing(prefix)
            self._session.travel([node.moment])
            self._session.intend(intent, luck=luck)
            self.reached.complete &= luck.complete
            if len(self._session.state.kinds) > MOST_OBJECTS:
                break
            yield self._session.moments[-1]
            more = luck.next()
            if more is None:
                return
            prefix = more
        self.reached.complete = False

    def _behind(self, node: _Node, intent: AnyIntent, after: Moment) -> _Node:
        """Return the next node; between the actors of a round it includes their commands."""
        shown = self._session.engine.json(after.state)
        if "turn" not in shown:
            return _Node(after, node, intent)
        done = tuple(
            f"{one.status} {one.action} {json.dumps(one.args, sort_keys=True)}"
            for one in after.outcomes
            if one.status in ("executed", "waiting", "interrupted")
        )
        if not done:
            return _Node(after, node, intent, node.round)
        start = node.round or (self._key(node),)
        return _Node(after, node, intent, (*start, *done, self._plain(shown)))

    def _plain(self, shown: dict[str, Any]) -> str:
        left = {"format", "seed", "fired"} | (set() if self._clock else {"tick"})
        kept = {name: part for name, part in shown.items() if name not in left}
        return json.dumps(kept, sort_keys=True)

    def _key(self, node: _Node) -> str:
        shown = self._plain(self._session.engine.json(node.moment.state))
        return "\n".join((*node.round, shown))

    def _meet(self, node: _Node) -> None:
        key = self._key(node)
        if key in self.reached.states:
            return
        session = self._session
        session.travel([node.moment])
        self.reached.states[key] = session.state_json()
        if session.won() and not session.lost():  # where both latch, a plan passed a loss
            self.reached.way = tuple(self._way(node))
        elif not session.lost() and not session.ended():
            self._waiting.append(node)

    def _way(self, node: _Node) -> list[str]:
        """The intents to a node, as a script has them; what chance did is not told."""
        found: list[str] = []
        while node.before is not None:
            intent, node = node.intent, node.before
            self._session.travel([node.moment])
            show, state = self._session.engine.call, self._session.state
            found.append(show(state, intent) if isinstance(intent, Command) else str(intent))
        return found[::-1]


# ---- plans --------------------------------------------------------------------------------------


class _Weighed(ForcedLuck):
    """Forces draws, and works out how likely all of these together are."""

    def __init__(self, draws: Sequence[LuckyDraw]) -> None:
        super().__init__(draws)
        self._shares: dict[DrawKey, Fraction] = {}

    def choose(
        self, key: DrawKey, seed: int, tick: int, weights: Sequence[int], site: str = ""
    ) -> int:
        choice = super().choose(key, seed, tick, weights, site)
        if key in self._forced:
            self._shares[key] = Fraction(weights[choice], sum(weights))
        return choice

    @property
    def share(self) -> Fraction:
        found = Fraction(1)
        for one in self._shares.values():
            found *= one
        return found


def fails(session: Session, steps: Sequence[PlanStep]) -> tuple[str, Fraction]:
    """The fault of a plan as a clause (empty: none), and the probability of its draws.

    It is played through `Session.intend` with the outcomes that it counts on.
    """
    start, share = session.moments[-1], Fraction(1)
    session.travel([start])
    for number, step in enumerate(steps, 1):
        luck = _Weighed(step.draws)
        status = session.intend(step.command, luck=luck)[-1].status
        share *= luck.share
        if status not in ("executed", "waiting", "interrupted"):
            return f"step {number} is {status}", share
    won = session.won()
    session.travel([start])
    if not won:
        return "it does not reach the goal", share
    return ("", share) if share else ("it counts on an outcome that cannot happen", share)


def seed_that_wins(session: Session, steps: Sequence[PlanStep], share: Fraction) -> bool | None:
    """Return whether some seed wins with the commands of a plan; ``None`` if it would take too
    many."""
    start, most = session.moments[-1], SURE / share
    if most > MOST_SEEDS:
        return None
    for seed in range(int(most) + 1):
        session.travel([start])
        session.reseed(seed)
        if any(session.intend(step.command) and session.won() for step in steps):
            session.travel([start])
            return True
    session.travel([start])
    return not steps


ALWAYS = ("", "own", "width", "hmax", "hadd")
"""Engines that answer about every world; the first is the ladder of `tw plan`."""
IN_TURN = ("ff", "blind", "lama", "encoding E", "symk", "encoding A")
"""Engines that start a process: each world asks one of them."""
SECONDS = 3.0
"""Each engine may take so long for one world."""
REASON_SECONDS = 0.5
MOST = 4_000
"""Intents that the search from outside gives in one world."""
SHRINKS = 150


@dataclass
class Disagreement:
    """A world on which an engine and play disagree; ``what`` says how, in a clause.

    ``way`` are the intents to a goal, where the search from outside found one.
    """

    world: int
    text: str
    engine: str
    what: str
    detail: str
    way: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        return {
            **fields_json(self, "text"),
            "world_seed": self.world,
            "world": self.text,
            "engine": self.engine or "default",
        }


@dataclass
class VerdictReport:
    """The result of a comparison: ``answers`` counts verdicts by engine and result of play."""

    worlds: int = 0
    unusable: int = 0
    answers: dict[str, Counter[str]] = field(default_factory=dict)
    seeds: Counter[str] = field(default_factory=Counter)
    reasons: int = 0
    found: list[Disagreement] = field(default_factory=list)

    def count(self, engine: str, outside: str, answer: str) -> None:
        name = engine or "default"
        self.answers.setdefault(name, Counter())[f"{outside}/{answer}"] += 1

    def to_json(self) -> dict[str, Json]:
        return {
            "schema_version": 1,
            **fields_json(self, "found"),
            "disagreements": [one.to_json() for one in self.found],
        }


def compare_verdicts(
    count: int,
    seed: int = 0,
    *,
    say: Callable[[VerdictReport], None] = lambda report: None,
) -> VerdictReport:
    """Compare so many worlds, up to the first disagreement."""
    report, world = VerdictReport(), seed * 1_000_003
    while report.worlds < count and not report.found:
        text = playable(world, small_world)
        if text is None:
            report.unusable += 1
        else:
            engines = (*ALWAYS, IN_TURN[world % len(IN_TURN)])
            report.worlds += 1
            found = disagreement(text, engines, world, report)
            if found is not None:
                report.found.append(_shrunk(found))
        world += 1
        say(report)
    return report


def disagreement(
    text: str, engines: tuple[str, ...], world: int = 0, report: VerdictReport | None = None
) -> Disagreement | None:
    """The first engine that play contradicts in the world ``w`` of a text, if one does."""
    report = VerdictReport() if report is None else report
    reached = explore(Session(_opened(text)), MOST)
    opened = _opened(text)
    for engine in engines:
        for what, detail in _judged(Session(opened), engine, reached, report):
            return Disagreement(world, text, engine, what, detail, reached.way or ())
    return None


def _opened(text: str) -> OpenWorld:
    return open_text((Source("fuzz.tw", None, text),), "w")


def _judged(
    session: Session, engine: str, reached: Reached, report: VerdictReport
) -> Iterator[tuple[str, str]]:
    """The contradiction between play and a verdict of an engine: a clause, and the details."""
    try:
        verdict = _verdict(session, engine)
        reasons = [] if engine else _reasons(session, verdict)
    except Failure as failure:
        if failure.diagnostics[0].code not in ("TW0811", "TW0201"):
            yield "the planner refuses", str(failure.diagnostics[0].message)
        return
    except Exception as error:
        yield "the planner breaks", "".join(traceback.format_exception(error)[-3:])
        return
    report.count(engine, reached.answer, verdict.answer)
    if verdict.answer == "unwinnable" and reached.answer == "winnable":
        yield "it is called unwinnable and can be won", verdict.proof.by if verdict.proof else ""
    if verdict.answer == "winnable":
        yield from _against(session, verdict, reached, report)
    for reason in reasons:
        report.reasons += 1
        yield from _against_reason(reason, reached)


def _verdict(session: Session, engine: str) -> Verdict:
    from tokenworld.planning.planners.by_encoding import plan_on
    from tokenworld.planning.planners.by_name import plan_by

    if not engine:
        return session.plan(time_limit=SECONDS)
    simulator, state = session.simulator(), session.state
    if engine.startswith("encoding "):
        return plan_on(simulator, state, None, engine.split()[1], seconds=SECONDS)
    return plan_by(simulator, state, None, engine, seconds=SECONDS)


def _against(
    session: Session, verdict: Verdict, reached: Reached, report: VerdictReport
) -> Iterator[tuple[str, str]]:
    plan = "; ".join(step.command for step in verdict.plan)
    wrong, share = fails(session, verdict.steps)
    if wrong:
        yield f"its plan does not win: {wrong}", plan
        return
    if reached.answer == "unwinnable":
        yield "it is winnable and the search from outside saw no goal", plan
    wins = seed_that_wins(session, verdict.steps, share)
    report.seeds["untried" if wins is None else "tried"] += 1
    if wins is False:
        yield "no seed wins with its plan", plan


# ---- reasons ------------------------------------------------------------------------------------


def _reasons(session: Session, verdict: Verdict) -> list[tuple[str, str]]:
    """The slots of a reason, each with the values that it says are the only ones."""
    found = explain_unwinnable(
        session.world, session.state, verdict, seconds=REASON_SECONDS, full=False
    )
    return [pair for one in found for pair in _held(one.to_json())]


def _held(shown: Any) -> Iterator[tuple[str, str]]:
    if isinstance(shown, dict):
        yield from shown.get("holds", {}).items()
        for part in shown.values():
            yield from _held(part)
    elif isinstance(shown, list):
        for part in shown:
            yield from _held(part)


def _against_reason(reason: tuple[str, str], reached: Reached) -> Iterator[tuple[str, str]]:
    slot, values = reason
    if values == "anything":
        return
    for state in reached.states.values():
        found = _shown(state, slot)
        if found is not None and not _among(found, values):
            yield f"`{slot}` is not only ever {values}", f"play shows {found}"
            return


def _shown(state: dict[str, Any], slot: str) -> str | None:
    """The value of a slot in a state, as authors write it; ``None`` if the state does not tell."""
    owner, _, name = slot.partition(".")
    for one in state["objects"]:
        if one["name"] == owner and name in one["attrs"]:
            return value_text(one["attrs"][name])
    for args, value in state["functions"].get(slot.partition("(")[0], []):
        if slot == f"{slot.partition('(')[0]}({', '.join(str(arg) for arg in args)})":
            return value_text(value)
    return None


def _among(value: str, values: str) -> bool:
    low, dots, high = values.partition("..")
    if not dots:
        return value in values.split(", ")
    try:
        return int(low) <= int(value) <= int(high)
    except ValueError:
        return True  # a run of names: what lies between is not told


# ---- shrinking ----------------------------------------------------------------------------------


def _shrunk(found: Disagreement) -> Disagreement:
    """The same disagreement about the least text that still shows it."""

    def shown(text: str) -> Disagreement | None:
        try:
            other = disagreement(text, (found.engine,), found.world)
        except Exception:  # no world, or another defect
            return None
        return other if other is not None and _kind(other) == _kind(found) else None

    text = smaller(found.text, lambda less: shown(less) is not None, SHRINKS)
    return shown(text) or found


def _kind(found: Disagreement) -> str:
    return found.what.partition("`")[0].partition(":")[0]


# ---- the verb ---------------------------------------------------------------------------------


def fuzz(
    out: Output,
    *,
    number: Annotated[int, opt.Option("--n"), "Ticks to compare in total."] = 2000,
    seed: opt.Seed = 0,
    ticks: Annotated[int, "Ticks of each world at most."] = 100,
    coverage: Annotated[bool, "List every construct."] = False,
    verdicts: Annotated[
        int | None, "Instead: compare plans of this many small worlds with an exhaustive search."
    ] = None,
) -> int:
    """Compare ``number`` ticks of play, or ``verdicts`` of planners; 1 if something differs."""
    if verdicts is not None:
        return run_verdicts(verdicts, seed, out)
    return run_fuzz(number, seed, ticks, coverage, out)


def run_verdicts(count: int, seed: int, output: Output) -> int:
    """Compare the planners' verdicts about ``count`` small worlds; 1 if play contradicts one."""
    tell = output.each_second()
    report = compare_verdicts(
        count, seed, say=lambda report: tell(f"{report.worlds} of {count} worlds")
    )
    output.json(report.to_json())
    output.line(f"{report.worlds} small worlds; what play says / what an engine answers:")
    for name, answers in report.answers.items():
        shown = ", ".join(f"{count:,} {pair}" for pair, count in sorted(answers.items()))
        output.line(f"  {name:10} {shown}")
    output.line(
        f"{report.seeds['tried']:,} plans were tried with real seeds, "
        f"{report.reasons:,} reasons were held against the states of play."
    )
    for found in report.found:
        _print_disagreement(found, output)
    if not report.found:
        output.line("Play contradicts no verdict, plan or reason.")
    return EXIT_NEGATIVE if report.found else EXIT_OK


def _print_disagreement(found: Disagreement, output: Output) -> None:
    output.line()
    engine = f"engine {found.engine}" if found.engine else "`tw plan`"
    output.line(f"Play contradicts {engine} (world {found.world}): {found.what}.")
    output.line(f"  {found.detail[:MOST_SHOWN]}")
    output.line()
    output.line("The world:")
    output.line(found.text)
    if found.way:
        output.line("A way to a goal, by some luck:")
        for line in found.way:
            output.line(f"  {line}")
