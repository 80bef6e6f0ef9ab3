"""LLVM as a target: columns four doubles at a time, with the C library's vector mathematics.

The function is `void f(double** inputs, double** results, i8* flags, i64 rows)`. Rows are a
multiple of four; inputs shared by all rows are one double each. A flag is 1 if the row needs
another evaluation.
"""

import struct
from collections.abc import Callable, Collection

from ..engine.numbers.recorder import CONDITIONS, Step
from ..engine.table.primitives import by_name, library_names
from .lowering import Vectors
from .target import by_library, language

LANES = 4
VECTOR, TRUTH = "<4 x double>", "<4 x i1>"
ALL_TRUE = f"<{', '.join(['i1 1'] * LANES)}>"
# Operations for which processors have vector instructions.
INTRINSICS = by_library("sqrt fabs=abs floor ceil rint=round")

ARITHMETIC = by_library("fadd=add fsub=sub fmul=mul fdiv=div")
COMPARISONS = by_library("olt=lt ole=le ogt=gt oge=ge oeq=eq une=ne")
INSTRUCTIONS = {
    **{name: f"{theirs} {VECTOR} {{0}}, {{1}}" for name, theirs in ARITHMETIC.items()},
    **{name: f"fcmp {theirs} {VECTOR} {{0}}, {{1}}" for name, theirs in COMPARISONS.items()},
    **{name: f"{name[:-1]} {TRUTH} {{0}}, {{1}}" for name in library_names("and_ or_")},
    **by_name({"neg": f"fneg {VECTOR} {{0}}", "not_": f"xor {TRUTH} {{0}}, {ALL_TRUE}"}),
}

# Functions of the C library, by the operations that they are for.
FUNCTIONS = {
    operation: form
    for operation, form in language("c")["forms"].items()
    if isinstance(form, str)
    and operation not in INTRINSICS
    and operation not in library_names("max min")
} | library_names("pow")

# The C library's vector functions, of AVX2 and AArch64: names, how many doubles they take, how they
# are called.
VECTOR_FUNCTIONS = (("_ZGVdN4", 4, ""), ("_ZGVnN2", 2, "aarch64_vector_pcs "))

NATIVE = (*INTRINSICS, *FUNCTIONS, *library_names("max min where"))


