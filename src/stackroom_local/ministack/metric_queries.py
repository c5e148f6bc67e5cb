"""
GetMetricData as AWS has it: with expressions and searches, which ministack 1.5.33 refuses.

In ministack's process, requests with any of these are answered here; queries of single metrics are
passed on to ministack. Math that only AWS can evaluate is refused as CloudWatch refuses it, in its
own line alone.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import fmean
from typing import Any

from simpleeval import EvalWithCompoundTypes, InvalidExpression

# Metric math and searches, for the local CloudWatch (stackroom_local.ministack.metric_queries).
#
# As much of it as Stackroom's own dashboard uses; anything else is `NotUnderstood`, and said so.
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/search-expression-syntax.html

Series = Mapping[datetime, float]

_SEARCH = re.compile(
    r"SEARCH\('\{(?P<schema>[^}]*)\}(?P<terms>.*)', '(?P<statistic>[^']+)'(?:, (?P<period>\d+))?\)"
)
_TERM = re.compile(r'(?P<no>NOT )?(?P<name>[\w.]+)="(?P<value>[^"]*)"')


class NotUnderstood(ValueError):
    """Math that only AWS can evaluate."""


@dataclass(frozen=True)
class MetricSearch:
    """Metrics of a namespace with just these dimensions, and these values of some of them."""

    namespace: str
    dimensions: frozenset[str]
    conditions: tuple[tuple[str, str, bool], ...]  # a name, a value, and whether it must be that
    statistic: str
    period: int | None  # seconds

    def finds(self, name: str, dimensions: Mapping[str, str]) -> bool:
        terms = {**dimensions, "MetricName": name}
        return dimensions.keys() == self.dimensions and all(
            (terms.get(each) == value) is wanted for each, value, wanted in self.conditions
        )


def search(expression: str) -> MetricSearch | None:
    """
    Parse a search, or return None for other expressions. Raises `NotUnderstood` for unknown terms.
    """
    if not expression.startswith("SEARCH("):
        return None
    match = _SEARCH.fullmatch(expression)
    if match is None or _TERM.sub("", match["terms"]).strip():
        raise NotUnderstood(f"only AWS searches for {expression}")
    namespace, *dimensions = match["schema"].split(",")
    terms = (
        (each["name"], each["value"], not each["no"]) for each in _TERM.finditer(match["terms"])
    )
    period = int(match["period"]) if match["period"] else None
    return MetricSearch(namespace, frozenset(dimensions), tuple(terms), match["statistic"], period)


def evaluated(expression: str, named: Mapping[str, Series]) -> Series:
    """
    Evaluate an expression at each time at which one of the `named` series has a value.

    As on AWS, a missing value makes an operator's result missing, functions of several series
    ignore it, and a result that is no number, as after a division by 0, is left out. Raises
    `NotUnderstood`.
    """
    evaluator, result = EvalWithCompoundTypes(functions=_FUNCTIONS), dict[datetime, float]()
    try:
        parsed = evaluator.parse(expression)
        for time in sorted({time for series in named.values() for time in series}):
            evaluator.names = {name: series.get(time, math.nan) for name, series in named.items()}
            with suppress(ZeroDivisionError):
                result[time] = float(evaluator.eval(expression, parsed))
    except (InvalidExpression, SyntaxError, TypeError, ValueError) as error:
        raise NotUnderstood(f"only AWS works out {expression}: {error}") from error
    return {time: value for time, value in result.items() if math.isfinite(value)}


def _across(function: Callable[[Iterable[float]], float]) -> Callable[[Iterable[float]], float]:
    """Return the function over several series at one time, ignoring missing values."""

    def of(values: Iterable[float]) -> float:
        present = [each for each in values if not math.isnan(each)]
        return function(present) if present else math.nan

    return of


_FUNCTIONS = {
    "SUM": _across(math.fsum),
    "AVG": _across(fmean),
    "MIN": _across(min),
    "MAX": _across(max),
}


Query = Mapping[str, Any]
Result = dict[str, Any]  # with `Timestamps` in seconds since 1970

_PROPERTY = re.compile(r"\$\{PROP\('Dim\.(\w+)'\)\}")


@dataclass(frozen=True, kw_only=True)
class MetricDataQueries:
    """
    Answers queries. `ask` answers those of single metrics, `metrics` lists a namespace's metrics.
    """

    queries: Sequence[Query]
    ask: Callable[[list[Query]], list[Result]]
    metrics: Callable[[str], list[dict[str, Any]]]
    _known: dict[str, list[Result]] = field(default_factory=dict, init=False)

    def results(self) -> list[Result]:
        plain = [each for each in self.queries if "Expression" not in each]
        for each in self.ask([{**query, "ReturnData": True} for query in plain]):
            self._known[each["Id"]] = [each]
        for query in self.queries:
            self._settle(query)
        return [
            result
            for query in self.queries
            if query.get("ReturnData", True)
            for result in self._known[query["Id"]]
        ]

    def _settle(self, query: Query) -> None:
        if query["Id"] in self._known:
            return
        self._known[query["Id"]] = []  # an expression that refers to itself refers to nothing
        try:
            self._known[query["Id"]] = list(self._worked_out(query))
        except NotUnderstood as error:
            refused = {"StatusCode": "InternalError", "Timestamps": [], "Values": []}
            messages = [{"Code": "Unsupported", "Value": str(error)}]
            self._known[query["Id"]] = [{**_named(query), **refused, "Messages": messages}]

    def _worked_out(self, query: Query) -> Iterator[Result]:
        expression = query["Expression"]
        if (wanted := search(expression)) is not None:
            yield from self._found(query, wanted)
            return
        words = set(re.findall(r"\w+", expression))
        named: dict[str, Series] = {}
        for each in self.queries:
            if each["Id"] in words and each["Id"] != query["Id"]:
                self._settle(each)
                known = self._known[each["Id"]]
                named[each["Id"]] = _series(known[0]) if known else {}
        yield {**_named(query), **_points(evaluated(expression, named)), "StatusCode": "Complete"}

    def _found(self, query: Query, wanted: MetricSearch) -> Iterator[Result]:
        metrics = [
            each
            for each in self.metrics(wanted.namespace)
            if wanted.finds(each["MetricName"], _dimensions(each))
        ]
        labels = [_label(query, _dimensions(each), alone=len(metrics) == 1) for each in metrics]
        queries: list[Query] = [
            {
                "Id": f"found_{number}",
                "MetricStat": {
                    "Metric": each,
                    "Period": wanted.period or query.get("Period", 300),
                    "Stat": wanted.statistic,
                },
            }
            for number, each in enumerate(metrics)
        ]
        answers = zip(labels, self.ask(queries) if queries else (), strict=True)
        for label, answer in sorted(answers, key=lambda pair: pair[0]):
            yield {**answer, "Id": query["Id"], "Label": label}


def install() -> None:
    from ministack.services import cloudwatch  # noqa: PLC0415 - ministack's alone

    plainly = cloudwatch._get_metric_data

    def get_metric_data(
        params: Any, given: dict[str, Any], is_cbor: bool, is_json: bool = False
    ) -> Any:
        queries = given.get("MetricDataQueries", [])  # empty of the old protocol, which stays as is
        if not any("Expression" in each for each in queries):
            return plainly(params, given, is_cbor, is_json)

        def ask(some: list[Query]) -> list[Result]:
            _, _, body = plainly({}, {**given, "MetricDataQueries": some}, False, True)
            results: list[Result] = json.loads(body)["MetricDataResults"]
            return results

        def metrics(namespace: str) -> list[dict[str, Any]]:
            _, _, body = cloudwatch._list_metrics({}, {"Namespace": namespace}, False, True)
            found: list[dict[str, Any]] = json.loads(body)["Metrics"]
            return found

        results = MetricDataQueries(queries=queries, ask=ask, metrics=metrics).results()
        if not is_cbor:
            return cloudwatch._json_ok({"MetricDataResults": results})
        as_iso = [
            {**each, "Timestamps": [cloudwatch._ts_iso(at) for at in each["Timestamps"]]}
            for each in results
        ]
        encoded = [cloudwatch._cbor_metric_data_result(each) for each in as_iso]
        return cloudwatch._cbor_ok({"MetricDataResults": encoded})

    cloudwatch._get_metric_data = get_metric_data


def _named(query: Query) -> Result:
    return {"Id": query["Id"], "Label": query.get("Label") or query["Id"]}


def _series(result: Result) -> Series:
    pairs = zip(result["Timestamps"], result["Values"], strict=True)
    return {datetime.fromtimestamp(at, UTC): value for at, value in pairs}


def _points(series: Series) -> Result:
    at = sorted(series)
    return {"Timestamps": [int(each.timestamp()) for each in at], "Values": [series[t] for t in at]}


def _dimensions(metric: Mapping[str, Any]) -> dict[str, str]:
    pairs: Iterable[Mapping[str, str]] = metric["Dimensions"]
    return {each["Name"]: each["Value"] for each in pairs}


def _label(query: Query, dimensions: Mapping[str, str], *, alone: bool) -> str:
    """
    Return a line's name: the query's label, and the dimensions that distinguish it from the others.
    """
    given = query.get("Label") or ""
    label = _PROPERTY.sub(lambda match: dimensions.get(match[1], ""), given)
    if label != given or (label and alone):
        return label
    apart = {name: value for name, value in dimensions.items() if name != "service"} or dimensions
    return " ".join(filter(None, [label, *apart.values()]))
