"""Units: the table of units and constants, and products of their powers."""
