"""Players without a person: script, plan, planner, chance, scenario, and the adversary.

An intent without effect does not end the turn. For every player but a person the runner passes once
the player's tries are used up, so that the round goes on (language.md §8, step 7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, NoReturn, Protocol, assert_never

from tokenworld import model as m
from tokenworld.diagnostics import Diagnostic, Failure, Source, did_you_mean, read_source, usage
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.ground import PASS, By, Command, Outcome, Raw, constant, draw, parameter_domains
from tokenworld.planning.space.observed_draws import NOTHING, Observed, ObservedSimulator
from tokenworld.planning.space.policy import Policy, advised, read_policy
from tokenworld.prose.intents import CallIntent, IntentLine, PassIntent, TypedIntent, read_script
from tokenworld.session.intents import AnyIntent
from tokenworld.session.loading import OpenWorld
from tokenworld.session.session import Session
from tokenworld.session.solving import Say, plan_for_seed
from tokenworld.store.records import IntentSource
from tokenworld.store.usage import UNTOLD, Usage

PATIENCE: dict[IntentSource, int] = {"llm": 2}
"""The number of times that a player is asked again in a turn; those that are not named: never."""


def runner_pass(session: Session, source: IntentSource) -> tuple[Outcome, ...]:
    """Pass for the actor whose turn it is; if even that is rolled back, the run halts."""
    actor, outcomes = session.actor, session.intend(PASS, source=source, by="runner")
    last = outcomes[-1]
    if not last.fruitless:
        return outcomes
    why = f": {last.breach['code']} {last.breach['message']}" if last.breach else ""
    cause = f"Even a pass of `{actor}` has no effect, so the round cannot end{why}"
    return (*outcomes, session.halt(cause, source=source))


def give_once(
    session: Session, intent: AnyIntent, source: IntentSource = "script"
) -> tuple[Outcome, ...]:
    """Give the intent of a player that is not asked again: the records, with those of the runner's
    pass where it is fruitless in a round."""
    outcomes = session.intend(intent, source=source)
    return (*outcomes, *Patience(0).after(session, outcomes, source))


def played(session: Session, script: Path | None) -> Session:
    """The same session after the intents of a script, where there is one."""
    for line in () if script is None else read_script(read_source(script)):
        give_once(session, line.intent)
    return session


@dataclass(slots=True)
class Patience:
    """Counts the fruitless tries of a turn; ``tries`` are those that may follow the first."""

    tries: int
    _made: int = 0

    def after(
        self, session: Session, outcomes: tuple[Outcome, ...], source: IntentSource
    ) -> tuple[Outcome, ...]:
        """Return the records that the runner adds to those of an intent: none, or a pass.

        Words for an actor whose turn it is not do not count as a try.
        """
        last = outcomes[-1]
        if last.no_match is not None and last.no_match.out_of_turn:
            return ()
        if not last.fruitless or len(session.state.actors) < 2:
            self._made = 0
            return ()
        self._made += 1
        if self._made <= self.tries:
            return ()
        self._made = 0
        return runner_pass(session, source)


@dataclass(frozen=True, slots=True)
class Expecting:
    """An intent with more: the status that a scenario expects, whether the runner gives it for a
    player, and the tokens that a model used for it."""

    intent: AnyIntent
    status: str | None = None
    by: By = "player"
    usage: Usage = UNTOLD


class Player(Protocol):
    """Gives intents, one at a time, looking at the session in between."""

    def __call__(self, session: Session) -> Iterator[AnyIntent | Expecting]: ...


def script_player(lines: tuple[IntentLine, ...]) -> Player:
    """Gives the intents of a script in order."""

    def play(session: Session) -> Iterator[AnyIntent]:
        for line in lines:
            yield line.intent

    return play


def planner_player(goal: str | None, time_limit: float, say: Say | None = None) -> Player:
    """Plans for the seed of the run and executes the plan; no step of it may be refused.

    Raises `Failure` if there is no plan: TW0803 if the goal is unreachable, TW0813 if the time was
    too short to decide.
    """

    def play(session: Session) -> Iterator[AnyIntent]:
        steps, verdict = plan_for_seed(
            session.engine, session.state, goal, time_limit=time_limit, say=say
        )
        if verdict.answer != "winnable":
            raise Failure(_no_plan(verdict.answer))
        for step in steps:
            yield step.command

    return play


def _no_plan(answer: str) -> Diagnostic:
    if answer == "unwinnable":
        hint = "Ask `tw plan WORLD` for the proof."
        return Diagnostic("TW0803", "The planner has no plan: the goal is out of reach.", hint=hint)
    hint = "Give more time with `--time-limit S`, or name one goal with `--goal NAME`."
    return Diagnostic("TW0813", "The planner found no plan within its limits.", hint=hint)


def policy_for(world: OpenWorld, source: Source) -> Policy:
    """The policy of a file; `Failure` (TW0006) where it was made for other rules than a world's."""
    policy = read_policy(source.text, source.name)
    if (policy.world, policy.program) != (world.world.name, world.program.digest):
        what = f"The policy was made for another world or other rules than `{world.world.name}`."
        raise usage(what, "Make it again with `tw plan WORLD --luck certain --policy FILE`.")
    return policy


