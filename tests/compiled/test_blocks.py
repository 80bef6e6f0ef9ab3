"""Tests of blocks of rows: the answers of the plain way, by every backend, and never a number where
there is none.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pytest
from mpmath import mp

from autodiff_cli.capabilities.derivatives.gradient import Programs
from autodiff_cli.compiled import kernels, llvm
from autodiff_cli.compiled.columns_io import program_over
from autodiff_cli.compiled.evaluator import Evaluator, gradient_recorder
from autodiff_cli.compiled.kernels import Kernel, ProgramOverRows, evaluate, kernel
from autodiff_cli.compiled.lowering import Lowering, vectors
from autodiff_cli.data.rows import row_request
from autodiff_cli.engine.table.primitive import FUNCTIONS, OPERATIONS
from autodiff_cli.errors import ExpressionError
from autodiff_cli.questions.problem import parse
from places import TESTS

HARD = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, 0.25, 1.5, -2.5, 5e-324, -5e-324, 1e-310,
    1e-300, -1e-300, 1e-160, 1e-20, -1e-20, 1e-8, -1e-8, 0.999999999, -0.999999999, 1.000001,
    math.pi, 20.0, -20.0, 40.0, 350.0, 709.0, -709.0, 710.0, 745.0, -746.0, 1000.0, 1e9, -1e10,
    1e15, 1e16, 1e155, -1e155, 1e200, -1e200, 1e300, 1.7e308, -1.7e308,
)  # fmt: skip
"""Points at which something happens to some function: ends of domains, poles, overflow, underflow,
cancellation.
"""

BUILT_UP = (
    "log(x) if x > 0 else x**2", "sqrt(x) + (1/y if y != 0 else 0)", "max(x, y)*min(x, 2)", "x**y",
    "abs(x)*relu(y)", "1/log(x)", "exp(-1/x**2)", "tanh(x*x)", "tanh(1/x)", "atan(1/x)",
    "sqrt(x)**2", "cbrt(x)**3", "0*log(x)", "0/x", "x if x > 0 and log(x) < 1 else 0",
    "1 if x > 0 or 1/x < -5 else y", "clamp(x, y, 1)", "(x*y)/y", "x - x*y/y", "elu(x, log(y))",
    "leaky_relu(x, 1/y)", "hypot(x, y)", "hypot(x, y, 1)", "logsumexp(x, y, 0)", "mean(x, y, 2)",
    "prod(x, y, x)", "atan2(y, x)", "log(x, y)", "floor(x)*y", "round(x*2)/2", "1/(1 + exp(-x))",
    "exp(exp(x))", "sin(1/x)*x", "x*log(x)", "x**x", "erf(1/x)", "1/tanh(x)",
    "1/x if x > 1 else (sqrt(-x) if x < -1 else y)", "sign(x)*sqrt(abs(x))", "gelu(x)*silu(y)",
    "where(not (x < y), log(x - y), exp(y - x))", "2", "y", "x**0*y**1",
    "s = x*y; t = 1/s; t if s > 0 else -t", "x if 3/x <= y or y < log(-1) else x + y",
    "where(not (x > 0 and y != sqrt(-1)), x, y)",
)  # fmt: skip


INTEGRALS = ("erfi(", "Si(", "Ci(", "Ei(", "li(", "fresnel")
WITHOUT_KERNELS = ("gamma", "beta", "bessel", "faddeeva", "voigt", "zeta_derivative", *INTEGRALS)
"""Parts of names of functions that no vector library has."""


def calls() -> Iterator[str]:
    """A call of every function of the language, its arguments variables and in between of sums."""
    for name, primitive in sorted(FUNCTIONS.items()):
        if name != primitive.name:
            continue
        fixed = set(primitive.constant_params)
        count = 2 if primitive.variadic else len(primitive.params)
        names = iter("xyz")
        args = [
            "2" if not primitive.variadic and primitive.params[k] in fixed else next(names)
            for k in range(count)
        ]
        if name == "where":
            args[0] = "x > y"
        yield f"{name}({', '.join(args)})"
        yield f"1/{name}({', '.join(args)})"
        yield f"exp(-{name}({', '.join(args)})**2)"


def corpus() -> list[str]:
    lines = (TESTS / "corpora" / "checked.jsonl").read_text(encoding="utf-8").splitlines()
    told = (TESTS / "corpora" / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["program"] for line in lines] + [
        json.loads(line)["expr"] for line in told if line
    ]


def points(count: int, rng: random.Random) -> list[tuple[float, ...]]:
    """Hard points: all of one variable, all pairs of two, and a drawn part of those of more."""
    if count <= 1:
        return list(itertools.product(HARD, repeat=count))
    if count == 2:
        return rng.sample(list(itertools.product(HARD, repeat=2)), 300)
    mild = [x for x in HARD if 1e-9 < abs(x) < 800]
    return [
        tuple(rng.choice(HARD if rng.random() < 0.4 else mild) for _ in range(count))
        for _ in range(100)
    ]


class Compared:
    """One program at many points, by a kernel and by the plain way."""

    def __init__(self, text: str, backend: str, rng: random.Random) -> None:
        self.program = parse(text)
        self.names = list(self.program.variables)
        self.wanted = list(self.program.parameters)
        self.rows = points(len(self.names), rng)
        self.kernel: Kernel = kernel(
            gradient_recorder(self.program, self.wanted), len(self.names), frozenset(), backend
        )
        programs = Programs(complete=False)
        self.plain: list[list[float] | ExpressionError] = []
        for row in self.rows:
            try:
                found = programs.gradient(text, dict(zip(self.names, row, strict=True)))
                self.plain.append([found.value, *found.gradient.values()])
            except ExpressionError as error:
                self.plain.append(error)
        by_point = {repr(row): found for row, found in zip(self.rows, self.plain, strict=True)}

        def plain(point: dict[str, float]) -> list[float]:
            found = by_point[repr(tuple(point.values()))]
            if isinstance(found, ExpressionError):
                raise found
            return found

        columns = [np.array(column) for column in zip(*self.rows, strict=True)]
        self.block = evaluate(
            self.kernel,
            self.names,
            columns,
            len(self.rows),
            1 + len(self.wanted),
            plain,
            lambda row, name: None,
        )

    def silent(self) -> list[tuple[float, ...]]:
        """The points that the plain way refuses, and that have a number."""
        return [
            self.rows[k]
            for k, found in enumerate(self.plain)
            if isinstance(found, ExpressionError)
            and (k not in self.block.errors or not np.isnan(self.block.results[:, k]).all())
        ]

    def refused(self) -> list[tuple[float, ...]]:
        """The points that the plain way answers, and that are errors or no numbers."""
        return [
            self.rows[k]
            for k, found in enumerate(self.plain)
            if not isinstance(found, ExpressionError)
            and (k in self.block.errors or not np.isfinite(self.block.results[:, k]).all())
        ]

    def different(self) -> int:
        """At how many points a number is another one, beyond what rounding comes to."""
        count = 0
        for k, row in enumerate(self.plain):
            if not isinstance(row, ExpressionError):
                pairs = list(zip(self.block.results[:, k].tolist(), row, strict=True))
                scale = max(map(abs, row), default=0)
                count += any(abs(a - b) > 1e-9 * abs(b) + 1e-13 * scale + 1e-300 for a, b in pairs)
        return count


LLVM = [*BUILT_UP, *calls(), *corpus()]
NUMPY = [*BUILT_UP, *[text for text in calls() if not text.startswith(("1/", "exp(-"))]]


@pytest.mark.parametrize(
    ("backend", "texts", "least"), [("llvm", LLVM[::2], 170), ("numpy", NUMPY, 110)]
)
def test_no_silent_nan(backend: str, texts: list[str], least: int) -> None:
    """No row that the plain way refuses is a number, and none that it answers is an error or
    another number.
    """
    taken = rows = errors = flags = different = 0
    for text in texts:
        try:
            found = Compared(text, backend, random.Random(text))
        except ExpressionError as lacking:
            assert f"the backend `{backend}` is not available" in str(lacking)
            assert any(name in text for name in WITHOUT_KERNELS), text
            continue
        assert found.kernel.backend == backend
        assert (found.silent(), found.refused()) == ([], []), text
        taken += 1
        rows += len(found.rows)
        errors += len(found.block.errors)
        flags += len(found.block.asked)
        different += found.different()
    assert taken >= least and errors > rows / 10
    # few flags are neither errors nor kinks, and digits are lost where the program itself loses
    # them
    assert flags < errors + rows / 12 and different < rows / 5000


class Second(Compared):
    """The same of second derivatives."""

    def __init__(self, text: str, rng: random.Random) -> None:
        known = program_over(text, list(parse(text).variables), {}, None)
        self.rows = points(len(known.variables), rng)
        self.rows = rng.sample(self.rows, min(len(self.rows), 24))
        question = row_request("hessian", known)
        assert question.record is not None
        self.kernel = kernel(question.record, len(known.variables), frozenset(), None)

        def numbers(point: Mapping[str, float]) -> Sequence[float]:
            return question.plain(point)[0]

        self.plain = []
        for row in self.rows:
            try:
                self.plain.append([*numbers(dict(zip(known.variables, row, strict=True)))])
            except ExpressionError as error:
                self.plain.append(error)
        columns = [np.array(column) for column in zip(*self.rows, strict=True)]
        self.block = evaluate(
            self.kernel, known.variables, columns, len(self.rows), len(question.names), numbers,
            lambda row, name: None,
        )  # fmt: skip


# Second derivatives of Bessel functions by the order take many digits at each point, and no kernel
# has them.
SECOND = [text for text in NUMPY if not text.startswith(("bessel", "faddeeva", "voigt"))]
SECOND += [
    "1/(exp(x) + y)",
    "x**0*y**1",
    "x**y/(1 + x**2)",
    "log(1 + exp(x))",
    "1/x",
    "softsign(x)*y",
]


def test_no_silent_nan_in_second_derivatives() -> None:
    taken = rows = errors = different = 0
    for text in SECOND[::2]:  # the others take as long again
        found = Second(text, random.Random(text))
        assert (found.silent(), found.refused()) == ([], []), text
        taken += found.kernel.backend == "llvm"
        rows += len(found.rows)
        errors += len(found.block.errors)
        different += found.different()  # where the program loses digits
    assert taken >= 50 and rows > 1200 and errors > rows / 10 and different < rows / 200


@pytest.mark.parametrize("text", ["logaddexp(x, y)", "logsumexp(x, y, 1)", "beta(x, y/10)"])
def test_second_derivatives_far_from_zero_are_those_of_the_plain_way(text: str) -> None:
    question = row_request("hessian", program_over(text, ["x", "y"], {}, None))
    assert question.record is not None
    columns = [np.array([1e17, 1e9, 3.0]), np.array([1e17, 1e9, 4.0])]
    compiled = kernel(question.record, 2, frozenset(), "numpy")
    block = evaluate(
        compiled,
        ["x", "y"],
        columns,
        3,
        6,
        lambda point: question.plain(point)[0],
        lambda row, name: None,
    )
    assert block.asked == [0, 1] and not block.errors


def test_numpy_has_the_digits_of_lgamma_near_its_zeros() -> None:
    program = parse("lgamma(x)")
    compute = kernel(gradient_recorder(program, ["x"]), 1, frozenset(), "numpy").compute
    assert compute is not None
    points = np.array([0.99999999, 1.00000001, 2 - 1e-9])
    results, flags = np.empty((2, 3)), np.ones(3, bool)
    compute([points], results, flags)
    with mp.workdps(40):
        wanted = [float(mp.loggamma(mp.mpf(x))) for x in points.tolist()]
    assert results[0].tolist() == pytest.approx(wanted, rel=1e-14, abs=0.0) and not flags.any()


def test_second_derivatives_of_beta_near_poles_are_those_of_the_plain_way() -> None:
    question = row_request("hessian", program_over("beta(x, y)", ["x", "y"], {}, None))
    assert question.record is not None
    rows = [(-179.99999999999997, 1.0), (2.0, 1e-9), (-2.5, 0.5), (3.0, 4.0)]
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    compiled = kernel(question.record, 2, frozenset(), None)
    block = evaluate(
        compiled,
        ["x", "y"],
        columns,
        4,
        6,
        lambda point: question.plain(point)[0],
        lambda row, name: None,
    )
    assert block.asked == [0, 1, 2] and not block.errors
    with mp.workdps(60):
        a, b = map(mp.mpf, rows[0])
        steps = mp.digamma(a) - mp.digamma(a + b)
        by_a_twice = mp.beta(a, b) * (steps**2 + mp.psi(1, a) - mp.psi(1, a + b))
    assert block.results[3:, 0].tolist()[0] == pytest.approx(float(by_a_twice), rel=1e-14, abs=0.0)


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_operations_on_a_number_that_all_rows_share(backend: str) -> None:
    for name in ("round", "floor", "ceil", "sign", "abs", "sin", "sinc", "erf", "cbrt"):
        program = parse(f"{name}(k)*x")
        compute = kernel(gradient_recorder(program, ["x"]), 2, frozenset([0]), backend).compute
        assert compute is not None
        results, flags = np.empty((2, 5)), np.ones(5, bool)
        compute([2.5, np.arange(5.0)], results, flags)
        assert results[1].tolist() == pytest.approx(
            [Programs().gradient(f"{name}(2.5)", {}).value] * 5
        )


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_each_call_is_right_to_a_few_digits(backend: str) -> None:
    """Within 4 ulp of the plain way, at ordinary points; an operation of the language has a few of
    its own.
    """
    compared, worst = 0, {}
    for text in calls():
        if text.startswith(("1/", "exp(-")) or any(
            name in text for name in (*WITHOUT_KERNELS, "logaddexp", "logsumexp")
        ):
            continue
        found = Compared(text, backend, random.Random(text))
        for k, row in enumerate(found.plain):
            tiny = any(0 < abs(x) < 1e-307 for x in found.rows[k])  # with fewer digits than others
            if not (isinstance(row, ExpressionError) or k in found.block.asked or tiny):
                for a, b in zip(found.block.results[:, k].tolist(), row, strict=True):
                    if abs(b) > 1e-300:
                        compared += 1
                        worst[text] = max(worst.get(text, 0.0), abs(a - b) / math.ulp(b))
    assert compared > 4000
    # `tan` is 1 + tan² for a derivative, and `cbrt` 1/(3·cbrt²)
    assert {text: ulps for text, ulps in worst.items() if ulps > 5} == {}


KINKED = (
    "relu(x) - relu(-x)", "max(x, y) + min(x, y)", "abs(x)*x", "1 if x == 0 else sin(x)/x",
    "x*abs(y) - y*abs(x)", "clamp(x, y, 2) + clamp(-x, -2, -y)", "x if x > y else y",
    "floor(x)*(x - 1)**2", "max(x, y, x*y, 1)",
)  # fmt: skip


@pytest.mark.parametrize("text", KINKED)
@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_kinks_have_the_derivative_of_the_plain_way(
    text: str, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "HARD", (0.0, 1.0, -1.0, 2.0, 0.5))
    monkeypatch.setitem(
        globals(), "points", lambda count, rng: list(itertools.product(HARD, repeat=count))
    )
    found = Compared(text, backend, random.Random(1))
    assert (found.different(), found.silent(), found.refused()) == (0, [], [])
    assert len(found.rows) >= 5 and found.block.asked


def test_rows_that_are_refused_together_are_told_what_each_is_told() -> None:
    """Words, places and hints are those of the plain way, whichever operation has no value; some
    are left to it.
    """
    points = list(itertools.product(HARD[::2], HARD[1::3]))
    told = refused = 0
    for text in (
        *BUILT_UP,
        "f(t) = log(t)/t; f(x) + f(y)",
        "gamma(x)/gamma(y)",
        "asin(x) + acosh(y)",
        "tan(x)/sqrt(y)",
    ):
        program = parse(text)
        each, together = Evaluator(program), Evaluator(program)
        columns = [[point["xy".index(name)] for point in points] for name in each.variables]
        found = together.refusals(columns)
        for k, point in enumerate(points):
            try:
                each.interpret([point["xy".index(name)] for name in each.variables])
            except ExpressionError as error:
                refused += 1
                if k in found:
                    told += 1
                    assert (found[k].diagnostic, str(found[k])) == (error.diagnostic, str(error)), (
                        text,
                        point,
                    )
            else:
                assert k not in found, (text, point)
    assert refused > 3_000
    assert told > 0.6 * refused


def test_a_wrong_row_would_be_seen() -> None:
    found = Compared("sin(x)*y", "llvm", random.Random(1))
    assert found.different() == 0
    found.block.results[0] *= 1.001
    assert found.different() > 10
    found.block.errors.clear()
    assert found.silent() == [
        row
        for row, plain in zip(found.rows, found.plain, strict=True)
        if isinstance(plain, ExpressionError)
    ]


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
@pytest.mark.parametrize("rows", [1, 3, 4, 5, 1000, 16_385])
def test_any_number_of_rows(backend: str, rows: int) -> None:
    program = parse("a*x**2 + log(y)")
    made = kernel(gradient_recorder(program, ["x", "y", "a", "q"]), 3, frozenset((0,)), backend)
    x, y = np.linspace(1, 2, rows), np.linspace(3, 4, rows)
    results, flags = np.empty((5, rows)), np.ones(rows, bool)
    made.compute([2.0, x, y], results, flags)  # type: ignore[misc]
    assert not flags.any()
    np.testing.assert_allclose(
        results, [2 * x**2 + np.log(y), 4 * x, 1 / y, x**2, 0 * x], rtol=1e-15
    )


def test_what_no_library_has_is_left_to_plain_python() -> None:
    program = parse("polygamma(9, x)")
    made = kernel(gradient_recorder(program, ["x"]), 1, frozenset(), None)
    assert (made.compute, made.backend) == (None, "python")
    assert "`polygamma(9, …)`" in str(made.note)
    with pytest.raises(
        ExpressionError,
        match="the backend `llvm` is not available: no vector library has `polygamma",
    ):
        kernel(gradient_recorder(program, ["x"]), 1, frozenset(), "llvm")


def test_without_llvmlite_it_is_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    made = kernel(gradient_recorder(parse("x*exp(x)"), ["x"]), 1, frozenset(), None)
    assert made.backend == "numpy"
    assert "pip install '.[data]'" in str(made.note)


def test_without_vector_mathematics_it_is_the_plain_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernels._symbols()  # loads LLVM, whichever test is the first
    monkeypatch.setattr(kernels, "_symbols", lambda: lambda name: not name.startswith("_ZGV"))
    found = Compared("exp(x)*atan2(x, y)", "llvm", random.Random(1))
    assert found.different() == 0 and found.silent() == []


def test_vector_functions_of_two_doubles_are_called_for_each_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """x86-64 has functions of two, too; on AArch64 there are no others."""
    has = kernels._symbols()
    if not has("_ZGVbN2v_exp"):
        pytest.skip("the C library has no vector functions")
    used = set()

    def spy(name: str) -> bool:
        used.add(name)
        return has(name)

    monkeypatch.setattr(llvm, "VECTOR_FUNCTIONS", (("_ZGVbN2", 2, ""),))
    monkeypatch.setattr(kernels, "_symbols", lambda: spy)
    found = Compared("exp(x)*atan2(x, y)", "llvm", random.Random(1))
    assert found.different() == 0 and found.silent() == []
    assert {"_ZGVbN2v_exp", "_ZGVbN2vv_atan2"} <= used
    made = kernel(gradient_recorder(parse("exp(x)*x**y"), ["x", "y"]), 2, frozenset(), "llvm")
    assert made.compute is not None
    x, y = np.linspace(0.1, 5, 41), np.linspace(3, -2, 41)
    results, flags = np.empty((3, 41)), np.empty(41, bool)
    made.compute([x, y], results, flags)
    assert not flags.any()
    assert results[0].tolist() == pytest.approx(
        [math.exp(a) * a**b for a, b in zip(x, y, strict=True)], rel=1e-14
    )


def test_aarch64_calls_the_functions_of_its_own_library() -> None:
    import llvmlite.binding as binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    lowering = Lowering(llvm.NATIVE, functions=False, columns=True)
    plan = vectors(gradient_recorder(parse("exp(x)*atan2(x, y)"), ["x", "y"])(lowering))
    text = llvm.Llvm(plan, (), lambda name: name.startswith("_ZGVn")).module(2)
    assert (
        "declare aarch64_vector_pcs <2 x double> @_ZGVnN2vv_atan2(<2 x double>, <2 x double>)"
        in text
    )
    machine = binding.Target.from_triple("aarch64-unknown-linux-gnu").create_target_machine(opt=2)
    code = machine.emit_assembly(binding.parse_assembly(text))
    calls = [line.split()[1] for line in code.splitlines() if line.strip().startswith("bl\t_Z")]
    assert calls.count("_ZGVnN2v_exp") == calls.count("_ZGVnN2vv_atan2") == 2
    assert not re.search(r"\bbl\t(?:exp|atan2)\b", code)


def test_the_operations_of_the_table_are_printed() -> None:
    assert set(llvm.NATIVE) < set(OPERATIONS)


def test_rows_that_compiled_code_leaves_have_values_then_slopes_of_each_output() -> None:
    # partial products overflow in compiled code, so that each of these rows is computed by itself
    program, x = parse("prod(x, 1e200, 1e200, 1e-300)*a + b, a*x"), [0.5, 1e-3]
    block = ProgramOverRows(program, ("a", "b"), ("a", "b"))({"x": x, "a": 2.0, "b": 3.0}, 2)
    assert not block.errors and block.asked == [0, 1]
    expected = [[2e100 * t + 3, 2 * t, 1e100 * t, 1, t, 0] for t in x]
    assert pytest.approx(np.array(expected), rel=1e-15) == block.results.T
