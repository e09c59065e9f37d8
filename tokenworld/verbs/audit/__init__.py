"""``tw audit``: what can become of a world, told in the words of its rules."""
