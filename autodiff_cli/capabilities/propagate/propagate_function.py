"""The Python function of `propagate`."""

from __future__ import annotations

from typing import cast

from ...api.api_arguments import PythonCall
from ...api.calls import answers
from .propagate import Propagation


@answers("propagate")
def propagate(call: PythonCall) -> Propagation:
    """The outputs of a program with the uncertainties that those of its inputs give them, by the
    GUM (JCGM 100).

    Values are numbers, which are exact, texts such as `"5.00±0.02"` or `"19.66(10)e-3"`, or numbers
    of the package `uncertainties`. `data` are columns of readings by name, or a file that has them,
    and `draws` columns of draws from the joint distribution of some variables; `correlation` is as
    the option takes it, or a number for each pair of names. `for_` and `between` are those of
    `solve`: the text is equations then, and their unknowns are the outputs. `fit` is an answer of
    `fit`, or a JSON file of it; `covariance` is a file, a data frame of pandas, a mapping of
    mappings, or an answer of lmfit. Drawing needs the extra `plot`.

    >>> answer = propagate("V/I", {"V": "5.00±0.02", "I": "19.66(10)e-3"})
    >>> answer.results[0].written, answer.results[0].interval
    ('254.3(16)', '254.3 ± 3.2 (k = 1.96)')
    """
    return cast(Propagation, call.ask())
