"""Whether agents asked, as CloudWatch knows it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.stub import ANY, Stubber

from stackroom.aws.questions import CloudWatchQuestions

SERVICE = "cloudwatch"  # of the fixture `client`

END = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)
START = END - timedelta(minutes=15)


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
    client: Any, stubber: Stubber, results: list[Any], known: bool | None
) -> None:
    expected = {"MetricDataQueries": ANY, "StartTime": START, "EndTime": END}
    stubber.add_response("get_metric_data", answer(*results), expected)

    assert CloudWatchQuestions(client).any_between(START, END) is known


def test_what_cloudwatch_refuses_to_tell_is_not_known(client: Any, stubber: Stubber) -> None:
    stubber.add_client_error("get_metric_data", "Throttling")

    assert CloudWatchQuestions(client).any_between(START, END) is None
