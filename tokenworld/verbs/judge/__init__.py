"""``tw judge``: one verdict on a world, joined from what the other verbs find."""
