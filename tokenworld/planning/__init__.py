"""Planning: from a world to a verdict that holds (winnable, unwinnable or unknown).

Where does a plan become a verdict? `ladder.plan` asks one engine after the other; each hands its
steps to `referee.refereed`, which replays them on the interpreter and returns a `verdict.Verdict`.

The packages, in the order in which a question passes them:

- `search`: our own searches over the interpreter and over packed states; `width`: the width search;
- `grounding`, `lower`, `task`: ground actions, rules as guarded effects, tasks and their texts;
- `planners`: Fast Downward, SymK, ENHSP and unified-planning as child processes;
- `referee`, `verdict`: the replay of a plan, and the answer; `quality`: better plans;
- `proof`: certificates, and the reasons of *unwinnable*; `hints`; `capabilities`;
- `honest`: plans that win for all values of secrets; `space`: the state graph, for `tw audit`;
- `pddl` writes PDDL, `reader` reads it.

No module imports a planner; `planners.doctor.engines` lists the installed ones.
"""
