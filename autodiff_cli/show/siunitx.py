"""Quantities in LaTeX as siunitx takes them."""

from __future__ import annotations

import re

from ..engine.quantities.unit import PREFIX_NAMES, Unit, table_entry

# Names in the table of units that are macros of siunitx 3.
_NAMES = frozenset(
    re.findall(
        r"\w+",
        """ampere candela kelvin kilogram gram metre mole second becquerel coulomb farad gray hertz henry joule
        katal lumen lux newton ohm pascal radian siemens sievert steradian tesla volt watt weber bel
        dalton day decibel electronvolt hectare hour litre minute neper tonne""",
    )
)

_MACROS = {
    "°C": r"\degreeCelsius", "°": r"\degree", "′": r"\arcminute", "″": r"\arcsecond",
    "%": r"\percent", "au": r"\astronomicalunit",
}  # fmt: skip
_PREFIXES = {
    **{symbol: name for name, symbol in PREFIX_NAMES.items()},
    "Y": "yotta", "Z": "zetta", "E": "exa", "P": "peta", "a": "atto", "z": "zepto", "y": "yocto",
}  # fmt: skip
_POWERS = {2: r"\squared", 3: r"\cubed"}
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:\(\d+\))?(?:e[+-]?\d+)?")


def unit_macros(unit: Unit) -> str:
    r"""Return a unit in the macros of siunitx, or as literal text where it lacks one:
    `\metre\per\second`.
    """
    parts = []
    for symbol, power in sorted(unit.atoms, key=lambda atom: atom[1] < 0):
        macro = _macro(symbol)
        if macro is None or power != int(power):
            return unit.latex.removeprefix(r"\unit{").removesuffix("}")
        size = abs(int(power))
        raised = "" if size == 1 else _POWERS.get(size, rf"\tothe{{{size}}}")
        parts.append(r"\per" * (power < 0) + macro + raised)
    return "".join(parts)


def _macro(symbol: str) -> str | None:
    if symbol in _MACROS:
        return _MACROS[symbol]
    found = table_entry(symbol)
    if found is None or found[0].name not in _NAMES or (found[1] and found[1] not in _PREFIXES):
        return None
    entry, prefix = found
    return (rf"\{_PREFIXES[prefix]}" if prefix else "") + rf"\{entry.name}"


def quantity_latex(number: str, unit: Unit | None = None, *, separate: bool = False) -> str | None:
    r"""Return a number such as `1.73(18)e3` with its unit; None if it is no number for siunitx.

    >>> quantity_latex("1.73(18)e3")
    '\\num{1.73(18)e3}'
    """
    if not _NUMBER.fullmatch(number):
        return None
    mode = "[uncertainty-mode=separate]" if separate else ""
    if unit is None or not unit.atoms:
        return rf"\num{mode}{{{number}}}"
    return rf"\qty{mode}{{{number}}}{{{unit_macros(unit)}}}"
