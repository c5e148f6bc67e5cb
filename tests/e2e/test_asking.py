"""Agents' questions over MCP with real clients, and data that nobody else gets."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from strands.tools.mcp import MCPClient

from functions.tool_targets import TARGETS, schema_file
from stackroom.model.keys import catalog_id_of
from stackroom_client.calls import SEARCH
from stackroom_local.state import Instance
from tests.e2e.people import Person, logs_of_functions

QUESTION = "Where is the treasure buried?"
HERS = catalog_id_of("alice", "research")
EVERY_TOOL = sorted(
    f"{target}___{tool['name']}" for target in TARGETS for tool in json.loads(schema_file(target))
)


@pytest.fixture(scope="module", autouse=True)
def treasure(alice: Person) -> None:
    alice.settle(
        [
            alice.put(
                "research/treasure.txt",
                "The treasure is buried under the third oak.",
                {"kb-domain": "pirates"},
            ),
            alice.put(
                "research/budget.txt",
                "The budget for lanterns is 7,000 crowns.",
                {"kb-list-allowed_groups": "finance, board"},
            ),
            alice.put(
                "research/kitchen.txt",
                "The kitchen's budget is 300 crowns.",
                {"kb-allowed_groups": "=?UTF-8?Q?Forschung,_K=C3=BCche?="},
            ),
        ]
    )


def test_a_strands_agents_client_finds_the_tool_and_the_passage(
    instance: Instance, alice: Person
) -> None:
    headers = {"Authorization": f"Bearer {alice.token()}"}

    with MCPClient(url=instance.mcp_url, headers=headers) as client:
        tools = [tool.tool_name for tool in client.list_tools_sync()]
        result = client.call_tool_sync("call-1", name=SEARCH, arguments={"query": QUESTION})

    assert sorted(tools) == EVERY_TOOL
    assert result["status"] == "success"
    best = json.loads(result["content"][0]["text"])["results"][0]
    assert best["content"] == "The treasure is buried under the third oak."
    assert best["source"]["uri"] == f"s3://{instance.bucket}/alice/research/treasure.txt"


@pytest.mark.parametrize(
    "arguments", [{}, {"filter": {"domain": ["pirates", "alice"]}, "min_score": 0}], ids=str
)
def test_another_user_finds_none_of_her_documents_whatever_is_asked(
    alice: Person, bob: Person, arguments: dict[str, Any]
) -> None:
    hers = alice.find(QUESTION, **arguments)
    his = bob.find(QUESTION, **arguments)

    assert hers[0]["source"]["filename"] == "treasure.txt"
    assert [each for each in his if "/bob/" not in each["source"]["uri"]] == []


def test_no_log_contains_the_words_of_questions_or_documents(
    instance: Instance, alice: Person
) -> None:
    asked = "Which quartzblossom guards the treasure?"
    assert alice.find(asked)

    logs = {each.name: each.read_text() for each in instance.state_dir.rglob("*.log")}
    logs |= logs_of_functions(instance)
    words = ("quartzblossom", "under the third oak")
    found = [(log, word) for log, text in logs.items() for word in words if word in text]

    assert "access" in logs["/aws/lambda/stackroom-retrieve"]
    assert found == []


def test_another_users_catalog_is_not_found_like_one_that_never_existed(
    alice: Person, bob: Person
) -> None:
    nowhere = HERS[:-1] + ("0" if HERS[-1] != "0" else "1")

    answers = [bob.call(query=QUESTION, catalog_id=each) for each in (HERS, nowhere)]

    assert [each["error"].replace(HERS, nowhere) for each in answers] == [
        f"Catalog '{nowhere}' not found"
    ] * 2
    assert [each["errorType"] for each in answers] == ["KnowledgeBaseNotFound"] * 2
    assert alice.find(QUESTION, catalog_id=HERS) != []


@pytest.mark.parametrize(
    ("groups", "shown"),
    [
        (("staff", "board", "a", "b", "c", "Forschung, Küche"), ["budget.txt", "kitchen.txt"]),
        (("Finance", "finance, board", "Forschung"), []),
    ],
    ids=str,
)
def test_group_documents_are_found_by_members_according_to_their_token(
    instance: Instance, groups: tuple[str, ...], shown: list[str]
) -> None:
    member = Person(instance, "bob", groups)

    found = [
        each for each in member.find("What is the budget?") if "/bob/" not in each["source"]["uri"]
    ]

    assert sorted(each["source"]["filename"] for each in found) == shown
    assert {each["source"]["uri"].rsplit("/", 1)[0] for each in found} <= {
        f"s3://{instance.bucket}/alice/research"
    }


def test_function_refuses_invocations_past_the_gateway_even_by_root(
    aws: Callable[[str], Any],
) -> None:
    for function in ("retrieve", "catalog-tools", "identity-interceptor"):
        with pytest.raises(ClientError, match="with an explicit deny in a resource-based policy"):
            aws("lambda").invoke(FunctionName=f"stackroom-{function}")
