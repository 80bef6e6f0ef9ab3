"""Python and its array libraries as targets: plain Python with `math`, NumPy, JAX and PyTorch."""

from __future__ import annotations

import builtins
import keyword
import math
from collections.abc import Mapping

from ..errors import quoted
from ..language.printer import Item, assembled
from ..numbers.recorder import CONDITIONS, Step, always_defined
from ..table.binding import ATOM, CHOICE, POWER, PRODUCT, SIGN, SUM
from ..table.names import by_name, native
from ..table.primitive import PRIMITIVES
from .target import Form, Target, Unit, Written, call, comment_lines

_TRIGONOMETRY = "sin cos tan sinh cosh tanh"
_ARCS = by_name({f"a{name}": f"arc{name}" for name in [*_TRIGONOMETRY.split(), "tan2"]})
"""NumPy's own names of the inverse functions, which JAX has from it."""

_BITWISE = by_name(
    {
        "or_": (" | ", SUM, SUM, SUM),
        "and_": (" & ", SUM, PRODUCT, PRODUCT),
    }
)


def power(args: tuple[Step, ...], otherwise: str) -> Written:
    """A power as Python has it; a square as a product, a base that may be negative only to a whole exponent."""
    x, y = args
    if y.name == "number" and y.data == 2:
        return PRODUCT, [(x, ATOM), "*", (x, ATOM)]
    if y.name == "number" and y.data == int(y.data) and abs(y.data) < 1e9:
        return POWER, [(x, ATOM), "**", str(int(y.data)) if y.data > 0 else f"({int(y.data)})"]
    return call(otherwise, x, y)


def named(prefix: str, names: Mapping[str, str]) -> dict[str, Form]:
    """Functions of a module, by the operations that they are for."""
    return {operation: prefix + function for operation, function in names.items()}


class Python(Target):
    """Plain Python: `math` and conditional statements."""

    name = "python"
    title = "Python's `math`"
    reserved = frozenset((*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "math"))
    imports: tuple[str, ...] = ("import math",)
    module_name = "math"

    def __init__(self) -> None:
        super().__init__()
        self.forms = named(
            "math.",
            native("sqrt cbrt exp exp2 expm1 log log1p log2 log10 asin acos atan atan2 asinh acosh atanh")
            | native("erf erfc gamma")
            | native(_TRIGONOMETRY)
            | native("hypot"),
        ) | by_name({
            "abs": "abs", "max": "max", "min": "min", "where": self.choice,
            "pow": lambda args: power(args, "math.pow"),
            "floor": lambda args: (ATOM, ["float(math.floor(", (args[0], CHOICE), "))"]),
            "ceil": lambda args: (ATOM, ["float(math.ceil(", (args[0], CHOICE), "))"]),
            "round": lambda args: (ATOM, ["float(round(", (args[0], CHOICE), "))"]),
        })  # fmt: skip

    def silent(self, step: Step, large: bool) -> bool:
        """Python's own functions raise errors; its operators only for a division by 0, and for a power but a square."""
        if step.name not in self.forms:
            return large or step.name not in self.infix
        return large and step.name == "pow"

    def number(self, value: float | bool) -> str:
        return f"{self.module_name}.nan" if value != value else repr(value)

    def choice(self, args: tuple[Step, ...]) -> Written:
        """`x if c else y`."""
        condition, x, y = args
        return CHOICE, [(x, CHOICE + 1), " if ", (condition, CHOICE + 1), " else ", (y, CHOICE)]

    def function(self, name: str) -> Form:
        return f"ad_{name}"

    def remark(self, text: str) -> str:
        return "  # " + " ".join(comment_lines(text))

    def module(self, unit: Unit) -> str:
        """The source of a module with one function."""
        variables = self.spelled(unit.variables)
        # Python reads an encoding in a comment of the first two lines (PEP 263), so no line of the program is there.
        lines = ["# Written by autodiff from this program:", "#"]
        lines += [f"#     {x}".rstrip() for x in comment_lines(unit.text)]
        renamed = [f"# {told}" for told in self.renamed(variables)]
        functions = self.library(unit)
        parameters = ", ".join(variables.values())
        wanted = [variables.get(name) for name in unit.wanted]
        main = [
            f"def {unit.function}({parameters}):",
            f'    """The value, and the tuple of its derivatives{self.told(wanted)}."""',
            *self.prologue(list(variables.values())),
        ]
        self.inputs(unit.recording, list(variables.values()))
        for row in self.body(unit.recording, unit.labels):
            main.append("    " + row)
        value = self.result(unit.recording.values[0], unit)
        partials = [self.result(step, unit) for step in unit.recording.partials]
        main.append(f"    return {value}, ({', '.join(partials)}{',' if len(partials) == 1 else ''})")
        return "\n".join([*lines, *renamed, *self.imports, *functions, "", "", *main]) + "\n"

    def told(self, wanted: list[str | None]) -> str:
        """What it is differentiated by, in words."""
        shown = quoted([name for name in wanted if name], "")
        return f" by {shown}" if shown else ""

    def prologue(self, variables: list[str]) -> list[str]:
        """What is done before the first step."""
        return []

    def result(self, step: Step, unit: Unit) -> str:
        """A result of the function."""
        return assembled(step, self.parts)

    def library(self, unit: Unit) -> list[str]:
        """The functions that the library lacks."""
        lines: list[str] = []
        for name, count in needed(self, unit):
            recording = self.supported(name, count)
            writer = type(self)()
            parameters = ["x", "y", "z", "w"][:count]
            writer.inputs(recording, parameters)
            rows = writer.body(recording, {})
            rows.append(f"return {assembled(recording.values[0], writer.parts)}")
            lines += ["", "", f"def ad_{name}({', '.join(parameters)}):", *[f"    {row}" for row in rows]]
        return lines


