"""The text in which every surface tells a refusal, and `tw why`, which tells of one command."""
