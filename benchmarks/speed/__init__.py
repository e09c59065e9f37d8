"""V1 to V9: what verbs, environments and public calls cost, a module for each of them."""