def needed(target: Target, unit: Unit) -> list[tuple[str, int]]:
    """The functions to be given to the target, each after those that it calls, with their counts of inputs."""
    found: dict[tuple[str, int], None] = {}
    entered: set[tuple[str, int]] = set()

    def visit(steps: list[Step]) -> None:
        for step in steps:
            key = (step.name, len(step.args))
            known = step.name in target.forms or step.name in target.infix or step.name in target.prefix
            if not step.args or known or key in entered:
                continue
            entered.add(key)
            visit(target.supported(*key).recorder.steps)
            found[key] = None

    live = {task.step for task in target.plan(unit.recording).tasks}
    visit(sorted(live, key=lambda step: step.index))
    return list(found)


class Array(Python):
    """What the array libraries share: no branches, `where` for choices, operators for logic, and no errors."""

    branches = False
    module_name = "np"
    infix = Target.infix | {name: (text, level, left, right) for name, (text, level, left, right) in _BITWISE.items()}

    def silent(self, step: Step, large: bool) -> bool:
        return True

    def negated_logic(self, args: tuple[Step, ...]) -> Written:
        """`~p`."""
        return SIGN, ["~", (args[0], POWER)]

    def operation(self, step: Step) -> Written:
        level, parts = super().operation(step)
        if step.name in CONDITIONS and len(step.args) == 2:
            # `&` and `|` bind more tightly than comparisons.
            return ATOM, ["(", *parts, ")"]
        return level, parts

    def text(self, step: Step) -> str:
        text = super().text(step)
        return text[1:-1] if step.name in CONDITIONS and step.name != "not_" else text

    def result(self, step: Step, unit: Unit) -> str:
        text = assembled(step, self.parts)
        if step.name == "number" and unit.variables:
            whole = unit.recording.values[0]
            like = self.names.get(whole) or next(iter(self.spelled(unit.variables).values()))
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


