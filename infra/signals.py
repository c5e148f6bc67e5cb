"""
Four signals for the first look at an incident: ask, chat, ingestion, and model.

The console shows them of the last quarter of an hour. It knows lines by how their labels begin:
what was done, what failed for a reason of ours, and how long it took (p90).
"""

from collections.abc import Iterator, Sequence

from aws_cdk import aws_cloudwatch as cloudwatch

from infra.measurements import FIVE_MINUTES, found, graph, ours

# Tools that search, and how each says that it failed for a reason of ours; `ask` is the console's.
_FAULTS = {
    "ask": ("UNAVAILABLE", "INTERNAL_ERROR", "TOOK_TOO_LONG", "THROTTLED"),
    "query_catalog": ("UNAVAILABLE", "THROTTLED"),
    "knowledge_base_retrieve": ("RetrievalFailed", "Throttled"),
}
# https://docs.aws.amazon.com/bedrock/latest/userguide/monitoring-runtime-metrics.html
_MODEL_FAULTS = ("InvocationClientErrors", "InvocationServerErrors", "InvocationThrottles")


def signals(*, with_chat: bool) -> list[cloudwatch.IWidget]:
    widgets = [graph("Ask", _ask()), graph("Ingestion", _ingestion()), graph("Model", _model())]
    return [*widgets, graph("Chat", _chat())] if with_chat else [*widgets]


def _ask() -> list[cloudwatch.IMetric]:
    return [line for tool, faults in _FAULTS.items() for line in _of_tool(tool, faults)]


def _of_tool(tool: str, faults: Sequence[str]) -> Iterator[cloudwatch.IMetric]:
    yield _latency(tool, "SampleCount", "done")
    for fault in faults:
        yield _latency(tool, "SampleCount", "failed", outcome=fault)
    yield _latency(tool, "p90", "p90 (ms)", outcome="success")


def _latency(
    tool: str, statistic: str, label: str, *, outcome: str = ""
) -> cloudwatch.MathExpression:
    where = f'tool="{tool}"' + (f' outcome="{outcome}"' if outcome else "")
    return found(
        "ToolLatency",
        "tool",
        "outcome",
        statistic=statistic,
        where=where,
        label=f"{label} {tool}",
    )


def _chat() -> list[cloudwatch.IMetric]:
    return [
        ours("AgentRunSeconds", "agent_runner", statistic="SampleCount", label="done"),
        ours("AgentRunsFailed", "agent_runner", label="failed"),
        ours("AgentRunSeconds", "agent_runner", statistic="p90", label="p90 (s)"),
    ]


def _ingestion() -> list[cloudwatch.IMetric]:
    """Users' broken files are done with, and no fault."""
    faults = ("BrokenRuns", "CatalogsSetAside", "UnexplainedFailures")
    return [
        found("DocumentsSettled", "outcome", label="done ${PROP('Dim.outcome')}"),
        *(found(each, label=f"failed {each}") for each in faults),
        found("UploadToIndexedSeconds", statistic="p90", label="p90 (s) ${PROP('Dim.service')}"),
    ]


def _model() -> list[cloudwatch.IMetric]:
    return [
        _of_models("Invocations", "Sum", "done"),
        *(_of_models(each, "Sum", "failed") for each in _MODEL_FAULTS),
        _of_models("InvocationLatency", "p90", "p90 (ms)"),
    ]


def _of_models(name: str, statistic: str, label: str) -> cloudwatch.MathExpression:
    """Return a line for each metric, over every model that the account invokes."""
    return cloudwatch.MathExpression(
        expression=f"SEARCH('{{AWS/Bedrock,ModelId}} MetricName=\"{name}\"', '{statistic}', 300)",
        label=f"{label} ${{PROP('Dim.ModelId')}}",
        using_metrics={},
        period=FIVE_MINUTES,
    )
