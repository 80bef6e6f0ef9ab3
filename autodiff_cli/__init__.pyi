# Written by `python -m autodiff_cli.api.manual` from the declarations of the commands.
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, overload

from .api.api_arguments import At, Names, Ranges, Table
from .api.api_answers import Answer as Answer
from .api.row_functions import rows as rows
from .capabilities.check.check_function import Check as Check
from .capabilities.derivatives.gradient_function import Gradient as Gradient
from .capabilities.derivatives.hessian_function import Hessian as Hessian
from .capabilities.derivatives.jacobian_function import Jacobian as Jacobian
from .capabilities.derivatives.program import Program as Program
from .capabilities.derivatives.program import parse as parse
from .capabilities.derivatives.taylor_function import Taylor as Taylor
from .capabilities.derivatives.transforms import grad as grad
from .capabilities.derivatives.transforms import value_and_grad as value_and_grad
from .capabilities.exercise.exercise_function import Marked as Marked
from .capabilities.exercise.exercise_function import Sheet as Sheet
from .capabilities.export.export_function import Exported as Exported
from .capabilities.formulas.diff_function import Diff as Diff
from .capabilities.formulas.functions_function import FunctionEntry as FunctionEntry
from .capabilities.formulas.functions_function import Functions as Functions
from .capabilities.formulas.units_function import UnitTable as UnitTable
from .capabilities.graph.graph_function import Picture as Picture
from .capabilities.graph.graph_function import draw as draw
from .capabilities.graph.graph_function import draw_dot as draw_dot
from .capabilities.integrals.integrate_function import Integral as Integral
from .capabilities.limit.limit_function import Limit as Limit
from .capabilities.optimize.descend_function import Descent as Descent
from .capabilities.optimize.fit_function import Fit as Fit
from .capabilities.optimize.minimize_function import Minimum as Minimum
from .capabilities.page.page_function import Page as Page
from .capabilities.plot.plot_function import Curve as Curve
from .capabilities.plot.plot_function import Surface as Surface
from .capabilities.propagate.propagate_function import Propagation as Propagation
from .capabilities.solve.solve_function import Solved as Solved
from .capabilities.tangent.tangent_function import TangentLine as TangentLine
from .capabilities.trace.trace_function import Trace as Trace
from .engine.graphs.value import Value as Value
from .errors import Diagnostic as Diagnostic
from .errors import ExpressionError as ExpressionError
from .errors import Span as Span
from .engine.graphs.library import *
from .capabilities.optimize.descend import DescentStep

__version__: str

