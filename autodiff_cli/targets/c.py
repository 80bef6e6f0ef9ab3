"""C99 as a target: a function that returns the value and writes the gradient to an array."""

from __future__ import annotations

import re

from ..graphs.adjoint import Recording
from ..language.printer import assembled
from ..table.names import by_name, native
from .c_names import is_external, is_word
from .curly import Curly
from .python import named, needed
from .target import Unit


class C(Curly):
    """C99 with `math.h`."""

    name = "c"
    title = "C"
    declares = ("double", "int")

    def __init__(self) -> None:
        super().__init__()
        self.forms = named(
            "",
            native(
                "sqrt cbrt exp exp2 expm1 log log1p log2 log10 asin acos atan atan2 asinh acosh atanh erf erfc lgamma"
            )
            | native("sin cos tan sinh cosh tanh hypot floor ceil")
            | by_name({"gamma": "tgamma", "abs": "fabs", "max": "fmax", "min": "fmin", "round": "nearbyint"}),
        ) | by_name({"where": self.choice, "pow": self.power})
        functions = {form for form in self.forms.values() if isinstance(form, str)}
        self.reserved = frozenset((*functions, "main", "gradient", "pow"))

    def usable(self, name: str) -> bool:
        return super().usable(name) and not is_word(name)

    def callable(self, name: str) -> bool:
        return super().callable(name) and not is_external(name)

    def number(self, value: float | bool) -> str:
        return str(int(value)) if isinstance(value, bool) else "NAN" if value != value else repr(value)

    def remark(self, text: str) -> str:
        return f" /* {' '.join(self.comment(text))} */"

    def comment(self, text: str) -> list[str]:
        """The lines of a text, for a comment: nothing in them ends it, continues a line or is a trigraph."""
        rows = [row.replace("\\", "U+005C") for row in super().comment(text)]
        return [re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", r"\g<0> ", row) for row in rows]

    def module(self, unit: Unit) -> str:
        """The source of a file with one function that others may call."""
        variables = self.spelled(unit.variables)
        lines = ["/* Written by autodiff from this program:", " *"]
        lines += [f" *     {row}".rstrip() for row in self.comment(unit.text)]
        lines += [" */", "#include <math.h>"]
        for name, count in needed(self, unit):
            lines += ["", *type(self)().static(name, self.supported(name, count), count)]
        parameters = [f"double {name}" for name in variables.values()]
        count = len(unit.wanted)
        results = f"double gradient[{count}]" if count else "double *gradient"
        wanted = [variables.get(name, "") for name in unit.wanted]
        lines += ["", "/* Returns the value, and puts the derivatives into `gradient`:"]
        lines += [f" *     gradient[{k}] by {name or 'a name that is not used'}" for k, name in enumerate(wanted)]
        lines += [f" * {told}" for told in self.renamed(variables)]
        lines += [" */", f"double {unit.function}({', '.join([*parameters, results])});", ""]
        lines += [f"double {unit.function}({', '.join([*parameters, results])})", "{"]
        self.inputs(unit.recording, list(variables.values()))
        rows = self.written(unit.recording, unit.labels)
        used = {s.data for s in self.seen if s.name == "input"}
        rows += [f"gradient[{k}] = {assembled(s, self.parts)};" for k, s in enumerate(unit.recording.partials)]
        rows += [f"(void){name};" for k, name in enumerate(variables.values()) if k not in used]
        rows += [] if count else ["(void)gradient;"]
        rows += [f"return {self.value(unit.recording)};"]
        return "\n".join([*lines, *[self.indent + row for row in rows], "}"]) + "\n"

    def static(self, name: str, recording: Recording, count: int) -> list[str]:
        """A function that `math.h` lacks."""
        parameters = ["x", "y", "z", "w"][:count]
        self.inputs(recording, parameters)
        rows = self.written(recording, {})
        rows += [
            f"(void){p};"
            for k, p in enumerate(parameters)
            if not any(s.name == "input" and s.data == k for s in self.seen)
        ]
        rows.append(f"return {self.value(recording)};")
        signature = f"static double ad_{name}({', '.join(f'double {p}' for p in parameters)})"
        return [signature, "{", *[self.indent + row for row in rows], "}"]
