"""States outside of play: their hash, as ``tw-state/1`` JSON and back, as instances."""
