"""Number types: the operations that the rules of the table may use on any kind of number."""
