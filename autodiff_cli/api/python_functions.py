"""The Python functions, one per command, and their answers.

Keyword arguments are the command's options, except those for sources and outputs. `at`, `wrt`,
`direction`, `adjoint`, `bounds` and `range` take text or Python values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from inspect import Parameter, Signature, signature
from itertools import islice
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar, cast

from .. import views
from ..accuracy import check as _check
from ..cli.commands import CHECKS, name_the_variable
from ..cli.commands.runs import method_of
from ..cli.declarations import declared
from ..cli.runner import advise_leniency, resolve
from ..curves import contours as _surface
from ..curves import plot as _plot
from ..data import rows as _rows
from ..data.rows import fixed_and_columns, is_frame
from ..derivatives import gradient as _gradient
from ..derivatives import graph as _graph
from ..derivatives import hessian as _hessian
from ..derivatives import jacobian as _jacobian
from ..derivatives import page as _page
from ..derivatives import taylor as _taylor
from ..derivatives import trace as _trace
from ..derivatives.gradient import PreparedProgram
from ..diagnostics.leniency import AsRead, read_leniently
from ..equations import solve as _solve
from ..equations.equations import variables_of
from ..errors import Diagnosed, Diagnostic, ExpressionError, quote, usage_error
from ..exercises import exercise as _exercise
from ..exercises import marking as _marking
from ..formulas import diff as _diff
from ..formulas import export as _export
from ..formulas import functions as _functions
from ..formulas import units as _units
from ..graphs.value import Value, as_float, constant, values_of
from ..inputs.figures import Shown
from ..inputs.parse_point import ValueOf, corrections, may_sweep, once_read
from ..inputs.problem import Quantity
from ..inputs.problem import parse as _parse
from ..inputs.sweeps import Grid, grid_of, sweeping
from ..language import builder
from ..language.tokens import has_unit_literals
from ..numbers.budget import current_budget, use_budget
from ..numbers.floats import REAL
from ..optimize import descend as _descend
from ..optimize import fit as _fit
from ..optimize import minimize as _minimize
from ..run.evaluation import error_at, with_fallback
from ..run.sweep import NodeError, forward
from ..streams.files import Output
from ..streams.requests import Reading, default_point, names
from ..uncertainty import propagate as _propagate
from ..views.characters import Terminal
from ..views.error import draw as _drawn
from ..views.formats import Subject, format_of
from ..views.graph import FORMATS as PICTURE_FORMATS
from ..views.graph import writer_of
from ..views.numerals import heading, rounding
from ..views.plot import drawn_as
from .api_arguments import (
    At,
    Names,
    PythonCall,
    as_meant,
    convert_arguments,
    has_lists,
    keyword,
    keywords_of,
    options_of,
    point_of,
    value_reader,
)

Number = TypeVar("Number", bound=Shown)
P = ParamSpec("P")
R = TypeVar("R")

_API_CLASSES: dict[type, type[Answer]] = {}
"""The answer classes here, by those of the questions."""


class Answer:
    """The base class of answers: they print as their command does, and display themselves in a notebook.

    A notebook shows pictures as SVG, formulas in LaTeX, and all else as HTML; numbers with a gradient or
    a matrix have the formula as well.
    """

    _shows: ClassVar[tuple[str, ...]] = ()

    _choices: Mapping[str, Any] = {}
    """How it is shown: what the options `digits`, `depth` and so on have chosen."""

    _typed: str | None = None
    """The program as it was typed, if a function was asked."""

    _reading: AsRead | None = None
    """The program as it was corrected; None if it was read as typed."""

    _values: tuple[str, ...] = ()
    """Values of the point as they were corrected, if not read as typed."""

    def __init_subclass__(cls, shows: tuple[str, ...] = (), **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls._shows = shows
        _API_CLASSES.update(dict.fromkeys(cls.__bases__[1:2], cls))

    @property
    def note(self) -> str | None:
        """How a program and its point were read, if not as typed: `read as: log(x)`."""
        return cast(str | None, Subject(None, reading=self._reading, values=self._values).fields().get("note"))

    def __str__(self) -> str:
        return views.text(self, **self._choices).removesuffix("\n")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_short(getattr(self, name))}' for name in self._shows)})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an answer is frozen: `{name}` cannot be set")

    def to_text(self, format: str = "table", *, document: bool = False) -> str:
        """Return the answer in a format of its command; LaTeX as a `document` if asked."""
        return views.text(self, format, document=document, **self._choices)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON record of the command, without `id` and `line`."""
        text = getattr(self, "text", None) if self._typed is None else self._typed
        record = views.record(self, **self._choices)
        if self._reading is not None:
            record = self._reading.relocate_record(record)
        note = {} if self.note is None else {"note": self.note}
        return ({} if text is None else {"expr": text}) | note | record

    def _repr_html_(self) -> str | None:
        # a notebook would prefer HTML to a drawing
        return None if self._repr_svg_() is not None else views.html(self, **self._choices)

    def _repr_latex_(self) -> str | None:
        text = views.latex(self, **self._choices)
        if text is None:
            return None
        # all notebooks know dollars; some do not know the delimiters of a document
        formula = text.removeprefix(r"\[").removesuffix(r"\]").replace("{align*}", "{aligned}")
        return f"$${formula}$$"

    def _repr_svg_(self) -> str | None:
        return None


