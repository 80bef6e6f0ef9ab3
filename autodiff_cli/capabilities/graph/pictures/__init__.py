"""Pictures of a graph: the layout, the scene, and what is written of it."""
