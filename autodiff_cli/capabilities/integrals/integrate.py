"""The answer of `integrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...api.api_answers import Answer
from ...engine.algebra.almost_everywhere import conjunction
from ...engine.table.operators import OR
from ...errors import Diagnostic
from ...language.printer import expression_text
from .antiderivatives import Antiderivative
from .continuous import domain_of, parameter_domain

if TYPE_CHECKING:
    from ...questions.quantities import Units
    from .integral_steps import IntegralStep


class Integral(Answer, shows=("kind", "antiderivative", "formula", "value")):
    """An antiderivative, or a definite integral."""

    declaration = """
    csv line id variable kind antiderivative formula value[] digits parameter derivative[] error
    plain value
    variable column: the variable of the integral
    kind column: `antiderivative`, or of a definite integral `exact`, `proven` (its digits are), \
    `numerical` (they are not), or `divergent`
    antiderivative column: an antiderivative as a formula; null if none is known
    checked: how it was checked: `proven` by algebra, or `numerically` at points
    domain: where it holds; null without one, or if that is everywhere
    between: the two ends; null for an antiderivative
    formula column: the definite integral as a formula; null unless it is exact
    value column wide: the definite integral as a number; null for an antiderivative, or if it \
    diverges
    digits column: its proven digits, as text
    steps optional: with `--steps`: the rules that lead to the antiderivative, in order
      rule: its name
      detail nonempty: what is substituted, or the parts: `u = x**2, dv = sin(x) dx`; else null
      integrand: the formula that it is applied to
      variable: the variable of that integral
      result: the antiderivative of `integrand`
      depth: how many rules led to it
    derivatives wide=d_: its derivatives by parameters, by name; null without `--wrt`
    message: what is proven, and what is not; or where the integral diverges
    point
    units
    constants
    warnings
    """

    text: str
    variable: str
    kind: str
    """`antiderivative`, `exact`, `proven`, `numerical` or `divergent`."""
    antiderivative: str | None
    checked: str | None
    """How the antiderivative was checked: `proven`, or `numerically`; None without one."""
    domain: str | None
    """Where the antiderivative holds; None without one, or if that is everywhere."""
    between: list[str] | None
    """The ends."""
    formula: str | None
    """The definite integral as a formula."""
    value: float | None
    digits: str | None
    """The proven digits of the value."""
    derivatives: dict[str, float] | None
    """Those of the definite integral by `wrt`."""
    message: str
    """What is proven, and what is not; or where it diverges."""
    point: dict[str, float]
    constants: dict[str, float]
    warnings: tuple[Diagnostic, ...]
    units: Units | None = None
    steps: list[IntegralStep] | None = None
    """With `steps`: the rules that lead to the antiderivative."""

    @property
    def converges(self) -> bool:
        """Whether there is an integral."""
        return self.kind != "divergent"


def with_antiderivative(about: Integral, found: Antiderivative) -> Integral:
    """Return an answer with an antiderivative, how it was checked, and where it holds."""
    conditions = domain_of(found.formula)
    domain = None
    if conditions is None:
        domain = "no condition changes"
        if supposed := parameter_domain(found.formula, about.variable):
            text = expression_text(conjunction(supposed))
            domain = (
                f"{f'({text})' if supposed[0].primitive is OR and len(supposed) == 1 else text} and"
                f" {domain}"
            )
    elif conditions:
        domain = expression_text(conjunction(conditions))
    checked = "proven" if found.proven else "numerically"
    return about._replace(
        antiderivative=expression_text(found.formula), checked=checked, domain=domain
    )
