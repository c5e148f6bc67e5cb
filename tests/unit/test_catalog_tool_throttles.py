"""A catalog tool that is throttled: a code, and when to call again."""

from typing import Any, cast

import pytest

from stackroom.catalog_tools.calls import Calls
from stackroom.errors import KnowledgeBaseThrottled, NoResults, Throttled
from stackroom.identity import ToolCall

BUSY = "Error: Too much is being asked of the service at the moment."


def answer_to(error: Exception) -> Any:
    def asked() -> ToolCall:
        raise error

    nothing = cast("Any", None)  # nobody gets as far as a use case
    return Calls(services=nothing, log=lambda _: None).answer({}, asked)


@pytest.mark.parametrize(
    ("error", "when", "metadata"),
    [
        (Throttled("KB1", retry_after=4), "in 4 seconds.", {"retry_after_seconds": 4}),
        (
            KnowledgeBaseThrottled("Retrieve", retry_after=1),
            "in 1 second.",
            {"retry_after_seconds": 1},
        ),
        (Throttled("the model"), "in a few seconds.", {}),
    ],
)
def test_it_says_when_to_call_again_where_that_is_known(
    error: Exception, when: str, metadata: dict[str, int]
) -> None:
    answer = answer_to(error)

    assert answer["content"] == [{"text": f"{BUSY} Try again {when}"}]
    assert answer["metadata"] == {
        "tool_type": "knowledge_base",
        "error_code": "THROTTLED",
        "error_details": "Nothing is wrong with the call.",
        **metadata,
    }


def test_no_other_refusal_does() -> None:
    assert "retry_after_seconds" not in answer_to(NoResults())["metadata"]
