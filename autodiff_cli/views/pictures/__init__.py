"""Pictures of a graph: one module for each format, and what they share."""
