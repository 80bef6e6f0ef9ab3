"""The Python face: for every command a function, whose answer prints, shows itself in a notebook and gives its record.

The keyword arguments of a function are the options of its command, by the same names and with the same meaning, but for
those that are the shell's: where programs come from, and which format goes to which file. `at`, `wrt`, `direction`,
`adjoint`, `bounds` and `range` take the text that the options take, or what Python has for it. The messages of errors
name options: `--precision` is `precision=` here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from inspect import signature
from typing import Any, ClassVar, Generic, Literal, ParamSpec, TypeVar, cast, overload

from .. import views
from ..accuracy import check as _check
from ..cli.commands.fit import read_data
from ..cli.commands.propagate import read_fit, readings
from ..curves import contours as _surface
from ..curves import plot as _plot
from ..data import rows as _rows
from ..derivatives import gradient as _gradient
from ..derivatives import graph as _graph
from ..derivatives import hessian as _hessian
from ..derivatives import jacobian as _jacobian
from ..derivatives import page as _page
from ..derivatives import taylor as _taylor
from ..derivatives import trace as _trace
from ..diagnostics.leniency import AsRead, leniently
from ..equations import solve as _solve
from ..errors import Diagnostic, ExpressionError, quoted
from ..exercises import exercise as _exercise
from ..exercises import marking as _marking
from ..formulas import diff as _diff
from ..formulas import export as _export
from ..formulas import functions as _functions
from ..graphs.value import Value, as_float, constant, located, values_of
from ..inputs.arithmetic import chosen
from ..inputs.figures import Shown
from ..inputs.parse_point import constant_value, meant, parse_weights, read_point
from ..inputs.problem import as_number
from ..inputs.problem import parse as _parse
from ..language import builder
from ..numbers.budget import allowed
from ..numbers.floats import REAL
from ..optimize import descend as _descend
from ..optimize import fit as _fit
from ..optimize import minimize as _minimize
from ..run.sweep import Fault, forward
from ..run.tape import Tape
from ..streams.files import Output
from ..uncertainty import propagate as _propagate
from ..uncertainty.measured_value import quantity
from ..views.characters import Terminal
from ..views.error import draw as _drawn
from ..views.formats import Asked, format_of
from ..views.graph import FORMATS as PICTURE_FORMATS
from ..views.graph import way_of, written
from ..views.numerals import rounding
from ..views.plot import drawn_as
from .api_arguments import (
    At,
    Names,
    Ranges,
    Table,
    as_meant,
    between_of,
    columns_of,
    keyword,
    kind_of,
    names_of,
    options_of,
    point_of,
    ranges_of,
    reduced,
    taken,
    theme_named,
    written_number,
)

Number = TypeVar("Number", bound=Shown)
P = ParamSpec("P")
R = TypeVar("R")

WITHOUT = ("exercise", "functions")
"""Commands that take no program."""


# ---- answers ------------------------------------------------------------------------------------------------------
class Answer:
    """What every answer can do: print as its command prints to a pipe, and show itself in a notebook.

    A notebook shows pictures as SVG, formulas in LaTeX, and all else as HTML; numbers with a gradient or a matrix have
    the formula as well, for what is printed from the notebook.
    """

    _told: ClassVar[tuple[str, ...]] = ()
    """The fields that a short description has."""

    _choices: Mapping[str, Any] = {}
    """How it is shown: what the options `digits`, `depth` and so on have chosen."""

    _reading: AsRead | None = None
    """How the program was read, where that is not as it was typed."""

    _values: tuple[str, ...] = ()
    """How values of the point were read, where that is not as they were typed."""

    @property
    def note(self) -> str | None:
        """How a program and its point were read, with `lenient`, where that is not as typed: `read as: log(x)`."""
        return cast(str | None, Asked(None, reading=self._reading, values=self._values).fields().get("note"))

    def __str__(self) -> str:
        return views.text(self, **self._choices).removesuffix("\n")

    def __repr__(self) -> str:
        from reprlib import Repr

        # long lists are cut, a formula never: what is left of it would be another one
        short = Repr()
        short.maxstring = short.maxother = sys.maxsize
        told = [f"{name}={short.repr(getattr(self, name))}" for name in self._told]
        return f"{type(self).__name__}({', '.join(told)})"

    def to_text(self, format: str = "table", *, document: bool = False) -> str:
        """The answer in one of its command's formats, as the command writes it; LaTeX as a document if asked."""
        return views.text(self, format, document=document, **self._choices)

    def to_dict(self) -> dict[str, Any]:
        """The JSON record of the command, without `id` and `line`, which tell the lines of a stream apart."""
        text = getattr(self, "text", None)
        record = views.record(self, **self._choices)
        if self._reading is not None:
            text, record = self._reading.typed, self._reading.placed(record)
        note = {} if self.note is None else {"note": self.note}
        return ({} if text is None else {"expr": text}) | note | record

    def _repr_html_(self) -> str | None:
        # a notebook would prefer HTML to a drawing
        return None if self._repr_svg_() is not None else views.html(self, **self._choices)

    def _repr_latex_(self) -> str | None:
        made = views.latex(self, **self._choices)
        if made is None:
            return None
        # what stands between dollars is mathematics to every notebook; not all know the delimiters of a document
        formula = made.removeprefix(r"\[").removesuffix(r"\]").replace("{align*}", "{aligned}")
        return f"$${formula}$$"

    def _repr_svg_(self) -> str | None:
        return None


