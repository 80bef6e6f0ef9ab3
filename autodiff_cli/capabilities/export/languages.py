"""Languages of exported code: what `languages.toml` does not say."""

import builtins
import csv
import io
import keyword
import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial

from ...compiled.target import Form, Target, by_library, language, reserved_words
from ...engine.algebra.symbolic import by_definition
from ...engine.graphs.adjoint import Recording, all_of
from ...engine.graphs.value import Value
from ...engine.numbers.recorder import CONDITIONS, Step, always_defined, is_number
from ...engine.table.operators import VARIABLE
from ...engine.table.primitive import (
    ATOM,
    CHOICE,
    DEFINITIONS,
    OPERATIONS,
    POWER,
    PRODUCT,
    SIGN,
    is_outside,
)
from ...engine.table.primitives import by_name
from ...errors import usage_error
from ...language.printer import Item, Written, as_call, assemble, fill_in, number_text, spell

# What code contains that needs an import, if not all code does.
_USED = {"import jax": "jax.scipy", "import scipy.special": "scipy.special"}


class Python(Target):
    """Plain Python: `math` and conditional statements."""

    imports: Sequence[str] = ()
    decorators: Sequence[str] = ()
    first_line = ""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.reserved = self.reserved.union(
            keyword.kwlist, keyword.softkwlist, dir(builtins), ("math",)
        )

    def _number(self, value: float | bool) -> str:
        return f"{self.module_name}.nan" if value != value else repr(value)

    def lines(self) -> list[str]:
        library, function = self.library(), self.defined()
        code = "\n".join([*library, *function])
        imports = [line for line in self.imports if _USED.get(line, "") in code]
        # PEP 263: the first two lines may set an encoding, so no line of the program is there.
        return [*self.heading(), *imports, *library, "", "", *self.decorators, *function]

    def _opening(self) -> list[str]:
        docstring = f'"""The value, and the tuple of its derivatives{self.variables_phrase()}."""'
        return [docstring, *filter(None, [self.first_line]), *super()._opening()]


class ArrayLibrary(Python):
    """Array libraries, such as NumPy: `where` for choices, operators for logic, no errors."""

    def operation(self, step: Step) -> Written:
        level, parts = super().operation(step)
        if step.name in CONDITIONS and len(step.args) == 2:
            # `&` and `|` bind more tightly than comparisons.
            return ATOM, ["(", *parts, ")"]
        return level, parts

    def text(self, step: Step) -> str:
        text = super().text(step)
        return text[1:-1] if step.name in CONDITIONS and step.name != "not_" else text

    def _shown(self, step: Step) -> str:
        text = self._result(step)
        if step.name != "number" or not self.variables:
            return text
        like = self.names.get(self.unit.recording.values[0]) or next(iter(self.variables.values()))
        return f"{self.module_name}.full_like({like}, {text})"


class Guarded(ArrayLibrary):
    """Libraries that differentiate: an undefined number in an untaken branch would spoil that."""

    def operation(self, step: Step) -> Written:
        if (
            step in self.guards
            and step.name != "where"
            and not always_defined(step.name, step.args)
        ):
            args = self.guard_inputs(step)
            if args != step.args:
                step = Step(step.m, step.name, args, step.data, step.index, step.safe)
        return super().operation(step)

    def guard_inputs(self, step: Step) -> tuple[Step, ...]:
        """Return the inputs of a step, with a point of its domain wherever no branch needs it."""
        m = step.m
        guard: Step | None = None
        for branch in self.guards[step]:
            taken = all_of(m, branch.enclosing())
            guard = taken if guard is None else m.step("or_", guard, taken)
        if guard is None or guard.name == "number":
            return step.args
        bounds = OPERATIONS[step.name].bounds
        ends, n = [bound.end for bound in bounds.bounds], len(step.args)
        inside = (
            x
            for x in (1.0, 0.5)
            if bounds.complete and x not in ends and not is_outside(bounds, (x,) * n)
        )
        point = next(inside, 2.5)
        return tuple([m.where(guard, a, point) if a.name != "number" else a for a in step.args])


