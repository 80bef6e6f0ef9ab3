"""Functions of mathematics that the language does not have: a call of one is refused by its name,
and is no product.
"""

from __future__ import annotations

_TITLES = {
    "the Dirichlet eta function": "eta η",
    "the Riemann xi function": "xi ξ",
    "a phi function (the normal density is `normpdf`)": "phi varphi φ ϕ",
    "a distribution function (the normal one is `normcdf`)": "Phi Φ",
    "a theta function (Heaviside's step is `heaviside`)": "theta vartheta Theta θ ϑ Θ",
    "Dirac's delta": "delta dirac diracdelta δ",
    "Legendre's chi function": "chi χ",
    "a polylogarithm": "li2 li3 polylog dilog dilogarithm",
    "the offset logarithmic integral (`li(x) - li(2)`), or a polylogarithm": "Li",
    "a hyperbolic sine or cosine integral": "shi Shi Chi sinhint coshint",
    "an exponential integral (`Ei(x)` is that of exp(t)/t)": "e1 expint expintegrale exp1",
    "an Airy function": "ai bi airy airyai airybi",
    "a Hankel function": "besselh hankelh1 hankelh2",
    "a Legendre polynomial": "legendre legendrep legendreq p_n",
    "a Chebyshev polynomial": "chebyshev chebyshevt chebyshevu t_n u_n",
    "a Hermite polynomial": "hermite hermiteh h_n he_n",
    "a Laguerre polynomial": "laguerre laguerrel l_n",
    "an elliptic integral": "elliptick elliptice ellipticf ellipticpi ellipk ellipe",
    "a hypergeometric function": (
        "hyp2f1 hyp1f1 hyp0f1 hypergeometric2f1 hypergeometric1f1 hypergeometricpfq"
    ),
    "Dawson's integral": "dawson dawsonf",
    "the Struve function": "struve struveh struvel",
    "the Barnes function": "barnesg",
    "the Lerch transcendent": "lerchphi hurwitzzeta",
    "a binomial coefficient (`gamma(n + 1)/(gamma(k + 1)*gamma(n - k + 1))`)": (
        "binom binomial nchoosek ncr choose"
    ),
    "the greatest common divisor": "gcd",
    "the least common multiple": "lcm",
    "the inverse square root (`1/sqrt(x)`)": "rsqrt invsqrt",
    "the whole part of a root (`floor(sqrt(n))`)": "isqrt",
    "a function of complex numbers": (
        "csqrt cexp clog csin ccos csinh ccosh ctanh casin cacos catan casinh cacosh catanh"
        " zsqrt zexp zlog zsin zcos"
    ),
    "a rectifier with a slope of its own (`leaky_relu(x)`, or `max(x, a*x)`)": "lrelu prelu rrelu",
    "a derivative: autodiff computes it from the function itself": "drelu dsigmoid dsoftplus",
    "a hard one of the activations (`max(-1, min(1, x))`)": "htanh hsigmoid",
    "a distribution of R": "pexp qexp rexp dgamma pgamma qgamma dbeta qbeta rbeta",
    "the reciprocal of gamma (`1/gamma(x)`), or draws": "rgamma",
    "the inverse error function, which is `erfinv`": "ierf",
    "an integral of `erfc`": "ierfc",
    "a logarithm of both signs": "slog symlog glog",
    "the versed sine (`1 - cos(x)`)": "vers versin",
    "the haversine (`sin(x/2)**2`)": "hav haversin haversine",
    "a real root (`cbrt(x)`; of an odd order n `sign(x)*abs(x)**(1/n)`)": "nthroot surd realroot",
    "the inverse of the incomplete beta function": "betaincinv inversebetaregularized",
}
_ABSENT = {name: title for title, names in _TITLES.items() for name in names.split()}


def absent_function(name: str) -> str:
    """Return what function of mathematics a name denotes that the language does not have; empty for
    another name.

    >>> absent_function("BesselH"), absent_function("eta"), absent_function("sin")
    ('a Hankel function', 'the Dirichlet eta function', '')
    """
    return (
        _ABSENT.get(name) or _ABSENT.get(name.lower(), "")
        if len(name) > 1
        else _ABSENT.get(name, "")
    )
