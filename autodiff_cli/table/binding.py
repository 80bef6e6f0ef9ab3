"""How tightly the operators of the language bind, loosest first, as the grammar has it."""

from __future__ import annotations

CHOICE, OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(10)
