"""``tw bench cwmb``: the discrete environments of the Code World Models benchmark as rules.

The six environments with discrete actions are worlds. The others of the benchmark use a physics
engine (MuJoCo) or a continuous space of actions, and are left out.
"""
