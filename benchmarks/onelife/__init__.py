"""OneLife's protocol on Crafter (Khan et al. 2025), from the paper and the behaviour of its code."""