def policy_player(policy: Policy) -> Player:
    """Give the commands of a policy, until its goal or a state that it does not have."""

    def play(session: Session) -> Iterator[AnyIntent]:
        inner, known = EngineSimulator(session.engine, session.state), NOTHING
        while not inner.won(session.state, policy.goal):
            command = advised(ObservedSimulator(inner), Observed(session.state, known), policy)
            if command is None:
                return
            known = inner.tried(session.state, command, known)
            yield command

    return play


def random_player(session: Session) -> Iterator[AnyIntent]:
    """Legal intents only: uniform over the actions that are legal now (`pass` among them), then
    over their legal arguments. Its draws are keyed like those of a rule, apart from the world's.
    """
    turn = 0
    while True:
        yield random_command(session.engine, session.state, session.seed, turn)
        turn += 1


def random_command(engine: Engine, state: State, seed: int, turn: int) -> Command:
    """The command of the random player on the turn with this number."""
    every = random_choices(engine, state)
    commands = every[uniform(seed, turn, "action", len(every))]
    return commands[uniform(seed, turn, "arguments", len(commands))]


def random_choices(engine: Engine, state: State) -> list[list[Command]]:
    """Return the choices of the random player by action: `pass`, then the legal commands."""
    by_action: dict[str, list[Command]] = {"pass": [PASS]}
    for command in engine.legal(state):
        by_action.setdefault(command.action, []).append(command)
    return list(by_action.values())


def typed_command(world: OpenWorld, state: State, chosen: Random) -> Command | None:
    """A command of the right types, which may be illegal; ``None`` where there is none."""
    actions = list(world.program.actions.values())
    action = chosen.choice(actions) if actions else None
    domains = [] if action is None else _domains(world, state, action.params)
    if action is None or not all(domains):
        return None
    return Command(action.name, tuple(chosen.choice(one) for one in domains))


def _domains(world: OpenWorld, state: State, params: tuple[m.Binder, ...]) -> list[Sequence[Raw]]:
    declared = parameter_domains(world.instance, params)
    return [
        state.live[binder.type.name] if isinstance(binder.type, m.ObjectType) else domain
        for binder, domain in zip(params, declared, strict=True)
    ]


def uniform(seed: int, turn: int, what: str, size: int, who: str = "player random") -> int:
    """A number below ``size``, drawn for a player and a turn."""
    return draw(seed, turn, who, (what,), 0) * size >> 64


_TRIES: Final = 12
"""So many draws for a command that is refused: in a kind world there may be none."""
_NONSENSE: Final = (
    "",
    "xyzzy",
    "take take take",
    "lift the moon",
    "(",
    "pass(",
    "open {the door}",
    "\u202eback to front\u202c",
    "ö" * 80,
    "go\x00on",
    '{"format": "tw-intent/1"}',
)
_KINDS: Final = (
    "illegal",
    "illegal",
    "illegal",
    "illegal",
    "wrong_type",
    "no_such_object",
    "bad_arity",
    "nonsense",
    "out_of_turn",
    "legal",
)


def adversarial_player(session: Session) -> Iterator[AnyIntent]:
    """Yield illegal intents without end; equal seeds give equal intents."""
    turn = 0
    while True:
        yield _Turn(session, turn).intent()
        turn += 1


