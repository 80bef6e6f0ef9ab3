"""The language: text to parse tree, parse tree to graph, graph to text."""
