"""Python and its array libraries as targets: plain Python with `math`, NumPy, JAX and PyTorch."""

from __future__ import annotations

import builtins
import keyword
import math
from collections.abc import Mapping, Sequence

from ..language.printer import INFIX, PREFIX, Item
from ..numbers.recorder import CONDITIONS, Step, always_defined
from ..table.binding import ATOM, CHOICE, POWER, PRODUCT, SIGN, SUM
from ..table.names import by_name
from ..table.primitive import PRIMITIVES
from .target import OPERATORS, Form, Target, Unit, Written, call, filled, named

_TRIGONOMETRY = "sin cos tan sinh cosh tanh"


class Python(Target):
    """Plain Python: `math` and conditional statements."""

    name = "python"
    title = "Python's `math`"
    reserved = frozenset((*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "math"))
    imports: tuple[str, ...] = ("import math",)
    decorators: tuple[str, ...] = ()
    module_name = "math"
    power_function = "math.pow"
    whole_powers = 1e9
    blank_lines = 2
    forms = (
        OPERATORS
        | named("sqrt cbrt exp exp2 expm1 log log1p log2 log10 asin acos atan atan2 asinh acosh atanh", "math.")
        | named(f"erf erfc gamma hypot {_TRIGONOMETRY}", "math.")
        | named("abs max min")
        | by_name(
            {
                "where": ("{1} if {0} else {2}", CHOICE, CHOICE + 1, CHOICE + 1, CHOICE),
                "floor": "float(math.floor({0}))",
                "ceil": "float(math.ceil({0}))",
                "round": "float(round({0}))",
            }
        )
    )
    signature = "def {}({}):"
    first_line = ""
    """The first line of a function."""

    def silent(self, step: Step, large: bool) -> bool:
        """Python's own functions raise errors; its operators only for a division by 0, and for a power but a square."""
        if step.name in INFIX:
            return large
        return step.name in PREFIX or step.name not in self.forms

    def number(self, value: float | bool) -> str:
        return f"{self.module_name}.nan" if value != value else repr(value)

    def module(self, unit: Unit) -> str:
        """The source of a module with one function."""
        variables = self.spelled(unit.variables)
        library = self.library(unit)
        function = self.defined(unit, variables)
        # Python reads an encoding in a comment of the first two lines (PEP 263), so no line of the program is there.
        lines = ["# Written by autodiff from this program:", "#"]
        lines += [f"#     {row}".rstrip() for row in self.comment(unit.text)]
        lines += [f"# {note}" for note in self.renamed(variables)]
        lines += [*self.needed_imports([*library, *function]), *library, "", ""]
        return "\n".join([*lines, *self.decorators, *function]) + "\n"

    def needed_imports(self, code: Sequence[str]) -> Sequence[str]:
        """The statements that import what the code uses."""
        return self.imports

    def opening(self, unit: Unit, variables: Mapping[str, str]) -> list[str]:
        docstring = f'"""The value, and the tuple of its derivatives{self.by(unit, variables)}."""'
        return [docstring, *filter(None, [self.first_line]), *super().opening(unit, variables)]


class Array(Python):
    """The common base of array libraries: no branches, `where` for choices, operators for logic, and no errors."""

    branches = False
    logic = by_name(
        {
            "or_": ("{0} | {1}", SUM, SUM, SUM),
            "and_": ("{0} & {1}", SUM, PRODUCT, PRODUCT),
            "not_": ("~{0}", SIGN, POWER),
        }
    )

    def silent(self, step: Step, large: bool) -> bool:
        return True

    def operation(self, step: Step) -> Written:
        level, parts = super().operation(step)
        if step.name in CONDITIONS and len(step.args) == 2:
            # `&` and `|` bind more tightly than comparisons.
            return ATOM, ["(", *parts, ")"]
        return level, parts

    def text(self, step: Step) -> str:
        text = super().text(step)
        return text[1:-1] if step.name in CONDITIONS and step.name != "not_" else text

    def shown(self, step: Step, unit: Unit) -> str:
        text = self.result(step)
        if step.name == "number" and unit.variables:
            value = unit.recording.values[0]
            like = self.names.get(value) or next(iter(self.spelled(unit.variables).values()))
            return f"{self.module_name}.full_like({like}, {text})"
        return text

    def guarded(self, step: Step, sample: tuple[float, ...]) -> tuple[Step, ...]:
        """The inputs of a step, with a point of its domain in their place wherever no branch needs it."""
        m = step.m
        guard: Step | None = None
        for branch in self.guards.get(step, ()):
            one = m.number(True)
            for part in branch.line():
                assert part.condition is not None
                one = m.step("and_", one, part.condition if part.holds else m.step("not_", part.condition))
            guard = one if guard is None else m.step("or_", guard, one)
        if guard is None or guard.name == "number":
            return step.args
        return tuple(
            [m.where(guard, a, x) if a.name != "number" else a for a, x in zip(step.args, sample, strict=True)]
        )