class _Turn:
    """One turn: each draw of it has a name of its own."""

    def __init__(self, session: Session, turn: int) -> None:
        self._session, self._turn = session, turn
        self._actions = list(session.world.program.actions.values())

    def intent(self) -> AnyIntent:
        match _KINDS[self._draw("kind", len(_KINDS))]:
            case "illegal":
                return self._illegal()
            case "wrong_type":
                return self._call(self._any_object)
            case "no_such_object":
                return self._call(lambda what: "nobody_of_that_name")
            case "bad_arity":
                return self._bad_arity()
            case "nonsense":
                return TypedIntent(_NONSENSE[self._draw("nonsense", len(_NONSENSE))])
            case "out_of_turn":
                return PassIntent(self._any_object("actor") or "nobody")
            case _:
                session = self._session
                return random_command(session.engine, session.state, session.seed, self._turn)

    def _draw(self, what: str, size: int) -> int:
        return uniform(self._session.seed, self._turn, what, size, "player adversarial")

    def _action(self, what: str) -> m.Action | None:
        return self._actions[self._draw(what, len(self._actions))] if self._actions else None

    def _illegal(self) -> AnyIntent:
        """A well-typed command that a require forbids now, if one is found soon."""
        command = PASS
        for attempt in range(_TRIES):
            action = self._action(f"action {attempt}")
            domains = [] if action is None else self._domains(action.params)
            if action is None or not all(domains):
                continue
            args = tuple(
                domain[self._draw(f"argument {attempt} {place}", len(domain))]
                for place, domain in enumerate(domains)
            )
            command = Command(action.name, args)
            if not self._session.why_not(command).allowed:
                break
        return command

    def _domains(self, params: tuple[m.Binder, ...]) -> list[Sequence[Raw]]:
        return _domains(self._session.world, self._session.state, params)

    def _any_object(self, what: str) -> str:
        """The name of any object that ever was, the destroyed ones included."""
        names = self._session.state.names
        return names[self._draw(f"object {what}", len(names))] if names else ""

    def _call(self, argument: Callable[[str], str]) -> AnyIntent:
        """An action with names for arguments, of any types."""
        action = self._action("call")
        if action is None:
            return PASS
        return CallIntent(action.name, {one.name: argument(one.name) for one in action.params})

    def _bad_arity(self) -> AnyIntent:
        action = self._action("arity")
        if action is None:
            return PASS
        name = self._any_object("arity")
        listed = ", ".join([name] * (len(action.params) + 1))
        return TypedIntent(f"{action.name}({listed})")


_LISTED: Final = 4
"""Titles of scenarios in a hint."""


def find_scenario(world: OpenWorld, title: str) -> m.Scenario:
    """The scenario of a world with this title; `Failure` TW0006 if there is none, or if it edits
    the state, so that it is no run that could be replayed."""
    listed = [one for one in world.program.scenarios if one.world == world.world.name]
    found = next((one for one in listed if one.title == title), None)
    if found is None:
        titles = [one.title for one in listed]
        listing = ", ".join(f"`{one}`" for one in titles[:_LISTED])
        told = f"Name one by its title, such as {listing}." if titles else "It has none."
        hint = did_you_mean(title, titles) or told
        _fail(f"World `{world.world.name}` has no scenario `{title}`.", hint)
    for place, step in enumerate(found.steps):
        if isinstance(step, m.Given | m.Replay) or (isinstance(step, m.Seed) and place):
            what = f"Scenario `{title}` changes the state by hand, which a run cannot record."
            _fail(what, "Choose one with `when` steps only, or run it with `tw test`.")
    return found


def _fail(message: str, hint: str) -> NoReturn:
    raise usage(message, hint)


def seed_of(scenario: m.Scenario, seed: int) -> int:
    """The seed that a scenario begins with, else the given one."""
    first = scenario.steps[0] if scenario.steps else None
    return first.seed if isinstance(first, m.Seed) else seed


def scenario_player(scenario: m.Scenario) -> Player:
    """Gives the intents of the `when` steps; those before an actor in a round pass."""

    def play(session: Session) -> Iterator[AnyIntent | Expecting]:
        for place, step in enumerate(scenario.steps):
            if isinstance(step, m.When):
                wanted = _wanted(scenario.steps[place + 1 :])
                for again in range(step.times):
                    yield from _passes(session, step.by)
                    intent = given_in(session, step)
                    last = again == step.times - 1
                    yield Expecting(intent, wanted) if last and wanted else intent
                    yield from _passes(session, None)

    return play


def _wanted(following: Sequence[m.ScenarioStep]) -> str | None:
    """The status that the checks up to the next step ask for."""
    for step in following:
        if isinstance(step, m.When):
            return None
        for check in step.checks if isinstance(step, m.Expect) else ():
            if isinstance(check, m.RefusedCheck):
                return "refused"
            if isinstance(check, m.StatusCheck):
                return check.status
    return None


def _passes(session: Session, actor: str | None) -> Iterator[Expecting]:
    """Those before an actor pass; without one, all that are left in the round."""
    names = [session.state.names[one] for one in session.state.actors]
    going = actor in names and session.actor != actor if actor else session.state.turn > 0
    while going and not session.ended():
        yield Expecting(PASS, by="runner")
        going = session.state.turn > 0 and session.actor != actor


def given_in(session: Session, step: m.When) -> AnyIntent:
    """The intent of a `when` step now; of somebody whose turn it is not, the words, so that they
    are refused."""
    if step.by is not None and step.by != session.actor:
        return TypedIntent(step.source, step.by)
    match step.intent:
        case m.TypedStep(text=text):
            return text
        case m.PassStep():
            return PASS
        case m.CallStep(action=action, args=args):
            numbers, params = session.state.numbers, session.engine.instance.params
            return Command(action, tuple(constant(arg, numbers, params) for arg in args))
        case _:
            assert_never(step.intent)