@overload
def gradient(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    value_only: bool = False,
    all: bool = False,
    in_: Names = None,
    relative: bool = False,
    sort: bool = False,
    digits: int | None = None,
    decimals: int | None = None,
    on_error: str | None = None,
    depth: int | None = None,
    binary: bool = False,
    no_tree: bool = False,
    no_table: bool = False,
    exact: Literal[False] = False,
    precision: None = None,
    certified: Literal[False] = False,
    zip: bool = False,
    data: Table = None,
    reduce: str | None = None,
    work: int | None = None,
) -> Gradient[float]: ...
@overload
def gradient(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    value_only: bool = False,
    all: bool = False,
    in_: Names = None,
    relative: bool = False,
    sort: bool = False,
    digits: int | None = None,
    decimals: int | None = None,
    on_error: str | None = None,
    depth: int | None = None,
    binary: bool = False,
    no_tree: bool = False,
    no_table: bool = False,
    exact: bool = False,
    precision: int | None = None,
    certified: bool = False,
    zip: bool = False,
    data: Table = None,
    reduce: str | None = None,
    work: int | None = None,
) -> Gradient[Any]: ...
@overload
def gradient(
    text: str,
    at: Any,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    value_only: bool = False,
    all: bool = False,
    in_: Names = None,
    relative: bool = False,
    sort: bool = False,
    digits: int | None = None,
    decimals: int | None = None,
    on_error: str | None = None,
    depth: int | None = None,
    binary: bool = False,
    no_tree: bool = False,
    no_table: bool = False,
    exact: bool = False,
    precision: int | None = None,
    certified: bool = False,
    zip: bool = False,
    data: Table = None,
    reduce: str | None = None,
    work: int | None = None,
) -> Any: ...
def check(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    in_: Names = None,
    require: int | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    on_error: str | None = None,
    zip: bool = False,
    data: Table = None,
    reduce: str | None = None,
    work: int | None = None,
) -> Check: ...
def trace(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    in_: Names = None,
    mode: str | None = None,
    direction: At = None,
    blanks: bool = False,
    digits: int | None = None,
    decimals: int | None = None,
    lines: int | None = None,
    work: int | None = None,
) -> Trace: ...
def graph(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    in_: Names = None,
    symbolic: bool = False,
    theme: str | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    layout: str | None = None,
    partials: bool = False,
    width: int | None = None,
    depth: int | None = None,
    binary: bool = False,
    work: int | None = None,
) -> Picture: ...
def page(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    in_: Names = None,
    theme: str | None = None,
    work: int | None = None,
) -> Page: ...
@overload
def hessian(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    in_: Names = None,
    digits: int | None = None,
    decimals: int | None = None,
    on_error: str | None = None,
    exact: bool = False,
    precision: int | None = None,
    certified: bool = False,
    zip: bool = False,
    data: Table = None,
    reduce: str | None = None,
    work: int | None = None,
) -> Hessian: ...
@overload
def hessian(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    in_: Names = None,
    answer: str,
    digits: int | None = None,
    decimals: int | None = None,
    on_error: str | None = None,
    exact: bool = False,
    precision: int | None = None,
    certified: bool = False,
    zip: bool = False,
    data: Table = None,
    reduce: str | None = None,
    work: int | None = None,
) -> Marked: ...
@overload
def hessian(
    text: str,
    at: Any,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    in_: Names = None,
    answer: str | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    on_error: str | None = None,
    exact: bool = False,
    precision: int | None = None,
    certified: bool = False,
    zip: bool = False,
    data: Table = None,
    reduce: str | None = None,
    work: int | None = None,
) -> Any: ...
@overload
def hessian(text: Callable[..., Any], argnums: Any = None, jit: bool = False) -> Callable[..., Any]: ...
@overload
def jacobian(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    in_: Names = None,
    direction: At = None,
    adjoint: Mapping[str, Any] | Sequence[float | str] | str | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    exact: bool = False,
    precision: int | None = None,
    certified: bool = False,
    zip: bool = False,
    work: int | None = None,
) -> Jacobian: ...
@overload
def jacobian(
    text: str,
    at: Any,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    in_: Names = None,
    direction: At = None,
    adjoint: Mapping[str, Any] | Sequence[float | str] | str | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    exact: bool = False,
    precision: int | None = None,
    certified: bool = False,
    zip: bool = False,
    work: int | None = None,
) -> Any: ...
@overload
def jacobian(text: Callable[..., Any], argnums: Any = None, jit: bool = False) -> Callable[..., Any]: ...
@overload
def taylor(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    in_: Names = None,
    order: int | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    exact: bool = False,
    precision: int | None = None,
    certified: bool = False,
    zip: bool = False,
    work: int | None = None,
) -> Taylor: ...
@overload
def taylor(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    in_: Names = None,
    order: int | None = None,
    answer: str,
    digits: int | None = None,
    decimals: int | None = None,
    exact: bool = False,
    precision: int | None = None,
    certified: bool = False,
    zip: bool = False,
    work: int | None = None,
) -> Marked: ...
def limit(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    assume: str | Sequence[str] | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    exact: bool = False,
    precision: int | None = None,
    certified: bool = False,
    work: int | None = None,
) -> Limit: ...
def tangent(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    in_: Names = None,
    digits: int | None = None,
    decimals: int | None = None,
    exact: bool = False,
    precision: int | None = None,
    certified: bool = False,
    work: int | None = None,
) -> TangentLine: ...
@overload
def integrate(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    between: Ranges | tuple[float, float] = None,
    over: str | None = None,
    in_: Names = None,
    assume: str | Sequence[str] | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    precision: int | None = None,
    zip: bool = False,
    work: int | None = None,
) -> Integral: ...
@overload
def integrate(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    between: Ranges | tuple[float, float] = None,
    over: str | None = None,
    in_: Names = None,
    assume: str | Sequence[str] | None = None,
    answer: str,
    digits: int | None = None,
    decimals: int | None = None,
    precision: int | None = None,
    zip: bool = False,
    work: int | None = None,
) -> Marked: ...
@overload
def diff(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    for_: Names = None,
    in_: Names = None,
    order: int | None = None,
    share: bool = False,
    steps: bool = False,
    everywhere: bool = False,
    assume: str | Sequence[str] | None = None,
    to: str | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    exact: bool = False,
    precision: int | None = None,
    certified: bool = False,
    zip: bool = False,
    work: int | None = None,
) -> Diff: ...
@overload
def diff(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    for_: Names = None,
    in_: Names = None,
    order: int | None = None,
    share: bool = False,
    steps: bool = False,
    everywhere: bool = False,
    assume: str | Sequence[str] | None = None,
    to: str | None = None,
    answer: str,
    digits: int | None = None,
    decimals: int | None = None,
    exact: bool = False,
    precision: int | None = None,
    certified: bool = False,
    zip: bool = False,
    work: int | None = None,
) -> Marked: ...
@overload
def solve(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    for_: Names = None,
    between: Ranges | tuple[float, float] = None,
    in_: Names = None,
    all: bool = False,
    order: int | None = None,
    relative: bool = False,
    sort: bool = False,
    digits: int | None = None,
    decimals: int | None = None,
    precision: int | None = None,
    certified: bool = False,
    zip: bool = False,
    work: int | None = None,
) -> Solved: ...
@overload
def solve(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    for_: Names = None,
    between: Ranges | tuple[float, float] = None,
    in_: Names = None,
    all: bool = False,
    order: int | None = None,
    relative: bool = False,
    sort: bool = False,
    answer: str,
    digits: int | None = None,
    decimals: int | None = None,
    precision: int | None = None,
    certified: bool = False,
    zip: bool = False,
    work: int | None = None,
) -> Marked: ...
def plot(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    range: Ranges = None,
    in_: Names = None,
    order: int | None = None,
    log: str | None = None,
    for_: Names = None,
    between: Ranges | tuple[float, float] = None,
    samples: float | None = None,
    path: str | Iterable[Mapping[str, float] | DescentStep] | None = None,
    data: Table = None,
    response: str | None = None,
    sigma: str | float | Mapping[str, str | float] | None = None,
    theme: str | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    work: int | None = None,
) -> Curve | Surface: ...
def descend(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    rate: float | None = None,
    steps: int | None = None,
    method: str | None = None,
    momentum: float | None = None,
    beta1: float | None = None,
    beta2: float | None = None,
    maximize: bool = False,
    gradient_tolerance: float | None = None,
    value_tolerance: float | None = None,
    in_: Names = None,
    init: str | None = None,
    batch: int | None = None,
    epochs: int | None = None,
    shuffle: bool = False,
    seed: int | None = None,
    data: Table = None,
    reduce: str | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    on_error: str | None = None,
    theme: str | None = None,
    work: int | None = None,
) -> Descent: ...
def minimize(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    method: str | None = None,
    bounds: Ranges = None,
    subject_to: str | Sequence[str] | None = None,
    in_: Names = None,
    init: str | None = None,
    seed: int | None = None,
    starts: int | None = None,
    gradient_tolerance: float | None = None,
    steps: int | None = None,
    data: Table = None,
    reduce: str | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    on_error: str | None = None,
    work: int | None = None,
) -> Minimum: ...
def fit(
    text: str,
    data: Table = None,
    at: At = None,
    *,
    lenient: bool = False,
    constants: Names = None,
    response: str | None = None,
    fix: At = None,
    bounds: Ranges = None,
    sigma: str | float | Mapping[str, str | float] | None = None,
    weights: str | None = None,
    scale_errors: bool = False,
    loss: str | None = None,
    level: float | None = None,
    in_: Names = None,
    intervals: str | None = None,
    predict: Table = None,
    theme: str | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    precision: int | None = None,
    certified: bool = False,
    work: int | None = None,
) -> Fit: ...
def propagate(
    text: str,
    at: At = None,
    *,
    lenient: bool = False,
    constants: Names = None,
    for_: Names = None,
    between: Ranges | tuple[float, float] = None,
    in_: Names = None,
    correlation: Mapping[Any, float] | str | None = None,
    dof: Mapping[str, float] | str | None = None,
    data: Table = None,
    draws: Table = None,
    fit: Fit | str | None = None,
    covariance: Any | None = None,
    level: float | None = None,
    k: float | None = None,
    samples: float | None = None,
    seed: int | None = None,
    sort: bool = False,
    theme: str | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    zip: bool = False,
    work: int | None = None,
) -> Propagation: ...
def export(
    text: str,
    to: str | None = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    dialect: str | None = None,
    name: str | None = None,
    table: str | None = None,
    work: int | None = None,
) -> Exported: ...
@overload
def exercise(
    level: int | None = None,
    function: str | None = None,
    *,
    topic: str | None = None,
    count: int | None = None,
    seed: int | None = None,
    solutions: bool = False,
) -> Sheet: ...
@overload
def exercise(
    level: int | None = None,
    function: str | None = None,
    *,
    topic: str | None = None,
    seed: int | None = None,
    check: int,
    answer: str,
) -> Marked: ...
@overload
def functions(
    name: str,
) -> FunctionEntry: ...
@overload
def functions(
    name: None = None,
) -> Functions: ...
def units(
    name: str | None = None,
) -> UnitTable: ...
def maximize(
    text: str,
    at: At = None,
    *,
    wrt: Names = None,
    lenient: bool = False,
    constants: Names = None,
    method: str | None = None,
    bounds: Ranges = None,
    subject_to: str | Sequence[str] | None = None,
    in_: Names = None,
    init: str | None = None,
    seed: int | None = None,
    starts: int | None = None,
    gradient_tolerance: float | None = None,
    steps: int | None = None,
    data: Table = None,
    reduce: str | None = None,
    digits: int | None = None,
    decimals: int | None = None,
    on_error: str | None = None,
    work: int | None = None,
) -> Minimum: ...