MAX_LISTED = 12


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        parts = [f"{name!r}: {_short(element)}" for name, element in islice(value.items(), MAX_LISTED)]
    elif isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        parts = [_short(element) for element in value[:MAX_LISTED]]
    else:
        return repr(value)
    left = ", …" if len(value) > MAX_LISTED else "," if isinstance(value, tuple) and len(value) == 1 else ""
    begin, end = "{}" if isinstance(value, Mapping) else "()" if isinstance(value, tuple) else "[]"
    return f"{begin}{', '.join(parts)}{left}{end}"


class Drawing(Answer):
    """An answer that is a picture."""

    @property
    def svg(self) -> str:
        """The picture as an SVG document. Raises `ExpressionError` if it is too large."""
        text = views.svg(self, **self._choices)
        assert text is not None
        return text

    def save(self, path: str, *, force: bool = False) -> None:
        """Write the picture to a file, whole or not at all, in the format that its name says.

        Raises `ExpressionError`: `usage` for other names, `io` for a file that is there, without `force`.
        """
        with explained(None):
            out = Output(str(path), force=force)
            views.write(self, out.stream, self._format(str(path)), **self._choices)
            out.finish(0)

    def _format(self, path: str) -> str:
        return drawn_as(None, path)

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg
        except ExpressionError:
            return None


class Plotted(Drawing):
    """An answer in numbers that has a picture too: a notebook shows the numbers."""

    def _format(self, path: str) -> str:
        view = views.view_of(self)
        return format_of(None, path, view.formats, view.usual)

    def _repr_svg_(self) -> str | None:
        return None


class Gradient(Answer, _gradient.Gradient[Number], Generic[Number], shows=("value", "gradient")):
    """The value of the program `text` at the point `at`, and its partial derivatives by `wrt`, or by all variables.

    With `exact`, `precision` or `certified` the numbers are `Figure`s, with all their digits as `text`; numbers of the
    point are then the decimals that they are written as. Angles are in radians. Raises `ExpressionError`, whose `kind`
    is a key of `errors.EXIT_CODES`.

    Over `data` (columns by name, a frame, an Arrow table, or the name of a file) the program is one row's term, and
    `reduce` is "sum" or "mean"; with `on_error="skip"` rows without a value are left out.

    >>> answer = gradient("((w1-1)**2 + (w2-5)**2)*0.5", {"w1": 2, "w2": 3})
    >>> answer.value, answer.gradient
    (2.5, {'w1': 1.0, 'w2': -2.0})
    >>> gradient("x**2/3", {"x": 0.1}, exact=True).gradient["x"].text
    '1/15'
    """


class Check(Answer, _check.Check, shows=("agrees", "value", "gradient")):
    """How many digits of value and gradient are right at least, by 50-digit arithmetic and by differences.

    >>> check("x*exp(-x**2/2)", {"x": 1.5}).agrees
    True
    """


class Trace(Answer, _trace.Trace, shows=("value", "gradient", "tangent")):
    """Every step of the program's evaluation and backpropagation; with `mode="forward"` along a `direction`.

    With `blanks` it is shown without the numbers that are to be found.

    >>> trace("log(x1) + x1*x2 - sin(x2)", {"x1": 2, "x2": 5}).gradient["x1"]
    5.5
    """


class Picture(Drawing, _graph.Picture):
    """A picture of the graph: every operation, with value and derivative at every node; `symbolic` needs no point.

    >>> print(graph("x*w", "x=2,w=3"))
    node   data   grad
    *         6      1
    ├─ x      2      3
    └─ w      3      2
    """

    @property
    def dot(self) -> str:
        """The picture in the language of Graphviz."""
        return self.to_text("dot")

    def _format(self, path: str) -> str:
        return writer_of(format_of(None, path, PICTURE_FORMATS, "tree"))

    def __repr__(self) -> str:
        return f"<Picture of {len(self.nodes):,} node{'' if len(self.nodes) == 1 else 's'}>"


