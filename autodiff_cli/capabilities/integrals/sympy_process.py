"""A process that integrates a formula by SymPy, within bounds: SymPy may take any time and memory.

It is run as a script, with the folders of SymPy and of this package, and reads one line of JSON:
the operations of the formula in a row, each with its name and the places of its inputs, and the
variable. It writes one line of JSON: the antiderivatives as formulas of the language, or why there
is none. No text is evaluated: `eval` of a rule is SymPy's.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

# Bytes; SymPy itself takes 80 million.
MAX_MEMORY = 1500 * 1024 * 1024
# The share of the time that SymPy's algorithms have, before its rules by hand are tried.
ALGORITHM_SHARE = 0.6
# Functions that SymPy calls as the language does.
NAMED = (
    "sin cos tan sec csc cot asin acos atan asec acsc acot sinh cosh tanh sech csch coth "
    "asinh acosh atanh acoth asech acsch erfi Si Ci Ei li fresnels fresnelc"
)


# What formulas of SymPy mean that cannot be written in the language.
NOT_WRITTEN = {
    "Integral": "SymPy finds none",
    "ImaginaryUnit": "what SymPy finds has complex numbers",
    "RootSum": "what SymPy finds is a sum over the roots of a polynomial, and these have no formula",
}

# The way of a question that asks for the steps of an integration by hand.
STEPS = "steps"


class TookTooLong(Exception):
    """An algorithm has had its time."""


def bound(seconds: int) -> None:
    """Bound memory and time, where the system can."""
    try:
        import resource
    except ImportError:  # Windows: the caller waits for a bounded time
        return
    for what, most in (
        (resource.RLIMIT_AS, MAX_MEMORY),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))


def within(seconds: float, compute: Callable[[], Any]) -> Any:
    """Return what a function returns. Raises `TookTooLong`, where the system has signals."""
    import signal

    if not hasattr(signal, "setitimer"):
        return compute()

    def stop(*_: object) -> None:
        raise TookTooLong

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        return compute()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def operations_of(sympy: Any) -> dict[str, Callable[..., Any]]:
    """Return SymPy's operations by the names of ours."""
    from autodiff_cli.engine.table.primitives import by_name, library_names

    def normpdf(x: Any) -> Any:
        return sympy.exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi)

    def normcdf(x: Any) -> Any:
        return sympy.erfc(-x / sympy.sqrt(2)) / 2

    return by_name({
        "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
        "div": lambda x, y: x / y, "pow": lambda x, y: x**y, "neg": lambda x: -x,
        "sqrt": sympy.sqrt, "abs": sympy.Abs, "exp": sympy.exp, "log": sympy.log,
        "sign": sympy.sign, "erf": sympy.erf, "erfc": sympy.erfc, "gamma": sympy.gamma,
        "cbrt": lambda x: sympy.real_root(x, 3), "log2": lambda x: sympy.log(x) / sympy.log(2),
        "log10": lambda x: sympy.log(x) / sympy.log(10), "log1p": lambda x: sympy.log(1 + x),
        "expm1": lambda x: sympy.exp(x) - 1, "exp2": lambda x: 2**x, "heaviside": sympy.Heaviside,
        "log_base": lambda x, b: sympy.log(x) / sympy.log(b),
        "sigmoid": lambda x: 1 / (1 + sympy.exp(-x)), "normpdf": normpdf, "normcdf": normcdf,
        "gelu": lambda x: x * normcdf(x), "normpdf_scaled": lambda x, mu,
        sigma: normpdf((x - mu) / sigma) / sigma, "normcdf_scaled": lambda x, mu,
        sigma: normcdf((x - mu) / sigma), "erfcx": lambda x: sympy.exp(x**2) * sympy.erfc(x),
        "gammainc": lambda a, x: sympy.lowergamma(a, x) / sympy.gamma(a), "gammaincc": lambda a,
        x: sympy.uppergamma(a, x) / sympy.gamma(a), "besselj": sympy.besselj,
        "bessely": sympy.bessely, "besseli": sympy.besseli, "besselk": sympy.besselk,
        "zeta": sympy.zeta, "sum": sympy.Add, "prod": sympy.Mul,
        "sine_quotient": lambda n, x: sympy.diff(sympy.sin(x) / x, x, n),
        "mean": lambda *xs: sympy.Add(*xs) / len(xs), "max": sympy.Max, "min": sympy.Min,
        "relu": lambda x: sympy.Max(x, 0), "softplus": lambda x: sympy.log(1 + sympy.exp(x)),
        "silu": lambda x: x / (1 + sympy.exp(-x)),
        "hypot": lambda *xs: sympy.sqrt(sympy.Add(*[x**2 for x in xs])), "where": lambda c, x,
        y: sympy.Piecewise((x, c), (y, True)), "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
        "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
        **{name: getattr(sympy, name) for name in library_names(NAMED)},
    })  # fmt: skip


