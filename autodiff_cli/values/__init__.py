"""Graphs of Values: the face of a program's nodes, and formulas made from them."""
