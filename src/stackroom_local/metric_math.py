"""
Metric math and searches, for the local CloudWatch (stackroom_local.metric_queries).

As much of it as Stackroom's own dashboard uses; anything else is `NotUnderstood`, and said so.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/search-expression-syntax.html
"""

import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from simpleeval import EvalWithCompoundTypes, InvalidExpression

Series = Mapping[datetime, float]
_Row = npt.NDArray[np.float64]  # one value for each time, NaN where nothing was reported

_SEARCH = re.compile(
    r"SEARCH\('\{(?P<schema>[^}]*)\}(?P<terms>.*)', '(?P<statistic>[^']+)'(?:, (?P<period>\d+))?\)"
)
_TERM = re.compile(r'(?P<no>NOT )?(?P<name>[\w.]+)="(?P<value>[^"]*)"')


class NotUnderstood(ValueError):
    """Math that only AWS works out."""


@dataclass(frozen=True)
class Search:
    """Metrics of a namespace with just these dimensions, and these values of some of them."""

    namespace: str
    dimensions: frozenset[str]
    having: tuple[tuple[str, str, bool], ...]  # a name, a value, and whether it must be that
    statistic: str
    period: int | None  # seconds

    def finds(self, name: str, dimensions: Mapping[str, str]) -> bool:
        told = {**dimensions, "MetricName": name}
        return dimensions.keys() == self.dimensions and all(
            (told.get(each) == value) is wanted for each, value, wanted in self.having
        )


def search(expression: str) -> Search | None:
    """None for what is no search; raises `NotUnderstood` for one with other terms than ours."""
    if not expression.startswith("SEARCH("):
        return None
    told = _SEARCH.fullmatch(expression)
    if told is None or _TERM.sub("", told["terms"]).strip():
        raise NotUnderstood(f"only AWS searches for {expression}")
    namespace, *dimensions = told["schema"].split(",")
    terms = (
        (each["name"], each["value"], not each["no"]) for each in _TERM.finditer(told["terms"])
    )
    period = int(told["period"]) if told["period"] else None
    return Search(namespace, frozenset(dimensions), tuple(terms), told["statistic"], period)


def evaluated(expression: str, named: Mapping[str, Series]) -> Series:
    """
    The expression at each time at which one of the `named` was reported.

    As on AWS a value that is missing makes the result of an operator missing, functions of several
    series pass over it, and what is no number, as after a division by 0, is no result.

    Raises `NotUnderstood`.
    """
    times = sorted({time for series in named.values() for time in series})
    rows = {
        name: np.array([series.get(time, math.nan) for time in times], dtype=np.float64)
        for name, series in named.items()
    }
    evaluator = EvalWithCompoundTypes(functions=_FUNCTIONS, names=rows)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of columns without any value
            result = np.broadcast_to(np.asarray(evaluator.eval(expression), float), (len(times),))
    except (InvalidExpression, SyntaxError, TypeError, ValueError, ArithmeticError) as error:
        raise NotUnderstood(f"only AWS works out {expression}: {error}") from error
    pairs = zip(times, result.tolist(), strict=True)
    return {time: value for time, value in pairs if math.isfinite(value)}


def _across(function: Callable[..., Any]) -> Callable[[Iterable[_Row]], _Row]:
    """Of several series, time by time; passes over what is missing, unless all is."""

    def of(rows: Iterable[_Row]) -> _Row:
        together = np.vstack(list(rows))
        made: _Row = function(together, axis=0)
        return np.where(np.isnan(together).all(axis=0), math.nan, made)

    return of


_FUNCTIONS = {
    "SUM": _across(np.nansum),
    "AVG": _across(np.nanmean),
    "MIN": _across(np.nanmin),
    "MAX": _across(np.nanmax),
}
