"""Tests of the custom resource's function, called as CloudFormation calls it."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from botocore.exceptions import ClientError

import functions.search_index.handler as function
from stackroom.errors import ServiceRefused, StoreUnavailable
from stackroom.search.index_setup import IndexSetup, Readiness, SearchIndexBusy, SearchIndexGone
from tests.fakes.search_index import BUCKET, INDEX, FakeSearchIndexes
from tests.functions.printed import Printed
from tests.support.lambda_context import Context

pytestmark = pytest.mark.processes

STACK = "arn:aws:cloudformation:us-east-1:123456789012:stack/stackroom-knowledge-base/1"
INVALID = ClientError(
    {"Error": {"Code": "ValidationException", "Message": "not that key"}},
    "UpdateMetadataConfiguration",
)

Ask = Callable[..., Any]


@dataclass
class CloudFormation:
    """A server that receives answers; `refusals` are the statuses of the first responses."""

    url: str
    answers: list[dict[str, Any]] = field(default_factory=list)
    types: list[str | None] = field(default_factory=list)
    refusals: list[int] = field(default_factory=list)

    @property
    def answer(self) -> dict[str, Any]:
        """Return the only answer."""
        [found] = self.answers
        return found


@pytest.fixture
def cloudformation() -> Iterator[CloudFormation]:
    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = waiting.refusals.pop(0) if waiting.refusals else 200
            if status == 200:
                waiting.answers.append(json.loads(body))
                waiting.types.append(self.headers["Content-Type"])
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        waiting = CloudFormation(f"http://127.0.0.1:{server.server_port}/answer?signature=secret")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield waiting
        server.shutdown()


@pytest.fixture
def indexes() -> FakeSearchIndexes:
    return FakeSearchIndexes(is_enhanced=False)


@pytest.fixture
def ask(
    cloudformation: CloudFormation,
    indexes: FakeSearchIndexes,
    printed: Printed,
    monkeypatch: pytest.MonkeyPatch,
) -> Ask:
    setup = IndexSetup(indexes=indexes, pause=lambda _attempt: None)
    monkeypatch.setattr(function, "index_setup", lambda: setup)
    variables = {
        "SEARCH_INDEXES": json.dumps([INDEX.rpartition("/")[2]]),
        "SEARCH_LANGUAGE": "none",
        "VECTOR_BUCKET_ARN": BUCKET,
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    function.settings.cache_clear()
    handler: Any = function.handler

    def asked(type_: str, *, language: str = "en", **more: str) -> Any:
        event = {
            "RequestType": type_,
            "RequestId": "a request",
            "StackId": STACK,
            "LogicalResourceId": "SearchIndexIndex1",
            "ResourceType": "Custom::SearchIndex",
            "ResponseURL": cloudformation.url,
            "ResourceProperties": {
                "ServiceToken": "arn:aws:lambda:us-east-1:123456789012:function:search-index",
                "ServiceTimeout": "600",
                "IndexArn": INDEX,
                "VectorBucketArn": BUCKET,
                "Language": language,
            },
            **more,
        }
        return handler(event, Context(function_name="search-index"))

    return asked


def test_created_resource_adds_text_search_and_logs_no_response_address(
    ask: Ask, cloudformation: CloudFormation, indexes: FakeSearchIndexes, printed: Printed
) -> None:
    ask("Create")

    assert cloudformation.answer == {
        "Status": "SUCCESS",
        "PhysicalResourceId": INDEX,
        "StackId": STACK,
        "RequestId": "a request",
        "LogicalResourceId": "SearchIndexIndex1",
        "Data": {"State": "building"},
    }
    # S3 signs the address for no type of content.
    assert cloudformation.types == [""]
    assert indexes.changes == ["enhance", "add"]
    assert (indexes.text_search, indexes.language) == (Readiness.BUILDING, "en")
    assert printed.line("prepared")["text_search"] == "building"
    assert "signature" not in printed.log.getvalue()


def test_deletion_of_the_resource_leaves_the_index_alone(
    ask: Ask, cloudformation: CloudFormation, indexes: FakeSearchIndexes
) -> None:
    indexes.is_there = False

    ask("Delete", PhysicalResourceId="as it was called")

    assert cloudformation.answer["Status"] == "SUCCESS"
    assert cloudformation.answer["PhysicalResourceId"] == "as it was called"
    assert indexes.changes == []


def test_failure_is_raised_for_a_retry_without_failing_the_deployment(
    ask: Ask, cloudformation: CloudFormation, indexes: FakeSearchIndexes
) -> None:
    for error, message in (
        (SearchIndexBusy(INDEX), "when GetIndex says ACTIVE"),
        (ServiceRefused("UpdateIndexMode", "AccessDeniedException"), "which policy of the account"),
        (StoreUnavailable("UpdateIndexMode", "503"), "invoke this function later"),
        (INVALID, "ValidationException.*not that key.*log of the function"),
        (RuntimeError("x" * 10_000), "x"),
    ):
        indexes.errors = [error]
        with pytest.raises(type(error)):  # which has Lambda invoke it again
            ask("Create")

        answer = cloudformation.answers.pop()
        assert (answer["Status"], answer["PhysicalResourceId"]) == ("SUCCESS", INDEX)
        assert re.search(message, answer["Data"]["State"])
        # https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html
        assert len(json.dumps(answer)) <= 4096


def test_undelivered_answer_is_retried_and_then_left_for_lambda_to_repeat(
    ask: Ask, cloudformation: CloudFormation
) -> None:
    cloudformation.refusals = [503] * 5

    with pytest.raises(OSError, match="503"):
        ask("Create")
    ask("Create")

    assert cloudformation.answer["Status"] == "SUCCESS"


def test_invocation_by_hand_reports_all_indexes(
    ask: Ask, cloudformation: CloudFormation, indexes: FakeSearchIndexes
) -> None:
    handler: Any = function.handler

    answer = handler({}, Context())
    indexes.is_there = False

    assert answer == {INDEX: {"text_search": "building", "language": None}}
    with pytest.raises(SearchIndexGone):
        handler({}, Context())
    assert cloudformation.answers == []
