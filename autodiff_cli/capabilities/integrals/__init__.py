"""Antiderivatives, checked by differentiation, and definite integrals with proven digits."""
