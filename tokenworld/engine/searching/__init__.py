"""The engine as a searcher sees it: successors, and keys that tell states apart."""
