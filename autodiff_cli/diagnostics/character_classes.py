"""Characters that people type or paste into formulas, and names in front of a dot: parts of regular expressions."""

DASHES = "‐‑‒–—―﹘﹣－"
FRACTIONS = "¼-¾⅐-⅞↉"
LOWERED = "ᵢ-ᵪₐ-ₜⱼ"
QUOTES = "\"'`´“”„‟«»‘’‚‛"
RAISED = "ªºʰ-ʸˠ-ˤᴬ-ᵡᵸᶛ-ᶿⁱⁿ"
UNSEEN = "\u00ad\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"
MODULES = r"\b(?:math|cmath|np|numpy|jnp|jax|torch|tf|F|Math|mpmath|sympy|sp)"

FRACTION = (
    rf"(?:(?<![\w.])([0-9]+)\s*|(?P<after>[\w)|]\s*))?(?P<sign>[{FRACTIONS}])"
    rf"(?=\s*(?P<before>(?!(?:if|else|and|or)\b)(?:[^\W\d{FRACTIONS}]|[(√]))?)"
)
"""A vulgar fraction with the number or operand before it, and the operand after it."""
