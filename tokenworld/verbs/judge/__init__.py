"""``tw judge``: one verdict on a world, joined from the findings of other verbs."""
