"""Targets: recorded programs as source code, a module a target language."""
