"""Types of the functions that `functions.py` makes from the table of primitives; a test holds the two equal."""

from typing import Protocol, overload

from .value import Value

class Unary(Protocol):
    """Of a number a number, of a Value a Value."""

    @overload
    def __call__(self, x: Value) -> Value: ...
    @overload
    def __call__(self, x: float) -> float: ...

class Several(Protocol):
    """Of numbers a number; a Value if one of the arguments is one."""

    @overload
    def __call__(self, *xs: float, **named: float) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, *xs: Value | float, **named: Value | float) -> Value: ...

class Choice(Protocol):
    """`where(condition, x, y)`."""

    @overload
    def __call__(self, c: bool, x: float, y: float) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, c: bool, x: Value | float, y: Value | float) -> Value: ...

pow: Several
where: Choice
exp: Unary
exp2: Unary
expm1: Unary
log: Several
ln: Several
log2: Unary
log10: Unary
log1p: Unary
sqrt: Unary
cbrt: Unary
abs: Unary
sign: Unary
floor: Unary
ceil: Unary
round: Unary
clamp: Several
sin: Unary
cos: Unary
tan: Unary
sec: Unary
csc: Unary
cot: Unary
asin: Unary
arcsin: Unary
acos: Unary
arccos: Unary
atan: Unary
arctan: Unary
atan2: Several
arctan2: Several
asec: Unary
arcsec: Unary
acsc: Unary
arccsc: Unary
acot: Unary
arccot: Unary
sinc: Unary
deg: Unary
rad: Unary
sinh: Unary
cosh: Unary
tanh: Unary
sech: Unary
csch: Unary
coth: Unary
asinh: Unary
arcsinh: Unary
arsinh: Unary
acosh: Unary
arccosh: Unary
arcosh: Unary
atanh: Unary
arctanh: Unary
artanh: Unary
asech: Unary
arcsech: Unary
arsech: Unary
acsch: Unary
arccsch: Unary
arcsch: Unary
acoth: Unary
arccoth: Unary
arcoth: Unary
relu: Unary
leaky_relu: Several
elu: Several
gelu: Unary
silu: Unary
swish: Unary
sigmoid: Unary
softplus: Unary
softsign: Unary
logaddexp: Several
logit: Unary
heaviside: Unary
erf: Unary
erfc: Unary
erfinv: Unary
erfcx: Unary
erfi: Unary
normpdf: Several
normcdf: Several
norminv: Several
Si: Unary
sinint: Unary
Ci: Unary
cosint: Unary
Ei: Unary
expi: Unary
li: Unary
logint: Unary
fresnels: Unary
fresnelc: Unary
lambertw: Several
gamma: Unary
lgamma: Unary
gammaln: Unary
loggamma: Unary
digamma: Unary
psi: Unary
trigamma: Unary
polygamma: Several
beta: Several
gammainc: Several
gammaincc: Several
gammainc_derivative: Several
betainc: Several
betainc_derivative: Several
zeta: Unary
zeta_derivative: Several
besselj: Several
besselj_derivative: Several
bessely: Several
bessely_derivative: Several
besseli: Several
besseli_derivative: Several
besselk: Several
besselk_derivative: Several
faddeeva_re: Several
faddeeva_im: Several
sum: Several
mean: Several
prod: Several
min: Several
max: Several
hypot: Several
logsumexp: Several
gaussian: Several
lorentzian: Several
logistic: Several
hill: Several
michaelis_menten: Several
voigt: Several
