"""Rows of data: sources, readers, writers and the pipeline between them. What is wrong raises `ExpressionError`."""