class Page(Plotted, _page.Page, shows=("text", "point")):
    """A page to watch and to do backpropagation in a browser: steps, sliders, a quiz, descent and a plot.

    >>> made = page("tanh(w*x + b)", "w=1,x=2,b=-1")
    >>> made, made.html[:15]
    (Page(text='tanh(w*x + b)', point={'w': 1.0, 'x': 2.0, 'b': -1.0}), '<!DOCTYPE html>')
    """

    def __str__(self) -> str:
        return self.html.removesuffix("\n")

    @property
    def html(self) -> str:
        """The whole page, which needs no other file."""
        return self.to_text("html")

    def _repr_html_(self) -> str | None:
        from html import escape

        frame = 'width="100%" height="760" style="border:0" sandbox="allow-scripts" title="autodiff"'
        return f'<iframe {frame} srcdoc="{escape(self.html)}"></iframe>'


class Descent(Plotted, _descend.Descent, shows=("best", "ending")):
    """A run of gradient descent that is over: its `rows`, the `best` of them, and the `ending`.

    Its picture, by `save`, is the values over the steps.
    """

    rows: tuple[_descend.DescentStep, ...] = ()

    def __iter__(self) -> Iterator[_descend.DescentStep]:
        return iter(self.rows)


class Minimum(Answer, _minimize.Minimum, shows=("value", "point", "converged", "verdict")):
    """Minimise a program with SciPy, with the exact gradient and Hessian. Needs the extra `optimize`.

    >>> answer = minimize("(x - 3)**2 + 1", {"x": 0})
    >>> answer.point, answer.converged, answer.kind
    ({'x': 3.0}, True, 'minimum')
    """


class Curve(Drawing, _plot.Curve, shows=("text", "variable", "low", "high")):
    """A function of one variable with its derivative and its tangent."""


class Surface(Drawing, _surface.Surface, shows=("text", "variables")):
    """A function of two variables, as contours."""


