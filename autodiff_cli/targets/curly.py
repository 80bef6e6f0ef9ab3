"""C and JavaScript as targets: languages with statements in braces, and choices with a question mark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..graphs.adjoint import Recording
from ..numbers.recorder import CONDITIONS, Step
from ..table.binding import AND, ATOM, CHOICE, COMPARISON, OR, SIGN, SUM
from ..table.names import by_name
from .target import LOWER_CASE, OPERATORS, Target, Unit, named, reserved_words

_TRIGONOMETRY = "sin cos tan sinh cosh tanh asin acos atan atan2 asinh acosh atanh"

SYNTAX = OPERATORS | by_name(
    {
        "or_": ("{0} || {1}", OR, OR, COMPARISON),
        "and_": ("{0} && {1}", AND, COMPARISON, COMPARISON),
        "neg": ("-{0}", SIGN, ATOM),
        "not_": ("!{0}", SIGN, ATOM),
        "where": ("{0} ? {1} : {2}", CHOICE, CHOICE + 1, CHOICE + 1, CHOICE + 1),
    }
)


class Curly(Target):
    """Statements end in a semicolon, branches are in braces, and every name is declared."""

    assignment = "{} = {};"
    branch = "if ({}) {{"
    otherwise = "} else {"
    closing = "}"
    declares: tuple[str, str]
    """The words that declare a number and a condition."""

    def declared(self, recording: Recording, labels: dict[Step, str]) -> list[str]:
        plan = self.plan(recording)
        self.seen = {a for task in plan.tasks for a in task.step.args} | {*recording.values, *recording.partials}
        rows = self.body(recording, labels)
        inside = {task.step for task in plan.tasks if task.branch.depth}
        zero = self.number(False)
        flags = [row for row in rows if row.startswith("ad_b") and row.endswith(f"= {zero};")]
        kinds = {name: self.declares[step.name in CONDITIONS] for step, name in self.called.items()}
        plain = {name for step, name in self.called.items() if step not in inside}
        result = [f"{kinds[name]} {name} = 0;" for step, name in self.called.items() if step in inside]
        result += [f"{self.declares[True]} {row}" for row in flags]
        for row in rows:
            if row not in flags:
                name = row.split(" ", 1)[0]
                result.append(f"{kinds[name]} {row}" if name in plain else row)
        return result


class JavaScript(Curly):
    """JavaScript with its `Math`, in a browser or elsewhere; ECMAScript 2015."""

    name = "javascript"
    title = "JavaScript"
    declares = ("let", "let")
    label = "  // {}"
    literals = LOWER_CASE
    signature = "function {}({}) {{"
    returned = "return {};"
    results = ("return [{0}, [{1}]];",)
    power_function = "Math.pow"
    forms = (
        SYNTAX
        | named(f"sqrt cbrt exp expm1 log log1p log2 log10 {_TRIGONOMETRY} floor ceil sign abs max min", "Math.")
        | by_name({"eq": ("{0} === {1}", COMPARISON, SUM, SUM), "ne": ("{0} !== {1}", COMPARISON, SUM, SUM)})
    )

    def usable(self, name: str) -> bool:
        return super().usable(name) and name not in reserved_words("javascript")

    def comment(self, text: str) -> list[str]:
        """The lines of a text, for a comment: nothing in them ends the `<script>` that the code may be in."""
        return [re.sub(r"<(?=[/!]|script)", "< ", row, flags=re.IGNORECASE) for row in super().comment(text)]

    def module(self, unit: Unit) -> str:
        """The source of a script: the function, after those that it needs. It returns the value and the derivatives."""
        variables = self.spelled(unit.variables)
        lines = ["// Written by autodiff from this program:"]
        lines += [f"//     {row}".rstrip() for row in self.comment(unit.text)]
        lines += [f"// {note}" for note in self.renamed(variables)]
        head = f"/** The value, and the array of its derivatives{self.by(unit, variables)}. */"
        return "\n".join([*lines, *self.library(unit), "", head, *self.defined(unit, variables)]) + "\n"


_MACROS = re.compile(
    r"(M|FP|MATH|HUGE|DEC|INT|DBL|FLT|LDBL)_\w+|HUGE(_VAL\w*)?|S?NAN\w*|INFINITY|MAXFLOAT|OVERFLOW|UNDERFLOW|DOMAIN|SING"
    r"|[PT]LOSS|X_TLOSS|math_errhandling|is[a-z]+|fpclassify|signbit|errno|assert"
    r"|linux|unix|i\d86|sparc|mips|sun|vax|hpux|sgi|arm|near|far|pascal|cdecl|huge|interface|small|hyper"
)
"""Macros of `math.h`, and those that compilers and systems define without being asked."""


class C(Curly):
    """C99 with `math.h`: a function that returns the value and writes the gradient to an array."""

    name = "c"
    title = "C"
    declares = ("double", "int")
    label = " /* {} */"
    literals: Mapping[str, str] = {"True": "1", "False": "0", "nan": "NAN"}
    forms = SYNTAX | named(
        f"sqrt cbrt exp exp2 expm1 log log1p log2 log10 {_TRIGONOMETRY} erf erfc lgamma hypot floor ceil "
        "tgamma=gamma fabs=abs fmax=max fmin=min nearbyint=round"
    )
    reserved = frozenset(form for form in forms.values() if isinstance(form, str)) | {"main", "gradient", "pow"}

    def usable(self, name: str) -> bool:
        return super().usable(name) and name not in reserved_words("c") and not _MACROS.fullmatch(name)

    def callable(self, name: str) -> bool:
        library = reserved_words("c_library")
        return super().callable(name) and not (name in library or (name[-1] in "fl" and name[:-1] in library))

    def comment(self, text: str) -> list[str]:
        """The lines of a text, for a comment: nothing in them ends it, continues a line or is a trigraph."""
        rows = [row.replace("\\", "U+005C") for row in super().comment(text)]
        return [re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", r"\g<0> ", row) for row in rows]

    def module(self, unit: Unit) -> str:
        """The source of a file with one function that others may call."""
        variables = self.spelled(unit.variables)
        lines = ["/* Written by autodiff from this program:", " *"]
        lines += [f" *     {row}".rstrip() for row in self.comment(unit.text)]
        lines += [" */", "#include <math.h>", *self.library(unit)]
        count = len(unit.wanted)
        results = f"double gradient[{count}]" if count else "double *gradient"
        head = f"double {unit.function}({', '.join([*[f'double {name}' for name in variables.values()], results])})"
        wanted = [variables.get(name, "") for name in unit.wanted]
        lines += ["", "/* Returns the value, and puts the derivatives into `gradient`:"]
        lines += [f" *     gradient[{k}] by {name or 'a name that is not used'}" for k, name in enumerate(wanted)]
        lines += [*[f" * {note}" for note in self.renamed(variables)], " */", f"{head};", ""]
        function = self.function_lines(head, list(variables.values()), unit.recording, unit.labels, True)
        return "\n".join([*lines, *function]) + "\n"

    def support(self, name: str, parameters: Sequence[str], recording: Recording) -> list[str]:
        head = f"static double {name}({', '.join(f'double {p}' for p in parameters)})"
        return self.function_lines(head, parameters, recording, {}, False)

    def function_lines(
        self, head: str, parameters: Sequence[str], recording: Recording, labels: dict[Step, str], gradient: bool
    ) -> list[str]:
        """The lines of a function, which may write the derivatives to `gradient`; without warnings of unused names."""
        self.inputs(recording, parameters)
        rows = self.declared(recording, labels)
        rows += [f"gradient[{k}] = {self.result(s)};" for k, s in enumerate(recording.partials)]
        used = {s.data for s in self.seen if s.name == "input"}
        unused = [name for k, name in enumerate(parameters) if k not in used]
        if gradient and not recording.partials:
            unused.append("gradient")
        rows += [*[f"(void){name};" for name in unused], f"return {self.result(recording.values[0])};"]
        return [head, *self.block("{", rows)]
