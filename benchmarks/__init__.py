"""Benchmarks: `python -m benchmarks` measures speed, and compares results before times."""
