"""The table of primitives: everything that is known of each operation."""
