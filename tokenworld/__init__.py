"""Token World: worlds written in `.tw`, checked, played and planned.

    from tokenworld import Session
    session = Session.open("cellar")
    (outcome,) = session.intend("open oak chest")
    outcome.status, outcome.refusal.text

The names in `__all__` are imported on first use: `import tokenworld` costs nothing, and `tw check`
never pays for the planner or the store.

**The vocabulary map.** One thing has one name in each package. The packages, in their order:

    diagnostics -> syntax -> model -> check -> core -> ground -> engine | planning | prose | store
                -> session -> verbs -> play | gym | protocols -> cli

| `.tw`              | `syntax`         | `model`         | `core`              | PDDL            |
|--------------------|------------------|-----------------|---------------------|-----------------|
| `action`           | `ActionDecl`     | `Action`        | `Action`            | `:action`       |
| `require … else`   | `Require`        | `Require`       | `Require`           | conjunct of     |
|                    |                  |                 |                     | `:precondition` |
| changes of a body  | `Block`          | `Body`          | `Body`              | `:effect`       |
| `=`, `add`, `swap` | `Set`, `Add`,    | `Assign`,       | `Write`             | `:effect`       |
|                    | `Swap`           | `AddFact`,      |                     |                 |
|                    |                  | `Swap`          |                     |                 |
| `law`, `phase`     | `LawDecl`,       | `Law`, `Phase`  | `Law`               | `:action` of    |
|                    | `PhaseDecl`      |                 |                     | the phase       |
| attribute,         | `AttributeDecl`, | `Fluent`,       | `Read`, `Place`     | predicate or    |
| relation …         | `RelationDecl`   | `Read`          |                     | function        |
| `derive`           | `DeriveDecl`     | `Derive`        | `Derive`,           | inlined, or     |
|                    |                  |                 | `DeriveCall`        | `:derived`      |
| `world`            | `WorldDecl`      | `World`         | `WorldRules`,       | `:objects`,     |
|                    |                  |                 | `StartRules`        | `:init`         |
| `goal`, `lose`     | `Ending`         | `Ending`        | `Ending`            | `:goal`         |
| `chance`, `pick`   | `Chance`, `Pick` | `Chance`,       | `BranchDraw`,       | one action for  |
|                    |                  | `Pick`          | `PickDraw`          | each outcome    |
| `invariant`,       | `InvariantDecl`, | `Invariant`,    | `Invariant`,        | left out        |
| `conserve`         | `ConserveDecl`   | `Conserve`      | `Conserve`          |                 |
| `scenario`         | `ScenarioDecl`   | `Scenario`      |                     | left out        |

- **An action.** `ActionDecl` (syntax) → `Action` (model) → `Action` (core) → with arguments a
  `Command`, the ground action (ground) → its generated functions (`engine.rows.code.program`) →
  `Operator` on the way to SAS+, or `:action` (`planning.pddl`).
- **A refusal.** `require … else` → `Require` → `RequireReport` with the values that it read →
  `Refusal` → `Outcome` with the status `refused` → `TickRecord` in the store; with its past it is
  an `Explanation`, which every surface shows. For a planner: a conjunct of the `:precondition`.
- **A start.** `World` and its `ObjectDecl`s → `Instance`, objects numbered and params fixed
  (ground) → a row of slots (`engine.rows.layout`) → initial values of `Variable`s (planning), or
  `:init`.
- **A tick.** Words → `TypedIntent` (prose) → `Command` or `NoMatch` → `Record` of
  `RowStepper.tick` → `Outcome` → `Moment` of a `Session`. A plan: the `PlanStep`s of a `Verdict`.

**Where to look.**

- What happens to a text? It is parsed by `syntax.parse_source`, then checked by the passes of
  `check.PASSES`; `tw explain --stages` prints a rule at every stage.
- Where is `for` executed? `core.nodes.For` is one statement with two readers:
  `engine.rows.code.bodies.BodyWriter.loop` writes the code that runs it, and
  `engine.reference.bodies` walks it, as the oracle of the tests.
- Who decides that a command is legal? `engine.rows.legal.Legal` lists the commands of a state, and
  `engine.rows.stepper.RowStepper.tick` accepts or refuses one. `prose.commands` turns typed
  words into a command.
- What do planners get? `planning.lower.encode.encode` writes a world as a finite `Task` of
  `Operator`s, and `planning.pddl.export.export_world` as PDDL. A construct that planners cannot
  express is an `Obstacle`.
- Where does a plan become a verdict? `planning.ladder.plan` asks one search after the other, and
  `planning.referee.refereed` replays each plan on the rules: only then it is *winnable*.
- How does an agent reach it? Each tool of `protocols.agents.tools` runs one verb in a child
  process, or a step of a `Session`.
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
    from tokenworld.planning.verdict import Verdict
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
    from tokenworld.store.log import RunStore

_HOMES = {
    "Diagnostic": "diagnostics",
    "Failure": "diagnostics",
    "Outcome": "ground",
    "RunStore": "store.log",
    "Source": "diagnostics",
    "Verdict": "planning.verdict",
}


def __getattr__(name: str) -> object:
    """Import a public name from its package when it is first asked for (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'session')}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
