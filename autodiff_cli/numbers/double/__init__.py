"""Functions of floats, one module a family; `numbers.floats` collects them."""
