"""Refusals: why a text is not in the language, and what would be. The only room that knows both."""
