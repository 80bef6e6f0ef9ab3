"""Formulas as people write them, for the comparison with other programs: textbooks, physics,
machine learning.

Each is a line: the program; where Python cannot read that, the same for the other programs, without
bindings and with only the branch that the point takes; and the point. The answers are worked out by
differences in 40 digits.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any

import mpmath
from random_formulas import Formula

DIGITS = 40

LINES = """
(w1 - 1)**2 + (w2 - 5)**2 | | w1=2, w2=3
a*x**2 + b*x + c | | a=1.5, b=-2, c=0.5, x=0.75
x² − 3x + 2 | x**2 - 3*x + 2 | x=1.7
3x³ − 4x² + 2x − 7 | 3*x**3 - 4*x**2 + 2*x - 7 | x=1.3
(1 - x)**2 + 100*(y - x**2)**2 | | x=-1.2, y=1
sin(x)*cos(y) + sin(y)*cos(x) | | x=0.4, y=1.1
exp(-x**2/2)/sqrt(2*pi) | exp(-x**2/2)/sqrt(2*3.141592653589793) | x=0.8
exp(-(x - m)**2/(2*s²))/(s*2.5066282746) | exp(-(x - m)**2/(2*s**2))/(s*2.5066282746) | x=1, m=0.3, s=1.4
1/(1 + exp(-x)) | | x=0.6
1/(1 + exp(-(w*x + b))) | | w=0.7, x=1.5, b=-0.2
n = x1*w1 + x2*w2 + b; tanh(n) | tanh(x1*w1 + x2*w2 + b) | x1=2, x2=0.5, w1=-0.3, w2=1, b=0.68
z = w*x + b; y = 1/(1 + exp(-z)); (y - t)² | (1/(1 + exp(-(w*x + b))) - t)**2 | x=0.5, w=0.8, b=0.1, t=1
m*c**2 | | m=1.2, c=2.998
m*v²/2 + m*g*h | m*v**2/2 + m*g*h | m=2, v=3.1, g=9.81, h=1.5
G*m1*m2/r**2 | | G=6.674, m1=5.9, m2=7.3, r=3.8
k*q1*q2/r² | k*q1*q2/r**2 | k=8.99, q1=1.6, q2=-1.6, r=2.5
n*R*T/V | | n=1, R=8.314, T=300, V=2.4
(p + a*n**2/V**2)*(V - n*b) - n*R*T | | p=1.1, a=1.36, n=1, V=2.2, b=0.03, R=8.314, T=290
2*pi*sqrt(l/g) | 2*3.141592653589793*sqrt(l/g) | l=0.9, g=9.81
A*exp(-Ea/(R*T)) | | A=13, Ea=50, R=8.314, T=30
A*exp(-g*t)*cos(w*t + phi) | | A=2, g=0.3, t=1.1, w=4, phi=0.5
U0*(1 - exp(-t/(R*C))) | | U0=5, t=0.4, R=1.5, C=0.8
1/(1/R1 + 1/R2 + 1/R3) | | R1=10, R2=22, R3=47
sqrt(R**2 + (w*L - 1/(w*C))**2) | | R=3, w=2, L=0.5, C=0.2
2*h*f³/c²/(exp(h*f/(k*T)) - 1) | 2*h*f**3/c**2/(exp(h*f/(k*T)) - 1) | h=0.66, f=1.5, c=3, k=1.38, T=0.9
4*eps*((s/r)**12 - (s/r)**6) | | eps=1.2, s=1, r=1.15
D*(1 - exp(-a*(r - r0)))² | D*(1 - exp(-a*(r - r0)))**2 | D=4.7, a=1.9, r=0.9, r0=0.74
v0*t*cos(a) | | v0=12, t=0.8, a=0.7
y0 + v0*t*sin(a) - g*t²/2 | y0 + v0*t*sin(a) - g*t**2/2 | y0=1, v0=12, t=0.8, a=0.7, g=9.81
sqrt((x1 - x2)**2 + (y1 - y2)**2) | | x1=1, x2=4, y1=2, y2=-2
sqrt(a² + b² − 2a*b*cos(g)) | sqrt(a**2 + b**2 - 2*a*b*cos(g)) | a=3, b=4, g=1
4/3*pi*r**3 | 4/3*3.141592653589793*r**3 | r=1.6
pi*r²*h/3 | 3.141592653589793*r**2*h/3 | r=1.6, h=2.2
P*(1 + r/n)**12 | | P=1000, r=0.05, n=12
P*r*(1 + r)**24/((1 + r)**24 - 1) | | P=1000, r=0.01
S*exp(-q*T) - K*exp(-r*T) | | S=100, q=0.02, T=0.5, K=95, r=0.04
log(S/K) + (r + s**2/2)*T | | S=100, K=95, r=0.04, s=0.2, T=0.5
-(y*log(p) + (1 - y)*log(1 - p)) | | y=0.8, p=0.65
-t*log(1/(1 + exp(-z))) - (1 - t)*log(1 - 1/(1 + exp(-z))) | | t=1, z=0.4
x if x > 0 else 0.01x | x | x=1.3
x if x > 0 else exp(x) - 1 | exp(x) - 1 | x=-0.7
d = y - t; d²/2 if d < 1 else d - 0.5 | (y - t)**2/2 | y=1.4, t=0.9
0 if 1 - t*y < 0 else 1 - t*y | 1 - t*y | t=1, y=0.3
x*tanh(log(1 + exp(x))) | | x=0.9
0.5x*(1 + tanh(0.7978845608*(x + 0.044715x³))) | 0.5*x*(1 + tanh(0.7978845608*(x + 0.044715*x**3))) | x=0.9
log(exp(a) + exp(b) + exp(c)) | | a=0.3, b=1.2, c=-0.5
exp(a)/(exp(a) + exp(b) + exp(c)) | | a=0.3, b=1.2, c=-0.5
(a*b + c*d)/(sqrt(a**2 + c**2)*sqrt(b**2 + d**2)) | | a=1, b=2, c=3, d=-1
f(u) = u/(1 + u²); f(x)*f(y) | x/(1 + x**2)*(y/(1 + y**2)) | x=0.4, y=1.8
r*x*(1 - x/K) | | r=0.8, x=3, K=10
a*x - b*x*y | | a=1.1, x=2, b=0.4, y=0.7
Vm*S/(Km + S) | | Vm=2.5, S=0.8, Km=1.2
x**n/(k**n + x**n) | | x=1.4, n=2.5, k=1.1
K/(1 + (K - P0)/P0*exp(-r*t)) | | K=10, P0=1, r=0.7, t=2
L*(1 - exp(-k*(t - t0))) | | L=30, k=0.4, t=3, t0=-0.5
a/(1 + (x/b)²) + c | a/(1 + (x/b)**2) + c | a=3, x=0.8, b=1.7, c=0.2
sin(x)/x | | x=1.9
log(x² + y²)/2 | log(x**2 + y**2)/2 | x=1.2, y=-0.8
e1 = x - a; e2 = y - b; e1² + e2² + 0.1(x² + y²) | (x - a)**2 + (y - b)**2 + 0.1*(x**2 + y**2) | x=1, a=0.5, y=2, b=1.5
((x + y)*(x - y))/(x*y) | | x=2.5, y=1.5
cos(x)² − sin(x)² + tanh(2x) | cos(x)**2 - sin(x)**2 + tanh(2*x) | x=0.6
"""


def _compiled(text: str) -> CodeType:
    code = compile(text, "<formula>", "eval")
    assert isinstance(code, CodeType)
    return code


def formulas() -> list[Formula]:
    """All of them, with the exact answers."""
    made = []
    functions = {
        name: getattr(mpmath, name) for name in ("sin", "cos", "tanh", "exp", "log", "sqrt")
    }
    with mpmath.workdps(DIGITS):
        for line in LINES.strip().split("\n"):
            text, python, at = (part.strip() for part in line.replace("| |", "|  |").split(" | "))
            point = {name: float(x) for name, x in (pair.split("=") for pair in at.split(", "))}
            code = _compiled(python or text)

            def value(
                *numbers: Any, code: CodeType = code, names: tuple[str, ...] = tuple(point)
            ) -> Any:
                return FunctionType(code, functions | dict(zip(names, numbers, strict=True)))()

            numbers = [mpmath.mpf(x) for x in point.values()]
            orders = [tuple(int(i == k) for i in range(len(numbers))) for k in range(len(numbers))]
            gradient = {
                name: mpmath.diff(value, tuple(numbers), order)
                for name, order in zip(point, orders, strict=True)
            }
            made.append(Formula(text, point, value(*numbers), gradient, python))
    return made
