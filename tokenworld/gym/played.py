"""What both environments are made of: an opened world, its rules, and what is seen of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from tokenworld.ground import Raw
from tokenworld.gym.axes import grows
from tokenworld.gym.commands import CommandList
from tokenworld.gym.episode import Episode, Rules
from tokenworld.gym.observing import Observe, Observer, one_of
from tokenworld.session import OpenWorld, open_world

__all__ = ["Options", "PlayedWorld"]


class Options(TypedDict, total=False):
    """What an environment can be given beside its world; the defaults stand in `PlayedWorld`."""

    observe: Observe
    goal: str | None
    limit: int
    seed: int
    params: Mapping[str, Raw] | None
    spare_objects: int
    spare_commands: int
    render_mode: str | None


class PlayedWorld:
    """A world that learners play, episode by episode; `WorldEnv` says what the options mean.

    Raises `Failure`: TW0006 for a mode, goal or limit that cannot be, and what `open_world` does.
    """

    def __init__(
        self,
        world: str | OpenWorld,
        *,
        observe: Observe = "text",
        goal: str | None = None,
        limit: int = 1000,
        seed: int = 0,
        params: Mapping[str, Raw] | None = None,
        spare_objects: int = 16,
        spare_commands: int = 128,
        render_mode: str | None = None,
    ) -> None:
        one_of("render_mode", render_mode or "ansi", ("ansi",))
        self.world = open_world(world, params) if isinstance(world, str) else world
        self.render_mode = render_mode
        self._rules = Rules(self.world, goal, limit)
        self._spare = spare_objects
        self._observer = Observer(self.world, observe, spare_objects)
        self._spare_commands = spare_commands if grows(self.world) else 0
        self._seed = seed
        self._episode = Episode(self._rules, seed)

    def _commands(self) -> CommandList:
        """The commands of the world, listed for one learner."""
        return CommandList(self.world.engine, self._spare_commands)

    def render(self) -> str | None:
        """What a player is told now, with ``render_mode="ansi"``; in rounds, who begins the next
        one."""
        return self._observer.text(self._episode.session) if self.render_mode else None
