"""``tw learn``: numbers of rules from recorded transitions."""
