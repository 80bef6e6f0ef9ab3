"""The Python functions, from the declarations of the command line."""
