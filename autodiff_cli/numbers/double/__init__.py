"""How the functions of double-precision floats are computed, one module a family; `numbers.floats` collects them."""
