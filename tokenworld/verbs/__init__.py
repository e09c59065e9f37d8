"""The verbs of `tw`: one module or folder each, with its logic, its text and its JSON.

No verb imports another. `coverage`, `output`, `recheck` and `records` serve several of them.
"""
