"""The engine: the table of primitives, the number types, `Value`, and the sweeps over a graph."""