class Drawing(Answer):
    """An answer that is a picture."""

    @property
    def svg(self) -> str:
        """The picture as an SVG document. Raises `ExpressionError` where it is too large, or an extra is missing."""
        made = views.svg(self, **self._choices)
        assert made is not None
        return made

    def save(self, path: str, *, force: bool = False) -> None:
        """Write the picture to a file, whole or not at all, in the format that the file's name says.

        Raises `ExpressionError`: `usage` for a name that says none, `io` where a file is there and `force` is not.
        """
        try:
            out = Output(str(path), force=force)
            views.write(self, out.stream, self._format(str(path)), **self._choices)
            out.finish(0)
        except ExpressionError as error:
            explain(error, None)
            raise

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
        return format_of(None, path, views.view_of(self).formats, "table")

    def _repr_svg_(self) -> str | None:
        return None


class Gradient(Answer, _gradient.Gradient[Number], Generic[Number]):
    """Value and gradient of a program at a point."""

    _told = ("value", "gradient")


class Check(Answer, _check.Check):
    """How far value and gradient can be trusted."""

    _told = ("agrees", "value", "gradient")


class Trace(Answer, _trace.Trace):
    """Every step of evaluation and backpropagation."""

    _told = ("value", "gradient", "tangent")


class Picture(Drawing, _graph.Picture):
    """The graph of a program, or of Values."""

    _told = ("text",)

    @property
    def dot(self) -> str:
        """The picture in the language of Graphviz."""
        return self.to_text("dot")

    def _format(self, path: str) -> str:
        return written(format_of(None, path, PICTURE_FORMATS, "tree"))

    def __repr__(self) -> str:
        return f"<Picture of {len(self.nodes):,} node{'' if len(self.nodes) == 1 else 's'}>"


class Page(Drawing, _page.Page):
    """A page to step through evaluation and backpropagation; a notebook shows it in a frame."""

    _told = ("text", "point")

    def __str__(self) -> str:
        return self.html.removesuffix("\n")

    @property
    def html(self) -> str:
        """The whole page, which needs no other file."""
        return self.to_text("html")

    def _format(self, path: str) -> str:
        return format_of(None, path, views.view_of(self).formats, "html")

    def _repr_svg_(self) -> str | None:
        return None

    def _repr_html_(self) -> str | None:
        from html import escape

        frame = 'width="100%" height="760" style="border:0" sandbox="allow-scripts" title="autodiff"'
        return f'<iframe {frame} srcdoc="{escape(self.html)}"></iframe>'


class Descent(Plotted, _descend.Descent):
    """A run of gradient descent that is over: its `rows`, the `best` of them, and the `ending`.

    Its picture, by `save`, is the values over the steps.
    """

    _told = ("best", "ending")
    rows: tuple[_descend.DescentStep, ...] = ()

    def __iter__(self) -> Iterator[_descend.DescentStep]:
        return iter(self.rows)


class Minimum(Answer, _minimize.Minimum):
    """Where a search for a minimum has ended, and whether that is one."""

    _told = ("value", "point", "converged", "verdict")


class Curve(Drawing, _plot.Curve):
    """A function of one variable with its derivative and its tangent."""

    _told = ("text", "variable", "low", "high")


class Surface(Drawing, _surface.Surface):
    """A function of two variables, as contours."""

    _told = ("text", "variables")


class Diff(Answer, _diff.Diff):
    """Derivatives as formulas."""

    _told = ("program", "point")


class Hessian(Answer, _hessian.Hessian):
    """Second derivatives at a point, and what they say of it."""

    _told = ("value", "hessian", "verdict")


class Jacobian(Answer, _jacobian.Jacobian):
    """The derivatives of several outputs, or products with them."""

    _told = ("outputs", "values", "jacobian", "product", "gradient")


class Taylor(Answer, _taylor.Taylor):
    """A Taylor polynomial."""

    _told = ("polynomial",)


class Propagation(Plotted, _propagate.Propagation):
    """The outputs of a program with their uncertainties; its picture, by `save`, is the budget."""

    _told = ("results",)

    def __repr__(self) -> str:
        return f"<Propagation: {', '.join(f'{each.output} = {each.written}' for each in self.results)}>"


class Solved(Answer, _solve.Solved):
    """The solutions of equations, and their derivatives."""

    _told = ("solutions", "message")

    def __repr__(self) -> str:
        told = "; ".join(", ".join(f"{n} = {float(x):.6g}" for n, x in each.values.items()) for each in self.solutions)
        return f"<Solved: {told or self.message}>"


class Fit(Plotted, _fit.Fit):
    """A formula fitted to data; its picture, by `save`, is the data with the curve and the residuals."""

    _told = ("point", "message")


class Exported(Answer, _export.Exported):
    """A program as source code in another language."""

    _told = ("target", "name", "variables")


class Sheet(Answer, _exercise.Sheet):
    """Exercises, with their solutions if these were asked for."""

    _told = ("level", "seed", "title")


class Marked(Answer, _exercise.Marked):
    """What there is to say of an answer to an exercise."""

    _told = ("right", "message")


class FunctionEntry(Answer, _functions.FunctionEntry):
    """What there is to say about one function of the language."""

    _told = ("signature", "doc")


