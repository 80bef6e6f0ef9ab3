"""The graph of a program: values, evaluation and derivatives in any number type."""
