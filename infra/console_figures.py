"""The console's widgets on the dashboard, and its alarms."""

from aws_cdk import aws_cloudwatch as cloudwatch

from infra.alarms import Alarms
from infra.console import ConsoleStack
from infra.measurements import graph, metric, own_metric


def console_widgets(console: ConsoleStack) -> list[cloudwatch.IWidget]:
    return [
        graph("Console requests", [_api_metric(console, "Count", label="requests")]),
        graph(
            "Console requests refused or failed",
            [_api_metric(console, "4xx", label="refused"), _fault_metric(console)],
        ),
        graph(
            "Console latency (ms)",
            [
                _api_metric(console, "Latency", statistic=statistic, label=statistic)
                for statistic in ("p50", "p99")
            ],
        ),
        graph(
            "Agents' runs: failed, searches, seconds",
            [
                _run_metric("AgentRunsFailed", label="failed"),
                _run_metric("AgentRunToolCalls", label="searches"),
                _run_metric("AgentRunSeconds", statistic="p99", label="seconds, p99"),
            ],
        ),
    ]


def console_alarms(alarms: Alarms, console: ConsoleStack | None) -> list[cloudwatch.Alarm]:
    if console is None:
        return []
    return [_faults_alarm(alarms, console), _failed_runs_alarm(alarms)]


def _faults_alarm(alarms: Alarms, console: ConsoleStack) -> cloudwatch.Alarm:
    """Create the alarm on failed requests: function errors, timeouts and throttling."""
    return alarms.on(
        "ConsoleFaults",
        _fault_metric(console),
        threshold=5,
        description="Five requests of the console failed within five minutes: the log of requests"
        " says which, the log group of the function why.",
    )


def _failed_runs_alarm(alarms: Alarms) -> cloudwatch.Alarm:
    """
    Create the alarm on failed runs.

    Its threshold is five, because a single run may have met a model that was throttled for once.
    Runs that users cancel, or give too small a budget, don't count as failures.
    """
    return alarms.on(
        "AgentRunsFailed",
        _run_metric("AgentRunsFailed", label="failed"),
        threshold=5,
        description="Five runs of users' agents failed within five minutes: their model refuses or"
        " doesn't answer, and the log group of agent-runner says which.",
    )


def _fault_metric(console: ConsoleStack) -> cloudwatch.Metric:
    return _api_metric(console, "5xx", label="failed")


def _run_metric(name: str, *, statistic: str = "Sum", label: str) -> cloudwatch.Metric:
    return own_metric(name, "agent_runner", statistic=statistic, label=label)


def _api_metric(
    console: ConsoleStack, name: str, *, statistic: str = "Sum", label: str
) -> cloudwatch.Metric:
    """
    Return one of API Gateway's metrics.

    https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html
    """
    dimensions = {"ApiId": console.api.name}
    return metric("AWS/ApiGateway", name, dimensions, statistic=statistic, label=label)
