"""``tw author``: language models write a world from a description; the judge accepts it, or not."""