class Diff(Answer, _diff.Diff, shows=("program", "point")):
    """The derivatives of a program as formulas, simplified, and their values if a point is given.

    With `steps` also how each is found, in `derivations`. A formula that holds everywhere may have a `short` form with
    the `condition` where it is the same, which `everywhere` leaves out; `assume` says what is known of the variables.

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


class Hessian(Answer, _hessian.Hessian, shows=("value", "hessian", "verdict")):
    """Value, gradient, Hessian and its eigenvalues at a point, and what they say of the point.

    >>> hessian("x*y", {"x": 0, "y": 0}).hessian
    [[0.0, 1.0], [1.0, 0.0]]
    """


class Jacobian(Answer, _jacobian.Jacobian, shows=("outputs", "values", "jacobian", "product", "gradient")):
    """The partial derivatives of every output, or their product with a `direction` or an `adjoint`.

    >>> jacobian("x*y, x + y", {"x": 2, "y": 3}).jacobian
    [[3.0, 2.0], [1.0, 1.0]]
    >>> jacobian("x*y, x + y", "x=2,y=3", adjoint="1,2").gradient
    {'x': 5.0, 'y': 4.0}
    """


class Taylor(Answer, _taylor.Taylor, shows=("polynomial",)):
    """Taylor coefficients and polynomial in one variable around the point.

    >>> taylor("exp(x)", {"x": 0}, order=3, exact=True).polynomial
    '1 + x + 1/2*x**2 + 1/6*x**3'
    """


class Propagation(Plotted, _propagate.Propagation):
    """The outputs of a program with the uncertainties that those of its inputs give them, by the GUM (JCGM 100).

    Values are numbers, which are exact, texts such as `"5.00±0.02"` or `"19.66(10)e-3"`, or numbers of the package
    `uncertainties`. `data` are columns of readings by name, or a file that has them, and `draws` columns of draws from
    the joint distribution of some variables; `correlation` is as the option takes it, or a number for each pair of
    names. `for_` and `between` are those of `solve`: the text is equations then, and their unknowns are the outputs.
    `fit` is an answer of `fit`, or a JSON file of it.
    Drawing needs the extra `plot`.

    >>> answer = propagate("V/I", {"V": "5.00±0.02", "I": "19.66(10)e-3"})
    >>> answer.results[0].written, answer.results[0].interval
    ('254.3(16)', '254.3 ± 3.2 (k = 1.96)')
    """

    def __repr__(self) -> str:
        return f"<Propagation: {', '.join(f'{result.output} = {result.written}' for result in self.results)}>"


class Solved(Answer, _solve.Solved):
    """Solve equations, or find where an expression is 0, and differentiate the solution.

    `for_` are the unknowns (the option `--for`), `between` their bounds: two numbers for one unknown, else by name.
    Several equations need the extra `optimize`.

    >>> answer = solve("x**2 = a", {"a": 2}, between=(0, 2))
    >>> round(answer.solutions[0].values["x"], 10), answer.solutions[0].simple
    (1.4142135624, True)
    """

    def __repr__(self) -> str:
        text = "; ".join(
            ", ".join(f"{n} = {float(x):.6g}" for n, x in solution.values.items()) for solution in self.solutions
        )
        return f"<Solved: {text or self.message}>"


class Fit(Plotted, _fit.Fit, shows=("point", "message")):
    """The parameters of a formula from data, by least squares. Needs the extra `optimize`, a picture `plot`.

    `data` are columns by name, or a file that has them; `at` has starts, which parameters need in which the formula is
    not linear.

    >>> answer = fit("y = a + b*x", data={"x": [0, 1, 2, 3], "y": [1, 3, 4.9, 7.1]})
    >>> round(answer.parameters["b"].estimate, 6), round(answer.parameters["b"].error, 6)
    (2.02, 0.042426)
    """


class Exported(Answer, _export.Exported, shows=("target", "name", "variables")):
    """A function that computes value and gradient, as source code in the language `to`: python by default.

    For SQL it is one statement, in the `dialect` of a database: duckdb by default.

    >>> print(export("x*y", "python").source.splitlines()[-1].strip())
    return t1, (y, x)
    """


class Sheet(Answer, _exercise.Sheet, shows=("level", "seed", "title")):
    """Exercises, with their solutions if these were asked for."""


class Marked(Answer, _exercise.Marked, shows=("right", "message")):
    """The marking of an answer to an exercise."""


class FunctionEntry(Answer, _functions.FunctionEntry, shows=("signature", "doc")):
    """A function of the language: signature, domain, derivative and definition."""


class Functions(Answer, _functions.Functions):
    """All functions of the language."""

    def __repr__(self) -> str:
        return f"<{len(self)} functions>"


class UnitTable(Answer, _units.UnitTable):
    """Units and constants."""

    def __repr__(self) -> str:
        return f"<{len(self.entries)} units and constants>"


class Program:
    """A program that has been read: a function of its variables, with its gradient at any point.

    >>> f = parse("s = x*y; s**2 + x")
    >>> f.parameters, f(x=3, y=0.5)
    (('x', 'y'), 5.25)
    >>> f.gradient(x=3, y=0.5).gradient
    {'x': 2.5, 'y': 9.0}
    """

    def __init__(self, program: builder.Program) -> None:
        self._program = program
        self._prepared: PreparedProgram | None = None

    @property
    def text(self) -> str:
        """The program as text."""
        return self._program.text

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the variables that a gradient is taken in."""
        return self._program.parameters

    @property
    def variables(self) -> dict[str, Value]:
        """The variables by name, as nodes of the graph."""
        return self._program.variables

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The results, as nodes of the graph; they have no numbers before they are evaluated."""
        return self._program.outputs

    def __call__(self, /, **values: Value | float) -> Any:
        """Return the result at these values: a float, or a Value where one of them is a Value.

        A tuple if the program has several results. Raises TypeError for a name that is missing, or that is no
        variable of the program; `ExpressionError` where the program has no value.
        """
        program = self._program
        self._check(values)
        leaves = {
            place: values[name] if isinstance(values[name], Value) else as_float(values[name], f"`{name}` cannot be")
            for name, place in program.leaves.items()
        }
        graph = program.all_nodes.with_leaves({i: x.data if isinstance(x, Value) else x for i, x in leaves.items()})
        try:
            forward(graph, REAL, program.roots)
        except NodeError as fault:
            error = error_at(fault, graph)
            explain(error, self.text)
            raise error from None
        if any(isinstance(x, Value) for x in leaves.values()):
            # a number takes no derivative: `x**n` at a negative x has one by x only
            nodes = values_of(graph, {k: x if isinstance(x, Value) else constant(x) for k, x in leaves.items()})
            for node in nodes:
                node.grad = 0.0 if node.grad is None and node.data is not None else node.grad
            outputs: list[Any] = [nodes[root] for root in program.roots]
        else:
            outputs = [float(graph.data[root]) + 0.0 for root in program.roots]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def gradient(self, /, **values: float) -> Gradient[float]:
        """Return value and gradient at these values, about ten times as fast as `gradient(text, …)` does.

        The answer has the numbers without the graph. Raises TypeError for names that do not fit, and
        `ExpressionError` where there is no gradient.
        """
        self._check(values)
        point = {name: as_float(x, f"`{name}` cannot be") for name, x in values.items()}
        with explained(self.text), use_budget(length=len(self.text)):
            if self._prepared is None:
                self._prepared = PreparedProgram(self._program)
            answer = with_fallback(self._prepared.numbers, self._prepared.graph, point, None)
        return cast(Gradient[float], _as(answer._replace(graph=None, intermediates=())))

    def _check(self, values: Mapping[str, Any]) -> None:
        leaves = self._program.leaves
        if values.keys() == leaves.keys():
            return
        for name in [name for name in values if name not in leaves]:
            what = "is a constant" if name in self._program.constants else "is not a variable"
            listed = quote(leaves, "no variables")
            raise TypeError(f"`{name}` {what} of this program: its variables are {listed}")
        missing = [name for name in leaves if name not in values]
        raise TypeError(f"the program needs a value for {quote(missing)}: call it as `f({missing[0]}=…)`")

    def __reduce__(self) -> tuple[Any, ...]:
        return parse, (self.text, tuple(self._program.leaves))

    def __repr__(self) -> str:
        return f"<Program of {quote(self._program.leaves, 'no variables')}>"


def _as(answer: Any, **choices: Any) -> Any:
    result = object.__new__(_API_CLASSES.get(type(answer), type(answer)))
    result.__dict__.update(answer.__dict__)
    result.__dict__["_choices"] = {name: choice for name, choice in choices.items() if choice is not None}
    return result


def explain(error: Diagnosed, text: str | None) -> None:
    """Add the place in the text and the hint to tracebacks."""
    shown = error.text if error.text is not None else text
    _, *lines = _drawn(error.diagnostic, shown, Terminal()).rstrip("\n").split("\n")
    if lines:
        error.__notes__ = ["\n".join(lines)]


@contextmanager
def explained(text: object, command: str | None = None) -> Iterator[None]:
    """Explain the errors of a block; with a `command` they name its options as keyword arguments."""
    try:
        yield
    except ExpressionError as error:
        if command is not None:
            error.diagnostic = in_python(error.diagnostic, command)
            error.args = (error.diagnostic.message,)
        explain(error, text if isinstance(text, str) else None)
        raise


def in_python(diagnostic: Diagnostic, command: str) -> Diagnostic:
    """Return a diagnostic with options as keyword arguments: `at="x=1"`."""
    options = options_of(command)
    parameters = {
        argument.name: argument.parameter for argument in declared(command).arguments if argument.parameter != "expr"
    }

    def spelled(match: re.Match[str]) -> str:
        if match[1] in parameters:
            return f"`{parameters[match[1]]}`"
        name, value = keyword(match[1]), match[2]
        if name not in options:
            return match[0]
        kind = options[name].kind
        if value is None:
            return f"`{name}=True`" if kind is bool else f"`{name}`"
        return f"`{name}={value}`" if kind in (int | None, float | None) else f'`{name}="{value.strip(chr(34))}"`'

    message, hint = (
        words and re.sub(r"`(--[a-z-]+|[A-Z]+)(?: ([^`]+))?`", spelled, words)
        for words in (diagnostic.message, diagnostic.hint)
    )
    return diagnostic._replace(message=message or "", hint=hint)


def _api_function(
    function: Callable[..., Any],
    expected: Signature,
    command: str,
    answer: Callable[[dict[str, Any]], Any],
) -> Callable[..., Any]:
    types = {name: parameter.annotation for name, parameter in expected.parameters.items()}

    @wraps(function)
    def wrapper(*args: Any, **keywords: Any) -> Any:
        try:
            values = expected.bind(*args, **keywords).arguments
        except TypeError as fault:
            raise TypeError(f"{function.__name__}(): {fault}") from None
        with explained(values.get("text"), command):
            return answer(convert_arguments(types, values, command))

    del wrapper.__dict__["__wrapped__"]
    wrapper.__annotations__ = {**types, "return": expected.return_annotation}
    wrapper.__dict__["__signature__"] = expected
    return wrapper


def takes(command: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that converts options of a command and explains errors."""

    def faced(function: Callable[P, R]) -> Callable[P, R]:
        call: Callable[..., R] = function
        return _api_function(function, signature(function), command, lambda values: call(**values))

    return faced