class NumPy(Array):
    """NumPy: works on whole arrays of points at once."""

    name = "numpy"
    title = "NumPy"
    imports = ("import math", "", "import numpy as np")
    reserved = Python.reserved | {"np"}

    def __init__(self) -> None:
        super().__init__()
        self.forms = named(
            "np.",
            native("sqrt cbrt exp exp2 expm1 log log1p log2 log10 hypot sign floor ceil logaddexp")
            | native(_TRIGONOMETRY)
            | by_name({"abs": "abs", "max": "maximum", "min": "minimum", "where": "where", "round": "round"})
            | _ARCS,
        ) | by_name({
            "pow": lambda args: power(args, "np.power"), "not_": self.negated_logic,
        })  # fmt: skip

    def prologue(self, variables: list[str]) -> list[str]:
        return [
            *[f"    {name} = np.asarray({name}, dtype=float)" for name in variables],
        ]

    def module(self, unit: Unit) -> str:
        source = super().module(unit)
        if "math." not in source.replace("import math\n", ""):
            source = source.replace("import math\n\nimport numpy", "import numpy")
        # Where a branch is not taken its numbers may be undefined, and are not used.
        return source.replace(f"\ndef {unit.function}(", f'\n@np.errstate(all="ignore")\ndef {unit.function}(')


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

    def __init__(self) -> None:
        super().__init__()
        self.forms = named(
            "jnp.",
            native("sqrt cbrt exp expm1 log log1p log2 log10 hypot sign floor ceil logaddexp")
            | native("sin cos tan tanh")
            | by_name({"abs": "abs", "max": "maximum", "min": "minimum", "where": "where", "round": "round"})
            | _ARCS,
        ) | by_name({
            "pow": lambda args: power(args, "jnp.power"), "not_": self.negated_logic,
            "polygamma": lambda args: self.polygamma(int(float(args[0])), args[1]),
            "trigamma": lambda args: self.polygamma(1, args[0]),
        }) | named("jax.scipy.special.", native("erf erfc digamma") | {"lgamma": "gammaln"})  # fmt: skip

    def module(self, unit: Unit) -> str:
        source = super().module(unit)
        return source if "jax.scipy" in source else source.replace("import jax\nimport jax.numpy", "import jax.numpy")

    def polygamma(self, order: int, x: Step) -> Written:
        """A derivative of digamma."""
        return ATOM, [f"jax.scipy.special.polygamma({order}, ", (x, CHOICE), ")"]

    def prologue(self, variables: list[str]) -> list[str]:
        return [
            '    # Double precision needs `jax.config.update("jax_enable_x64", True)`.',
            *[f"    {name} = jnp.asarray({name}, dtype=float)" for name in variables],
        ]


class Torch(Guarded):
    """PyTorch. Its `polygamma` has the digits of single precision only, so it is not used."""

    name = "torch"
    title = "PyTorch"
    module_name = "torch"
    imports = ("import torch",)
    reserved = Python.reserved | {"torch"}

    def __init__(self) -> None:
        super().__init__()
        self.forms = named(
            "torch.",
            native("sqrt exp exp2 expm1 log log1p log2 log10 sign floor ceil round logaddexp erf erfc lgamma digamma")
            | native("asin acos atan atan2 asinh acosh atanh")
            | native(_TRIGONOMETRY)
            | native("abs"),
        ) | by_name({
            "where": self.chosen, "pow": lambda args: power(args, "torch.pow"), "not_": self.negated_logic,
            "max": lambda args: self.tensors("torch.maximum", args),
            "min": lambda args: self.tensors("torch.minimum", args),
            "hypot": lambda args: self.tensors("torch.hypot", args),
            "atan2": lambda args: self.tensors("torch.atan2", args),
            "logaddexp": lambda args: self.tensors("torch.logaddexp", args),
        })  # fmt: skip

    def function(self, name: str) -> Form:
        return lambda args: self.tensors(f"ad_{name}", args)

    def tensor(self, step: Step) -> Item:
        """An input that has to be a tensor."""
        return (
            f"torch.tensor({self.number(step.data)}, dtype=torch.float64)" if step.name == "number" else (step, CHOICE)
        )

    def tensors(self, function: str, args: tuple[Step, ...]) -> Written:
        """A call of a function that takes tensors only."""
        parts: list[Item] = [function, "("]
        for k, arg in enumerate(args):
            parts += [", ", self.tensor(arg)] if k else [self.tensor(arg)]
        return ATOM, [*parts, ")"]

    def chosen(self, args: tuple[Step, ...]) -> Written:
        """`torch.where`, of two numbers in double precision."""
        if all(a.name == "number" for a in args[1:]):
            return ATOM, ["torch.where(", (args[0], CHOICE), ", ", self.tensor(args[1]), ", ", (args[2], CHOICE), ")"]
        return call("torch.where", *args)

    def prologue(self, variables: list[str]) -> list[str]:
        return [f"    {name} = torch.as_tensor({name}, dtype=torch.float64)" for name in variables]
