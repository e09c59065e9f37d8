"""``tw audit``: the reachable states of a world, in the words of its rules."""
