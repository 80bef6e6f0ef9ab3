"""The commands: one thin file each, from options through a method to a view."""

COMMANDS = (
    "grad",
    "trace",
    "graph",
    "check",
    "descend",
    "minimize",
    "plot",
    "diff",
    "hessian",
    "jacobian",
    "taylor",
    "export",
    "functions",
)
"""Their names, in the order of the help: each is a module here, with a function `run` and an `EXAMPLE`."""
