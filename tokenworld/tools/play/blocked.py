"""What stood in the way of a recorded command, at the moment it was refused."""

from __future__ import annotations

from tokenworld.ground import Outcome
from tokenworld.session import Session
from tokenworld.session.obstacles import Obstacle, command_of, obstacles

__all__ = ["in_the_way"]


def in_the_way(session: Session, outcome: Outcome) -> dict[int, Obstacle]:
    """The failed requires of a refused record of this session; nothing for other records."""
    if outcome.status != "refused":
        return {}
    for number, moment in enumerate(session.moments):
        if any(one is outcome for one in moment.outcomes):
            # the last refusal left the present state as it is: what helps there helps now
            last = moment is session.moments[-1]
            past = session.moments if last else session.moments[:number]
            command = command_of(session, moment, outcome)
            return {} if command is None else obstacles(session, command, past)
    return {}
