"""``tw bench cwmb``: the discrete environments of the Code World Models benchmark as rules.

The six environments with discrete actions are worlds; the others of the benchmark compute
with a physics engine (MuJoCo) or in a continuous space of actions, and are no rules.
"""