class Functions(Answer, _functions.Functions):
    """All functions of the language."""

    def __repr__(self) -> str:
        return f"<{len(self)} functions>"


class Program(builder.Program):
    """A program that can be called with the values of its variables."""

    __slots__ = ()

    @overload
    def __call__(self, **values: float) -> Any: ...
    @overload
    def __call__(self, **values: Value | float) -> Any: ...
    def __call__(self, **values: Value | float) -> Any:
        """The output of the program at these values: a float, or a Value where one of them is a Value.

        A tuple where the program has several outputs. Raises TypeError for a name that is missing, or that is no
        variable of the program; `ExpressionError` where the program has no value.

        >>> parse("x**2 + y")(x=3, y=1)
        10.0
        """
        for name in values:
            if name not in self.leaves:
                what = "is a constant" if name in self.constants else "is not a variable"
                known = quoted(self.leaves, "no variables")
                raise TypeError(f"`{name}` {what} of this program: its variables are {known}")
        missing = [name for name in self.leaves if name not in values]
        if missing:
            raise TypeError(f"the program needs a value for {quoted(missing)}: call it as `f({missing[0]}=…)`")
        given = {
            place: values[name] if isinstance(values[name], Value) else as_float(values[name], f"`{name}` cannot be")
            for name, place in self.leaves.items()
        }
        kept = self.tape
        data: list[Any] = [None] * len(kept.primitives)
        for place, (literal, _) in kept.constants.items():
            data[place] = literal
        for place, x in given.items():
            data[place] = x.data if isinstance(x, Value) else x
        tape = Tape(kept.primitives, kept.parents, data)
        try:
            forward(tape, REAL, self.roots)
        except Fault as fault:
            tape.places, tape.labels = kept.places, kept.labels
            error = located(fault, self.values, tape)
            explain(error, self.text)
            raise error from None
        if any(isinstance(x, Value) for x in given.values()):
            tape.places, tape.labels, tape.constants = kept.places, kept.labels, kept.constants
            # a number takes no derivative: `x**n` at a negative x has one by x only
            found = values_of(tape, given={k: x if isinstance(x, Value) else constant(x) for k, x in given.items()})
            for each in found:
                each.grad = 0.0 if each.grad is None and each.data is not None else each.grad
            outputs: list[Any] = [found[root] for root in self.roots]
        else:
            outputs = [float(tape.data[root]) + 0.0 for root in self.roots]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def __repr__(self) -> str:
        return f"<Program of {quoted(self.leaves, 'no variables')}>"


def _as(kind: type[R], answer: Any, **choices: Any) -> R:
    """The answer to a question as one that can show itself."""
    made: Any
    if isinstance(answer, tuple):
        made = tuple.__new__(kind, answer)  # type: ignore[type-var]
    else:
        made = object.__new__(kind)
        for name in type(answer).__slots__:
            object.__setattr__(made, name, getattr(answer, name))
    chosen = {name: choice for name, choice in choices.items() if choice is not None}
    if chosen:
        made.__dict__["_choices"] = chosen
    result: R = made
    return result


# ---- what a call and a command line have in common ----------------------------------------------------------------
def explain(error: ExpressionError, text: str | None) -> None:
    """Have a traceback show the place in the text, and the hint."""
    shown = error.text if error.text is not None else text
    lines = _drawn(error.diagnostic, shown, Terminal()).rstrip("\n").split("\n")[1:]
    if lines:
        error.__notes__ = ["\n".join(lines)]


def in_python(told: Diagnostic, command: str) -> Diagnostic:
    """An error or a warning that names the options of its command as keyword arguments: `at="x=1"` for `--at x=1`."""
    options = options_of(command)

    def spelled(match: re.Match[str]) -> str:
        name, value = keyword(match[1]), match[2]
        if name not in options:
            return match[0]
        kind = options[name][1]
        if value is None:
            return f"`{name}=True`" if kind in (bool, bool | None) else f"`{name}`"
        return f"`{name}={value}`" if kind in (int | None, float | None) else f'`{name}="{value.strip(chr(34))}"`'

    message, hint = (
        words and re.sub(r"`(--[a-z-]+)(?: ([^`]+))?`", spelled, words) for words in (told.message, told.hint)
    )
    return told._replace(message=message or "", hint=hint)


def warned(answer: Any, command: str) -> Any:
    """The answer with its warnings as they are told in Python."""
    before = getattr(answer, "warnings", ())
    warnings = tuple([in_python(each, command) for each in before])
    if warnings == before:
        return answer
    made = answer._replace(warnings=warnings)
    made.__dict__.update(answer.__dict__)
    return made


