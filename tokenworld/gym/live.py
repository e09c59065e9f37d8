"""Episodes on one live row: stepped in place by compiled rules, without a session.

They equal those of a session, value by value. Parts that only texts need are computed on demand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokenworld.engine import State
from tokenworld.engine.rows.layout import LATCHED, NAMES, TICK
from tokenworld.engine.rows.runs import EXECUTED, UNDECIDED, Runs
from tokenworld.ground import FRUITLESS, PASS, Command, NoMatch, Status
from tokenworld.gym.episode import CommandList, Ends, Rules, lives, meant, why_not
from tokenworld.gym.spaces import Observer, Sight
from tokenworld.prose.wording import EnglishProse
from tokenworld.session import Session
from tokenworld.session.intents import Resolver
from tokenworld.session.players import give_once
from tokenworld.session.rollouts import draws_in_setup

MOST_MASKS = 256
"""Masks that are kept, by the values that decide them."""


class LiveEpisode:
    """The present episode of a world whose commands depend on no secret; `begin` starts the next
    one.

    ``commands`` numbers its commands, ``observer`` makes the observations. ``keeps``: the intents
    are kept, so that `session` can play them again.
    """

    def __init__(
        self, rules: Rules, commands: CommandList, observer: Observer, *, keeps: bool
    ) -> None:
        self._rules, self._commands, self._observer, self._keeps = rules, commands, observer, keeps
        self.world = world = rules.world
        self._engine, self.varies = world.engine, draws_in_setup(world)
        self.runs = Runs(
            self._engine.instance, self._engine.layout, EnglishProse(),
            output="said", fixed=not self.varies,
        )  # fmt: skip
        self._scored = world.world.score is not None or bool(world.world.awards)
        self._resolver = Resolver(world)
        self._several = len(commands.start.actors) > 1
        self._moves = self.varies or observer.comes_and_goes
        actions = world.program.actions
        self._params = {"": (), **{name: one.params for name, one in actions.items()}}
        self._sight: Sight
        self._masks: dict[Any, tuple[NDArray[np.int8], int]] = {}

    def begin(self, seed: int) -> None:
        """Start an episode."""
        begun = self.runs.started
        if begun and not self.varies:
            self.runs.restart(seed)
        else:
            self.runs.begin(self._engine.start(seed))
        self._commands.begin()
        me, names = self.runs.stepper.me, self.runs.row.S[NAMES]
        self._me = "" if me is None else names[me]
        self._seed, self.steps, self._halted = seed, 0, False
        self.status: Status | str = ""
        self._said: list[str] = []
        self._why: dict[str, Any] = {}
        self._score = self.score()
        self._intents: list[Command | str] = []
        self._session: Session | None = None
        stepper, row = self.runs.stepper, self.runs.row
        if not begun or self._sight.stepper is not stepper:
            self._sight = self._observer.sight(stepper)
            self._masks.clear()
        self._sight.begin(row.S, again=not self.varies)
        self.see = self._sight.seen

    def score(self) -> float:
        """The present score."""
        return self.runs.score() if self._scored else 0.0

    # ---- playing ------------------------------------------------------------------------------

    def give(self, intent: Command | str) -> float:
        """One step, an intent of the actor whose turn it is: its reward."""
        runs, row, before = self.runs, self.runs.row, self._score
        if self._keeps:
            self._intents.append(intent)
        given = self._understood(intent) if self._moves or isinstance(intent, str) else intent
        statuses = runs.intend(given)
        self.steps += 1
        reward = runs.paid() if row.paid else 0.0
        self._why = {}
        if statuses is EXECUTED:
            self.status, self._said = "executed", row.said
        else:
            reward += self._noted(given, statuses)
        self._sight.follow(row)
        if self._scored:
            self._score = self.score()
        return reward if self._rules.paid else self._score - before

    def step(self, intent: Command | str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One step, and its result as `gymnasium.Env.step` returns it."""
        reward = self.give(intent)
        terminated, truncated = self.ends
        return self.see(), reward, terminated, truncated, self.info()

    def _noted(self, given: Command | NoMatch, statuses: tuple[Status, ...]) -> float:
        """Note the result of an intent beyond a plain tick; return its reward. The runner passes
        for an actor whose intent failed in a round, and halts if even that fails."""
        runs, status = self.runs, statuses[-1]
        self.status = self._own() if runs.records else status
        self._said = runs.said()
        self._halted = self._halted or status == "halted"
        outcomes = runs.outcomes() if self.status in FRUITLESS else ()
        later = isinstance(given, NoMatch) and given.out_of_turn
        paid = 0.0
        if self._several and status in FRUITLESS and not later:
            self._sight.follow(runs.row)
            passed = runs.intend(PASS, by="runner")
            paid = runs.paid()
            self._said += runs.said()
            outcomes += runs.outcomes() if passed[-1] in FRUITLESS else ()
            self._halted = self._halted or passed[-1] in FRUITLESS
        self._why = why_not(map(self._engine.known.outcome, outcomes))
        return paid

    def _own(self) -> str:
        """The status of the learner's own intent, also if time added records."""
        own = (one.status for one in reversed(self.runs.records) if one.by == "player")
        return next(own, "")

    def _understood(self, intent: Command | str) -> Command | NoMatch:
        """Return the command of an intent; one about destroyed objects gives a `NoMatch`."""
        if isinstance(intent, Command):
            S, slots = self.runs.row.S, self.runs.stepper.slots.live
            params = self._params[intent.action]
            if lives(params, intent.args, {name: S[slot] for name, slot in slots.items()}):
                return intent
        state = self.state
        return self._resolver.resolve(state, meant(state, intent))

    # ---- asking -------------------------------------------------------------------------------

    @property
    def ends(self) -> Ends:
        """Return whether the episode has terminated, and whether it was truncated."""
        runs, steps = self.runs, self.steps
        if not (runs.row.S[LATCHED] or self._halted or self._rules.live):
            return False, steps >= self._rules.limit
        return self._rules.ends(runs.endings(), over=runs.over, halted=self._halted, steps=steps)

    def mask(self) -> NDArray[np.int8]:
        """Return 1 for each command that is executable now, by its number."""
        runs = self.runs
        key = runs.decisive()
        known = None if key is UNDECIDED else self._masks.get(key)
        if known is None:
            mask = self._commands.mask_of(runs.legal())
            mask[0] = not runs.over
            if len(self._masks) >= MOST_MASKS:
                self._masks.clear()
            known = self._masks[key] = mask, self._commands.left_out
        mask, self._commands.left_out = known
        return mask.copy()

    def info(self) -> dict[str, Any]:
        """The ``info`` of the present observation; see `info_of`."""
        S = self.runs.row.S
        found = {
            "tick": S[TICK],
            "score": self._score,
            "actor": self._actor(S) if self._several else self._me,
            "endings": list(self.runs.endings()) if S[LATCHED] or self._rules.live else [],
            "status": self.status,
            "said": self._said,
            "action_mask": self.mask(),
            "left_out": self._commands.left_out,
        }
        return found | self._why if self._why else found

    def _actor(self, S: list[Any]) -> str:
        """The name of whose turn it is."""
        acting = self.runs.stepper.slots.acting(S)
        return "" if acting is None else str(S[NAMES][acting])

    @property
    def state(self) -> State:
        """The present state."""
        return self.runs.state()

    @property
    def session(self) -> Session:
        """A session in which the intents that were kept have been played again."""
        if self._session is None:
            self._session = Session(self.world, self._seed, player="gym")
            self._session.remembers = False
        for intent in self._intents:
            give_once(self._session, meant(self._session.state, intent), "human")
        self._intents.clear()
        return self._session
