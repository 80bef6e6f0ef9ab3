"""The run: a graph, evaluated on demand and differentiated backward or forward."""
