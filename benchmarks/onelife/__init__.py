"""OneLife's protocol on Crafter (Khan et al. 2025), from the paper and its code's behaviour."""
