"""writes"""

from tokenworld.check.draft import Draft


def check_writes(draft: Draft) -> None: ...