def expression(sympy: Any, question: dict[str, Any]) -> tuple[Any, Any]:
    """Return the last operation of a row as a formula of SymPy, and the variable."""
    symbols: dict[str, Any] = {}
    values: list[Any] = []
    operations = operations_of(sympy)

    def symbol(name: str) -> Any:
        # a name may be one of SymPy's functions: symbols are no text there
        positive = {"positive": True} if name in question["positive"] else {}
        return symbols.setdefault(name, sympy.Symbol(name, real=True, **positive))

    for name, *inputs in question["rows"]:
        if name == "variable":
            values.append(symbol(inputs[0]))
        elif name == "number":
            values.append(sympy.Rational(inputs[0]))
        elif name == "constant":
            values.append({"e": sympy.E}.get(inputs[0], sympy.pi))
        else:
            values.append(operations[name](*[values[i] for i in inputs]))
    return values[-1], symbol(question["variable"])


def writer(sympy: Any) -> Any:
    """Return the function that writes a formula in the language. It raises ValueError for what is
    not in it.
    """
    from sympy.printing.str import StrPrinter

    from autodiff_cli.engine.table.primitives import library_names

    known = library_names(f"{NAMED} exp log erf erfc gamma sign atan2")

    class LanguageWriter(StrPrinter):  # type: ignore[misc]
        def _print_Function(self, expr: Any) -> str:
            name = type(expr).__name__
            if name not in known:
                raise ValueError(f"it needs the function `{name}`, which the language lacks")
            return f"{name}({', '.join(map(self._print, expr.args))})"

        def _print_Pow(self, expr: Any, rational: bool = False) -> str:
            base, exponent = expr.args
            if base is sympy.E:
                return f"exp({self._print(exponent)})"
            if exponent == sympy.Rational(1, 2):
                return f"sqrt({self._print(base)})"
            return f"({self._print(base)})**({self._print(exponent)})"

        def _print_Exp1(self, expr: Any) -> str:
            return "e"

        def _print_Abs(self, expr: Any) -> str:
            return f"abs({self._print(expr.args[0])})"

        def _print_Max(self, expr: Any) -> str:
            return f"max({', '.join(map(self._print, expr.args))})"

        def _print_Min(self, expr: Any) -> str:
            return f"min({', '.join(map(self._print, expr.args))})"

        def _print_Piecewise(self, expr: Any) -> str:
            *cases, (last, _) = expr.args
            text = f"({self._print(last)})"
            for value, condition in reversed(cases):
                text = f"(({self._print(value)}) if {self._print(condition)} else {text})"
            return text

        def _print_Relational(self, expr: Any) -> str:
            left, right = map(self._print, expr.args)
            return f"({left}) {expr.rel_op} ({right})"

        def _print_And(self, expr: Any) -> str:
            return " and ".join(f"({self._print(part)})" for part in expr.args)

        def _print_Or(self, expr: Any) -> str:
            return " or ".join(f"({self._print(part)})" for part in expr.args)

        def emptyPrinter(self, expr: Any) -> str:
            name = type(expr).__name__
            raise ValueError(
                NOT_WRITTEN.get(name, f"it needs SymPy's `{name}`, which the language lacks")
            )

        _print_ImaginaryUnit = _print_Integral = _print_RootSum = _print_NaN = emptyPrinter
        _print_ComplexInfinity = _print_Infinity = _print_NegativeInfinity = emptyPrinter

    return LanguageWriter({"order": None}).doprint


