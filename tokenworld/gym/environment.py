"""`WorldEnv`: a world as a gymnasium environment, one intent a step."""

from __future__ import annotations

from typing import Any, Literal, Unpack, get_args

import gymnasium
from gymnasium import spaces

from tokenworld.diagnostics import did_you_mean, usage
from tokenworld.engine import Engine, State
from tokenworld.ground import PASS, Command, Outcome
from tokenworld.gym.episode import CommandList, Episode, Options, PlayedWorld, info_of
from tokenworld.gym.fields import left_out
from tokenworld.gym.live import LiveEpisode
from tokenworld.gym.spaces import Typed, one_of
from tokenworld.session import OpenWorld
from tokenworld.session.refusals.explained import Explanation, explained, with_way

Act = Literal["listed", "typed"]


class WorldEnv(PlayedWorld, gymnasium.Env[Any, Any]):
    """A world that one learner plays; with several actors it gives the intents of them all in turn.

    ``world`` is ``FILE[:world]``, the name of a bundled world or an opened one, ``params`` sets its
    params. ``observe``: ``text``, ``symbolic`` (one vector) or ``dict`` (arrays by name). ``act``:
    ``listed`` (a number in `calls`, with ``info["action_mask"]``) or ``typed`` (words, with
    ``info["commands"]``). An episode terminates with a loss or a goal (with ``goal``), and is
    truncated by a `stop` line or after ``limit`` steps. The reward is that of the step's ticks, in
    worlds that pay none the change of the score. ``seed`` is that of the first `reset` which
    names none. ``spare_objects`` and ``spare_commands`` are places for what play creates. With
    ``explain`` a refusal in ``info`` also says since when and by which rule a require fails; steps
    are slower.

    Raises `Failure`: TW0006 for a mode, goal or limit that cannot be, and what `open_world` does.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": ["ansi"],
        "render_fps": 4,
    }

    def __init__(
        self,
        world: str | OpenWorld,
        *,
        act: Act = "listed",
        **options: Unpack[Options],
    ) -> None:
        one_of("act", act, get_args(Act))
        super().__init__(world, **options)
        self._act = act
        self._list = self._commands()
        self.observation_space = self._observer.space
        listed = act == "listed"
        self.action_space = spaces.Discrete(self._list.size) if listed else Typed(self.world)
        self._first: int | None = self._seed
        words = not listed or self._observer.mode == "text"
        self._live: LiveEpisode | None = None
        if not words and self.world.engine.known.lists_all and not self._explain:
            keeps = self.render_mode is not None
            self._live = LiveEpisode(self._rules, self._list, self._observer, keeps=keeps)
        self._begin(self._seed)

    # ---- playing ------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """A new episode: the world with this seed, else with one drawn from the seeds before."""
        chosen = self._first if seed is None else seed
        super().reset(seed=chosen)
        self._first = None
        if chosen is None:
            chosen = int(self.np_random.integers(2**31))
        self._begin(chosen)
        if self._live is not None:
            return self._live.see(), {**self._live.info(), "seed": chosen}
        return self._observer.see(self._played.session), {**self._info(()), "seed": chosen}

    def _begin(self, seed: int) -> None:
        """Start an episode: on one live row, or in a session if words are wanted or the mask
        depends on secrets."""
        if self._live is not None:
            self._live.begin(seed)
        else:
            self._list.begin()
            self._played = Episode(self._rules, seed, explain=self._explain)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Give one intent; return observation, reward, ends, and ``info`` with the refusal."""
        if self._live is not None:
            return self._live.step(self._list.command(int(action)) or no_command(int(action)))
        episode = self._played
        outcomes, reward = episode.give(self._intent(action))
        seen, info = self._observer.see(episode.session), self._info(outcomes)
        return seen, reward, *episode.ends, info

    def _intent(self, action: Any) -> Command | str:
        if self._act == "typed":
            return str(action)
        return self._list.command(int(action)) or no_command(int(action))

    def _info(self, outcomes: tuple[Outcome, ...]) -> dict[str, Any]:
        session, info = self._played.session, info_of(self._played, outcomes)
        if self._act == "typed":
            info["commands"] = [*dict.fromkeys(one.text for one in session.legal()), "pass"]
            return info
        possible = () if session.ended() else (PASS, *session.known.commands(session.state))
        info["action_mask"] = self._list.mask(possible)
        info["left_out"] = self._list.left_out
        return info

    def render(self) -> str | None:
        """The text that a player sees now, with ``render_mode="ansi"``."""
        return self._observer.text(self.episode.session) if self.render_mode else None

    # ---- asking -------------------------------------------------------------------------------

    def why(self, command: str, *, seconds: float = 0.0) -> Explanation:
        """Explain a command, in words or as a call, without giving it. The way that makes a refused
        one possible is looked for during ``seconds``. Raises `Failure` (TW0006) without
        ``explain``."""
        if not self._explain:
            raise usage("This environment keeps no past.", "Make it with `explain=True`.")
        session = self._played.session
        found = explained(session, command)
        return with_way(session, found, seconds=seconds) if seconds > 0 else found

    @property
    def calls(self) -> tuple[str, ...]:
        """The listed commands as calls, in the order of their numbers, `pass` first.

        The commands that took a spare place in this episode follow those of the start.
        """
        return calls_of(self.episode.state, self._list, self.world.engine)

    @property
    def episode(self) -> Episode | LiveEpisode:
        """The present episode."""
        return self._played if self._live is None else self._live

    def index(self, call: str) -> int:
        """The number of a command, written as in `calls`; `Failure` (TW0006) if it has none."""
        return call_number(self.calls, call)

    @property
    def unlisted(self) -> tuple[str, ...]:
        """Actions with too many arguments to list: they can only be typed."""
        return self._list.unlisted

    @property
    def unseen(self) -> tuple[str, ...]:
        """The fluents that may change but are not in `symbolic` and `dict`: texts, and very large
        relations."""
        return left_out(self.world, self._spare)


def calls_of(now: State, commands: CommandList, engine: Engine) -> tuple[str, ...]:
    """The commands that have a number in a state, as calls."""

    def call(command: Command) -> str:
        known = all(not isinstance(one, int) or one < len(now.names) for one in command.args)
        return engine.call(now if known else commands.start, command)  # it may be of another seed

    return tuple(call(command) for command in commands.numbered())


def no_command(number: int) -> str:
    """The intent for a place without a command: words that no world understands."""
    return f"nothing_at_{number}"


def call_number(calls: tuple[str, ...], call: str) -> int:
    """The number of a call; `Failure` (TW0006) if it is not listed."""
    if call not in calls:
        hint = did_you_mean(call, calls) or "`calls` lists the commands."
        raise usage(f"`{call}` is not a listed command.", hint)
    return calls.index(call)


def register() -> None:
    """Let `gymnasium.make("tokenworld/World-v0", world=…)` make a `WorldEnv`, and
    `gymnasium.make_vec` a `WorldVectorEnv`."""
    if "tokenworld/World-v0" not in gymnasium.registry:
        gymnasium.register(
            "tokenworld/World-v0",
            "tokenworld.gym.environment:WorldEnv",
            vector_entry_point="tokenworld.gym.vector:WorldVectorEnv",
        )
