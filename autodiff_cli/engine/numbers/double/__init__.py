"""Functions of floats, one module a family; `engine.numbers.floats` collects them."""
