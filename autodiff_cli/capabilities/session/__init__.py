"""The session: lines of formulas at a prompt."""
