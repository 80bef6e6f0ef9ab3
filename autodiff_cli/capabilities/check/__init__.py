"""How many digits of a value and its derivatives are right."""
