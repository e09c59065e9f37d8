"""V1 to V9: the cost of verbs, environments and public calls, one module for each."""
