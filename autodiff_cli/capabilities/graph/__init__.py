"""The graph of a program as a tree or a picture."""
