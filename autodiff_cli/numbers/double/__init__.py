"""Functions of double-precision floats, one module a family; `numbers.floats` collects them."""
