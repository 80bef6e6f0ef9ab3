"""Errors of text that is not in the language, and suggestions of what to write."""