def answers(command: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The function as the face of a command: what its options may not be is refused, and errors are explained."""

    def faced(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def asked(*args: P.args, **given: P.kwargs) -> R:
            text: Any = None
            try:
                args, given = taken(function, args, given, command)
                if command not in WITHOUT:
                    text = args[0] if args else given.get("text")
                length = len(text) if isinstance(text, str) else 0
                times: Any = given.get("work") or 1
                with allowed(times, length=length):
                    if not given.get("lenient"):
                        return cast(R, warned(function(*args, **given), command))
                    ask: Callable[..., Any] = function
                    bound = signature(function).bind(*args, **given).arguments
                    point = as_meant(bound.get("at"), quantity if command == "propagate" else constant_value)
                    rest = {**bound, "at": point} if point else bound
                    answer, reading = leniently(str(text), lambda read: ask(**{**rest, "text": read}))
                    if reading is not None:
                        answer.__dict__["_reading"] = reading
                    if meant(point):
                        answer.__dict__["_values"] = tuple(meant(point))
                    return cast(R, warned(answer, command))
            except ExpressionError as error:
                error.diagnostic = in_python(error.diagnostic, command)
                error.args = (error.diagnostic.message,)
                explain(error, text if isinstance(text, str) else None)
                raise

        return asked

    return faced


def takes(command: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The function of no command: it takes options of one, and its errors are explained."""

    def faced(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def asked(*args: P.args, **given: P.kwargs) -> R:
            text: Any = None
            try:
                args, given = taken(function, args, given, command, together=False)
                text = args[0] if args else given.get("text")
                return function(*args, **given)
            except ExpressionError as error:
                explain(error, text if isinstance(text, str) else None)
                raise

        return asked

    return faced


# ---- the functions ------------------------------------------------------------------------------------------------
@takes("grad")
def parse(text: str, given: Collection[str] = (), *, lenient: bool = False) -> Program:
    """The program of a text, not evaluated: its `parameters`, its graph, and a function of its variables.

    With `lenient` its `text` is the one that was read.

    `given` are the names that are variables although they are called like the constants `e`, `pi`, `π`. Raises
    `ExpressionError` where the text is not valid.

    >>> f = parse("s = x*y; s**2 + x")
    >>> f.parameters, f(x=3, y=0.5)
    (('x', 'y'), 5.25)
    """
    return _as(Program, leniently(text, lambda read: _parse(read, given))[0] if lenient else _parse(text, given))


@overload
def gradient(
    text: str, at: At = None, *, wrt: Names = None, lenient: bool = False, exact: Literal[False] = False,
    precision: None = None,
    certified: Literal[False] = False, work: int | None = None, all: bool = False, relative: bool = False,
    data: Table = None, reduce: str | None = None, on_error: str | None = None, sort: bool = False,
    digits: int | None = None, decimals: int | None = None,
    depth: int | None = None, binary: bool = False, no_tree: bool = False, no_table: bool = False,
) -> Gradient[float]: ...  # fmt: skip
@overload
def gradient(
    text: str, at: At = None, *, wrt: Names = None, lenient: bool = False, exact: bool = False,
    precision: int | None = None,
    certified: bool = False, work: int | None = None, all: bool = False, relative: bool = False, data: Table = None,
    reduce: str | None = None, on_error: str | None = None, sort: bool = False,
    digits: int | None = None, decimals: int | None = None,
    depth: int | None = None, binary: bool = False, no_tree: bool = False, no_table: bool = False,
) -> Gradient[Any]: ...  # fmt: skip
@answers("grad")
def gradient(
    text: str, at: At = None, *, wrt: Names = None, lenient: bool = False, exact: bool = False,
    precision: int | None = None,
    certified: bool = False, work: int | None = None, all: bool = False, relative: bool = False, data: Table = None,
    reduce: str | None = None, on_error: str | None = None, sort: bool = False,
    digits: int | None = None, decimals: int | None = None,
    depth: int | None = None, binary: bool = False, no_tree: bool = False, no_table: bool = False,
) -> Gradient[Any]:  # fmt: skip
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
    arithmetic = chosen(exact, precision, certified)
    over = reduced(data, reduce, on_error)
    found = _gradient.gradient(
        text, point_of(at, arithmetic), wrt=names_of(wrt), arithmetic=arithmetic, relative=relative, over=over
    )
    return _as(
        Gradient, found, intermediates=all or None, relative=relative or None, sort=sort or None,
        digits=rounding(digits, decimals), depth=depth, binary=binary or None,
        table=False if no_table else None, tree=False if no_tree else None,
    )  # fmt: skip


@answers("trace")
def trace(
    text: str, at: At = None, *, wrt: Names = None, lenient: bool = False, mode: str | None = None,
    direction: At = None, blanks: bool = False,
    digits: int | None = None, decimals: int | None = None, lines: int | None = None, work: int | None = None,
) -> Trace:  # fmt: skip
    """Every step of the program's evaluation and backpropagation; with `mode="forward"` along a `direction`.

    With `blanks` it is shown without the numbers that are to be found.

    >>> trace("log(x1) + x1*x2 - sin(x2)", {"x1": 2, "x2": 5}).gradient["x1"]
    5.5
    """
    found = _trace.trace(text, point_of(at), wrt=names_of(wrt), mode=mode or "reverse", direction=point_of(direction))
    return _as(Trace, found, digits=rounding(digits, decimals), steps=lines, blanks=blanks or None)


@answers("graph")
def graph(
    text: str, at: At = None, *, wrt: Names = None, lenient: bool = False, symbolic: bool = False,
    theme: str | None = None, layout: str | None = None, partials: bool = False, width: int | None = None,
    digits: int | None = None, decimals: int | None = None, depth: int | None = None, binary: bool = False,
    work: int | None = None,
) -> Picture:  # fmt: skip
    """A picture of the graph: every operation, with value and derivative at every node; `symbolic` needs no point.

    >>> print(graph("x*w", "x=2,w=3"))
    node   data   grad
    *         6      1
    ├─ x      2      3
    └─ w      3      2
    """
    point = point_of(at)
    found = _graph.symbolic_picture(text, point) if symbolic else _graph.picture(text, point, wrt=names_of(wrt))
    return _as(
        Picture, found, digits=rounding(digits, decimals), depth=depth, theme=theme_named(theme), binary=binary or None,
        way=None if layout is None else way_of(layout), partials=partials or None, width=width,
    )  # fmt: skip


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
) -> _rows.Rows:
    """The program as a function from a `pyarrow.RecordBatch` (or a table) to another, with the answers to its rows.

    That has the columns `value`, `d_x` for each variable, `error`, and those of the data to `keep` (True: all);
    `.schema(given)` says so beforehand. `columns` says which column is which variable where names differ, `at` gives
    what is the same for all rows, and `question` is `grad`, `jacobian` or `hessian`. The function travels as text, by
    `pickle`, and is compiled once a process, so that any engine can call it. Needs the extra `data`.

    >>> import pyarrow as pa
    >>> grown = rows("p*exp(r*t)", at={"r": 0.05}, keep="id")
    >>> batch = pa.record_batch({"id": ["a", "b"], "p": [100.0, 50.0], "t": [0, None]})
    >>> grown(batch).to_pydict()["error"]
    [None, 'point: column `t`: it is empty']
    >>> grown.schema(batch.schema).names
    ['value', 'd_p', 'd_r', 'd_t', 'error', 'id']
    """
    return _rows.rows(
        text, at=point_of(at), wrt=names_of(wrt), keep=keep, columns=columns, backend=backend, question=question
    )


@answers("page")
def page(
    text: str, at: At = None, *, wrt: Names = None, lenient: bool = False, theme: str | None = None,
    work: int | None = None,
) -> Page:  # fmt: skip
    """A page to watch and to do backpropagation in a browser: steps, sliders, a quiz, descent and a plot.

    >>> made = page("tanh(w*x + b)", "w=1,x=2,b=-1")
    >>> made, made.html[:15]
    (Page(text='tanh(w*x + b)', point={'b': -1.0, 'w': 1.0, 'x': 2.0}), '<!DOCTYPE html>')
    """
    return _as(Page, _page.page(text, point_of(at), wrt=names_of(wrt)), theme=theme_named(theme))


@takes("graph")
def draw(
    values: Value | Iterable[Value], *, theme: str | None = None, digits: int | None = None, decimals: int | None = None
) -> Picture:
    """A picture of the graph below a Value, or below several: it shows itself in a notebook, and can be saved.

    >>> a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    >>> picture = draw(a * b)
    >>> picture, picture.svg[:4], picture.dot[:7]
    (<Picture of 3 nodes>, '<svg', 'digraph')
    """
    roots = list(values) if isinstance(values, Iterable) else [values]
    for root in roots:
        if not isinstance(root, Value):
            raise TypeError(f"only Values can be drawn, not {root!r}")
    found = _graph.described(roots)
    return _as(Picture, found, digits=rounding(digits, decimals), theme=theme_named(theme))


draw_dot = draw


@answers("check")
def check(
    text: str, at: At = None, *, wrt: Names = None, lenient: bool = False, require: int | None = None,
    digits: int | None = None,
    decimals: int | None = None, data: Table = None, reduce: str | None = None,
    on_error: str | None = None, work: int | None = None,
) -> Check:  # fmt: skip
    """How many digits of value and gradient are right at least, by 50-digit arithmetic and by differences.

    >>> check("x*exp(-x**2/2)", {"x": 1.5}).agrees
    True
    """
    found = _check.check(
        text,
        point_of(at),
        wrt=names_of(wrt),
        required=require or _check.REQUIRED,
        over=reduced(data, reduce, on_error),
    )
    return _as(Check, found, digits=rounding(digits, decimals))


@answers("descend")
def descend(
    text: str, at: At = None, *, rate: float | None = None, steps: int | None = None, method: str | None = None,
    momentum: float | None = None, beta1: float | None = None, beta2: float | None = None, maximize: bool = False,
    gradient_tolerance: float | None = None, value_tolerance: float | None = None, wrt: Names = None,
    lenient: bool = False, data: Table = None, reduce: str | None = None, on_error: str | None = None,
    batch: int | None = None, epochs: int | None = None, shuffle: bool = False, seed: int | None = None,
    theme: str | None = None, digits: int | None = None, decimals: int | None = None, work: int | None = None,
) -> Descent:  # fmt: skip
    """Gradient descent from a point: all its `rows`, the start included, the `best`, and the `ending`.

    Over `data` as `gradient` takes them; with a `batch` of their rows in each step there is a row an epoch.

    >>> run = descend("(x - 3)**2", {"x": 0}, rate=0.25, steps=3)
    >>> [(row.step, row.value, row.point["x"]) for row in run]
    [(0, 9.0, 0.0), (1, 2.25, 1.5), (2, 0.5625, 2.25), (3, 0.140625, 2.625)]
    """
    rule = _descend.chosen_rule(method, rate, momentum, beta1, beta2)
    stops = _descend.Stops(steps, gradient_tolerance, value_tolerance)
    run = _descend.descend(
        text, point_of(at), wrt=names_of(wrt), rule=rule, stops=stops, maximize=maximize,
        over=reduced(data, reduce, on_error),
        batches=_descend.batched(batch, epochs, shuffle, seed),
    )  # fmt: skip
    rows = tuple(run)
    if run.ending is not None and run.ending.error is not None:
        explain(run.ending.error, text)
    done = _as(Descent, run, digits=rounding(digits, decimals), theme=theme_named(theme))
    done.rows = rows
    return done


@answers("minimize")
def minimize(
    text: str, at: At = None, *, method: str | None = None, bounds: Ranges = None,
    gradient_tolerance: float | None = None, steps: int | None = None, wrt: Names = None, lenient: bool = False,
    digits: int | None = None, decimals: int | None = None, data: Table = None, reduce: str | None = None,
    on_error: str | None = None, work: int | None = None,
) -> Minimum:  # fmt: skip
    """Where a program is least, by SciPy's optimisers with the exact gradient and Hessian. Needs `optimize`.

    >>> found = minimize("(x - 3)**2 + 1", {"x": 0})
    >>> found.point, found.converged, found.kind
    ({'x': 3.0}, True, 'minimum')
    """
    tolerance = _minimize.TOLERANCE if gradient_tolerance is None else gradient_tolerance
    found = _minimize.minimize(
        text, point_of(at), wrt=names_of(wrt), method=method, bounds=ranges_of(bounds), tolerance=tolerance,
        steps=steps, over=reduced(data, reduce, on_error),
    )  # fmt: skip
    return _as(Minimum, found, digits=rounding(digits, decimals))


@answers("plot")
def plot(
    text: str, at: At = None, *, range: Ranges = None, for_: Names = None,
    between: Ranges | tuple[float, float] = None, wrt: Names = None, lenient: bool = False,
    path: str | Iterable[Mapping[str, float] | _descend.DescentStep] | None = None, order: int | None = None,
    digits: int | None = None, decimals: int | None = None, theme: str | None = None, work: int | None = None,
) -> Curve | Surface:  # fmt: skip
    """A function with its derivative and its tangent; over two variables its contours, and the `path` of a run.

    The path is the name of a file that `descend` wrote, or points, or rows such as those of `descend`. With `for_` or
    `between`, which are those of `solve`, the text is equations, and the first unknown is the function. With `order=2`
    there is the second derivative too; several functions are separated by commas. Drawing needs the extra `plot`.

    >>> plot("x**2", {"x": 1}, range={"x": (-2, 2)}).tangent
    Tangent(at=1.0, value=1.0, slope=2.0)
    """
    steps: Any = _surface.read_path(path) if isinstance(path, str) else path or ()
    found = _plot.plot(
        text, point_of(at), wrt=names_of(wrt), ranges=ranges_of(range), path=steps, unknowns=names_of(for_),
        between=between_of(between), order=order,
    )  # fmt: skip
    if isinstance(found, _surface.Surface):
        return _as(Surface, found, digits=rounding(digits, decimals), theme=theme_named(theme))
    return _as(Curve, found, digits=rounding(digits, decimals), theme=theme_named(theme))


@answers("diff")
def diff(
    text: str, at: At = None, *, wrt: Names = None, lenient: bool = False, order: int | None = None,
    share: bool = False, steps: bool = False, everywhere: bool = False, assume: str | Sequence[str] | None = None,
    to: str | None = None, digits: int | None = None, decimals: int | None = None, exact: bool = False,
    precision: int | None = None,
    certified: bool = False, work: int | None = None,
) -> Diff:  # fmt: skip
    """The derivatives of a program as formulas, simplified, and their values if a point is given.

    With `steps` also how each is found, in `derivations`. A formula that holds everywhere may have a `short` form with
    the `condition` where it is the same, which `everywhere` leaves out; `assume` says what is known of the variables.

    >>> diff("x**n", wrt="x").derivatives[0].short
    'n*x**(n - 1)'
    >>> diff("abs(x)", assume="x > 0").derivatives[0].formula
    '1'
    >>> diff("x**2*y").derivatives[0].formula
    '2*x*y'
    """
    arithmetic = chosen(exact, precision, certified)
    found = _diff.diff(
        text, point_of(at, arithmetic), wrt=names_of(wrt), order=1 if order is None else order, share=share,
        steps=steps, everywhere=everywhere, assume=assume, language=to or "text", arithmetic=arithmetic,
    )  # fmt: skip
    return _as(Diff, found, digits=rounding(digits, decimals), steps=steps or None)


@answers("hessian")
def hessian(
    text: str, at: At = None, *, wrt: Names = None, lenient: bool = False, digits: int | None = None,
    decimals: int | None = None,
    exact: bool = False,
    precision: int | None = None, certified: bool = False, data: Table = None, reduce: str | None = None,
    on_error: str | None = None, work: int | None = None,
) -> Hessian:  # fmt: skip
    """Value, gradient, Hessian and its eigenvalues at a point, and what they say of the point.

    >>> hessian("x*y", {"x": 0, "y": 0}).hessian
    [[0.0, 1.0], [1.0, 0.0]]
    """
    arithmetic = chosen(exact, precision, certified)
    found = _hessian.hessian(
        text,
        point_of(at, arithmetic),
        wrt=names_of(wrt),
        arithmetic=arithmetic,
        over=reduced(data, reduce, on_error),
    )
    return _as(Hessian, found, digits=rounding(digits, decimals))


@answers("jacobian")
def jacobian(
    text: str, at: At = None, *, wrt: Names = None, lenient: bool = False, direction: At = None,
    adjoint: Mapping[str, Any] | Sequence[float | str] | str | None = None, digits: int | None = None,
    decimals: int | None = None,
    exact: bool = False, precision: int | None = None, certified: bool = False, work: int | None = None,
) -> Jacobian:  # fmt: skip
    """The partial derivatives of every output, or their product with a `direction` or an `adjoint`.

    >>> jacobian("x*y, x + y", {"x": 2, "y": 3}).jacobian
    [[3.0, 2.0], [1.0, 1.0]]
    >>> jacobian("x*y, x + y", "x=2,y=3", adjoint="1,2").gradient
    {'x': 5.0, 'y': 4.0}
    """
    arithmetic = chosen(exact, precision, certified)
    weights = parse_weights(adjoint) if isinstance(adjoint, str) else adjoint
    along = None if direction is None else point_of(direction, arithmetic)
    found = _jacobian.jacobian(
        text, point_of(at, arithmetic), wrt=names_of(wrt), direction=along, adjoint=weights, arithmetic=arithmetic
    )
    return _as(Jacobian, found, digits=rounding(digits, decimals))


@answers("taylor")
def taylor(
    text: str, at: At = None, *, order: int | None = None, wrt: Names = None, lenient: bool = False,
    digits: int | None = None,
    decimals: int | None = None,
    exact: bool = False, precision: int | None = None, certified: bool = False, work: int | None = None,
) -> Taylor:  # fmt: skip
    """Taylor coefficients and polynomial in one variable around the point.

    >>> taylor("exp(x)", {"x": 0}, order=3, exact=True).polynomial
    '1 + x + 1/2*x**2 + 1/6*x**3'
    """
    arithmetic = chosen(exact, precision, certified)
    wanted = names_of(wrt)
    if wanted is not None and len(wanted) != 1:
        raise ExpressionError("usage", "a Taylor series is taken in one variable", hint="write `--wrt x`")
    found = _taylor.taylor(
        text, point_of(at, arithmetic), by=None if wanted is None else wanted[0], order=8 if order is None else order,
        arithmetic=arithmetic,
    )  # fmt: skip
    return _as(Taylor, found, digits=rounding(digits, decimals))


@answers("propagate")
def propagate(
    text: str, at: At = None, *, for_: Names = None, between: Ranges | tuple[float, float] = None,
    lenient: bool = False, correlation: Mapping[Any, float] | str | None = None,
    dof: Mapping[str, float] | str | None = None, data: Mapping[str, Sequence[float]] | str | None = None,
    fit: Fit | str | None = None, level: float | None = None,
    k: float | None = None, samples: float | None = None, seed: int | None = None,
    sort: bool = False, theme: str | None = None, digits: int | None = None, decimals: int | None = None,
    work: int | None = None,
) -> Propagation:  # fmt: skip
    """The outputs of a program with the uncertainties that those of its inputs give them, by the GUM (JCGM 100).

    Values are numbers, which are exact, texts such as `"5.00±0.02"` or `"19.66(10)e-3"`, or numbers of the package
    `uncertainties`. `data` are columns of readings by name, or a file that has them; `correlation` is as the option
    takes it, or a number for each pair of names. `for_` and `between` are those of `solve`: the text is equations then,
    and their unknowns are the outputs. `fit` is an answer of `fit`, or a JSON file of it.
    Drawing needs the extra `plot`.

    >>> found = propagate("V/I", {"V": "5.00±0.02", "I": "19.66(10)e-3"})
    >>> found.results[0].written, found.results[0].interval
    ('254.3(16)', '254.3 ± 3.2 (k = 1.96)')
    """
    pairs: Any = {}
    if isinstance(correlation, str):
        pairs = _propagate.parse_pairs([correlation])
    elif correlation is not None:
        pairs = _propagate.parse_pairs(
            f"{':'.join(map(str, name)) if isinstance(name, tuple) else name}={as_number(r, 'correlation')!r}"
            for name, r in correlation.items()
        )
    point = read_point(at, quantity) if isinstance(at, str) else point_of(at)
    fitted = None
    if fit is not None:
        if not isinstance(fit, str | Fit):
            raise TypeError(f"`fit` is an answer of `fit`, or the name of a file, not {kind_of(fit)}")
        fitted = read_fit(fit) if isinstance(fit, str) else _propagate.estimates_of_fit(fit.to_dict())
    columns: Mapping[str, Sequence[float]] | None = None
    if isinstance(data, str):
        columns = readings(
            [data], text, [*point, *(fitted.values if fitted else ())], implicit=for_ is not None or between is not None
        )
    elif data is not None:
        columns = {name: [as_number(x, name) for x in column] for name, column in columns_of(data).items()}
    found = _propagate.propagate(
        text, point, unknowns=names_of(for_), between=between_of(between), fitted=fitted, correlation=pairs,
        dof={name: as_number(x, name) for name, x in point_of(dof).items()}, readings=columns, level=level, k=k,
        samples=samples, seed=seed,
    )  # fmt: skip
    return _as(Propagation, found, digits=rounding(digits, decimals), sort=sort or None, theme=theme_named(theme))


@answers("solve")
def solve(
    text: str, at: At = None, *, for_: Names = None, between: Ranges | tuple[float, float] = None, all: bool = False,
    wrt: Names = None, lenient: bool = False, order: int | None = None, digits: int | None = None,
    decimals: int | None = None,
    precision: int | None = None, certified: bool = False, work: int | None = None,
) -> Solved:  # fmt: skip
    """Where equations hold, or an expression is 0, and the derivatives of that by their other variables.

    `for_` are the unknowns (the option `--for`), `between` their bounds: two numbers for one unknown, else by name.
    Several equations need the extra `optimize`.

    >>> found = solve("x**2 = a", {"a": 2}, between=(0, 2))
    >>> round(found.solutions[0].values["x"], 10), found.solutions[0].simple
    (1.4142135624, True)
    """
    arithmetic = chosen(False, precision, certified)
    bounds = between_of(between)
    found = _solve.solve(
        text, point_of(at, arithmetic), unknowns=names_of(for_), between=bounds, wrt=names_of(wrt), every=all,
        order=order or 1, arithmetic=arithmetic,
    )  # fmt: skip
    return _as(Solved, found, digits=rounding(digits, decimals))


@answers("fit")
def fit(
    text: str, at: At = None, *, data: Mapping[str, Sequence[float]] | str | None = None, response: str | None = None,
    lenient: bool = False, fix: At = None, bounds: Ranges = None, sigma: str | float | None = None,
    weights: str | None = None, loss: str | None = None, level: float | None = None, theme: str | None = None,
    digits: int | None = None, decimals: int | None = None, precision: int | None = None,
    certified: bool = False, work: int | None = None,
) -> Fit:  # fmt: skip
    """The parameters of a formula from data, by least squares. Needs the extra `optimize`, a picture `plot`.

    `data` are columns by name, or a file that has them; `at` has starts, which parameters need in which the formula is
    not linear.

    >>> found = fit("y = a + b*x", data={"x": [0, 1, 2, 3], "y": [1, 3, 4.9, 7.1]})
    >>> round(found.parameters["b"].estimate, 6), round(found.parameters["b"].error, 6)
    (2.02, 0.042426)
    """
    arithmetic = chosen(False, precision, certified)
    assert data is not None
    point, fixed = point_of(at, arithmetic), point_of(fix, arithmetic)
    if isinstance(data, str):
        also = [name for name in (sigma, weights) if isinstance(name, str)]
        data = read_data([data], text, [*point, *fixed], response, also)
    else:
        data = {name: [written_number(name, x) for x in column] for name, column in columns_of(data).items()}
    found = _fit.fit(
        text, data, point, response=response, fixed=fixed, bounds=ranges_of(bounds), sigma=sigma, weights=weights,
        loss=loss or "linear", level=level, arithmetic=arithmetic,
    )  # fmt: skip
    return _as(Fit, found, digits=rounding(digits, decimals), theme=theme_named(theme))


@answers("export")
def export(
    text: str,
    to: str | None = None,
    *,
    dialect: str | None = None,
    name: str | None = None,
    wrt: Names = None,
    lenient: bool = False,
    work: int | None = None,
) -> Exported:
    """A function that computes value and gradient, as source code in the language `to`: python by default.

    For SQL it is one statement, in the `dialect` of a database: duckdb by default.

    >>> print(export("x*y", "python").source.splitlines()[-1].strip())
    return t1, (y, x)
    """
    return _as(Exported, _export.export(text, to or "python", name=name or "f", wrt=names_of(wrt), dialect=dialect))


@overload
def exercise(
    level: int | None = None,
    *,
    count: int | None = None,
    seed: int | None = None,
    solutions: bool = False,
) -> Sheet: ...
@overload
def exercise(level: int | None = None, *, seed: int | None = None, check: int, answer: str) -> Marked: ...
@overload
def exercise(
    level: int | None = None,
    *,
    count: int | None = None,
    seed: int | None = None,
    solutions: bool = False,
    check: int | None = None,
    answer: str | None = None,
) -> Sheet | Marked: ...
@answers("exercise")
def exercise(
    level: int | None = None, *, count: int | None = None, seed: int | None = None, solutions: bool = False,
    check: int | None = None, answer: str | None = None,
) -> Sheet | Marked:  # fmt: skip
    """Exercises of a level, or whether the `answer` to the one with the number `check` is right.

    >>> sheet = exercise(2, count=3, seed=7)
    >>> sheet.exercises[1].program, exercise(2, seed=7, check=2, answer="54").right
    ('f(x) = (2*x + 3)**3', True)
    """
    found = _marking.asked(level, count=count, seed=seed, solutions=solutions, check=check, answer=answer)
    return _as(Sheet, found) if isinstance(found, _exercise.Sheet) else _as(Marked, found)


@overload
def functions(name: str) -> FunctionEntry: ...
@overload
def functions(name: None = None) -> Functions: ...
@answers("functions")
def functions(name: str | None = None) -> FunctionEntry | Functions:
    """What there is to say about one function of the language, or about all of them.

    >>> functions("tanh").domain or "everywhere"
    'everywhere'
    """
    if name is None:
        return _as(Functions, tuple(_as(FunctionEntry, each) for each in _functions.functions()))
    return _as(FunctionEntry, _functions.function(name))
