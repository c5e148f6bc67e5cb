"""
Four signals for the first look at an incident: ask, chat, ingestion, and model.

The console shows their last 15 minutes. It identifies lines by how their labels begin: what was
done, what failed through our fault, and the latency (p90).
"""

from collections.abc import Iterator, Sequence

from aws_cdk import aws_cloudwatch as cloudwatch

from infra.measurements import FIVE_MINUTES, graph, own_metric, search_metric

# Tools that search, with the outcomes that are our faults; `ask` is the console's.
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
    return [line for tool, faults in _FAULTS.items() for line in _tool_lines(tool, faults)]


def _tool_lines(tool: str, faults: Sequence[str]) -> Iterator[cloudwatch.IMetric]:
    yield _latency(tool, "SampleCount", "done")
    for fault in faults:
        yield _latency(tool, "SampleCount", "failed", outcome=fault)
    yield _latency(tool, "p90", "p90 (ms)", outcome="success")


def _latency(
    tool: str, statistic: str, label: str, *, outcome: str = ""
) -> cloudwatch.MathExpression:
    where = f'tool="{tool}"' + (f' outcome="{outcome}"' if outcome else "")
    return search_metric(
        "ToolLatency",
        "tool",
        "outcome",
        statistic=statistic,
        where=where,
        label=f"{label} {tool}",
    )


def _chat() -> list[cloudwatch.IMetric]:
    return [
        own_metric("AgentRunSeconds", "agent_runner", statistic="SampleCount", label="done"),
        own_metric("AgentRunsFailed", "agent_runner", label="failed"),
        own_metric("AgentRunSeconds", "agent_runner", statistic="p90", label="p90 (s)"),
    ]


def _ingestion() -> list[cloudwatch.IMetric]:
    """Return the signal of ingestion. Users' defective files count as done, not as faults."""
    faults = ("BrokenRuns", "CatalogsSetAside", "UnexplainedFailures")
    return [
        search_metric("DocumentsSettled", "outcome", label="done ${PROP('Dim.outcome')}"),
        *(search_metric(each, label=f"failed {each}") for each in faults),
        search_metric(
            "UploadToIndexedSeconds", statistic="p90", label="p90 (s) ${PROP('Dim.service')}"
        ),
    ]


def _model() -> list[cloudwatch.IMetric]:
    return [
        _model_lines("Invocations", "Sum", "done"),
        *(_model_lines(each, "Sum", "failed") for each in _MODEL_FAULTS),
        _model_lines("InvocationLatency", "p90", "p90 (ms)"),
    ]


def _model_lines(name: str, statistic: str, label: str) -> cloudwatch.MathExpression:
    """Return a line for each metric, over every model that the account invokes."""
    return cloudwatch.MathExpression(
        expression=f"SEARCH('{{AWS/Bedrock,ModelId}} MetricName=\"{name}\"', '{statistic}', 300)",
        label=f"{label} ${{PROP('Dim.ModelId')}}",
        using_metrics={},
        period=FIVE_MINUTES,
    )
