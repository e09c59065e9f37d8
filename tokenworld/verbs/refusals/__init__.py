"""The text of a refusal on every surface, and `tw why`, which explains one command."""