def answers(
    command: str, *placed: str, overloads: Sequence[tuple[str, Mapping[str, str | None]]] = ()
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Return a decorator that makes a function of a call the Python function of a command.

    Options in `placed` may be positional. `overloads` are for type checkers: answers by the types of arguments, None
    if absent.
    """
    keywords = keywords_of(command)
    first = {"text": "str"} if "expr" in declared(command).defaults else {}
    first |= {name: keywords.get(name, "str | None") for name in placed or ("at",) * ("at" in keywords)}
    types = {**first, **keywords}
    marks, has_rows = command in CHECKS, command in _rows.QUESTIONS
    value_of = value_reader(command)

    def faced(function: Callable[..., R]) -> Callable[..., R]:
        def answered(values: Mapping[str, Any]) -> Any:
            call = PythonCall(command, values)
            if marks and call.answer is not None:
                return _as(call.bind_question(resolve(CHECKS[command]))(call.request))
            return _as(function(call), **vars(call.view))

        def answer_in_budget(values: dict[str, Any]) -> Any:
            text: Any = values.get("text")
            if text is not None:
                name_the_variable(values, text)
            with use_budget(values.get("work") or 1, length=len(text or "")):
                return answer(values, text)

        def answer(values: dict[str, Any], text: Any) -> Any:
            at, zipped = values.get("at"), values.pop("zip", False)
            grid = point_grid(text, at, value_of, zipped) if "zip" in types else None
            of_frame = has_rows and is_frame(at) and not has_lists(text, at)
            if (grid is not None or of_frame) and marks and values.get("answer") is not None:
                raise usage_error("an answer is marked at one point, and here are many", 'write at="x=1"')
            if grid is not None:
                if used := variables_of(text, [*grid.axes, *grid.fixed]):
                    grid.check_use(used, names(values.get("for_"), "--for") or ())
                return at_points(command, answered, grid, values)
            if of_frame:
                for name in _other_options(values, "in_"):
                    raise usage_error(f"`{name}` does not go with a frame", "leave it out")
                fixed, columns = fixed_and_columns(at)
                return in_batches(command, values, point_of(fixed), columns)
            if values.get("lenient"):
                point = as_meant(at, value_of)
                values = {**values, "at": point} if point else values
                result, reading = read_leniently(text, lambda read: answered({**values, "text": read}))
                result.__dict__.update(_reading=reading, _values=tuple(corrections(point)))
            else:
                try:
                    result = answered(values)
                except ExpressionError as error:
                    if error.offers and isinstance(text, str):
                        advise_leniency(error, text, _names_of(at, value_of))
                    raise
            result.__dict__["_typed"] = text
            if warnings := getattr(result, "warnings", ()):
                result.__dict__["warnings"] = tuple([in_python(warning, command) for warning in warnings])
            return result

        def parameter(name: str, annotation: str) -> Parameter:
            kind = Parameter.POSITIONAL_OR_KEYWORD if name in first else Parameter.KEYWORD_ONLY
            default = Parameter.empty if name == "text" else False if annotation == "bool" else None
            return Parameter(name, kind, default=default, annotation=annotation)

        answer_type = function.__annotations__["return"]
        expected = Signature([parameter(*item) for item in types.items()], return_annotation=answer_type)
        ways = [*overloads] or [(answer_type.removesuffix(" | Marked"), {"answer": None} if marks else {})]
        ways += [("Marked", {"answer": "str"})] * marks + [("Any", {"at": "Any"})] * has_rows
        STUBS.append((function.__name__, expected, ways))
        return _api_function(function, expected, command, answer_in_budget)

    return faced


def function_of(kind: type[R], command: str, *placed: str, **more: Any) -> Callable[..., R]:
    """Return the function of a one-question command, with its answer's docstring."""

    def function(call: PythonCall) -> Any:
        return method_of(call)(call.request)

    function.__name__ = function.__qualname__ = {"grad": "gradient"}.get(command, command)
    function.__doc__ = kind.__doc__
    function.__annotations__["return"] = kind.__name__ + " | Marked" * (command in CHECKS)
    return answers(command, *placed, **more)(function)


def in_batches(
    question: str, values: Mapping[str, Any], fixed: Mapping[str, Any], columns: Any, point: Sequence[str] = ()
) -> Any:
    """Return the answers to rows as a table of the caller's kind, after `point`."""
    rows = _rows.rows(
        values["text"],
        at=fixed,
        wrt=names(values.get("wrt")),
        question=question,
        lenient=bool(values.get("lenient")),
        point=point,
        units=values.get("in_") and ",".join(values["in_"]),
    )
    return rows(columns)


def _names_of(at: Any, value_of: ValueOf) -> list[str]:
    with suppress(ExpressionError):
        return [*as_meant(at, value_of)]
    return []


def _other_options(values: Mapping[str, Any], *allowed: str) -> list[str]:
    expected = ("text", "at", "wrt", "lenient", "work", *allowed)
    return [name for name, value in values.items() if name not in expected and value not in (None, False)]


def point_grid(text: object, at: Any, value_of: ValueOf, zipped: bool) -> Grid | None:
    """Return the grid of a point with sweeps; None without sweeps."""
    options = once_read([at]) if isinstance(at, str) else None
    texts = [x for x in at.values() if isinstance(x, str)] if isinstance(at, Mapping) else options
    if not (zipped or may_sweep(texts)):
        return None
    reader = sweeping(value_of)
    point = default_point(options, Reading(reader))
    if options is None:
        typed: Mapping[str, Any] = at if isinstance(at, Mapping) else {}
        point = {name: reader(name, x, 0) if isinstance(x, str) else x for name, x in typed.items()}
        numbers = {name: x for name, x in typed.items() if not isinstance(x, str)}
        if may_sweep(texts) and is_frame(at) and not has_lists(text, numbers):
            hint = "repeat the columns for each value of the sweep"
            raise usage_error("columns and a sweep do not go together", hint)
    return grid_of(point, zipped=zipped, times=current_budget().times)


ERRORS_OF_ALL_ROWS = ("usage", "missing_value", "syntax", "name", "arity", "type", "request")


def at_points(
    command: str, answered: Callable[[Mapping[str, Any]], Any], grid: Grid, values: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """Return the answers on a grid as columns: point, numbers, error."""
    first = [*grid.fixed.values(), *(axis.value(0) for axis in grid.axes.values())]
    measured = has_unit_literals(values["text"]) or any(type(x) is Quantity for x in first)
    if command in _rows.QUESTIONS and not _other_options(values) and not measured:
        fixed, columns = point_of(grid.fixed), grid.columns(0, grid.size)
        return cast(dict[str, list[Any]], in_batches(command, values, fixed, columns, (*grid.axes, *fixed)))
    from ..views.wide import WideRows

    rows: list[dict[str, Any]] = []
    # starts of unknowns are not part of the point
    unknowns = names(values.get("for_"), "--for") or ()
    for own in grid.points():
        point = point_of({**own, **grid.fixed})
        row = {
            heading(name, str(getattr(x, "unit", ""))): float(getattr(x, "number", x))
            for name, x in point.items()
            if name not in unknowns
        }
        try:
            answer = answered({**values, "at": point})
            view = views.view_of(answer)
            rows += [{**row, "error": None, **cells} for cells in WideRows(view.cells(view.with_units(answer)))]
        except ExpressionError as error:
            if error.kind in ERRORS_OF_ALL_ROWS:
                raise
            rows.append({**row, "error": f"{error.kind}: {error}"})
    heads = dict.fromkeys(name for row in rows for name in row if name != "error")
    return {name: [row.get(name) for row in rows] for name in (*heads, "error")}


STUBS: list[tuple[str, Signature, Sequence[tuple[str, Mapping[str, str | None]]]]] = []
"""The functions of commands: name, signature, overloads."""


@takes("grad")
def parse(text: str, given: Collection[str] = (), *, lenient: bool = False) -> Program:
    """Return the program of a text, not evaluated: its `parameters`, its graph, and a function of its variables.

    With `lenient` its `text` is the one that was read.

    `given` are the names that are variables although they are called like the constants `e`, `pi`, `π`. Raises
    `ExpressionError` where the text is not valid.

    >>> parse("s = x*y; s**2 + x").parameters
    ('x', 'y')
    """
    return Program(read_leniently(text, lambda read: _parse(read, given))[0] if lenient else _parse(text, given))


gradient = function_of(
    Gradient,
    "grad",
    overloads=[
        ("Gradient[float]", {"exact": "Literal[False]", "precision": "None", "certified": "Literal[False]"}),
        ("Gradient[Any]", {}),
    ],
)
graph = function_of(Picture, "graph")
diff = function_of(Diff, "diff")
export = function_of(Exported, "export", "to")
trace = function_of(Trace, "trace")
page = function_of(Page, "page")
check = function_of(Check, "check")
minimize = function_of(Minimum, "minimize")
hessian = function_of(Hessian, "hessian")
jacobian = function_of(Jacobian, "jacobian")
taylor = function_of(Taylor, "taylor")
solve = function_of(Solved, "solve")


@takes("grad")
def rows(
    text: str,
    *,
    at: At = None,
    wrt: Names = None,
    keep: Sequence[str] | str | bool = (),
    columns: Mapping[str, str] | None = None,
    backend: str | None = None,
    question: str = "grad",
    in_: Names = None,
) -> _rows.Rows:
    """Return the program as a function from a `pyarrow.RecordBatch` (or table) to another, the answers to its rows.

    That has the columns `value`, `d_x` for each variable, `error`, and those of the data to `keep` (True: all);
    `.schema(given)` says so beforehand. `columns` says which column is which variable where names differ, `at` gives
    what is the same for all rows, and `question` is `grad`, `jacobian` or `hessian`. The function travels as text, by
    `pickle`, and is compiled once a process, so that any engine can call it. Needs the extra `data`.

    Units in the names of columns count as in those of files: `F*L` of `F [kN]` and `L [mm]` has the column
    `value [kN·mm]`, or with `in_="J"` `value [J]`. With `in_="none"` only the numbers count.

    >>> import pyarrow as pa
    >>> grown = rows("p*exp(r*t)", at={"r": 0.05}, keep="id")
    >>> batch = pa.record_batch({"id": ["a", "b"], "p": [100.0, 50.0], "t": [0, None]})
    >>> grown(batch).to_pydict()["error"]
    [None, 'point: column `t`: it is empty']
    >>> grown.schema(batch.schema).names
    ['value', 'd_p', 'd_r', 'd_t', 'error', 'id']
    """
    return _rows.rows(
        text,
        at=point_of(at),
        wrt=names([*wrt] if wrt else None),
        keep=keep or (),
        columns=columns,
        backend=backend,
        question=question,
        units=in_ and ",".join(in_),
    )


@takes("graph")
def draw(
    values: Value | Iterable[Value],
    *,
    theme: str | None = None,
    digits: int | None = None,
    decimals: int | None = None,
) -> Picture:
    """Draw the graph below a Value, or below several: the picture shows itself in a notebook, and can be saved.

    >>> a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    >>> picture = draw(a * b)
    >>> picture, picture.svg[:4], picture.dot[:7]
    (<Picture of 3 nodes>, '<svg', 'digraph')
    """
    roots = list(values) if isinstance(values, Iterable) else [values]
    for root in [root for root in roots if not isinstance(root, Value)]:
        raise TypeError(f"only Values can be drawn, not {root!r}")
    return cast(Picture, _as(_graph.to_picture(roots), digits=rounding(digits, decimals), theme=theme))


draw_dot = draw


@answers("descend")
def descend(call: PythonCall) -> Descent:
    """Run gradient descent from a point: all its `rows`, the start included, the `best`, and the `ending`.

    Over `data` as `gradient` takes them; with a `batch` of their rows in each step there is a row an epoch.

    >>> run = descend("(x - 3)**2", {"x": 0}, rate=0.25, steps=3)
    >>> [(row.step, row.value, row.point["x"]) for row in run]
    [(0, 9.0, 0.0), (1, 2.25, 1.5), (2, 0.5625, 2.25), (3, 0.140625, 2.625)]
    """
    run = method_of(call)(call.request)
    rows = tuple(run)
    if run.ending is not None and run.ending.error is not None:
        explain(run.ending.error, call.text)
    run.__dict__["rows"] = rows
    return cast(Descent, run)


@answers("maximize")
def maximize(call: PythonCall) -> Minimum:
    """Maximise a program with SciPy, as `minimize` does its negative; value and gradient are the program's.

    >>> answer = maximize("2 - (x - 3)**2", {"x": 0})
    >>> answer.point, answer.value, answer.kind
    ({'x': 3.0}, 2.0, 'maximum')
    """
    return cast(Minimum, method_of(call)(call.request))


@answers("plot")
def plot(call: PythonCall) -> Curve | Surface:
    """Plot a function with its derivative and its tangent; over two variables its contours, and the `path` of a run.

    The path is the name of a file that `descend` wrote, or points, or rows such as those of `descend`. With `for_` or
    `between`, which are those of `solve`, the text is equations, and the first unknown is the function. With `order=2`
    there is the second derivative too; several functions are separated by commas. Drawing needs the extra `plot`.

    >>> plot("x**2", {"x": 1}, range={"x": (-2, 2)}).tangent
    Tangent(at=1.0, value=1.0, slope=2.0)
    """
    return cast(Curve | Surface, method_of(call)(call.request))


propagate = function_of(Propagation, "propagate")
fit = function_of(Fit, "fit", "data", "at")


@answers(
    "exercise",
    "level",
    "function",
    overloads=[
        ("Sheet", {"check": None, "answer": None}),
        ("Marked", {"count": None, "solutions": None, "check": "int", "answer": "str"}),
    ],
)
def exercise(call: PythonCall) -> Sheet | Marked:
    """Return exercises of a level, or whether the `answer` to the one with the number `check` is right.

    >>> sheet = exercise(2, count=3, seed=7)
    >>> sheet.exercises[1].program, exercise(2, seed=7, check=2, answer="54").right
    ('f(x) = (2*x + 3)**3', True)
    """
    return cast(Sheet | Marked, _marking.sheet_or_mark(**call.arguments(_marking.sheet_or_mark)))


@answers("functions", "name", overloads=[("FunctionEntry", {"name": "str"}), ("Functions", {"name": "None"})])
def functions(call: PythonCall) -> FunctionEntry | Functions:
    """List the functions of the language, or describe one of them.

    >>> functions("tanh").domain or "everywhere"
    'everywhere'
    """
    if call.name is None:
        return Functions(tuple([_as(entry) for entry in _functions.functions()]))
    return cast(FunctionEntry, _functions.function(call.name))


@answers("units", "name")
def units(call: PythonCall) -> UnitTable:
    """List the units and the constants of nature, or describe one of them.

    >>> units("inch").entries[0].value
    0.0254
    """
    return cast(UnitTable, _units.units(call.name))