class Jax(Guarded):
    """JAX."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.forms = {**self.forms, **by_name({"polygamma": _polygamma})}


def _polygamma(target: Target, step: Step) -> Written:
    order, x = step.args
    # far below 0 it is wrong
    return ATOM, fill_in(
        f"jnp.where({{0}} > -4, jax.scipy.special.polygamma({int(float(order))}, {{0}}), jnp.nan)",
        (x,),
    )


class Torch(Guarded):
    """PyTorch, some of whose functions take tensors only."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        tensors = by_library("maximum=max minimum=min hypot atan2 logaddexp", "torch.")
        forms = {ours: partial(self._tensors, theirs) for ours, theirs in tensors.items()}
        incomplete = {
            name: partial(self._above_zero, f"torch.special.{name}")
            for name in ("gammainc", "gammaincc")
        }
        self.forms = {**self.forms, **forms, **by_name({"where": self._choose, **incomplete})}

    def function(self, name: str) -> Form:
        return partial(self._tensors, f"ad_{name}")

    def _tensor(self, step: Step) -> Item:
        if step.name != "number":
            return step, CHOICE
        return f"torch.tensor({self._number(step.data)}, dtype=torch.float64)"

    def _tensors(self, function: str, target: Target, step: Step) -> Written:
        return as_call(function, step.args, self._tensor)

    def _above_zero(self, function: str, target: Target, step: Step) -> Written:
        """Return a call that is nan unless the first argument is above 0, where the library has a
        limit.
        """
        _, call = as_call(function, step.args, self._tensor)
        return ATOM, ["torch.where(", self._tensor(step.args[0]), " > 0.0, ", *call, ", torch.nan)"]

    def _choose(self, target: Target, step: Step) -> Written:
        condition, x, y = step.args
        if x.name == y.name == "number":
            return ATOM, [
                "torch.where(",
                (condition, CHOICE),
                ", ",
                self._tensor(x),
                ", ",
                (y, CHOICE),
                ")",
            ]
        return as_call("torch.where", step.args)


class Curly(Target):
    """Languages whose branches are in braces, and that declare every name."""

    declares: tuple[str, str]

    def body(self, recording: Recording, labels: Mapping[Step, str]) -> list[str]:
        plan = self.plan(recording)
        self.seen = {a for task in plan.tasks for a in task.step.args} | {*recording.results}
        rows = super().body(recording, labels)
        inside = {task.step for task in plan.tasks if task.branch.depth}
        zero = self._number(False)
        flags = [row for row in rows if row.startswith("ad_b") and row.endswith(f"= {zero};")]
        kinds = {name: self.declares[step.name in CONDITIONS] for step, name in self.called.items()}
        ahead = dict.fromkeys([name for step, name in self.called.items() if step in inside])
        result = [f"{kinds[name]} {name} = 0;" for name in ahead]
        result += [f"{self.declares[True]} {row}" for row in flags]
        for row in rows:
            if row not in flags:
                name = row.split(" ", 1)[0]
                result.append(
                    f"{kinds[name]} {row}" if name in kinds and name not in ahead else row
                )
        return result


class JavaScript(Curly):
    """JavaScript with its `Math`, in a browser or elsewhere; ECMAScript 2015."""

    def _comment(self, text: str) -> list[str]:
        """Return a comment's lines, in which nothing ends a surrounding `<script>`."""
        return [
            re.sub(r"<(?=[/!]|script)", "< ", row, flags=re.IGNORECASE)
            for row in super()._comment(text)
        ]

    def lines(self) -> list[str]:
        head = f"/** The value, and the array of its derivatives{self.variables_phrase()}. */"
        return [*self.heading(), *self.library(), "", head, *self.defined()]


