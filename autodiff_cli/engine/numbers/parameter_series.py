"""Derivatives of special functions by their parameters, from power series in the parameters'
changes.

A function of parameters a and b is computed at a + ε and b + δ, as far as the wanted powers of ε
and δ. Numbers are those of mpmath or balls of python-flint: whatever has the operators of
arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import budget

Number = Any

# The factor of ε^i δ^j at [i][j].
Coefficients = list[list[Number]]

# Where more terms are needed their number is no matter.
MOST_TERMS = 1e12

# How many bits of a term take a step of work.
BITS_OF_STEP = 100

LN_2 = math.log(2.0)

# The least terms between two looks at the remainder of a sum.
CHECKED_EACH = 8

# The work of a coefficient of a term, in microseconds.
TERM_STEPS = 3


class Linear(NamedTuple):
    """A factor `constant` + `first`·ε + `second`·δ, where `first` and `second` are 0 or 1."""

    constant: Number
    first: int = 0
    second: int = 0

    def after(self, terms: int) -> Linear:
        """Return the factor of a later term: each is greater by 1."""
        return Linear(self.constant + terms, self.first, self.second)


def zeros(rows: int, columns: int) -> Coefficients:
    """Return the series 0."""
    return [[0] * columns for _ in range(rows)]


def _before(y: Coefficients, factor: Linear, i: int, j: int) -> Number:
    by_first = y[i - 1][j] if factor.first and i else 0
    return by_first + (y[i][j - 1] if factor.second and j else 0)


def times(x: Coefficients, factor: Linear) -> Coefficients:
    """Return the product of a series and a factor."""
    return [
        [factor.constant * c + _before(x, factor, i, j) for j, c in enumerate(row)]
        for i, row in enumerate(x)
    ]


def over(x: Coefficients, factor: Linear) -> Coefficients:
    """Return the quotient of a series and a factor."""
    y = zeros(len(x), len(x[0]))
    for i, row in enumerate(x):
        for j, c in enumerate(row):
            y[i][j] = (c - _before(y, factor, i, j)) / factor.constant
    return y


def product(x: Coefficients, y: Coefficients) -> Coefficients:
    """Return the product of two series."""
    out = zeros(len(x), len(x[0]))
    for i in range(len(x)):
        for j in range(len(x[0])):
            out[i][j] = sum(x[p][q] * y[i - p][j - q] for p in range(i + 1) for q in range(j + 1))
    return out


def quotient(x: Coefficients, y: Coefficients) -> Coefficients:
    """Return the quotient of two series."""
    out = zeros(len(x), len(x[0]))
    for i in range(len(x)):
        for j in range(len(x[0])):
            known = sum(
                out[p][q] * y[i - p][j - q]
                for p in range(i + 1)
                for q in range(j + 1)
                if (p, q) != (i, j)
            )
            out[i][j] = (x[i][j] - known) / y[0][0]
    return out


def exponential(x: Coefficients, factor: Number) -> Coefficients:
    """Return factor·exp(x - x[0][0]), from y' = y·x'."""
    y = zeros(len(x), len(x[0]))
    for i in range(len(x)):
        for j in range(len(x[0])):
            if i == j == 0:
                y[i][j] = factor
            elif i:
                y[i][j] = (
                    sum(
                        p * x[p][q] * y[i - p][j - q] for p in range(1, i + 1) for q in range(j + 1)
                    )
                    / i
                )
            else:
                y[i][j] = sum(q * x[0][q] * y[0][j - q] for q in range(1, j + 1)) / j
    return y


def _geometric(
    term: Coefficients, z: Number, upper: Sequence[Linear], lower: Sequence[Linear]
) -> Coefficients | None:
    """Return a bound on each coefficient of the sum of a term and all that follow; None if there is
    none yet.

    The factors' quotients only shrink with further terms, and (U + ε)/(L + ε) = U/L·(1 + ε/U)/(1 -
    ε/L) but for signs.
    """
    if any(not f.constant > 0 for f in (*upper, *lower)):
        return None
    ratio = abs(z)
    for k, f in enumerate(lower):
        ratio = ratio * (
            _largest_quotient(upper[k].constant, f.constant) if k < len(upper) else 1 / f.constant
        )
    if not ratio < 1:
        return None
    series = zeros(len(term), len(term[0]))
    series[0][0] = ratio
    for f in upper:
        series = [[c / f.constant for c in row] for row in times(series, f)]
    for f in lower:
        # 1/(1 - ε/L) = -L/(-L + ε)
        series = [
            [-f.constant * c for c in row] for row in over(series, f._replace(constant=-f.constant))
        ]
    rest = [[-c for c in row] for row in series]
    rest[0][0] = 1 + rest[0][0]
    return quotient([[abs(c) for c in row] for row in term], rest)


def _largest_quotient(upper: Number, lower: Number) -> Number:
    """Return a bound on a quotient of factors, here and in later terms: it tends to 1."""
    excess = upper / lower - 1
    return 1 + (abs(excess) + excess) / 2


def _block(terms: int) -> int:
    """Return how many terms follow before the next look at the remainder."""
    return max(CHECKED_EACH, terms // 8)


def hypergeometric_sum(
    first: Coefficients,
    z: Number,
    upper: Sequence[Linear],
    lower: Sequence[Linear],
    enough: Callable[[Coefficients, Coefficients], Coefficients | None],
) -> Coefficients:
    """Return the sum of terms, each z·Π upper/Π lower times the one before, whose factors grow by
    1.

    `enough` is given the sum and a bound on the rest, and returns the result or None.
    """
    total, term, k = zeros(len(first), len(first[0])), first, 0
    steps = TERM_STEPS * len(first) * len(first[0]) * (1 + len(upper) + len(lower))
    while True:
        block = _block(k)
        budget.charge(block * steps)
        for _ in range(block):
            total = [
                [c + d for c, d in zip(row, more, strict=True)]
                for row, more in zip(total, term, strict=True)
            ]
            term = [[c * z for c in row] for row in term]
            for f in upper:
                term = times(term, f.after(k))
            for f in lower:
                term = over(term, f.after(k))
            k += 1
        bound = _geometric(term, z, [f.after(k) for f in upper], [f.after(k) for f in lower])
        if bound is not None and (result := enough(total, bound)) is not None:
            return result


# ---- the incomplete gamma function
class TermFunctions(NamedTuple):
    """What a type of number computes the first terms with."""

    log: Callable[[Number], Number]
    exp: Callable[[Number], Number]
    log_gamma: Callable[[Number], Number]
    polygamma: Callable[[int, Number], Number]


def _log_gamma(f: TermFunctions, x: Number, count: int) -> list[Number]:
    """Return the coefficients of log Γ(x + ε)."""
    return [f.log_gamma(x), *(f.polygamma(k - 1, x) / math.factorial(k) for k in range(1, count))]


def gamma_first_term(f: TermFunctions, a: Number, x: Number, count: int) -> Coefficients:
    """Return x^(a + ε)·exp(-x)/Γ(a + 1 + ε), the first term of the series of gammainc (DLMF
    8.7.1).
    """
    logarithm = [[-c] for c in _log_gamma(f, a + 1, count)]
    logarithm[0][0] += a * f.log(x) - x
    if count > 1:
        logarithm[1][0] += f.log(x)
    return exponential(logarithm, f.exp(logarithm[0][0]))


def gamma_density_at_zero(n: int, k: int, a: Number) -> int:
    """Return the derivative of x^(a - 1)·exp(-x)/Γ(a) at x = 0, n times by a > 0 and k times by x.

    Raises ZeroDivisionError where it is infinite. By x it is a sum of such functions of a, a - 1,
    …, a - k. That of 1 is 1 at x = 0, those above 1 are 0, and those of 0, -1, -2, … are 0
    everywhere.
    """
    if a > k + 1:
        return 0
    steps = next((j for j in range(k + 1) if a == j + 1), None)
    if n or steps is None:
        raise ZeroDivisionError("infinite at 0")
    count = math.comb(k, steps)
    return -count if (k - steps) % 2 else count


# ---- the incomplete beta function
class BetaSeries(NamedTuple):
    """Which series of the incomplete beta function is summed, and how many bits its sum loses."""

    mirrored: bool
    """Whether it is that of I_{1-x}(b, a) = 1 - I_x(a, b) (DLMF 8.17.4)."""
    lost: int


def beta_series(a: Number, b: Number, x: Number, rest: Number, bits: int) -> BetaSeries:
    """Return the series that takes less work for so many bits, at x and 1 - x = `rest`."""
    a, b, x, rest = (min(max(float(number), 1e-300), 1e300) for number in (a, b, x, rest))
    works = []
    for mirrored, (p, q, z, y) in enumerate([(a, b, x, rest), (b, a, rest, x)]):
        # above the mean, the sum is 1 less the first term of the other series or more
        lost = max(0.0, -_log_beta_term(q, p, y, z) / LN_2) if z * (p + q) > p else 0.0
        works.append((_beta_terms(p, q, z, y, bits + lost) * (bits + lost), bool(mirrored), lost))
    work, mirrored, lost = min(works)
    # of more than some million terms or bits no sum is begun
    budget.charge(work / BITS_OF_STEP)
    return BetaSeries(mirrored, math.ceil(lost))


def _log_beta_term(a: float, b: float, x: float, rest: float) -> float:
    return (
        a * math.log(x)
        + b * math.log(rest)
        + math.lgamma(a + b)
        - math.lgamma(a + 1)
        - math.lgamma(b)
    )


def _beta_terms(a: float, b: float, x: float, rest: float, bits: float) -> float:
    """Return about how many terms of the series are above 2^-bits of the first."""

    def logarithm(k: float) -> float:
        return k * math.log(x) + math.lgamma(a + b + k) - math.lgamma(a + 1 + k) - start

    start = math.lgamma(a + b) - math.lgamma(a + 1)
    # terms rise while (a + b + k)·x is above a + 1 + k
    top = max(0.0, ((a + b) * x - a - 1) / rest)
    step = 8.0
    while logarithm(top + step) > -bits * LN_2 and step < MOST_TERMS:
        step *= 1.5
    return top + step


def beta_first_term(
    f: TermFunctions, a: Number, b: Number, logs: tuple[Number, Number], orders: tuple[int, int]
) -> Coefficients:
    """Return x^(a + ε)·(1 - x)^(b + δ)·Γ(a + b + ε + δ)/(Γ(a + 1 + ε)·Γ(b + δ)), as far as ε and δ
    to the `orders`.

    It is the first term of the series of betainc (DLMF 8.17.8); `logs` are log(x) and log(1 - x).
    """
    rows, columns = orders[0] + 1, orders[1] + 1
    of_sum = _log_gamma(f, a + b, rows + columns - 1)
    logarithm = [[of_sum[i + j] * math.comb(i + j, i) for j in range(columns)] for i in range(rows)]
    for i, c in enumerate(_log_gamma(f, a + 1, rows)):
        logarithm[i][0] -= c
    for j, c in enumerate(_log_gamma(f, b, columns)):
        logarithm[0][j] -= c
    logarithm[0][0] += a * logs[0] + b * logs[1]
    if rows > 1:
        logarithm[1][0] += logs[0]
    if columns > 1:
        logarithm[0][1] += logs[1]
    return exponential(logarithm, f.exp(logarithm[0][0]))


def beta_sum(
    first: Coefficients,
    a: Number,
    b: Number,
    x: Number,
    enough: Callable[[Coefficients, Coefficients], Coefficients | None],
) -> Coefficients:
    """Return I_x(a + ε, b + δ), as far as its first term has ε and δ (DLMF 8.17.8)."""
    if len(first) + len(first[0]) > 3:
        return hypergeometric_sum(first, x, (Linear(a + b, 1, 1),), (Linear(a + 1, 1),), enough)
    by_a, has_slope = len(first) - 1, len(first) + len(first[0]) - 2
    upper, lower, k = a + b, a + 1, 0
    # a term's derivative is h times it, h = Σ 1/(a + b + j) - 1/(a + 1 + j) by a and Σ 1/(a + b +
    # j) by b
    total, slopes, h = 1 + 0 * x, 0 * x, 0 * x
    term = total
    while True:
        block = _block(k)
        budget.charge(block * TERM_STEPS)
        for _ in range(block):
            term = term * (x * upper) / lower
            total = total + term
            if has_slope:
                h = h + 1 / upper - by_a / lower
                slopes = slopes + term * h
            upper, lower = upper + 1, lower + 1
        k += block
        sums = [[total], [slopes]] if has_slope else [[total]]
        bound = _beta_rest(term, x, upper, lower, abs(h), by_a)
        if bound is not None and (result := enough(sums, bound[: len(sums)])) is not None:
            return _with_slope(first, result)


def _beta_rest(
    term: Number, x: Number, upper: Number, lower: Number, h: Number, by_a: int
) -> Coefficients | None:
    """Return bounds on what follows a term, and on its derivative: terms fall by `ratio` or more, h
    grows by `step`.
    """
    ratio = x * _largest_quotient(upper, lower)
    if not ratio < 1:
        return None
    step = abs(1 / upper - by_a / lower)
    rest = term * ratio / (1 - ratio)
    return [[rest], [rest * (h + step / (1 - ratio))]]


def _with_slope(first: Coefficients, sums: Coefficients) -> Coefficients:
    """Return the product of the first term and the sum, of which at most one derivative is
    known.
    """
    if len(first[0]) == 1:
        return product(first, sums)
    (value, slope), (total,), (slopes,) = first[0], *sums
    return [[value * total, slope * total + value * slopes]]


def beta_density_at_zero(i: int, j: int, k: int, a: Number, b: Number) -> Number:
    """Return the derivative of beta_density at x = 0, i times by a > 0, j times by b > 0 and k
    times by x.

    Raises ZeroDivisionError where it is infinite. It is Σ c(n)·x^(a - 1 + n), where c(n) is (1 -
    b)·…·(n - b)/n! over B(a, b). The k-th derivative at 0 is that of the power k if `a` is whole:
    those below have none.
    """
    if a > k + 1:
        return 0
    whole = next((n for n in range(1, k + 2) if a == n), None)
    if i or whole is None:
        raise ZeroDivisionError("infinite at 0")
    # 1/B(a, b) = b·(b + 1)·…·(b + a - 1)/(a - 1)!
    n = k + 1 - whole
    total = zeros(1, j + 1)
    total[0][0] = 1
    for t in range(-n, whole):
        total = times(total, Linear(b + t, 0, 1))
    return total[0][j] * ((-1) ** n * math.comb(k, n) * math.factorial(j))


# ---- the zeta function
def zeta_reflection(
    f: TermFunctions, s: Number, waves: tuple[Number, Number, Number], zetas: Sequence[Number]
) -> Number:
    """Return the last coefficient of ζ(s + ε) = (2π)^(s + ε)/π·sin(π(s + ε)/2)·Γ(1 - s - ε)·ζ(1 - s
    - ε) (DLMF 25.4.1).

    `waves` are sin(πs/2), cos(πs/2) and π; `zetas` are the coefficients of ζ(1 - s + ε).
    """
    sine, cosine, pi = waves
    count = len(zetas)
    signs = [(-1) ** k for k in range(count)]
    logarithm = [[sign * c] for sign, c in zip(signs, _log_gamma(f, 1 - s, count), strict=True)]
    step = f.log(2 * pi)
    logarithm[0][0] += s * step - f.log(pi)
    if count > 1:
        logarithm[1][0] += step
    scale = exponential(logarithm, f.exp(logarithm[0][0]))
    cycle = (sine, cosine, -sine, -cosine)
    sines = [[cycle[k % 4] * (pi / 2) ** k / math.factorial(k)] for k in range(count)]
    mirrored = [[sign * c] for sign, c in zip(signs, zetas, strict=True)]
    return product(product(scale, sines), mirrored)[-1][0]


# ---- Bessel functions
def bessel_sum(
    f: TermFunctions,
    nu: Number,
    x: Number,
    sign: int,
    count: int,
    enough: Callable[[Coefficients, Coefficients], Coefficients | None],
) -> Coefficients:
    """Return J (`sign` -1) or I (1) of order `nu` + ε at x > 0 (DLMF 10.2.2, 10.25.2)."""
    z = sign * x * x / 4
    skipped = max(0, math.ceil(-float(nu)) + 1)
    # 1/Γ(ν + 1 + ε) times its factors below `skipped`, which has no poles
    logarithm = [[-c] for c in _log_gamma(f, nu + skipped + 1, count)]
    half = f.log(x / 2)
    logarithm[0][0] += nu * half
    if count > 1:
        logarithm[1][0] += half
    term = exponential(logarithm, f.exp(logarithm[0][0]))
    powers = [z**k / math.factorial(k) for k in range(skipped + 1)]
    first = [[powers[skipped] * c for c in row] for row in term]
    total = hypergeometric_sum(
        first, z, (), (Linear(nu + skipped + 1, 1), Linear(1 + skipped + 0 * nu)), enough
    )
    for k in reversed(range(skipped)):
        term = times(term, Linear(nu + k + 1, 1))
        total = [
            [c + powers[k] * d for c, d in zip(row, more, strict=True)]
            for row, more in zip(total, term, strict=True)
        ]
    return total


def bessel_derivative(
    f: TermFunctions,
    n: int,
    nu: Number,
    x: Number,
    sign: int,
    waves: tuple[Number, Number, Number] | None,
    enough: Callable[[Coefficients, Coefficients], Coefficients | None],
) -> Number:
    """Return the n-th derivative of J or I, or with `waves` of Y or K, by the order `nu`, at x > 0.

    `waves` are π, sin πν and cos πν; where the sine is exactly 0, a power of ε is taken out (DLMF
    10.2.3, 10.27.4).
    """
    if waves is None:
        return bessel_sum(f, nu, x, sign, n + 1, enough)[n][0] * math.factorial(n)
    pi, sine, cosine = waves
    whole = bool(sine == 0)
    count = n + 1 + whole
    cycle = (sine, cosine, -sine, -cosine)
    sines = [[cycle[k % 4] * pi**k / math.factorial(k)] for k in range(count)]
    cosines = [[cycle[(k + 1) % 4] * pi**k / math.factorial(k)] for k in range(count)]
    own = bessel_sum(f, nu, x, sign, count, enough)
    opposite = [
        [c if k % 2 == 0 else -c]
        for k, (c,) in enumerate(bessel_sum(f, -nu, x, sign, count, enough))
    ]
    if sign < 0:
        above = [[c - d] for (c,), (d,) in zip(product(own, cosines), opposite, strict=True)]
    else:
        above = [[(d - c) * pi / 2] for (c,), (d,) in zip(own, opposite, strict=True)]
    return quotient(above[whole:], sines[whole:])[n][0] * math.factorial(n)
