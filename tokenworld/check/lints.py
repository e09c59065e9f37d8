"""lints"""

from tokenworld.check.draft import Draft


def check_lints(draft: Draft) -> None: ...
