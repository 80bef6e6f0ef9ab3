"""Parsing of points, ranges and problems; errors in them are `ExpressionError`s."""
