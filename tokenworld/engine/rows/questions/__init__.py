"""Questions about a row, which leave it unchanged.

`asking` judges a command, `why` and `clauses` say which requires hold and with what values,
`speech` names things, `possible_worlds` evaluates for all values of the secrets.
"""
