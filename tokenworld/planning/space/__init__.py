"""The state space of a world as an explicit graph: what can become of it, and how likely.

`explore` builds the graph; `partition` sorts its states; `dead_ends` and `doors` find where the
goal slips away; `certainty` and `probability` answer the questions about luck.
"""
