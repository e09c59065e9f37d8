"""``tw play --web``: the screen in a browser, by textual-serve; loaded when it is asked for."""
