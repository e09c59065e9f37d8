"""Models of beliefs: `guesses` checks them, `experts` turns them into laws (language.md §14)."""

from tokenworld.check.beliefs.guesses import check_beliefs

__all__ = ["check_beliefs"]
