"""The verbs of `tw`: one module or folder each, with its logic, its text and its JSON.

No verb imports another. `output`, `files`, `lines` and `recheck` serve several of them.
"""
