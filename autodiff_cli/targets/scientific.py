"""MATLAB (and Octave), R and Julia as targets: functions of numbers, with conditional statements."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..numbers.recorder import Step, is_number
from ..table.binding import AND, ATOM, CHOICE, COMPARISON, NOT, OR, POWER, PRODUCT, SIGN, SUM
from ..table.names import by_name
from .target import LOWER_CASE, OPERATORS, UPPER_CASE, Target, Unit, Written, call, named, reserved_words

_TRIGONOMETRY = "sin cos tan sinh cosh tanh asinh"
_LOGIC = OPERATORS | by_name(
    {
        "or_": ("{0} || {1}", OR, OR, AND),
        "and_": ("{0} && {1}", AND, AND, NOT),
        "not_": ("!{0}", SIGN, ATOM),
    }
)


class Scientific(Target):
    """Languages whose power is `^`, and whose functions return the value and the derivatives together."""

    mark = "#"
    """Begins a comment."""
    whole_powers = 1e9

    def usable(self, name: str) -> bool:
        called = {re.split(r"\W", form)[0] for form in self.forms.values() if isinstance(form, str)}
        return super().usable(name) and name not in called and name not in reserved_words(self.name)

    def power(self, x: Step, y: Step) -> Written:
        if is_number(y, 2):
            return PRODUCT, [(x, ATOM), "*", (x, ATOM)]
        if self.power_function and not (y.name == "number" and y.data == int(y.data)):
            return call(self.power_function, (x, y))
        return POWER, [(x, ATOM), "^", (y, ATOM)]

    def module(self, unit: Unit) -> str:
        """The source of a file with the function, and those that it needs."""
        variables = self.spelled(unit.variables)
        library = self.library(unit)
        lines = ["Written by autodiff from this program:", "", *[f"    {row}" for row in self.comment(unit.text)]]
        lines += [*self.renamed(variables), f"Returns the value and its derivatives{self.by(unit, variables)}."]
        function = self.defined(unit, variables)
        helpers = self.helpers([*library, *function])
        parts = [[f"{self.mark} {line}".rstrip() for line in lines], library, helpers, function]
        if self.first:
            parts = [parts[0], function, library, helpers]
        blocks = ["\n".join(part).strip("\n") for part in parts if part]
        return f"{blocks[0]}\n" + "\n\n".join(blocks[1:]) + "\n"

    first = False
    """Whether the function has to stand before those that it calls."""

    def helpers(self, code: Sequence[str]) -> list[str]:
        """The lines of functions of the language's own that the code calls."""
        return []


class Matlab(Scientific):
    """MATLAB and Octave. Their `log`, `sqrt` and powers of negative numbers are complex: here these are errors."""

    name = "matlab"
    title = "MATLAB"
    mark = "%"
    first = True
    power_function = "realpow"
    assignment = "{} = {};"
    branch = "if {}"
    otherwise = "else"
    closing = "end"
    label = "  % {}"
    literals = LOWER_CASE
    signature = "function value = {}({})"
    returned = "value = {};"
    gradient_signature = "function [value, gradient] = {}({})"
    results = ("value = {0};", "gradient = [{1}];")
    forms = (
        _LOGIC
        | named(f"exp expm1 {_TRIGONOMETRY} atan atan2 floor ceil abs sign max min hypot erf erfc gamma")
        | named("reallog=log realsqrt=sqrt")
        | by_name(
            {
                "where": "ad_where",
                "not_": ("~{0}", SIGN, ATOM),
                "ne": ("{0} ~= {1}", COMPARISON, SUM, SUM),
            }
        )
    )

    def usable(self, name: str) -> bool:
        return super().usable(name) and len(name) <= 63

    def helpers(self, code: Sequence[str]) -> list[str]:
        if not any("ad_where(" in row for row in code):
            return []
        rows = ["    if ~condition", "        y = other;", "    end", "end"]
        return ["function y = ad_where(condition, y, other)", *rows]


class R(Scientific):
    """R, without packages. Its gamma functions lose digits, so they are not used."""

    name = "r"
    title = "R"
    power_function = ""
    names_results = True
    literals = UPPER_CASE
    signature = "{} <- function({}) {{"
    returned = "{}"
    results = ("list(value = {0}, gradient = c({1}))",)
    assignment = "{} <- {}"
    branch = "if ({}) {{"
    otherwise = "} else {"
    closing = "}"
    forms = (
        _LOGIC
        | named(
            f"exp expm1 log log1p log2 log10 sqrt {_TRIGONOMETRY} asin acos acosh atanh atan atan2 abs sign max min"
        )
        | named("floor ceiling=ceil round")
        | by_name({"where": ("if ({0}) {1} else {2}", CHOICE, CHOICE, CHOICE + 1, CHOICE + 1)})
    )

    def callable(self, name: str) -> bool:
        return super().callable(name) and name not in ("c", "list")


class Julia(Scientific):
    """Julia, without packages."""

    name = "julia"
    title = "Julia"
    literals = LOWER_CASE
    signature = "function {}({})"
    conversion = "{0} = float({0})"
    power_function = ""
    branch = "if {}"
    closing = "end"
    otherwise = "else"
    forms = (
        _LOGIC
        | named(f"exp exp2 expm1 log log1p log2 log10 sqrt cbrt {_TRIGONOMETRY} asin acos acosh atanh atan atan=atan2")
        | named("floor ceil round abs sign max min hypot")
        | by_name({"where": ("{0} ? {1} : {2}", CHOICE, CHOICE + 1, CHOICE + 1, CHOICE + 1)})
    )
