"""``tw sweep``: one question asked of a world for many values of its params and many seeds."""
