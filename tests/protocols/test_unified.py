"""Token World as an engine of unified-planning, on problems that unified-planning builds."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("unified_planning", reason="needs the extra `plan`")

from unified_planning.engines import AnytimeGuarantee
from unified_planning.engines import PlanGenerationResultStatus as Status
from unified_planning.engines.factory import DEFAULT_ENGINES
from unified_planning.environment import Environment
from unified_planning.shortcuts import (
    GE,
    And,
    AnytimePlanner,
    BoolType,
    InstantaneousAction,
    Int,
    IntType,
    MinimizeActionCosts,
    MinimizeSequentialPlanLength,
    Not,
    OneshotPlanner,
    OptimalityGuarantee,
    PlanValidator,
    Problem,
    UserType,
    get_environment,
)

from tokenworld.protocols.unified import register


@pytest.fixture(autouse=True)
def engines() -> None:
    register()
    get_environment().credits_stream = None


def rooms(*, linked: bool = True) -> Problem:
    """A robot goes from a to c: straight for 5, or by way of b for 2."""
    place = UserType("Place")
    problem = Problem("rooms")
    at = problem.add_fluent("at", BoolType(), default_initial_value=False, p=place)
    road = problem.add_fluent("road", BoolType(), default_initial_value=False, p=place, q=place)
    far = problem.add_fluent("far", IntType(), default_initial_value=0, p=place, q=place)
    go = InstantaneousAction("Go-To", p=place, q=place)
    go.add_precondition(at(go.p))
    go.add_precondition(road(go.p, go.q))
    go.add_effect(at(go.p), False)
    go.add_effect(at(go.q), True)
    problem.add_action(go)
    a, b, c = (problem.add_object(name, place) for name in ("A", "b", "C"))
    problem.set_initial_value(at(a), True)
    for one, other, length in ((a, b, 1), (b, c, 1), (a, c, 5)):
        problem.set_initial_value(road(one, other), linked or other != c)
        problem.set_initial_value(far(one, other), length)
    problem.add_goal(at(c))
    problem.add_quality_metric(MinimizeActionCosts({go: far(go.p, go.q)}))
    return problem


def valid(problem: Problem, plan: Any) -> bool:
    with PlanValidator(name="sequential_plan_validator") as validator:
        return bool(validator.validate(problem, plan))


def test_a_plan_is_found() -> None:
    problem = rooms()
    with OneshotPlanner(name="tokenworld") as planner:
        result = planner.solve(problem, timeout=60)
    assert result.status in (Status.SOLVED_SATISFICING, Status.SOLVED_OPTIMALLY)
    assert result.engine_name == "Token World"
    assert valid(problem, result.plan)


def test_an_optimal_plan_is_called_so() -> None:
    problem = rooms()
    with OneshotPlanner(name="tokenworld-opt") as planner:
        result = planner.solve(problem, timeout=60)
    assert result.status is Status.SOLVED_OPTIMALLY
    assert [str(one) for one in result.plan.actions] == ["Go-To(A, b)", "Go-To(b, C)"]


@pytest.mark.slow
def test_the_length_of_a_plan_is_a_metric() -> None:
    problem = rooms()
    problem.clear_quality_metrics()
    problem.add_quality_metric(MinimizeSequentialPlanLength())
    with OneshotPlanner(name="tokenworld-opt") as planner:
        result = planner.solve(problem, timeout=60)
    assert (result.status, len(result.plan.actions)) == (Status.SOLVED_OPTIMALLY, 1)


def test_what_has_no_plan_is_proved() -> None:
    with OneshotPlanner(name="tokenworld") as planner:
        result = planner.solve(rooms(linked=False), timeout=60)
    assert (result.status, result.plan) == (Status.UNSOLVABLE_PROVEN, None)


def counter(least: int) -> Problem:
    """A number without a bound that is doubled until it is ``least``."""
    problem = Problem("counter")
    n = problem.add_fluent("n", IntType(), default_initial_value=1)
    done = problem.add_fluent("done", BoolType(), default_initial_value=False)
    double = InstantaneousAction("double")
    double.add_increase_effect(n, n)
    stop = InstantaneousAction("stop")
    stop.add_precondition(And(GE(n, least), Not(GE(n, least + 1))))
    stop.add_effect(done, True)
    for action in (double, stop):
        problem.add_action(action)
    problem.add_goal(done)
    return problem


@pytest.mark.slow
def test_numbers_are_planned_with() -> None:
    problem = counter(64)
    with OneshotPlanner(name="tokenworld") as planner:
        result = planner.solve(problem, timeout=60)
    assert [one.action.name for one in result.plan.actions] == ["double"] * 6 + ["stop"]
    assert valid(problem, result.plan)


def test_no_proof_is_claimed_where_time_ran_out() -> None:
    """There is no plan, for all values are even, and no end of them."""
    problem = counter(65)
    n = problem.fluent("n")
    more = InstantaneousAction("more")
    more.add_increase_effect(n, 2)
    problem.add_action(more)
    problem.set_initial_value(n, 2)
    with OneshotPlanner(name="tokenworld") as planner:
        result = planner.solve(problem, timeout=2.5)
    assert (result.status, result.plan) == (Status.TIMEOUT, None)


def test_a_problem_that_its_pddl_cannot_say_is_not_taken() -> None:
    problem = Problem("bounded")
    n = problem.add_fluent("n", IntType(0, 3), default_initial_value=0)
    problem.add_goal(GE(n, Int(1)))
    factory = get_environment().factory
    assert not factory.engine("tokenworld").supports(problem.kind)
    assert factory.engine("tokenworld").supports(rooms().kind)


@pytest.mark.slow
def test_options_reach_the_planner() -> None:
    with OneshotPlanner(name="tokenworld", params={"options": ["--engine", "nobody"]}) as planner:
        result = planner.solve(rooms(), timeout=60)
    assert result.status is Status.UNSUPPORTED_PROBLEM
    assert "There is no engine `nobody`" in str(result.log_messages)


def test_the_factory_chooses_by_guarantee_and_prefers_others() -> None:
    other = Environment()
    register(other)
    register(other)
    assert other.factory.engines.count("tokenworld") == 1
    order = other.factory.preference_list
    assert all(order.index(one) < order.index("tokenworld") for one in DEFAULT_ENGINES
               if one in order)  # fmt: skip
    other.factory.preference_list = ["tokenworld", "tokenworld-opt"]
    chosen = other.factory.OneshotPlanner(
        problem_kind=rooms().kind, optimality_guarantee=OptimalityGuarantee.SOLVED_OPTIMALLY
    )
    assert chosen.name == "Token World (optimal)"


# unified-planning leaves the pipes of an anytime planner open.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_ever_better_plans_are_passed_on() -> None:
    """Each is valid and better than the one before; the last result says what is proved of it."""
    problem = rooms()
    with AnytimePlanner(name="tokenworld") as planner:
        results = list(planner.get_solutions(problem, timeout=60))
    *better, last = results
    assert {one.status for one in better} == {Status.INTERMEDIATE}
    assert last.status == Status.SOLVED_OPTIMALLY
    assert all(valid(problem, one.plan) for one in results)
    assert len(last.plan.actions) == 2
    assert last.plan == better[-1].plan
    assert planner.ensures(AnytimeGuarantee.INCREASING_QUALITY)
    assert not planner.ensures(AnytimeGuarantee.OPTIMAL_PLANS)
