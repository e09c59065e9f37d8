"""Why a goal of an open world is out of reach, and what would change that."""

from __future__ import annotations

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.engine.delta import Breach
from tokenworld.ground import Instance, instantiate
from tokenworld.model import Body, Program
from tokenworld.planning import Verdict
from tokenworld.planning.proof.core import Variants
from tokenworld.planning.proof.unwinnable import Explanation, explain
from tokenworld.prose import EnglishProse
from tokenworld.session.loading import OpenWorld
from tokenworld.session.solving import was_explained

__all__ = ["explain_unwinnable"]


def explain_unwinnable(
    world: OpenWorld, state: State, verdict: Verdict, *, seconds: float, full: bool
) -> tuple[Explanation, ...]:
    """Explain each goal line that an *unwinnable* verdict is about, in written order.

    ``seconds`` are shared by all of them. Repairs are tried from the start state of ``state``'s
    seed. Empty for any other verdict.
    """
    if verdict.answer != "unwinnable":
        return ()
    asked = [
        line.name for line in world.world.goals if verdict.goal is None or line.name == verdict.goal
    ]
    simulator = EngineSimulator(world.engine, state)

    def remake(program: Program) -> Instance:
        return instantiate(program, program.worlds[world.world.name], world.instance.params)

    def rebuild(program: Program, body: Body) -> tuple[EngineSimulator, State]:
        engine = Engine(remake(program), EnglishProse())
        start = engine.start(state.seed)
        if body:
            try:
                start = engine.edit(start, body)
            except Breach as breach:  # such a start is none: a box in itself
                raise Failure(Diagnostic(breach.code, breach.message, world.world.span)) from None
        return EngineSimulator(engine, start), start

    quote = {source.name: source.text for source in world.loaded.sources}
    states = None if verdict.proof is None else verdict.proof.states
    relaxed = full or len(asked) > 1 or not was_explained(verdict) or _is_hopeless(verdict)
    variants = Variants(quote, remake, rebuild, states, relaxed)
    return tuple(
        explain(
            simulator,
            state,
            name,
            variants,
            seconds=seconds / len(asked),
            full=full,
        )
        for name in asked
    )


def _is_hopeless(verdict: Verdict) -> bool:
    """Whether it was found that the goal is out of reach even if nothing were ever undone."""
    return any(note.code == "TW0803" for note in verdict.notes)
