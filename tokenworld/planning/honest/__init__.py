"""Plans that know no more than the player: one plan for every value that secrets may have."""
