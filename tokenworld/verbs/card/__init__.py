"""``tw card``: the language in 3,000 tokens, for a language model that writes, plays or repairs."""
