"""What can be asked of a row: nothing of it remains.

`asking` judges a command, `why` and `clauses` say which requires hold and with what values,
`speech` names things, `veil` answers for whoever does not see all.
"""