class C(Curly):
    """C99 with `math.h`: a function that returns the value and fills an array."""

    def can_name_function(self, name: str) -> bool:
        library = reserved_words("c_library")
        return super().can_name_function(name) and not (
            name in library or (name[-1] in "fl" and name[:-1] in library)
        )

    def _comment(self, text: str) -> list[str]:
        """Return a comment's lines, in which nothing ends it, continues a line or is a trigraph."""
        rows = [row.replace("\\", "U+005C") for row in super()._comment(text)]
        return [re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", r"\g<0> ", row) for row in rows]

    def lines(self) -> list[str]:
        unit, variables = self.unit, self.variables
        count = len(unit.wanted)
        results = f"double gradient[{count}]" if count else "double *gradient"
        head = (
            "double"
            f" {unit.function}({', '.join([*[f'double {name}' for name in variables.values()], results])})"
        )
        wanted = [variables.get(name) or "a name that is not used" for name in unit.wanted]
        parameters = [*variables.values(), *["gradient"] * (not count)]
        return [
            *("/* Written by autodiff from this program:", " *"),
            *[f" *     {row}".rstrip() for row in self._comment(unit.text)],
            *[f" * {row}" for row in self._notes()],
            *(" */", "#include <math.h>", *self.library()),
            *("", "/* Returns the value, and puts the derivatives into `gradient`:"),
            *[f" *     gradient[{k}] by {name}" for k, name in enumerate(wanted)],
            *[f" * {note}" for note in self._rename()],
            *(" */", f"{head};", ""),
            *self.function_lines(head, parameters, unit.recording, unit.labels),
        ]

    def _support(self, name: str, parameters: Sequence[str], recording: Recording) -> list[str]:
        head = f"static double {name}({', '.join(f'double {p}' for p in parameters)})"
        return self.function_lines(head, parameters, recording, {})

    def function_lines(
        self, head: str, parameters: Sequence[str], recording: Recording, labels: dict[Step, str]
    ) -> list[str]:
        """Return the lines of a function; unused names cause no warnings."""
        self.name_inputs(recording, parameters)
        rows = self.body(recording, labels)
        rows += [f"gradient[{k}] = {self._result(s)};" for k, s in enumerate(recording.partials)]
        used = {s.data for s in self.seen if s.name == "input"}
        unused = [name for k, name in enumerate(parameters) if k not in used]
        rows += [
            *[f"(void){name};" for name in unused],
            f"return {self._result(recording.values[0])};",
        ]
        return [head, *self._block("{", rows)]


class Scientific(Target):
    """MATLAB, R and Julia, whose functions return value and derivatives together."""

    calls_below = False
    """Whether the function has to stand before those that it calls."""
    helpers: Mapping[str, str] = {}
    """Functions of the language's own, by their names in calls."""

    def power(self, x: Step, y: Step) -> Written:
        if is_number(y, 2):
            return PRODUCT, [(x, ATOM), "*", (x, ATOM)]
        if self.power_function and not (y.name == "number" and y.data == int(y.data)):
            return as_call(self.power_function, (x, y))
        return POWER, [(x, ATOM), "^", (y, ATOM)]

    def lines(self) -> list[str]:
        library, function = self.library(), self.defined()
        code = "\n".join([*library, *function])
        helpers = [text for name, text in self.helpers.items() if f"{name}(" in code]
        apart = ["\n\n".join(helpers)] if helpers else []
        parts = [function, library, apart] if self.calls_below else [library, apart, function]
        heading = self.heading(f"Returns the value and its derivatives{self.variables_phrase()}.")
        return [
            "\n".join(heading).strip("\n"),
            "\n\n".join(["\n".join(part).strip("\n") for part in parts if part]),
        ]


# Characters of a formula; Excel takes 8,192.
MAX_CHARACTERS = 8_000

# Functions within functions; Excel takes 64.
MAX_DEPTH = 60


class Spreadsheet(Target):
    """A table of names and cells: variables with typed values, then value and derivatives.

    Each is one formula. Only where it would be longer than a cell of Excel can hold, parts of it
    have their own cells.
    """

    point: Mapping[str, float] = {}
    """The values of variables that are known."""

    def _number(self, value: float | bool) -> str:
        return (
            str(value).upper()
            if isinstance(value, bool)
            else "SQRT(-1)"
            if value != value
            else repr(value).upper()
        )

    def power(self, x: Step, y: Step) -> Written:
        if y.name == "number" and y.data != int(y.data):
            # LibreOffice takes odd roots of negative numbers
            return ATOM, ["POWER(SQRT(", (x, CHOICE), f"), {self._number(2 * y.data)})"]
        return as_call("POWER", (x, y))

    def spell_names(self, names: Sequence[str]) -> dict[str, str]:
        return {name: f"B{k + 1}" for k, name in enumerate(names)}

    def lines(self) -> list[str]:
        unit = self.unit
        results = unit.recording.results
        rows = [
            (name, repr(self.point[name]) if name in self.point else "") for name in self.variables
        ]
        for step in self.cell_steps(results):
            rows.append(
                (
                    unit.labels.get(step, f"step {len(rows) - len(self.variables) + 1}"),
                    f"={self.text(step)}",
                )
            )
            self.names[step] = f"B{len(rows)}"
        labels = [unit.function, *(f"d{unit.function}/d{name}" for name in unit.wanted)]
        rows += [
            (label, f"={self._result(step)}") for label, step in zip(labels, results, strict=True)
        ]
        rows += [("", " ".join(unit.notes))] if unit.notes else []
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(rows)
        return out.getvalue().removesuffix("\n").split("\n")

    def cell_steps(self, results: Collection[Step]) -> list[Step]:
        """Return the steps with their own cells, so that no formula is too long."""
        length: dict[Step, int] = {}
        depth: dict[Step, int] = {}
        kept: list[Step] = []
        for task in sorted(self.plan(self.unit.recording).tasks, key=lambda task: task.step.index):
            step = task.step
            length[step] = 12 + sum(length.get(a, 24) for a in self.step_inputs(step))
            depth[step] = 1 + max([depth.get(a, 0) for a in step.args], default=0)
            if length[step] > MAX_CHARACTERS or depth[step] > MAX_DEPTH:
                for a in sorted(
                    (a for a in step.args if a.args and a not in kept), key=lambda a: a.index
                ):
                    kept.append(a)
                    length[a], depth[a] = 8, 0
                length[step], depth[step] = 12 + 8 * len(step.args), 1
        return sorted(kept, key=lambda step: step.index)


# ---- formulas as SymPy's text; a function that it lacks by its definition
# Names that mean nothing else to SymPy.
_SYMPY_NAME = re.compile(r"(?![CEINOQS])[A-Za-z]\d*", re.ASCII)

SYMPY_CONSTANTS = {"pi": "pi", "π": "pi", "e": "E"}

# How SymPy writes operations.
SYMPY_FORMS = language("sympy")["forms"]


def sympy_text(root: Value) -> str:
    """Return text that `sympy.sympify` reads as the same function of real variables.

    >>> from autodiff_cli.questions.problem import parse
    >>> sympy_text(parse("where(x > 0, log2(x), beta)").outputs[0])
    "Piecewise((log(x, 2), x > 0), (Symbol('beta'), True))"
    """
    return assemble(root, _sympy_parts)


def _sympy_parts(value: Value) -> Written:
    while value._prev and value.primitive.name not in SYMPY_FORMS:
        if value.primitive.name not in DEFINITIONS:
            message = f"SymPy has no function `{value.primitive.name}`, which the formula needs"
            raise usage_error(
                message, "print the formula as text, or leave the variable out with `--wrt`"
            )
        value = by_definition(value, always=True)
    inputs = value._prev
    if not inputs:
        text = _sympy_symbol(value.label) if value.primitive is VARIABLE else ""
        text = text or SYMPY_CONSTANTS.get(value.source or "") or number_text(value.data)
        return SIGN if text.startswith("-") else ATOM, [text]
    return spell(SYMPY_FORMS[value.primitive.name], inputs)


def _sympy_symbol(name: str) -> str:
    return name if _SYMPY_NAME.fullmatch(name) else f"Symbol({name!r})"
