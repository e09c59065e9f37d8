"""`RoundsEnv`: a world with turns as a PettingZoo environment, one round a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from tokenworld.diagnostics import usage
from tokenworld.ground import PASS, Command
from tokenworld.gym.environment import call_number, calls_of, no_command
from tokenworld.gym.episode import Episode, Options, PlayedWorld, Round, info_of, seen_by
from tokenworld.session import OpenWorld


class RoundsEnv(PlayedWorld, ParallelEnv):  # type: ignore[misc]
    """A world whose actors act in rounds, each of them an agent; a step is a round.

    Agents have the names of the actors. Their commands are executed in the order of the turns, each
    in the state after the ones before: a command that the mask allowed may be refused, and ``info``
    has the reason. After a command that takes no time the agent passes. There is one reward for
    all, that of the whole round. An agent whose object is destroyed has terminated. Options are
    those of `WorldEnv`; commands are listed ones.

    Raises `Failure` (TW0006) for a world in which fewer than two take turns.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "tokenworld_rounds_v0", "render_modes": ["ansi"]}

    def __init__(self, world: str | OpenWorld, **options: Unpack[Options]) -> None:
        super().__init__(world, **options)
        self._next = self._seed
        self._episode = Episode(self._rules, self._seed)
        state = self._episode.session.state
        if len(state.actors) < 2:
            what = f"In world `{self.world.world.name}` fewer than two actors take turns."
            raise usage(what, "Use `WorldEnv`, or write `turns a, b` in the world.")
        self.possible_agents = [state.names[one] for one in state.actors]
        self.agents: list[str] = []
        names = self.possible_agents
        self._lists = {name: self._commands() for name in names}
        self._sights = dict.fromkeys(names, self._observer.space)
        self._acts = {name: spaces.Discrete(one.size) for name, one in self._lists.items()}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The observation space of an agent, equal for all."""
        return self._sights[agent]

    def action_space(self, agent: str) -> spaces.Discrete[Any]:
        """The numbers of an agent's commands."""
        return self._acts[agent]

    # ---- playing ------------------------------------------------------------------------------

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """A new episode: the world with this seed, else with one drawn from the seeds before."""
        chosen = self._next if seed is None else seed
        self._episode = Episode(self._rules, chosen, explain=self._explain)
        self._next = int(np.random.default_rng(chosen).integers(2**31))
        self.agents = list(self.possible_agents)
        for one in self._lists.values():
            one.begin()
        return self._seen(self.agents, Round((), {}, 0.0))

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[
        dict[str, Any],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """A round. Agents without an action pass; every result has an entry for each agent that
        took part, also for those that have gone with this round."""
        episode, took_part = self._episode, self.agents
        commands = {name: self._command(name, int(one)) for name, one in actions.items()}
        done = episode.round(commands)
        over, cut = episode.ends
        terminated = {name: over or not self._lives(name) for name in took_part}
        truncated = {name: cut and not terminated[name] for name in took_part}
        self.agents = [one for one in took_part if not (terminated[one] or truncated[one])]
        seen, infos = self._seen(took_part, done)
        return seen, dict.fromkeys(took_part, done.reward), terminated, truncated, infos

    def _command(self, agent: str, number: int) -> Command | str:
        return self._lists[agent].command(number) or no_command(number)

    def _lives(self, agent: str) -> bool:
        state = self._episode.session.state
        return state.alive(state.numbers[agent])

    def _seen(
        self, agents: list[str], done: Round
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """The observation and ``info`` of each agent, as if it were his turn."""
        seen, infos = {}, {}
        for name in agents:
            session = self._episode.session
            actor = session.state.numbers[name]
            lives = self._lives(name)
            view = seen_by(session, actor, done.outcomes) if lives else session
            possible = (PASS, *session.known.commands(view.state)) if lives else ()
            seen[name] = self._observer.see(view)
            infos[name] = info_of(self._episode, done.given.get(name, ())) | {
                "actor": name,
                "said": [line for one in done.outcomes for line in one.said],
                "action_mask": self._lists[name].mask(() if session.ended() else possible),
            }
        return seen, infos

    def render(self) -> str | None:
        """The text for the agent who begins the next round, with ``render_mode="ansi"``."""
        return self._observer.text(self._episode.session) if self.render_mode else None

    def close(self) -> None:
        """Nothing is held open."""

    # ---- asking -------------------------------------------------------------------------------

    def calls(self, agent: str) -> tuple[str, ...]:
        """The commands of an agent as calls, in the order of their numbers, `pass` first."""
        return calls_of(self._episode.state, self._lists[agent], self.world.engine)

    def index(self, agent: str, call: str) -> int:
        """The number of a command of an agent; `Failure` (TW0006) if it has none."""
        return call_number(self.calls(agent), call)
