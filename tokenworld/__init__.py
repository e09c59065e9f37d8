"""Token World: worlds written in `.tw`, checked, played and planned.

    from tokenworld import Session
    session = Session.open("cellar")
    (outcome,) = session.intend("open oak chest")
    outcome.status, outcome.refusal.text

The names in `__all__` are imported on first use: `import tokenworld` costs nothing, and `tw check`
never pays for the planner or the store.

**The vocabulary map.** One thing has one name in each package. The packages, in their order:

    diagnostics -> syntax -> model -> check -> core -> ground -> engine | planning | prose | store
                -> session -> verbs -> play | gym -> cli

| `.tw`              | `syntax`         | `model`         | `engine`            | PDDL            |
|--------------------|------------------|-----------------|---------------------|-----------------|
| `action`           | `ActionDecl`     | `Action`        | `ActionCode`        | `:action`       |
| `require … else`   | `Require`        | `Require`       | `Refusal`           | conjunct of     |
|                    |                  |                 |                     | `:precondition` |
| changes of a body  | `Block`          | `Body`          | `Delta` of `Write`s | `:effect`       |
| `law`, `phase`     | `LawDecl`,       | `Law`, `Phase`  | `LawCode`           | `:action` of    |
|                    | `PhaseDecl`      |                 |                     | the phase       |
| attribute,         | `AttributeDecl`, | `Fluent`        | `Column`            | predicate or    |
| relation …         | `RelationDecl` … |                 |                     | function        |
| `derive`           | `DeriveDecl`     | `Derive`        | a function          | inlined, or     |
|                    |                  |                 |                     | `:derived`      |
| `world`            | `WorldDecl`      | `World`         | `State`             | `:objects`,     |
|                    |                  |                 |                     | `:init`         |
| `goal`, `lose`     | `Ending`         | `Ending`        | `Endings`           | `:goal`         |
| `chance`, `pick`   | `Chance`, `Pick` | `Chance`,       | `Luck`,             | one action for  |
|                    |                  | `Pick`          | `LuckyDraw`         | each outcome    |
| `invariant`,       | `InvariantDecl`, | `Invariant`,    | `Guards`            | left out        |
| `conserve`         | `ConserveDecl`   | `Conserve`      |                     |                 |
| `scenario`         | `ScenarioDecl`   | `Scenario`      | (`session`)         | left out        |

- **An action.** `ActionDecl` (syntax) → `Action` (model) → with arguments a `Command`, the ground
  action (ground) → `ActionCode`, its generated functions (engine) → `Operator` on the way to SAS+,
  or `PddlAction` (planning) → `:action`, which unified-planning reads as `InstantaneousAction`.
- **A law.** `LawDecl` → `Law` → `LawCode`, run in its `Phase` by `Stepper` → `Operator` of the
  phase, or `:action` of the phase.
- **A refusal.** `require … else` → `Require` → `RequireReport` with the values that it read →
  `Refusal` → `Outcome` with the status `refused` → `TickRecord` in the store. For a planner: a
  conjunct of the `:precondition`.
- **A start.** `World` and its `ObjectDecl`s → `Instance`, objects numbered and params fixed
  (ground) → `Layout` and `State` (engine) → initial values of `Variable`s (planning), or `:init`.
- **A tick.** Words → `TypedIntent` (prose) → `Command` or `NoMatch` → `Record` of
  `RowStepper.tick` → `Outcome` → `Moment` of a `Session`. A plan: the `PlanStep`s of a `Verdict`.

To read on: `check.PASSES`, then `tw explain --stages`, then
`engine.rows.stepper.RowStepper.tick`. A plan becomes a verdict in `planning.referee`.
"""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = [
    "Diagnostic",
    "Failure",
    "Outcome",
    "Rollout",
    "RunStore",
    "Session",
    "Source",
    "Verdict",
    "__version__",
    "check_file",
    "check_text",
    "load_program",
    "open_world",
    "rollout",
    "run_scenario",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tokenworld.diagnostics import Diagnostic, Failure, Source
    from tokenworld.ground import Outcome
    from tokenworld.planning import Verdict
    from tokenworld.session import (
        Rollout,
        Session,
        check_file,
        check_text,
        load_program,
        open_world,
        rollout,
        run_scenario,
    )
    from tokenworld.store import RunStore

_HOMES = {
    "Diagnostic": "diagnostics",
    "Failure": "diagnostics",
    "Outcome": "ground",
    "RunStore": "store",
    "Source": "diagnostics",
    "Verdict": "planning",
}


def __getattr__(name: str) -> object:
    """Import a public name from its package when it is first asked for (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'session')}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
