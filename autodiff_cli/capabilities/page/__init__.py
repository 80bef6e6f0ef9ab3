"""A page to watch and do backpropagation."""
