"""The commands: one thin file each, from options through a method to a view."""

COMMANDS = ("grad", "trace", "graph", "descend", "minimize", "plot", "functions")
"""Their names, in the order of the help: each is a module here, with a function `run` and an `EXAMPLE`."""
