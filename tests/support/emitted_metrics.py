"""The metrics that the functions emit, as their source has the calls of Powertools."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aws_lambda_powertools.metrics import MetricUnit

ROOT = Path(__file__).parents[2]
SOURCES = [*ROOT.glob("functions/**/*.py"), *ROOT.glob("src/stackroom/**/*.py")]
SERVICE = "service"  # the dimension that Powertools gives to every metric


@dataclass(frozen=True, order=True)
class EmittedMetric:
    name: str
    unit: str
    dimensions: tuple[str, ...]


def emitted_metrics() -> list[EmittedMetric]:
    """Each metric once for every set of dimensions that it is emitted with."""
    sources = (path.read_text("utf-8") for path in SOURCES)
    emitting = (ast.parse(source) for source in sources if "_metric(" in source)
    return sorted({each for module in emitting for each in _emitted(module)})


def _emitted(module: ast.Module) -> Iterator[EmittedMetric]:
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        values = _assigned(function)
        for node in ast.walk(function):
            if isinstance(node, ast.With):
                call = node.items[0].context_expr
                if isinstance(call, ast.Call) and _called(call) == "single_metric":
                    added = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
                    yield _metric(call, added, values)
            elif isinstance(node, ast.Call) and _called(node) == "add_metric":
                yield _metric(node, [], values)


def _metric(call: ast.Call, within: list[ast.Call], values: dict[str, ast.expr]) -> EmittedMetric:
    given = {each.arg: _resolved(each.value, values) for each in call.keywords}
    unit = given["unit"]
    assert isinstance(unit, ast.Attribute), f"{ast.unparse(call)} names its unit"
    dimensions = {SERVICE}
    if isinstance(default := given.get("default_dimensions"), ast.Dict):
        dimensions |= {str(ast.literal_eval(each)) for each in default.keys if each is not None}
    for each in within:
        if _called(each) == "add_dimension":
            dimensions |= {
                str(ast.literal_eval(word.value)) for word in each.keywords if word.arg == "name"
            }
    return EmittedMetric(
        name=str(ast.literal_eval(given["name"])),
        unit=MetricUnit[unit.attr].value,
        dimensions=tuple(sorted(dimensions)),
    )


def _assigned(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Return the expression assigned to each name in the function."""
    values: dict[str, ast.expr] = {}
    assignments = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    for target, value in ((each, node.value) for node in assignments for each in node.targets):
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=True))
        values |= {name.id: given for name, given in pairs if isinstance(name, ast.Name)}
    return values


def _resolved(value: ast.expr, values: dict[str, ast.expr]) -> ast.expr:
    return values.get(value.id, value) if isinstance(value, ast.Name) else value


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