_ARRAY_FUNCTIONS = (
    f"sqrt cbrt exp exp2 expm1 log log1p log2 log10 hypot sign floor ceil round logaddexp where {_TRIGONOMETRY} "
    "abs maximum=max minimum=min arcsin=asin arccos=acos arctan=atan arctan2=atan2 arcsinh=asinh arccosh=acosh "
    "arctanh=atanh"
)
"""Functions of NumPy, with its names for some of them."""


class NumPy(Array):
    """NumPy: works on whole arrays of points at once."""

    name = "numpy"
    title = "NumPy"
    imports = ("import numpy as np",)
    # Where a branch is not taken its numbers may be undefined, and are not used.
    decorators = ('@np.errstate(all="ignore")',)
    module_name = "np"
    reserved = Python.reserved | {"np"}
    power_function = "np.power"
    forms = OPERATORS | Array.logic | named(_ARRAY_FUNCTIONS, "np.")
    conversion = "{0} = np.asarray({0}, dtype=float)"


class Guarded(Array):
    """Libraries that differentiate what they run: an undefined number in a branch not taken would spoil that."""

    def operation(self, step: Step) -> Written:
        if step in self.guards and step.name != "where" and not always_defined(step.name, step.args):
            args = self.guarded(step, _ordinary_point(step))
            if args != step.args:
                step = Step(step.m, step.name, args, step.data, step.index, step.safe)
        return super().operation(step)


def _ordinary_point(step: Step) -> tuple[float, ...]:
    """A point of the operation's domain, the one among its samples that is most like 1."""
    primitive = PRIMITIVES.get(step.name)
    samples = primitive.samples if primitive else ()
    fitting = [sample for sample in samples if len(sample) == len(step.args) and all(sample)]
    return min(fitting, key=lambda sample: sum(abs(math.log(abs(x))) for x in sample), default=(0.5,) * len(step.args))


class Jax(Guarded):
    """JAX. Its `sinh`, `cosh` and `exp2` lose digits of large numbers, so they are made of `exp` here."""

    name = "jax"
    title = "JAX"
    module_name = "jnp"
    imports = ("import jax", "import jax.numpy as jnp")
    reserved = Python.reserved | {"jax", "jnp"}
    power_function = "jnp.power"
    forms = (
        {
            name: form
            for name, form in (OPERATORS | Array.logic | named(_ARRAY_FUNCTIONS, "jnp.")).items()
            if name not in by_name({"sinh": 0, "cosh": 0, "exp2": 0})
        }
        | named("erf erfc digamma gammaln=lgamma", "jax.scipy.special.")
        | by_name(
            {
                "polygamma": lambda target, step: _polygamma(int(float(step.args[0])), step.args[1]),
                "trigamma": "jax.scipy.special.polygamma(1, {0})",
            }
        )
    )
    first_line = '# Double precision needs `jax.config.update("jax_enable_x64", True)`.'
    conversion = "{0} = jnp.asarray({0}, dtype=float)"

    def needed_imports(self, code: Sequence[str]) -> Sequence[str]:
        return self.imports if any("jax.scipy" in row for row in code) else self.imports[1:]


def _polygamma(order: int, x: Step) -> Written:
    return ATOM, filled(f"jax.scipy.special.polygamma({order}, {{0}})", (x,))


class Torch(Guarded):
    """PyTorch. Its `polygamma` has the digits of single precision only, so it is not used."""

    name = "torch"
    title = "PyTorch"
    module_name = "torch"
    imports = ("import torch",)
    reserved = Python.reserved | {"torch"}
    power_function = "torch.pow"
    forms = (
        OPERATORS
        | Array.logic
        | named(
            f"sqrt exp exp2 expm1 log log1p log2 log10 sign floor ceil round erf erfc lgamma digamma {_TRIGONOMETRY} "
            "asin acos atan asinh acosh atanh abs",
            "torch.",
        )
        | by_name(
            {
                "where": lambda target, step: target.chosen(step.args),
            }
            | {
                name: lambda target, step, function=function: target.tensors(function, step.args)
                for name, function in named("maximum=max minimum=min hypot atan2 logaddexp", "torch.").items()
            }
        )
    )
    conversion = "{0} = torch.as_tensor({0}, dtype=torch.float64)"

    def function(self, name: str) -> Form:
        return lambda target, step: self.tensors(f"ad_{name}", step.args)

    def tensor(self, step: Step) -> Item:
        """An input that has to be a tensor."""
        return (
            f"torch.tensor({self.number(step.data)}, dtype=torch.float64)" if step.name == "number" else (step, CHOICE)
        )

    def tensors(self, function: str, args: tuple[Step, ...]) -> Written:
        """A call of a function that takes tensors only."""
        return call(function, args, self.tensor)

    def chosen(self, args: tuple[Step, ...]) -> Written:
        """`torch.where`, of two numbers in double precision."""
        if all(a.name == "number" for a in args[1:]):
            return ATOM, ["torch.where(", (args[0], CHOICE), ", ", self.tensor(args[1]), ", ", (args[2], CHOICE), ")"]
        return call("torch.where", args)
