"""Measurements of sacpy against peers in the same process run: `python -m benchmarks`."""
