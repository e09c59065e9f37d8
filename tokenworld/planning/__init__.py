"""Planning: from a world to a verdict that holds (winnable, unwinnable or unknown).

Where does a plan become a verdict? `ladder.plan` asks one engine after the other; each hands its
steps to `referee.refereed`, which replays them on the interpreter and returns a `verdict.Verdict`.

The rooms, in the order in which a question passes them:

- `search`: our own searches over the interpreter and over packed states; `width`: the width search;
- `grounding`, `lower`, `task`: ground actions, rules as guarded effects, tasks and their texts;
- `planners`: Fast Downward, SymK, ENHSP and unified-planning as child processes;
- `referee`, `verdict`: a plan is replayed, the answer is written down; `quality`: better plans;
- `proof`: certificates, and the reason behind *unwinnable*; `hints`; `capabilities`;
- `honest`: plans that win whatever is secret; `space`: the graph of all states, for `tw audit`;
- `pddl` writes the language of planners, `reader` reads it.

Nothing here imports a planner; `planners.doctor.engines` says which are installed.
"""
