"""From syntax to the model: types, names, expressions and statements, each checked once.

The declaration passes of `check` call these modules. They resolve names, settle types and units,
and report what does not fit (TW02xx, TW03xx).
"""
