"""``tw learn propose``: rules from recorded rows alone."""
