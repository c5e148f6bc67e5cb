"""What the dashboard shows of the console, and what calls a person about it."""

from aws_cdk import aws_cloudwatch as cloudwatch

from infra.alarms import Alarms
from infra.console import ConsoleStack
from infra.measurements import graph, metric, ours


def what_the_console_does(console: ConsoleStack) -> list[cloudwatch.IWidget]:
    return [
        graph("Console requests", [_of_api(console, "Count", label="requests")]),
        graph(
            "Console requests refused or failed",
            [_of_api(console, "4xx", label="refused"), _faults(console)],
        ),
        graph(
            "Console latency (ms)",
            [
                _of_api(console, "Latency", statistic=statistic, label=statistic)
                for statistic in ("p50", "p99")
            ],
        ),
        graph(
            "Agents' runs: failed, searches, seconds",
            [
                _of_runs("AgentRunsFailed", label="failed"),
                _of_runs("AgentRunToolCalls", label="searches"),
                _of_runs("AgentRunSeconds", statistic="p99", label="seconds, p99"),
            ],
        ),
    ]


def console_alarms(alarms: Alarms, console: ConsoleStack | None) -> list[cloudwatch.Alarm]:
    if console is None:
        return []
    return [_faults_alarm(alarms, console), _failed_runs_alarm(alarms)]


def _faults_alarm(alarms: Alarms, console: ConsoleStack) -> cloudwatch.Alarm:
    """Whatever the reason: the function raised, was too slow, or was throttled."""
    return alarms.on(
        "ConsoleFaults",
        _faults(console),
        threshold=5,
        description="Five requests of the console failed within five minutes: the log of requests"
        " says which, the log group of the function why.",
    )


def _failed_runs_alarm(alarms: Alarms) -> cloudwatch.Alarm:
    """
    Five, because an agent's model may be one that is asked too much for once. What users call off,
    or give too small a budget, counts as no failure.
    """
    return alarms.on(
        "AgentRunsFailed",
        _of_runs("AgentRunsFailed", label="failed"),
        threshold=5,
        description="Five runs of users' agents failed within five minutes: their model refuses or"
        " doesn't answer, and the log group of agent-runner says which.",
    )


def _faults(console: ConsoleStack) -> cloudwatch.Metric:
    return _of_api(console, "5xx", label="failed")


def _of_runs(name: str, *, statistic: str = "Sum", label: str) -> cloudwatch.Metric:
    return ours(name, "agent_runner", statistic=statistic, label=label)


def _of_api(
    console: ConsoleStack, name: str, *, statistic: str = "Sum", label: str
) -> cloudwatch.Metric:
    """https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html"""
    dimensions = {"ApiId": console.api.name}
    return metric("AWS/ApiGateway", name, dimensions, statistic=statistic, label=label)
