"""Whether agents asked, as CloudWatch knows it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.stub import ANY, Stubber

from stackroom.aws.questions import CloudWatchQuestions

END = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)
START = END - timedelta(minutes=15)


@pytest.fixture
def client() -> Any:
    return boto3.client(
        "cloudwatch",
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
        config=Config(retries={"total_max_attempts": 1}),
    )


@pytest.fixture
def cloudwatch(client: Any) -> Iterator[Stubber]:
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def answer(*tools: tuple[list[float], str]) -> dict[str, Any]:
    return {
        "MetricDataResults": [
            {"Id": f"tool{number}", "Values": values, "StatusCode": status}
            for number, (values, status) in enumerate(tools)
        ]
    }


@pytest.mark.parametrize(
    ("results", "known"),
    [
        ([([], "Complete"), ([], "Complete")], False),
        ([([0.0], "Complete"), ([], "Complete")], False),
        ([([], "Complete"), ([2.0, 1.0], "Complete")], True),
        ([([1.0], "PartialData"), ([], "Complete")], True),
        ([([], "InternalError"), ([], "Complete")], None),
    ],
)
def test_any_answer_of_either_tool_is_a_question(
    client: Any, cloudwatch: Stubber, results: list[Any], known: bool | None
) -> None:
    expected = {"MetricDataQueries": ANY, "StartTime": START, "EndTime": END}
    cloudwatch.add_response("get_metric_data", answer(*results), expected)

    assert CloudWatchQuestions(client).any_between(START, END) is known


def test_what_cloudwatch_refuses_to_tell_is_not_known(client: Any, cloudwatch: Stubber) -> None:
    cloudwatch.add_client_error("get_metric_data", "Throttling")

    assert CloudWatchQuestions(client).any_between(START, END) is None
