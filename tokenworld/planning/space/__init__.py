"""The state space of a world as an explicit graph, with the probabilities of its draws.

`explore` builds the graph; `partition` sorts its states; `dead_ends` and `doors` find the
moves that put the goal out of reach; `certainty` and `probability` answer the questions about luck.
"""
