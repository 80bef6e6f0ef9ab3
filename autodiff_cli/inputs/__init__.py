"""Points, ranges, number types and problems, read from what was typed. What is wrong raises `ExpressionError`."""
