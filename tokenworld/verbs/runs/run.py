"""``tw run``: play a world without a screen, by any player, and record it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, assert_never

from tokenworld.diagnostics import Failure, read_source, usage
from tokenworld.ground import Outcome
from tokenworld.planning.space.policy import Policy
from tokenworld.prose.intents import read_script
from tokenworld.session import OpenWorld, Session, open_world, players
from tokenworld.session.intents import AnyIntent
from tokenworld.session.obstacles import completed
from tokenworld.session.refusals.explained import Explainer, explained_record
from tokenworld.session.remote import (
    Beside,
    Channel,
    Narrator,
    PlayerFailure,
    remote_player,
)
from tokenworld.store.log import RunStore
from tokenworld.store.records import IntentSource
from tokenworld.store.usage import UNTOLD
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import (
    EXIT_INTERRUPTED,
    EXIT_NEGATIVE,
    EXIT_OK,
    Output,
    unbroken,
    write_file,
)
from tokenworld.verbs.refusals.lines import compact

if TYPE_CHECKING:
    from tokenworld.session.reloading import Operator

PlayerName = Literal["random", "planner", "adversarial", "llm"]
CHOICES = "`--script FILE`, `--scenario TITLE`, `--policy FILE` or `--player NAME`"
_HALTED: dict[IntentSource, int] = {"planner": 5, "llm": 5, "random": 5}
"""Refusals in a row at which a player that decides for itself is stopped."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The options of the command line. ``command`` and ``url`` choose an ``llm``, ``narrator`` and
    ``operator`` programs beside the run; ``grown`` is where the rules that it ends with go."""

    script: Annotated[Path | None, "A file with one intent per line."] = None
    scenario: Annotated[str | None, "The `when` steps of this scenario."] = None
    player: Annotated[PlayerName | None, "Who plays."] = None
    command: Annotated[str | None, "The program of `--player llm`: text in, text out."] = None
    url: Annotated[str | None, "The HTTP address of `--player llm`."] = None
    narrator: opt.Narrator = None
    narrator_url: opt.NarratorUrl = None
    operator: Annotated[
        str | None,
        "A program that writes rules for unknown words; without one: show what is secret.",
    ] = None
    operator_url: opt.OperatorUrl = None
    grown: opt.Grown = None
    reply_timeout: opt.ReplyTimeout = 60.0
    policy: Annotated[Path | None, "A policy of `tw plan`, to play by."] = None
    ticks: opt.Ticks = None
    halt_refusals: Annotated[int | None, "Halt after this many refusals in a row; 0: never."] = None
    patience: Annotated[
        int | None,
        "With several actors: how often one whose command has no effect is asked again "
        "(0; `llm`: 2).",
    ] = None
    goal: opt.Goal = None
    time_limit: opt.Limit = 60.0
    seed: opt.Seed = 0

    @property
    def nobody(self) -> bool:
        """Return whether neither a player nor a program beside a run is named."""
        named = (self.script, self.scenario, self.player, self.policy, self.narrator,
                 self.narrator_url, self.operator, self.operator_url, self.grown)  # fmt: skip
        return not any(named)


@dataclass(frozen=True, slots=True)
class Onward:
    """The options that play a recorded run on."""

    script: opt.ScriptOn = None
    player: opt.PlayerOn = None
    narrator: opt.Narrator = None
    narrator_url: opt.NarratorUrl = None
    operator: opt.OperatorOn = None
    operator_url: opt.OperatorUrl = None
    grown: opt.Grown = None
    reply_timeout: opt.ReplyTimeout = 60.0
    ticks: opt.Ticks = None

    @property
    def choice(self) -> Choice:
        """These options among those of a new run."""
        return Choice(**{one.name: getattr(self, one.name) for one in fields(self)})


@dataclass(frozen=True, slots=True)
class RunPlayer:
    """A player ready to play: its name in the store, its seed, the limits at which it is stopped.

    ``halt_after`` refusals in a row halt the run; ``None``: none do. ``patience`` is how often it
    is asked again in a turn. ``policy`` is its policy, ``close`` ends the programs that it started.
    """

    source: IntentSource
    player: players.Player
    seed: int
    halt_after: int | None = None
    policy: Policy | None = None
    close: Callable[[], None] = lambda: None
    patience: int = 0


def run_player(choice: Choice, world: OpenWorld, say: Callable[[str], None]) -> RunPlayer:
    """The one player of a run; `Failure` where the options name none, or two."""
    _sound(choice)
    chosen = _chosen(choice, world, say)
    patience, halt = choice.patience, choice.halt_refusals
    return replace(
        chosen,
        patience=players.PATIENCE.get(chosen.source, 0) if patience is None else patience,
        halt_after=_HALTED.get(chosen.source) if halt is None else halt or None,
    )


def _chosen(choice: Choice, world: OpenWorld, say: Callable[[str], None]) -> RunPlayer:
    """The player that the options name, before it is settled when it is stopped."""
    if choice.script is not None:
        player = players.script_player(read_script(read_source(choice.script)))
        return RunPlayer("script", player, choice.seed)
    if choice.scenario is not None:
        scenario = players.find_scenario(world, choice.scenario)
        return RunPlayer(
            "scenario", players.scenario_player(scenario), players.seed_of(scenario, choice.seed)
        )
    if choice.policy is not None:
        policy = players.policy_for(world, read_source(choice.policy))
        return RunPlayer("planner", players.policy_player(policy), choice.seed, policy=policy)
    match choice.player:
        case "planner":
            player = players.planner_player(choice.goal, choice.time_limit, say)
            return RunPlayer("planner", player, choice.seed)
        case "llm":
            channel = _channel("player", choice.command, choice.url, choice.reply_timeout)
            return RunPlayer("llm", remote_player(channel), choice.seed, close=channel.close)
        case "adversarial":
            _bounded(choice)
            return RunPlayer("adversarial", players.adversarial_player, choice.seed)
        case "random" | None:
            _bounded(choice)
            return RunPlayer("random", players.random_player, choice.seed)


def _sound(choice: Choice) -> None:
    given = (choice.script, choice.scenario, choice.player, choice.policy)
    number = sum(one is not None for one in given)
    if number > 1:
        raise usage("A run has one player.", f"Give one of {CHOICES}.")
    if not number:
        hint = f"Give {CHOICES}; `tw play` is for people."
        raise usage("Nobody plays this run.", hint)
    if choice.ticks is not None and choice.ticks < 0:
        raise usage("A run cannot stop before it begins.", "Give `--ticks N` with N from 0.")
    if choice.halt_refusals is not None and choice.halt_refusals < 0:
        raise usage("A run cannot be halted before it begins.", "Give N from 1, or 0 for never.")
    if choice.patience is not None and choice.patience < 0:
        raise usage("A player cannot be asked less than once.", "Give `--patience N`, N from 0.")
    if choice.grown is not None and not (choice.operator or choice.operator_url):
        raise usage("Without an operator no rules grow.", "Add `--operator CMD`.")
    if choice.grown is not None and not choice.grown.absolute().parent.is_dir():
        raise usage(f"There is no folder for `{choice.grown}`.", "Name a file in one.")
    if (choice.command or choice.url) and choice.player != "llm":
        raise usage("A command or an address is that of a player.", "Add `--player llm`.")


def _bounded(choice: Choice) -> None:
    if choice.ticks is None:
        what = f"A player by chance never stops: `{choice.player}`."
        raise usage(what, "Say how long with `--ticks N`.")


_OPTIONS = {
    "player": ("--command", "--url"),
    "narrator": ("--narrator", "--narrator-url"),
    "operator": ("--operator", "--operator-url"),
}


def _channel(who: str, command: str | None, url: str | None, seconds: float) -> Channel:
    """The way to a program or an address; a player answers in lines, others at any length."""
    from tokenworld.session.remote import HttpChannel, ProcessChannel

    whole, (program, address) = who != "player", _OPTIONS[who]
    if seconds <= 0:
        raise usage(f"A {who} needs time to answer.", "Give `--reply-timeout S` above 0.")
    try:
        words = shlex.split(command or "")
    except ValueError as error:
        raise usage(f"The command has a quote left open: {error}.", "Close it.") from error
    try:
        if words and url is None:
            return ProcessChannel(words, seconds, whole=whole)
        if url is not None and command is None:
            return HttpChannel(url, seconds, whole=whole)
    except PlayerFailure as failure:
        raise failure.of(who) from None
    hint = f'Give `{program} "python my_{who}.py"` or `{address} http://127.0.0.1:8000/`.'
    raise usage(f"A {who} from outside is a program or an address.", hint)


@dataclass(slots=True)
class Company:
    """The programs beside a run."""

    narrator: Narrator | None = None
    operator: Operator | None = None

    @classmethod
    @contextmanager
    def called(cls, choice: Choice, chosen: RunPlayer, out: Output) -> Iterator[Company]:
        """Start those that the options name; end them, and the player, after the run."""
        company = cls()
        try:
            company._call(choice, out)
            yield company
        finally:
            chosen.close()
            company._close()

    def _call(self, choice: Choice, out: Output) -> None:
        seconds = choice.reply_timeout

        def tell(failure: PlayerFailure) -> None:
            out.diagnostics(failure.diagnostics)

        if choice.narrator is not None or choice.narrator_url is not None:
            channel = _channel("narrator", choice.narrator, choice.narrator_url, seconds)
            self.narrator = Narrator(channel, tell)
        if choice.operator or choice.operator_url is not None:
            from tokenworld.session.reloading import Operator

            channel = _channel("operator", choice.operator or None, choice.operator_url, seconds)
            self.operator = Operator(channel, tell)

    def all(self) -> Iterator[Beside]:
        yield from (one for one in (self.narrator, self.operator) if one is not None)

    def _close(self) -> None:
        for one in self.all():
            one.close()


GLYPHS = {
    "executed": "✓", "refused": "✗", "no_match": "?", "waiting": "…", "interrupted": "⤫",
    "rolled_back": "↺", "yielded": "→", "error": "!", "halted": "■",
}  # fmt: skip
_REFUSE_LIKE = ("refused", "no_match", "rolled_back")


def run(target: opt.World, out: Output, *, choice: Choice, store: opt.Store = None) -> int:
    """Play and record; the last line (or the JSON) carries the final state hash.

    An ``operator`` without a name is whoever reads this, to whom nothing is hidden.
    """
    world = open_world(target)
    chosen = run_player(choice, world, out.progress)
    with Company.called(choice, chosen, out) as company:
        world.engine.start(chosen.seed)  # a world that cannot start leaves no store behind
        with RunStore.open(store) as opened:
            session = Session(
                world,
                chosen.seed,
                store=opened,
                player=chosen.source,
                operator=choice.operator == "",
            )
            return play_on(session, chosen, choice.ticks, out, company, choice.grown)


def play_on(
    session: Session,
    chosen: RunPlayer,
    ticks: int | None,
    out: Output,
    company: Company | None = None,
    grown: Path | None = None,
) -> int:
    """Play to the end, whatever it is, and close the run."""
    runner = _Runner(session, chosen, ticks, out, company or Company(), grown)
    try:
        cause = runner.play()
    except KeyboardInterrupt:
        return _finish(runner, "interrupted", EXIT_INTERRUPTED)
    except PlayerFailure as failure:
        cause = failure.cause
        out.diagnostics(failure.diagnostics)
    except Failure as failure:
        # A run that the store could not take on stays open: it is resumed once there is room.
        if not failure.diagnostics[0].code.startswith("TW11"):
            session.finish("failed")
        raise
    if cause is not None:
        _halt(session, chosen, cause, out)
        runner.statuses["halted"] += 1
        return _finish(runner, "halted", EXIT_NEGATIVE, halted=cause)
    if runner.stuck:
        last = session.moments[-1].outcomes[-1].cause
        return _finish(runner, "halted", EXIT_NEGATIVE, halted=last)
    if chosen.policy is None:
        return _finish(runner, "done", EXIT_OK)
    won = session.simulator().won(session.state, chosen.policy.goal)
    out.line(_reached(chosen.policy, session) if won else _missed(session))
    return _finish(runner, "done", EXIT_OK if won else EXIT_NEGATIVE, won=won)


def _halt(session: Session, chosen: RunPlayer, cause: str, out: Output) -> None:
    """The last record says why the runner stopped."""
    with unbroken():
        outcome = session.halt(cause, source=chosen.source)
    show_outcome("halt", outcome, out, Explainer(session))
    out.line(f"       {cause}")


def _reached(policy: Policy, session: Session) -> str:
    names = ", ".join(f"`{name}`" for name in session.latched)
    return f"the policy reached {names}" if policy.goal is None else f"reached `{policy.goal}`"


def _missed(session: Session) -> str:
    """Report that the goal was not reached, and that the policy had no answer, if so."""
    missed = "the goal of the policy was not reached"
    return missed if session.ended() else f"{missed}: it ends in a state that it does not win from"


@dataclass
class _Runner:
    """A run under way: how many records there are, and how many intents in a row were refused;
    ``stuck``: a round could not be ended. ``growth`` tells of the rules that were taken on, and
    ``asked`` are gaps to be asked about when the round is over. ``refused`` is the last refused
    record."""

    session: Session
    chosen: RunPlayer
    ticks: int | None
    out: Output
    company: Company
    grown: Path | None = None
    records: int = 0
    cluster: int = 0
    stuck: bool = False
    growth: list[dict[str, object]] = field(default_factory=list)
    asked: dict[str, AnyIntent] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    refused: Outcome | None = None

    def __post_init__(self) -> None:
        self._why = Explainer(self.session)
        self._patience = players.Patience(self.chosen.patience)

    def play(self) -> str | None:
        """Play until player, world or budget ends; the cause of an alarm, if there was one."""
        intents = self.chosen.player(self.session)
        while self.ticks is None or self.records < self.ticks:
            given = next(intents, None)
            if given is None:
                return None
            outcomes = self._give(given)
            if outcomes[-1].status == "halted":
                self.stuck = any(one.by == "runner" and one.fruitless for one in outcomes)
                return None
            if self.chosen.halt_after is not None and self.cluster >= self.chosen.halt_after:
                first = self.records - self.cluster + 1
                return f"{self.cluster} refusals in a row: records {first} to {self.records}"
        return None

    def _give(self, given: AnyIntent | players.Expecting) -> tuple[Outcome, ...]:
        one = given if isinstance(given, players.Expecting) else players.Expecting(given)
        source = self.chosen.source
        if self.session.state.turn == 0:
            for asked, intent in [*self.asked.items()]:
                self._grow(asked, intent)
        outcomes = self._intend(one)
        if outcomes[0].status == "yielded" and self._answered(one.intent):
            outcomes = self._intend(replace(one, usage=UNTOLD))
        self._narrate(outcomes)
        with unbroken():
            added = self._patience.after(self.session, outcomes, source)
            self.statuses.update(one.status for one in added)
        self._told(added, None)
        self._narrate(added)
        return (*outcomes, *added)

    def _intend(self, one: players.Expecting) -> tuple[Outcome, ...]:
        session, source, operator = self.session, self.chosen.source, self.company.operator
        yields = operator is not None and operator.gap(session, one.intent) is not None
        with unbroken():
            if one.by == "runner":
                outcomes = players.runner_pass(session, source)
            else:
                outcomes = session.intend(
                    one.intent, source=source, expect=one.status, hand_over=yields
                )
            if not one.usage.is_empty and session.recording is not None:
                session.recording.used(one.usage)
            self.statuses.update(one.status for one in outcomes)
        self._told(outcomes, one.status)
        return outcomes

    def _answered(self, intent: AnyIntent) -> bool:
        """Ask the operator about words that were yielded; whether they have a meaning now. Within a
        round the rules stay as they are: it is asked when the round is over."""
        asked = self.session.moments[-1].asked
        if self.session.state.turn:
            self.asked[asked] = intent
            return False
        if self._grow(asked, intent):
            return True
        self.cluster += 1
        return False

    def _grow(self, asked: str, intent: AnyIntent) -> bool:
        """Go on with a rule of the operator for words; false where none is taken on."""
        from tokenworld.session.reloading import LOOK, RuleRefused, grow, reload_world

        operator, session = self.company.operator, self.session
        self.asked.pop(asked, None)
        found = None if operator is None else operator.gap(session, intent)
        rule = "" if operator is None or found is None else operator.rule(session, found)
        if operator is None or not rule:
            return False
        try:
            self.out.progress(f"checking a rule for `{asked}`")
            new = grow(session, intent, asked, rule, LOOK)
        except RuleRefused as refused:
            operator.decline(asked)
            self.out.diagnostics(refused.diagnostics, refused.sources)
            return False
        with unbroken():
            left = reload_world(session, new.carried, "grown")
        if self.grown is not None:
            write_file(self.grown, new.text, "Name a file in a folder that can be written to.")
        for line in (
            f"a rule for `{asked}`: {left.left} goes on in {left.run}",
            *new.growth.told(),
        ):
            self.out.entry(f"       {line}")
        self.growth.append({"words": asked, "rule": new.rule, "left": left.left, "run": left.run,
                            **new.growth.to_json()})  # fmt: skip
        return True

    def _narrate(self, outcomes: tuple[Outcome, ...]) -> None:
        """Ask the narrator about stored records, and store its text."""
        narrator = self.company.narrator
        if narrator is None or not outcomes or outcomes[-1].status == "halted":
            return
        prose = narrator.tell(self.session, outcomes)
        if prose and self.session.recording is not None:
            with unbroken():
                self.session.recording.narrate(prose)
        for line in prose.splitlines():
            self.out.entry(f"     » {line}")

    def _told(self, outcomes: tuple[Outcome, ...], expect: str | None) -> None:
        """Show records and count refusals in a row: what time or the runner does ends no row. Words
        that were yielded are refused if the operator has no rule for them (`_answered`)."""
        for outcome in outcomes:
            show_outcome(_asked(self.session, outcome), outcome, self.out, self._why)
            if outcome.refusal is not None:
                self.refused = outcome
            self.records += 1
            if outcome.by == "player" and outcome.status not in ("halted", "yielded"):
                refused = outcome.status in _REFUSE_LIKE and outcome.status != expect
                self.cluster = self.cluster + 1 if refused else 0
            if self.out.as_json and self.records % 1000 == 0:
                self.out.progress(f"{self.records} records")


def _asked(session: Session, outcome: Outcome) -> str:
    """Return the intent as text, or the name of the actor who passes."""
    match outcome.by:
        case "player":
            return session.moments[-1].asked or "halt"
        case "time":
            return "pass (time passes)"
        case "runner":
            return "pass (by the runner)"
        case _:
            assert_never(outcome.by)


def show_outcome(asked: str, outcome: Outcome, out: Output, why: Explainer) -> None:
    """One record as a reader sees it: the intent, its result with the reason, and the texts."""
    who = f"{outcome.actor}: " if outcome.next is not None else ""
    stage = ""
    if outcome.progress is not None and outcome.status == "waiting":
        stage = " {} of {}".format(*outcome.progress)
    out.entry(f"{outcome.tick:>4} {GLYPHS[outcome.status]} {who}{asked}  [{outcome.status}{stage}]")
    if done := completed(why.session, why.session.moments[-1], outcome):
        out.entry(f"       `{done}` is done.")
    found = None if out.as_json else why.record(outcome)
    for line in () if found is None else compact(found, why.session.world.loaded.by_name):
        out.entry(f"       {line}")
    if outcome.breach is not None:
        out.entry(f"       {outcome.breach['code']} {outcome.breach['message']}")
    for line in outcome.said:
        out.entry(f"       {line}")


def _refusal(runner: _Runner) -> object:
    """The last refusal of a run as ``tw-refusal/1``; ``None`` where nothing was refused."""
    if runner.refused is None or not runner.out.as_json:
        return None
    found = explained_record(runner.session, runner.refused)
    return None if found is None else found.to_json()


def _finish(
    runner: _Runner,
    reason: str,
    code: int,
    *,
    won: bool | None = None,
    halted: str | None = None,
) -> int:
    """Close the run and print its end; a failed program gives exit code 1."""
    session, out, company = runner.session, runner.out, runner.company
    narrator, operator = company.narrator, company.operator
    session.finish(reason)
    assert session.recording is not None
    slug, final = session.recording.slug, session.engine.hash(session.state)
    link = session.recording.handle.run().link
    reached = ", ".join(session.latched) or "none"
    out.line(f"link {link}")
    out.line(
        f"run {slug}: {session.recording.written} records, tick {session.tick}, "
        f"endings {reached}, state {final}"
    )
    out.json(
        {
            "schema_version": 1,
            "run": slug,
            "reason": reason,
            "records": session.recording.written,
            "tick": session.tick,
            "seed": session.seed,
            "score": session.engine.score(session.state),
            "endings": list(session.latched),
            **({} if won is None else {"goal_reached": won}),
            **({} if halted is None else {"halted": halted}),
            **(
                {}
                if narrator is None
                else {"narration": {"told": narrator.answers, "failed": narrator.failed}}
            ),
            **(
                {}
                if operator is None
                else {
                    "growth": runner.growth,
                    "declined": len(operator.declined),
                    "operator_failed": operator.failed,
                }
            ),
            "statuses": dict(sorted(runner.statuses.items())),
            "refusal": _refusal(runner),
            "state_hash": final,
            "link": link,
        }
    )
    failed = any(one.failure is not None for one in company.all())
    return code or (EXIT_NEGATIVE if failed else EXIT_OK)
