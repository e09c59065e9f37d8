"""Why a command is refused, since when, by which rule, and what makes it possible."""
