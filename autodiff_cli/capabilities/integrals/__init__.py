"""Integrals: checked antiderivatives, definite integrals with proven digits, and their derivatives."""
