"""The uncertainties of columns of data, as `--sigma` gives them."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import point_error
from .parse_point import split

Spread = str | float  # a number, the name of a column, or a share such as `2%`
Sigma = float | str | Mapping[str, Spread]  # of the response, or several by name

_SPELLINGS = "d{} u_{} u{} {}_u {}_err {}_error err_{} sigma_{} σ_{} s_{} Δ{} delta_{}"


def usual_names(name: str) -> list[str]:
    """Return the usual names of columns with the uncertainty of a variable."""
    return [form.format(name) for form in _SPELLINGS.split()]


def percentage(spread: Spread | None) -> float | None:
    """Return the number of a share in percent; None for another uncertainty."""
    is_share = isinstance(spread, str) and spread.strip().endswith("%")
    return _number(str(spread).strip().removesuffix("%")) if is_share else None


def _number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def parse_sigma(sigma: Sigma | None, response: str) -> dict[str, Spread]:
    """Return uncertainties by name from `0.1`, `2%`, `s` or `y=s,x=0.1`."""
    if sigma is None or isinstance(sigma, Mapping):
        return dict(sigma or {})
    if not isinstance(sigma, str):
        return {response: sigma}
    spreads: dict[str, Spread] = {}
    several = "=" in sigma
    for part in split(sigma) if several else [sigma]:
        text = part if several else f"{response}={part}"
        name, _, spread = map(str.strip, text.rpartition("="))
        if not spread or name in spreads or (several and (not name or "=" in name)):
            message = (
                f"`{name}` is given twice"
                if name in spreads
                else _no_uncertainty(part.strip(), several)
            )
            raise point_error(
                message, 'write `--sigma 0.1`, `--sigma 2%`, `--sigma s`, or `--sigma "y=s,x=0.1"`'
            )
        number = _number(spread)
        spreads[name] = spread if number is None else number
    return spreads


def _no_uncertainty(part: str, several: bool) -> str:
    if part:
        return f"`{part}` gives no uncertainty"
    return "an uncertainty is missing at a comma" if several else "an uncertainty is missing"


def has_unit(spread: str) -> bool:
    """Return whether an uncertainty is a number with a unit."""
    if not spread[:1].isdigit() and not spread.startswith("."):
        return False
    from .quantities import split_quantity  # only units need it

    return split_quantity(spread) is not None