class Llvm:
    """Printed text, as it grows."""

    def __init__(self, plan: Vectors, fixed: Collection[int], has: Callable[[str], bool]) -> None:
        self.plan = plan
        self.fixed = fixed
        self.has = has
        self.names: dict[Step, str] = {}
        self.before: list[str] = []
        self.lines: list[str] = []
        self.declared: dict[str, str] = {}
        self.count = 0

    def _new(self, text: str, *, before: bool = False) -> str:
        name = f"%v{self.count}"
        self.count += 1
        (self.before if before else self.lines).append(f"  {name} = {text}")
        return name

    def module(self, inputs: int) -> str:
        """Return the text of the module for a number of input columns."""
        columns = [self._column("inputs", k) for k in range(inputs)]
        outputs = [self._column("results", k) for k in range(len(self.plan.results))]
        loaded = []
        for k, column in enumerate(columns):
            if k not in self.fixed:
                loaded.append(self._new(f"load {VECTOR}, ptr {self._at(column)}, align 8"))
                continue
            scalar = self._new(f"load double, ptr {column}", before=True)
            first = self._new(f"insertelement {VECTOR} poison, double {scalar}, i32 0", before=True)
            lanes = f"shufflevector {VECTOR} {first}, {VECTOR} poison, <4 x i32> zeroinitializer"
            loaded.append(self._new(lanes, before=True))
        leaves = {a for step in self.plan.steps for a in step.args} | {*self.plan.results}
        self.names |= {step: loaded[step.data] for step in leaves if step.name == "input"}
        for step in self.plan.steps:
            self.names[step] = self._step(step)
        flag = self._flag([name for k, name in enumerate(loaded) if k not in self.fixed])
        for column, result in zip(outputs, self.plan.results, strict=True):
            # a zero has no sign
            plain = self._new(f"fadd {VECTOR} {self._value(result)}, zeroinitializer")
            self.lines.append(f"  store {VECTOR} {plain}, ptr {self._at(column)}, align 8")
        place = self._new("getelementptr i8, ptr %flags, i64 %row")
        self.lines.append(
            f"  store <4 x i8> {self._new(f'zext {TRUTH} {flag} to <4 x i8>')}, ptr {place},"
            " align 1"
        )
        return "\n".join(
            [
                *self.declared.values(),
                "define void @f(ptr %inputs, ptr %results, ptr %flags, i64 %rows) {",
                "entry:",
                *self.before,
                "  %some = icmp sgt i64 %rows, 0",
                "  br i1 %some, label %loop, label %end",
                "loop:",
                "  %row = phi i64 [0, %entry], [%next, %loop]",
                *self.lines,
                f"  %next = add i64 %row, {LANES}",
                "  %more = icmp slt i64 %next, %rows",
                "  br i1 %more, label %loop, label %end",
                "end:",
                "  ret void",
                "}",
                "",
            ]
        )

    def _column(self, array: str, position: int) -> str:
        place = self._new(f"getelementptr ptr, ptr %{array}, i64 {position}", before=True)
        return self._new(f"load ptr, ptr {place}", before=True)

    def _at(self, column: str) -> str:
        return self._new(f"getelementptr double, ptr {column}, i64 %row")

    # -- steps
    def _value(self, step: Step) -> str:
        if step.name == "number" and isinstance(step.data, bool):
            return f"<{', '.join([f'i1 {int(step.data)}'] * LANES)}>"
        return _number(step.data) if step.name == "number" else self.names[step]

    def _step(self, step: Step) -> str:
        name, args = step.name, [self._value(a) for a in step.args]
        if name in INSTRUCTIONS:
            return self._new(INSTRUCTIONS[name].format(*args))
        if name == "where":
            kind = TRUTH if _is_condition(step) else VECTOR
            return self._new(f"select {TRUTH} {args[0]}, {kind} {args[1]}, {kind} {args[2]}")
        if name in ("max", "min"):
            # the first of two equal ones
            better = self._new(
                f"fcmp {'ogt' if name == 'max' else 'olt'} {VECTOR} {args[1]}, {args[0]}"
            )
            return self._new(f"select {TRUTH} {better}, {VECTOR} {args[1]}, {VECTOR} {args[0]}")
        if name in INTRINSICS:
            function = f"@llvm.{INTRINSICS[name]}.v4f64"
            self.declared[function] = f"declare {VECTOR} {function}({VECTOR})"
            return self._new(f"call {VECTOR} {function}({VECTOR} {args[0]})")
        if name == "atan2":
            # a zero has no sign
            args = [self._new(f"fadd {VECTOR} {x}, zeroinitializer") for x in args]
        return self._call(FUNCTIONS[name], args)

    def _call(self, function: str, args: list[str]) -> str:
        """Call a function of the C library, for four doubles at once or else one by one."""
        for mark, width, convention in VECTOR_FUNCTIONS:
            many = f"{mark}{'v' * len(args)}_{function}"
            if self.has(many):
                kind = f"<{width} x double>"
                self.declared[many] = (
                    f"declare {convention}{kind} @{many}({', '.join([kind] * len(args))}) #0"
                )
                return self._call_for_lanes(f"call {convention}{kind} @{many}", args, width)
        self.declared[function] = f"declare double @{function}({', '.join(['double'] * len(args))})"
        vector = "poison"
        for lane in range(LANES):
            lanes = [self._new(f"extractelement {VECTOR} {a}, i32 {lane}") for a in args]
            one = self._new(f"call double @{function}({', '.join(f'double {x}' for x in lanes)})")
            vector = self._new(f"insertelement {VECTOR} {vector}, double {one}, i32 {lane}")
        return vector

    def _call_for_lanes(self, call: str, args: list[str], lanes: int) -> str:
        """Call a vector function of four doubles, or of two for each half."""
        if lanes == LANES:
            return self._new(f"{call}({', '.join(f'{VECTOR} {a}' for a in args)})")
        kind, halves = f"<{lanes} x double>", []
        for places in ("<2 x i32> <i32 0, i32 1>", "<2 x i32> <i32 2, i32 3>"):
            parts = [
                self._new(f"shufflevector {VECTOR} {a}, {VECTOR} poison, {places}") for a in args
            ]
            halves.append(self._new(f"{call}({', '.join(f'{kind} {part}' for part in parts)})"))
        both = ", ".join(f"{kind} {half}" for half in halves)
        return self._new(f"shufflevector {both}, <4 x i32> <i32 0, i32 1, i32 2, i32 3>")

    # -- checks
    def _flag(self, inputs: list[str]) -> str:
        terms = [*inputs, *[self._value(result) for result in self.plan.results]]
        equal: list[str] = []
        for step, condition in self.plan.checks:
            where = self._value(condition)
            if _is_condition(step):
                same = self._new(
                    "fcmp ueq {} {}, {}".format(VECTOR, *[self._value(a) for a in step.args])
                )
                equal.append(self._new(f"and {TRUTH} {same}, {where}"))
            else:
                term = f"{VECTOR} {self._value(step)}"
                terms.append(self._new(f"select {TRUTH} {where}, {term}, {VECTOR} zeroinitializer"))
        total = terms[0] if terms else "zeroinitializer"
        for term in terms[1:]:
            total = self._new(f"fadd {VECTOR} {total}, {term}")
        rest = self._new(f"fsub {VECTOR} {total}, {total}")
        flag = self._new(f"fcmp uno {VECTOR} {rest}, {rest}")
        for pair in equal:
            flag = self._new(f"or {TRUTH} {flag}, {pair}")
        return flag


def _is_condition(step: Step) -> bool:
    return step.name in CONDITIONS or (step.name == "number" and isinstance(step.data, bool))


def _number(value: float) -> str:
    bits = struct.pack(">d", value).hex()
    return f"<{', '.join([f'double 0x{bits}'] * LANES)}>"
