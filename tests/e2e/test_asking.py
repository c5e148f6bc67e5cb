"""What agents ask over MCP with real clients, and what nobody gets to know."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from botocore.exceptions import ClientError
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent
from strands.tools.mcp import MCPClient

from functions.tool_targets import TARGETS, schema_file
from stackroom.keys import catalog_id_of
from stackroom_local.cli.asking import TOOL, issuer_of
from stackroom_local.gateway.client import (
    GatewayError,
    SignInRequired,
    ToolFailed,
    call_tool,
    list_tools,
)
from stackroom_local.gateway.issuer import CLIENT_ID, Issuer
from stackroom_local.state import Instance
from tests import files
from tests.e2e.people import Person, eventually
from tests.gateway import forgeries
from tests.gateway.forgeries import resigned
from tests.local.running import stackroom

QUESTION = "Where is the treasure buried?"
HERS = catalog_id_of("alice", "research")
EVERY_TOOL = sorted(
    f"{target}___{tool['name']}" for target in TARGETS for tool in json.loads(schema_file(target))
)
FOREIGN = {"bedrockAgentCorePropagatedHeaders": {"x-user-sub": "alice"}}


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


@pytest.fixture
def issuer(instance: Instance) -> Issuer:
    return issuer_of(instance)


def session(
    instance: Instance, token: str, arguments: dict[str, Any], headers: dict[str, str]
) -> Any:
    """The official client's whole session, with headers of the caller's choice."""

    async def run() -> Any:
        sent = {"Authorization": f"Bearer {token}", **headers}
        async with (
            httpx2.AsyncClient(headers=sent) as http,
            Client(streamable_http_client(instance.mcp_url, http_client=http)) as client,
        ):
            (block,) = (await client.call_tool(TOOL, arguments)).content
            assert isinstance(block, TextContent)
            return json.loads(block.text)

    return asyncio.run(run())


def test_a_strands_agents_client_finds_the_tool_and_the_passage(
    instance: Instance, alice: Person
) -> None:
    headers = {"Authorization": f"Bearer {alice.token()}"}

    with MCPClient(url=instance.mcp_url, headers=headers) as client:
        tools = [tool.tool_name for tool in client.list_tools_sync()]
        result = client.call_tool_sync("call-1", name=TOOL, arguments={"query": QUESTION})

    assert sorted(tools) == EVERY_TOOL
    assert result["status"] == "success"
    best = json.loads(result["content"][0]["text"])["results"][0]
    assert best["content"] == "The treasure is buried under the third oak."
    assert best["source"]["uri"] == f"s3://{instance.bucket}/alice/research/treasure.txt"


def test_an_answer_has_the_shape_of_the_contract(alice: Person) -> None:
    answer = alice.call(query=QUESTION, top_k=1, catalog_id=HERS)

    (result,) = answer["results"]
    assert set(result) == {"content", "source", "score", "metadata"}
    assert set(result["source"]) == {
        "document_id",
        "filename",
        "uri",
        "page",
        "page_first",
        "page_last",
        "section",
        "catalog_id",
    }
    assert result["source"]["catalog_id"] == HERS
    assert answer["metadata"]["total_results"] == 1
    assert answer["metadata"]["knowledge_bases_queried"]


# Each longer than a passage, so that some passage begins in it.
SHIP = {
    "Crew": [f"Sailor {each} sleeps in a hammock below the deck." for each in range(50)],
    "Cargo": [f"Barrel {each} holds salted herring from the north." for each in range(50)],
}
SHIPS = {
    "ship.md": files.markdown_of_sections(SHIP),
    "ship.html": files.html_of_sections(SHIP),
    "ship.docx": files.word_of_sections(SHIP),
}


@pytest.fixture(scope="module")
def ships(alice: Person) -> None:
    alice.settle([alice.put(f"research/{name}", body) for name, body in SHIPS.items()])


@pytest.mark.usefixtures("ships")
@pytest.mark.parametrize("filename", SHIPS)
def test_a_passage_comes_with_the_heading_above_its_beginning(alice: Person, filename: str) -> None:
    def found() -> list[dict[str, Any]] | None:
        """None until the file was inspected."""
        passages = alice.find("sailors and barrels", filter={"filename": filename})
        return passages if all(each["source"]["section"] for each in passages) else None

    sections: dict[str, list[str]] = {}
    for each in eventually(found, "sections") or []:
        sections.setdefault(each["source"]["section"], []).append(each["content"].lstrip(". #\n"))
    assert set(sections) == {"Crew", "Cargo"}
    assert all(content.startswith(("Crew", "Sailor")) for content in sections["Crew"])
    assert all(content.startswith(("Cargo", "Barrel")) for content in sections["Cargo"])


def test_a_score_that_nothing_reaches_finds_nothing(alice: Person) -> None:
    assert alice.find(QUESTION, min_score=1.0) == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "   "}, "query"),
        ({"query": "x" * 1001}, "query: String should have at most 1000 characters"),
        ({"query": 42}, "query: Input should be a valid string"),
        ({"query": ["a"]}, "query: Input should be a valid string"),
        ({"query": "a", "filter": "domain"}, "filter: must be an object"),
        ({"query": "a", "filter": {"domain": {"equals": "x"}}}, "filter: 'domain' must be text"),
        ({"query": "a", "filter": {"andAll": [{"equals": 1}]}}, "filter: 'andAll' must be text"),
        ({"query": "a", "filter": {"a": [["b"]]}}, "filter: 'a' must be text"),
        ({"query": "a", "filter": {"a": []}}, "filter: 'a' has 0 values"),
        ({"query": "a", "filter": {"a": list("123456")}}, "filter: 'a' has 6 values"),
        ({"query": "a", "filter": dict.fromkeys("abcd", "x")}, "filter: names 4 keys"),
        ({"query": "a", "filter": {"": "x"}}, "filter: keys must be text"),
        ({"query": "a", "filter": {"user_id": "alice"}}, "filter: may not name 'user_id'"),
        ({"query": "a", "filter": {" User_ID ": "alice"}}, "filter: may not name"),
        ({"query": "a", "filter": {"catalog_id": HERS}}, "filter: may not name 'catalog_id'"),
        ({"query": "a", "filter": {"x-amz-bedrock-kb-source-uri": "x"}}, "filter: may not name"),
        ({"query": "a", "user_id": "alice"}, "user_id: no such argument"),
        ({"query": "a", "top_k": 21}, "top_k"),
        ({"query": "a", "top_k": True}, "top_k: must be a number"),
        ({"query": "a", "min_score": "high"}, "min_score"),
    ],
    ids=str,
)
def test_what_an_agent_can_get_wrong_is_a_structured_error_that_names_it(
    bob: Person, arguments: dict[str, Any], problem: str
) -> None:
    answer = bob.call(**arguments)

    assert (answer["success"], answer["results"]) == (False, [])
    assert answer["errorType"] == "ValidationError"
    assert problem in answer["error"]


def test_an_unknown_knowledge_base_is_a_structured_error(bob: Person) -> None:
    answer = bob.call(query="a", knowledge_base_id="NOSUCHBASE")

    assert answer["success"] is False
    assert answer["errorType"] == "KnowledgeBaseNotFound"


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"filter": {"domain": "pirates"}},
        {"filter": {"filename": "treasure.txt"}},
        {"filter": {"domain": ["pirates", "alice"]}, "min_score": 0},
    ],
    ids=str,
)
def test_another_user_finds_nothing_of_hers_whatever_is_asked(
    alice: Person, bob: Person, arguments: dict[str, Any]
) -> None:
    hers = alice.find(QUESTION, **arguments)
    his = bob.find(QUESTION, **arguments)

    assert hers[0]["source"]["filename"] == "treasure.txt"
    assert [each for each in his if "/bob/" not in each["source"]["uri"]] == []


def test_another_users_catalog_is_not_found_as_one_that_never_was(
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
        (("finance",), ["budget.txt"]),
        (("staff", "board", "a", "b", "c", "Forschung, Küche"), ["budget.txt", "kitchen.txt"]),
        (("Finance", "finance, board", "Forschung"), []),
        ((), []),
    ],
    ids=str,
)
def test_what_is_shared_with_a_group_is_found_by_who_is_in_it_by_their_token(
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


def test_a_shared_document_opens_no_catalog_and_no_other_document(
    instance: Instance, alice: Person
) -> None:
    member = Person(instance, "bob", ("finance",))

    named = member.call(query="What is the budget?", catalog_id=HERS)
    asked = member.files_found(QUESTION, filter={"filename": "treasure.txt"})
    pretended = Person(instance, "bob").files_found(
        "What is the budget?", filter={"allowed_groups": "finance"}
    )

    assert named["error"] == f"Catalog '{HERS}' not found"
    assert (asked, pretended) == ([], [])
    assert alice.files_found(QUESTION, filter={"filename": "treasure.txt"}) == ["treasure.txt"]


def test_the_command_line_asks_as_a_member_of_groups(instance: Instance) -> None:
    asked = ["ask", "What is the budget?", "--user", "bob"]

    shared = stackroom(*asked, "--group", "staff", "--group", "board", state_dir=instance.state_dir)

    assert shared.returncode == 0, shared.stderr
    assert "7,000 crowns" in shared.stdout


@pytest.mark.parametrize(
    "headers",
    [
        {"x-user-sub": "alice"},
        {"X-User-Groups": "finance"},
        {"X-User-Sub": "alice", "X-User-Groups": "admins"},
        {"x-amzn-bedrock-agentcore-runtime-custom-user": "alice"},
    ],
    ids=str,
)
def test_identity_headers_of_the_client_are_worth_nothing(
    instance: Instance, bob: Person, headers: dict[str, str]
) -> None:
    answer = session(instance, bob.token(), {"query": QUESTION, "top_k": 20}, headers)

    assert answer["success"] is True
    foreign = ("treasure", "budget for lanterns")
    assert not any(text in each["content"] for each in answer["results"] for text in foreign)


def expired(issuer: Issuer, directory: Path) -> str:
    return issuer.mint("alice", lifetime_seconds=-60)


def for_another_client(issuer: Issuer, directory: Path) -> str:
    return issuer.mint("alice", client_id="another-client")


def no_token(issuer: Issuer, directory: Path) -> str:
    return "none"


@pytest.mark.parametrize(
    ("make", "status"),
    [
        (no_token, 401),
        (expired, 401),
        (forgeries.signed_by_another_key, 401),
        (forgeries.signed_by_an_unknown_key, 401),
        (forgeries.signed_with_the_public_key_as_secret, 401),
        (forgeries.unsigned, 401),
        (forgeries.tampered, 401),
        (for_another_client, 403),
    ],
)
def test_a_token_that_is_not_good_opens_nothing(
    instance: Instance,
    issuer: Issuer,
    tmp_path: Path,
    make: Callable[[Issuer, Path], str],
    status: int,
) -> None:
    with pytest.raises(SignInRequired, match=f"the gateway answered {status}"):
        call_tool(instance.mcp_url, make(issuer, tmp_path), TOOL, {"query": QUESTION})


@pytest.mark.parametrize(
    ("claims", "problem"),
    [
        ({"sub": CLIENT_ID}, "it names no user"),
        ({"aud": "another-service"}, "it is meant for another audience"),
        ({"token_use": "id"}, "it is no access token"),
    ],
    ids=str,
)
def test_a_well_signed_token_without_a_user_or_for_another_audience_is_denied(
    instance: Instance, issuer: Issuer, claims: dict[str, str], problem: str
) -> None:
    with pytest.raises(ToolFailed, match=problem):
        call_tool(instance.mcp_url, resigned(issuer, **claims), TOOL, {"query": QUESTION})


def test_without_a_token_there_is_no_session(instance: Instance) -> None:
    async def connect() -> None:
        async with Client(streamable_http_client(instance.mcp_url)):
            raise AssertionError("the gateway let a stranger in")

    with pytest.RaisesGroup(
        pytest.RaisesExc(Exception, match="."), flatten_subgroups=True, allow_unwrapped=True
    ):
        asyncio.run(connect())


@pytest.mark.parametrize("tool", EVERY_TOOL)
def test_a_program_that_signed_in_as_nobody_is_permitted_no_tool(
    instance: Instance, tool: str
) -> None:
    program = resigned(issuer_of(instance), sub="a-program", username=None)

    with pytest.raises(GatewayError, match="not allowed due to policy enforcement"):
        call_tool(instance.mcp_url, program, tool, {"query": QUESTION})

    assert list_tools(instance.mcp_url, program) == []


@pytest.mark.parametrize("function", ["retrieve", "catalog-tools", "identity-interceptor"])
@pytest.mark.parametrize("kind", ["RequestResponse", "Event", "DryRun"])
def test_nobody_invokes_a_function_past_the_gateway_not_even_root(
    aws: Callable[[str], Any], function: str, kind: str
) -> None:
    with pytest.raises(ClientError) as refused:
        aws("lambda").invoke(FunctionName=f"stackroom-{function}", InvocationType=kind)

    assert refused.value.response["Error"]["Code"] == "AccessDeniedException"
    assert f"function:stackroom-{function} with an explicit deny in a resource-based policy" in str(
        refused.value
    )


@pytest.mark.parametrize(
    "event",
    [
        {"query": QUESTION},
        {"query": QUESTION, "user_id": "alice", "x-user-sub": "alice"},
        {"query": QUESTION, **FOREIGN},
        {"headers": {"x-user-sub": "alice"}, "query": QUESTION},
    ],
    ids=str,
)
def test_a_function_that_is_invoked_past_its_policy_knows_no_user(
    aws: Callable[[str], Any], event: dict[str, Any]
) -> None:
    invoked = aws("lambda").invoke(
        FunctionName="stackroom-retrieve:$LATEST", Payload=json.dumps(event)
    )

    answer = json.loads(invoked["Payload"].read())
    assert (answer["success"], answer["results"]) == (False, [])
    assert answer["errorType"] == "MissingIdentity"
