"""Rows of data: sources, readers, writers and their pipeline. Errors are `ExpressionError`s."""
