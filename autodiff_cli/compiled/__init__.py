"""A program on many rows at once: compiled kernels, columns, and losses over data."""
