"""``tw play``: on a screen for people; without a terminal, the plan is played and printed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from tokenworld.diagnostics import Failure, usage
from tokenworld.planning.verdict import PlanStep, Verdict
from tokenworld.play import behind_a_page
from tokenworld.session import Session, open_world, plan_for_seed
from tokenworld.session.refusals.explained import Explainer
from tokenworld.session.solving import check_goal
from tokenworld.store.log import RunStore
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_INTERRUPTED, EXIT_NEGATIVE, EXIT_OK, Output, unbroken
from tokenworld.verbs.plan.luck import told_luck
from tokenworld.verbs.plan.verb import show_verdict
from tokenworld.verbs.runs.run import show_outcome


def play_asked(
    target: opt.MaybeWorld,
    out: Output,
    *,
    run: Annotated[str | None, "Look at this stored run, record by record."] = None,
    plan: Annotated[bool, "Plan first; the plan can be stepped through."] = False,
    goal: opt.Goal = None,
    time_limit: opt.Limit = 60.0,
    operator: opt.Operator = False,
    tour: Annotated[bool, "Begin with the tour, as the first game does."] = False,
    seed: opt.Seed = 0,
    store: opt.Store = None,
    web: Annotated[bool, "Play in a browser, at an address of this machine."] = False,
    host: Annotated[str | None, "With `--web`: the address to listen on (127.0.0.1)."] = None,
    port: Annotated[int | None, "With `--web`: the port (8000); 0: any that is free."] = None,
) -> int:
    """Play a world here or on a page, or watch a stored run."""
    page = web or host is not None or port is not None
    if target is None or run is not None:
        given = target is not None or page or plan or goal is not None or seed or operator or tour
        return watch(run, out, store, alone=not given)
    if page:
        from tokenworld.play.web.verb import WebOptions, serve_play

        played = {"--plan": plan, "--goal": goal, "--time-limit": time_limit, "--seed": seed,
                  "--store": store, "--operator": operator, "--tour": tour}  # fmt: skip
        return serve_play(target, out, WebOptions(web, host, port), played, seed)
    return play(target, out, seed=seed, store=store, planned=plan, time_limit=time_limit,
                goal=goal, operator=operator, tour=tour)  # fmt: skip


def play(
    target: str,
    out: Output,
    *,
    seed: int,
    store: Path | None,
    planned: bool,
    time_limit: float,
    goal: str | None,
    operator: bool = False,
    tour: bool = False,
) -> int:
    """Play a world; with ``planned`` a plan is made first and can be stepped through.

    On the screen it begins with the ``tour``. The first game in a terminal does so by itself: a
    page does not, as others than the user may see it.
    """
    world = open_world(target)
    check_goal(world, goal)
    world.engine.start(seed)  # a world that cannot start leaves no store behind
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    on_screen = (terminal or behind_a_page()) and not out.as_json
    with RunStore.open(store) as opened:
        player = "human" if on_screen else "planner"
        session = Session(world, seed, store=opened, player=player, operator=operator)
        try:
            steps, verdict = _planned(session, goal, time_limit, out, planned or not on_screen)
            if on_screen:
                code = _screen(session, steps, verdict, tour)
                session.finish("left")
                return code
            return _told(session, steps, verdict, goal, out)
        except KeyboardInterrupt:
            session.finish("interrupted")
            out.json({"schema_version": 1, "ok": False, "interrupted": True})
            return EXIT_INTERRUPTED
        except Failure:
            session.finish("failed")
            raise


def watch(reference: str | None, out: Output, store: Path | None, *, alone: bool) -> int:
    """A stored run on the screen; without a terminal, as `tw runs show` tells it.

    Raises `Failure` TW0006 where none is named, or not ``alone``: beside options of a new game.
    """
    if reference is None:
        hint = "Name a file as in `tw play world.tw`, or a stored run by `--run`."
        raise usage("There is no world and no run to play.", hint)
    if not alone:
        hint = "Leave the world and the options of a new game out; `--store` may be named."
        raise usage("`--run` shows a stored run alone.", hint)
    on_screen = (sys.stdin.isatty() and sys.stdout.isatty()) or behind_a_page()
    if not on_screen or out.as_json:
        from tokenworld.verbs.runs.listing import show

        return show(reference, out, store=store)
    from tokenworld.play import watch as watch_on_screen

    with RunStore.open(store) as opened:
        return watch_on_screen(opened, reference)


def _planned(
    session: Session, goal: str | None, time_limit: float, out: Output, wanted: bool
) -> tuple[tuple[PlanStep, ...], Verdict | None]:
    if not wanted:
        return (), None
    out.progress(f"planning {session.world.world.title}")
    return plan_for_seed(
        session.engine, session.state, goal, time_limit=time_limit, say=out.progress
    )


def _screen(
    session: Session, steps: tuple[PlanStep, ...], verdict: Verdict | None, tour: bool
) -> int:
    from tokenworld.play import play as play_on_screen

    wanted = True if tour else False if behind_a_page() else None
    return play_on_screen(session, plan=steps, plan_verdict=verdict, tour=wanted)


def _told(
    session: Session,
    steps: tuple[PlanStep, ...],
    verdict: Verdict | None,
    goal: str | None,
    out: Output,
) -> int:
    """Play the plan tick by tick under the run's own seed and say how it ended."""
    assert verdict is not None
    verdict = told_luck(session.engine, session.state, verdict)
    show_verdict(verdict, out)
    if verdict.answer != "winnable":
        session.finish("no plan")
        out.json({**verdict.to_json(), "played": False})
        return verdict.exit_code
    if not verdict.wins_with_seed:
        out.line("it is planned anew where the luck of this seed differs")
    out.line("")
    why = Explainer(session)
    for step in steps:
        with unbroken():
            outcomes = session.intend(step.command, source="planner")
        for outcome in outcomes:
            show_outcome(session.moments[-1].asked, outcome, out, why)
    session.finish("plan played")
    return _ending(session, verdict, goal, len(steps), out)


def _ending(session: Session, verdict: Verdict, goal: str | None, steps: int, out: Output) -> int:
    assert session.recording is not None
    won, slug = session.won(goal), session.recording.slug
    reached = ", ".join(session.latched) or "no ending"
    final = session.engine.hash(session.state)
    out.line("")
    said = "Goal reached" if won else "Goal not reached"
    out.line(f"{said}: {reached}, after {session.tick} ticks, score "
             f"{session.engine.score(session.state)}.")  # fmt: skip
    out.line(f"run {slug}, seed {session.seed}, state {final}")
    out.json(
        {
            **verdict.to_json(),
            "played": True,
            "won": won,
            "endings": list(session.latched),
            "steps": steps,
            "run": slug,
            "state_hash": final,
        }
    )
    return EXIT_OK if won else EXIT_NEGATIVE
