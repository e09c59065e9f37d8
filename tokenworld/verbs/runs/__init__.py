"""``tw run``, ``tw runs`` and ``tw log``: recorded runs made, listed, verified, revisited."""
