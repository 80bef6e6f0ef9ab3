"""Fits as SVG, PNG or PDF: the data, the curve with its confidence band, and the residuals below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...optimize.fit import Fit
from ...uncertainty.measured_value import concise
from ..characters import Theme
from .figure import Palette, drawn
from .frame import MOST, in_sight


def fit_figure(answer: Fit, format: str, title: str, theme: Theme = "auto") -> bytes:
    """The fit over its predictor, or with several beside the observed values, as the content of a file."""
    observed = answer.columns[answer.response]
    single = len(answer.predictors) == 1
    across = answer.columns[answer.predictors[0]] if single else answer.fitted

    percent = f"{100 * answer.level:.3g} %"

    def draw(page: Any, palette: Palette) -> None:
        page.set_size_inches(6.4, 5.6)
        upper, lower = page.subplots(2, 1, sharex=True, height_ratios=(3, 1.3))
        if single and answer.curve:
            xs, ys, wide = zip(*answer.curve, strict=True)
            _band(upper, xs, ys, wide, palette.red, 0.25, f"{percent} confidence")
            upper.plot(xs, ys, color=palette.red, label="fit")
            _predicted(upper, answer, palette, percent)
        elif not single:
            ends = [min(across), max(across)]
            upper.plot(ends, ends, color=palette.red, label="as fitted")
        shown = in_sight(across, observed)
        label = "data" if len(shown) == len(observed) else f"data ({len(shown):,} of {len(observed):,} drawn)"
        # a cloud would hide the fit: it is behind it then, and paler
        dots = {"color": palette.blue, "markersize": 4, "alpha": 0.8}
        if len(observed) > MOST:
            dots |= {"markersize": 3, "alpha": 0.3, "zorder": 1}
        upper.plot([across[k] for k in shown], [observed[k] for k in shown], "o", **dots, label=label)
        _error_bars(upper, answer, across, observed, shown, palette, single)
        upper.set_ylabel(answer.headed(answer.response))
        upper.legend(loc="best", fontsize=9)
        lower.axhline(0, color=palette.faint, linewidth=0.9)
        shown = in_sight(across, answer.residuals)
        lower.plot([across[k] for k in shown], [answer.residuals[k] for k in shown], "o", **dots)
        _error_bars(lower, answer, across, answer.residuals, shown, palette, False)
        lower.set_ylabel("residual")
        lower.set_xlabel(answer.headed(answer.predictors[0]) if single else f"fitted {answer.headed(answer.response)}")
        for axes in (upper, lower):
            axes.grid(color=palette.grid, linewidth=0.7)
            axes.set_axisbelow(True)

    return drawn(draw, format, title, _caption(answer), theme)


def _caption(answer: Fit) -> str:
    """The parameters with their uncertainties, as `a = 5.48(29) V`."""
    units = {} if answer.units is None else answer.units["parameters"]
    parts = []
    for name, parameter in answer.parameters.items():
        estimate = f"{float(parameter.estimate):.6g}"
        written = estimate if parameter.error is None else concise(float(parameter.estimate), float(parameter.error))
        parts.append(f"{name} = {written.replace('-', '−')} {units.get(name) or ''}".rstrip())
    return ", ".join(parts)


def _band(
    axes: Any, xs: Sequence[float], ys: Sequence[float], wide: Sequence[float], color: str, alpha: float, label: str
) -> None:
    low, high = ([y + sign * w for y, w in zip(ys, wide, strict=True)] for sign in (-1, 1))
    axes.fill_between(xs, low, high, color=color, alpha=alpha, linewidth=0, label=label)


def _predicted(axes: Any, answer: Fit, palette: Palette, percent: str) -> None:
    """Draw predictions over the one predictor: their values and their bands."""
    (name,) = answer.predictors
    places = sorted(
        (place for place in answer.predictions if place.value is not None), key=lambda place: place.point[name]
    )
    if not places:
        return
    axes.plot(
        [place.point[name] for place in places], [place.value for place in places], color=palette.violet, linewidth=1.0
    )
    for attribute, alpha, label in (("prediction", 0.12, f"{percent} prediction"), ("confidence", 0.18, None)):
        pairs = [(place.point[name], ends) for place in places if (ends := getattr(place, attribute)) is not None]
        if pairs:
            low, high = [ends[0] for _, ends in pairs], [ends[1] for _, ends in pairs]
            style = {"color": palette.violet, "alpha": alpha, "linewidth": 0}
            axes.fill_between([x for x, _ in pairs], low, high, label=label, **style)


def _error_bars(
    axes: Any, answer: Fit, xs: Sequence[float], ys: Sequence[float], shown: Sequence[int], palette: Palette, both: bool
) -> None:
    """Draw the standard uncertainties of the rows: of the response, and of their one predictor if it is across."""
    across = answer.sigma.get(answer.predictors[0]) if both else None
    up = answer.sigma.get(answer.response)
    if up is None or len(answer.fitted) > MOST:
        return
    axes.errorbar(
        [xs[k] for k in shown],
        [ys[k] for k in shown],
        yerr=[up[k] for k in shown],
        xerr=None if across is None else [across[k] for k in shown],
        fmt="none",
        ecolor=palette.blue,
        elinewidth=0.9,
        capsize=2,
        alpha=0.8,
    )