def real_part(sympy: Any, found: Any) -> Any:
    """Return a formula without the imaginary unit."""
    return sympy.simplify(sympy.re(found)) if found.has(sympy.I) else found


def generic(sympy: Any, found: Any) -> Any:
    """Return the branch of a case distinction on parameters that is not a thin set."""
    while isinstance(found, sympy.Piecewise) and isinstance(found.args[0].cond, sympy.Ne):
        found = found.args[0].expr
    return found


def without_steps(sympy: Any, found: Any) -> Any:
    """Return a formula without step functions, which join branches: it is an antiderivative between
    the steps.
    """
    return found.replace(lambda part: isinstance(part, sympy.floor), lambda part: sympy.Integer(0))


def shorter(sympy: Any, found: Any) -> Any:
    """Return a formula whose quotients of gamma functions are numbers, and without logarithms that
    cancel on the domain of a cosine integral beside them.
    """
    if found.has(sympy.Ci):
        found = sympy.expand_log(found, force=True)
    return sympy.gammasimp(found) if found.has(sympy.gamma) else found


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Return the antiderivatives, or why there is none."""
    import sympy
    from sympy.integrals.manualintegrate import manualintegrate

    try:
        integrand, variable = expression(sympy, question)
    except KeyError as missing:
        return {"none": f"SymPy has no {missing}"}
    write = writer(sympy)
    reason = f"SymPy finds none within {question['seconds']} seconds"
    ways = [
        (ALGORITHM_SHARE, lambda: sympy.integrate(integrand, variable)),
        (0.9 - ALGORITHM_SHARE, lambda: manualintegrate(integrand, variable)),
    ]
    for share, way in ways[question["way"] :]:
        try:
            found = within(share * question["seconds"], lambda way=way: real_part(sympy, way()))  # type: ignore[misc]
            found = generic(sympy, without_steps(sympy, found))
            return {"formula": write(shorter(sympy, found))}
        except ValueError as refused:
            reason = str(refused)
        except TookTooLong:
            pass
        except Exception as fault:  # SymPy's algorithms raise anything
            reason = f"SymPy fails: {type(fault).__name__}"
    return {"none": reason}


# The rules of SymPy's integration by hand that the steps name; with another one there are none.
RULE_NAMES = {
    "ConstantRule": "constant", "ConstantTimesRule": "constant multiple", "PowerRule": "power",
    "NestedPowRule": "power", "AddRule": "sum", "URule": "substitution", "PartsRule": "by parts",
    "CyclicPartsRule": "by parts, solved for the integral", "ExpRule": "exponential",
    "ReciprocalRule": "reciprocal", "SinRule": "sine", "CosRule": "cosine",
    "SecTanRule": "secant times tangent", "CscCotRule": "cosecant times cotangent",
    "Sec2Rule": "secant squared", "Csc2Rule": "cosecant squared", "SinhRule": "hyperbolic sine",
    "CoshRule": "hyperbolic cosine", "ArcsinRule": "arcsine",
    "ArcsinhRule": "inverse hyperbolic sine", "ReciprocalSqrtQuadraticRule": "root of a quadratic",
    "SqrtQuadraticDenomRule": "root of a quadratic", "SqrtQuadraticRule": "root of a quadratic",
    "RewriteRule": "rewrite", "CompleteSquareRule": "complete the square",
    "TrigSubstitutionRule": "trigonometric substitution", "ArctanRule": "arctangent",
    "ErfRule": "error function", "SiRule": "sine integral", "CiRule": "cosine integral",
    "EiRule": "exponential integral", "LiRule": "logarithmic integral",
    "FresnelSRule": "Fresnel integral", "FresnelCRule": "Fresnel integral", "DerivativeRule": "derivative",
}  # fmt: skip
# The most steps that are shown: nobody reads longer ones.
MAX_STEPS = 100
# Names of substituted variables, of which the first is taken that the formula lacks.
SUBSTITUTES = "u w s v z"


class UnnamedRule(Exception):
    """A rule has no name, or there are too many steps."""


class StepWriter:
    """Lists the steps of an integration by hand, each with its rule, its integrand and its
    antiderivative.
    """

    def __init__(self, sympy: Any, used: set[str]) -> None:
        self.sympy, self.write, self.used = sympy, writer(sympy), used
        self.listed: list[dict[str, Any]] = []
        self.names: dict[Any, Any] = {}

    def text(self, formula: Any) -> str:
        """Return a formula in the language, its substituted variables by name."""
        return str(self.write(formula.subs(self.names)))

    def add(self, rule: Any, depth: int, integrand: Any = None) -> None:
        """List a rule for an integrand, by default its own, and those that it leads to."""
        kind = type(rule).__name__
        if kind in ("AlternativeRule", "PiecewiseRule"):
            # of a case distinction on parameters the first case is not the thin set
            chosen = rule.alternatives[0] if kind == "AlternativeRule" else rule.subfunctions[0][0]
            self.add(chosen, depth, integrand)
            return
        if kind not in RULE_NAMES or len(self.listed) >= MAX_STEPS:
            raise UnnamedRule(kind)
        detail = self._detail(rule, kind)
        result = generic(self.sympy, rule.eval())
        own = rule.integrand if integrand is None else integrand
        self.listed.append({
            "rule": RULE_NAMES[kind], "detail": detail, "integrand": self.text(own),
            "variable": str(self.names.get(rule.variable, rule.variable)),
            "result": self.text(result), "depth": depth,
        })  # fmt: skip
        # a rule below a constant multiple may have the integrand before its factor was taken out
        other = rule.other if kind == "ConstantTimesRule" else None
        for inner in self._inner(rule, kind):
            self.add(inner, depth + 1, other)

    def _inner(self, rule: Any, kind: str) -> list[Any]:
        if kind == "PartsRule":
            return [rule.v_step, rule.second_step]
        if kind == "CyclicPartsRule":
            return []
        substep = getattr(rule, "substep", None)
        return [*getattr(rule, "substeps", [])] + ([substep] if substep is not None else [])

    def _detail(self, rule: Any, kind: str) -> list[list[str]]:
        """Return what is substituted, or the parts: names, formulas and what follows them."""
        by = self.names.get(rule.variable, rule.variable)
        if kind == "PartsRule":
            return [["u", self.text(rule.u), ""], ["dv", self.text(rule.dv), f" d{by}"]]
        if kind == "URule":
            return [[str(self._named(rule.u_var)), self.text(rule.u_func), ""]]
        if kind == "TrigSubstitutionRule":
            self._named(rule.theta)
            return [[str(by), self.text(rule.func), ""]]
        return (
            [["", self.text(rule.rewritten), ""]]
            if kind in ("RewriteRule", "CompleteSquareRule")
            else []
        )

    def _named(self, symbol: Any) -> Any:
        if symbol not in self.names:
            name = next(name for name in SUBSTITUTES.split() if name not in self.used)
            self.used.add(name)
            self.names[symbol] = self.sympy.Symbol(name, real=True)
        return self.names[symbol]


def steps(question: dict[str, Any]) -> dict[str, Any]:
    """Return the steps of an integration by hand, or why there are none."""
    import sympy
    from sympy.integrals.manualintegrate import integral_steps

    reason = "SymPy's rules by hand do not integrate it"
    try:
        integrand, variable = expression(sympy, question)
        written = StepWriter(sympy, {str(symbol) for symbol in integrand.free_symbols})
        written.add(
            within(question["seconds"], lambda: integral_steps(integrand, variable)), 0, integrand
        )
        return {"steps": written.listed}
    except TookTooLong:
        reason = f"SymPy finds none within {question['seconds']} seconds"
    except Exception:  # SymPy's rules raise anything, and a formula may not be in the language
        pass
    return {"none": reason}


def main() -> None:
    """Answer one question."""
    question = json.loads(sys.stdin.readline())
    bound(question["seconds"] + 1)
    sys.path += sys.argv[1:3]
    sys.setrecursionlimit(5000)
    reply = steps(question) if question["way"] == STEPS else answer(question)
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
