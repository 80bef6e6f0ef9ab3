"""From plain dataclasses to characters; Rich is imported here only, and only for a terminal."""
