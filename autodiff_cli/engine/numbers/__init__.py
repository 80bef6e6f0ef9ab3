"""Number types: the operations of table rules on any kind of number."""
