"""How fast is it, and is it right: `python -m benchmarks` answers the second question first."""
