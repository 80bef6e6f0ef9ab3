"""The Python function of `diff`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .diff import Diff


@answers("diff")
def diff(call: PythonCall) -> Diff:
    """The derivatives of a program as formulas, simplified, and their values if a point is given.

    With `steps` also how each is found, in `derivations`. A formula that holds everywhere may have
    a `short` form with the `condition` where it is the same, which `everywhere` leaves out;
    `assume` says what is known of the variables.

    >>> diff("x**n", wrt="x").derivatives[0].short
    'n*x**(n - 1)'
    >>> diff("abs(x)", assume="x > 0").derivatives[0].formula
    '1'
    >>> diff("x**2 + y**2 = 25", for_="y").derivatives[0].formula
    '-x/y'

    With an `answer` whether that is the derivative, and if not, what went wrong:

    >>> diff("x**2*sin(x)", answer="2x sin x").hint
    'a term of the product rule is missing: it is u′·v + u·v′'
    """
    return cast(Diff, call.ask())
