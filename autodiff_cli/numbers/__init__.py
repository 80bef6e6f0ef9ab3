"""Number types: what a rule of the table may use, whatever kind of number it is applied to."""
