"""What carries out the runs of users' agents: in time, and not twice."""

from typing import Any

from stackroom.agents.bounds import MOST_SECONDS, SECONDS_TO_END
from tests.infra.assembly import Assembly


def test_a_run_has_its_time_and_is_handed_on_only_afterwards(assembly: Assembly) -> None:
    queue = assembly.one("console", "AWS::SQS::Queue", "AgentRunsQueueF").properties
    seconds = _runner(assembly)["Timeout"]

    assert seconds > MOST_SECONDS + SECONDS_TO_END
    assert queue["VisibilityTimeout"] == 6 * seconds
    assert queue["RedrivePolicy"]["deadLetterTargetArn"].endswith(":stackroom-agent-runs-dead")


def test_runs_begin_alone_at_once_and_ten_at_a_time(assembly: Assembly) -> None:
    mapping = assembly.one("console", "AWS::Lambda::EventSourceMapping").properties

    assert mapping["BatchSize"] == 1
    assert mapping["MaximumBatchingWindowInSeconds"] == 0
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": 10}
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def _runner(assembly: Assembly) -> dict[str, Any]:
    functions = [each.properties for each in assembly.all("console", "AWS::Lambda::Function")]
    [found] = [each for each in functions if each["FunctionName"] == "stackroom-agent-runner"]
    return found
