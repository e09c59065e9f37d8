"""laws"""

from tokenworld.check.draft import Draft


def check_laws(draft: Draft) -> None: ...
