"""Points, ranges, number types and problems, read from what the user typed."""
