"""The questions that operators ask of the log name what the tools' functions print."""

import re
from collections.abc import Callable
from typing import Any

import pytest

import functions.catalog_tools.handler as catalog_tools
import functions.retrieve.handler as retrieve
from stackroom.access.access_log import EVENT, SUCCESS
from tests.functions.printed import listening
from tests.functions.tools import GatewayContext
from tests.infra.assembly import Assembly

TYPE = "AWS::Logs::QueryDefinition"
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html
WORDS = {
    *("fields", "filter", "stats", "sort", "limit"),
    *("and", "or", "as", "by", "asc", "desc", "in", "like", "not"),
    *("count", "max", "strlen"),
}
QUERIES = ("who-read-what", "who-was-refused")
PEOPLE = {"X-User-Sub": "alice", "X-Session-Id": "session-1"}
NAMED = {"catalog_id": "cat-1", "document_id": "doc-1", "unknown": True}
HANDLERS = {
    "catalogs___download_from_catalog": catalog_tools,
    "knowledge___knowledge_base_retrieve": retrieve,
}


def query(deployment: Assembly, name: str) -> dict[str, Any]:
    definitions = [each.properties for each in deployment.all("operations", TYPE)]
    [found] = [each for each in definitions if each["Name"] == f"stackroom/{name}"]
    return found


def fields_of(text: str) -> set[str]:
    """Return the fields that a query reads, without its keywords and its own names."""
    bare = re.sub(r'"[^"]*"', "", text)
    given = set(re.findall(r"\bas (\w+)", bare))
    return set(re.findall(r"(?<![\w@])[a-z_]+", bare)) - given - WORDS


@pytest.fixture
def line_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], dict[str, Any]]:
    """The audit line of a tool's call that is refused before anything is asked of AWS."""
    monkeypatch.setattr(catalog_tools, "use_cases", lambda: None)
    monkeypatch.setattr(retrieve, "retrieval", lambda: None)
    printed = listening([each.logger for each in HANDLERS.values()], monkeypatch, capsys)

    def line(tool: str) -> dict[str, Any]:
        HANDLERS[tool].handler(NAMED, GatewayContext(headers=PEOPLE, tool=tool))
        return printed.line(EVENT)

    return line


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("tool", HANDLERS)
def test_a_query_names_fields_that_each_function_prints_with_that_event(
    deployment: Assembly, line_of: Callable[[str], dict[str, Any]], name: str, tool: str
) -> None:
    text = query(deployment, name)["QueryString"]
    asked = fields_of(text)

    printed = line_of(tool)

    assert {"message", "user_id", "tool"} <= asked
    assert asked - printed.keys() == set()
    assert f'message = "{EVENT}"' in text
    assert set(re.findall(r'outcome != "(\w+)"', text)) <= {SUCCESS}


def test_access_queries_read_exactly_the_logs_of_document_readers(
    deployment: Assembly,
) -> None:
    made = {
        each.properties["LogGroupName"]
        for stack in ("gateway", "console")
        for each in deployment.all(stack, "AWS::Logs::LogGroup")
    }

    definitions = [each.properties for each in deployment.all("operations", TYPE)]

    readers = ("agent-runner", "catalog-tools", "console", "retrieve")
    groups = {f"/aws/lambda/stackroom-{each}" for each in readers}
    assert sorted(each["Name"] for each in definitions) == [f"stackroom/{each}" for each in QUERIES]
    assert [set(each["LogGroupNames"]) for each in definitions] == [groups] * len(QUERIES)
    assert groups <= made
