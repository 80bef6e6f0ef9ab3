"""How the functions of double-precision floats are computed, one module a family; `numbers.real` collects them."""
