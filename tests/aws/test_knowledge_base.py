"""The Bedrock adapter against botocore's own model of `Retrieve`."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import EndpointConnectionError
from botocore.stub import Stubber

from stackroom.aws.guardrail import Guardrail
from stackroom.aws.knowledge_base import BedrockKnowledgeBase, rendered
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.filters import Has, any_of
from stackroom.identity import Caller
from stackroom.narrowing import conditions
from stackroom.ports.retrieval import Passage
from stackroom.tenancy import Member, Tenant

ALICE = Has("user_id", "alice")


@pytest.fixture
def client() -> Any:
    return boto3.client(
        "bedrock-agent-runtime",
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
        config=Config(retries={"total_max_attempts": 1}),
    )


@pytest.fixture
def bedrock(client: Any) -> Iterator[Stubber]:
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def expected(filter_: dict[str, Any]) -> dict[str, Any]:
    return {
        "knowledgeBaseId": "KB12345678",
        "retrievalQuery": {"text": "annual leave"},
        "retrievalConfiguration": {
            "vectorSearchConfiguration": {"numberOfResults": 5, "filter": filter_}
        },
    }


def a_result(**members: Any) -> dict[str, Any]:
    return {
        "content": {"type": "TEXT", "text": "30 days"},
        "location": {"type": "S3", "s3Location": {"uri": "s3://docs/alice/cat-1/a.pdf"}},
        "score": 0.75,
        **members,
    }


def test_results_become_passages_with_score_uri_page_and_attributes(
    client: Any, bedrock: Stubber
) -> None:
    metadata = {"user_id": "alice", "x-amz-bedrock-kb-document-page-number": 3.0}
    bedrock.add_response(
        "retrieve",
        {"retrievalResults": [a_result(metadata=metadata)], "guardrailAction": "INTERVENED"},
        expected({"equals": {"key": "user_id", "value": "alice"}}),
    )

    retrieved = BedrockKnowledgeBase(client, "KB12345678").retrieve("annual leave", ALICE, 5)

    assert retrieved.guardrail_action == "INTERVENED"
    assert retrieved.passages == (
        Passage(
            text="30 days",
            score=0.75,
            similarity=0.75,
            uri="s3://docs/alice/cat-1/a.pdf",
            page=3,
            attributes=metadata,
        ),
    )


def test_a_guardrail_goes_with_the_question(client: Any, bedrock: Stubber) -> None:
    guarded = {"guardrailConfiguration": {"guardrailId": "gr123", "guardrailVersion": "DRAFT"}}
    bedrock.add_response(
        "retrieve",
        {"retrievalResults": [], "guardrailAction": "INTERVENED"},
        expected({"equals": {"key": "user_id", "value": "alice"}}) | guarded,
    )

    guardrail = Guardrail(id="gr123", version="DRAFT")
    knowledge_base = BedrockKnowledgeBase(client, "KB12345678", guardrail=guardrail)

    assert knowledge_base.retrieve("annual leave", ALICE, 5).guardrail_action == "INTERVENED"


def test_pages_that_bedrock_counts_from_zero_are_counted_from_one(
    client: Any, bedrock: Stubber
) -> None:
    metadata = {"x-amz-bedrock-kb-document-page-number": 0.0}
    bedrock.add_response("retrieve", {"retrievalResults": [a_result(metadata=metadata)]})

    knowledge_base = BedrockKnowledgeBase(client, "KB12345678", first_page=0)
    retrieved = knowledge_base.retrieve("annual leave", ALICE, 5)

    assert retrieved.passages[0].page == 1


def test_a_sparse_answer_is_read_with_what_it_has(client: Any, bedrock: Stubber) -> None:
    custom = {"type": "CUSTOM", "customDocumentLocation": {"id": "doc-1"}}
    metadata = {"x-amz-bedrock-kb-source-uri": "s3://docs/b.txt"}
    results = [
        {"content": {"text": "bare"}, "metadata": metadata},
        {"content": {"text": "by custom source"}, "location": custom, "metadata": metadata},
        {"content": {"type": "IMAGE", "byteContent": "data:image/png;base64,AA=="}},
    ]
    bedrock.add_response("retrieve", {"retrievalResults": results})

    retrieved = BedrockKnowledgeBase(client, "KB12345678").retrieve("annual leave", ALICE, 5)

    assert retrieved.guardrail_action == "NONE"
    assert [(each.text, each.uri, each.custom_id, each.page) for each in retrieved.passages] == [
        ("bare", None, None, None),
        ("by custom source", "s3://docs/b.txt", "doc-1", None),
        ("", None, None, None),  # found all the same, though there is nothing to read
    ]


def test_throttling_is_told_apart_from_other_errors(client: Any, bedrock: Stubber) -> None:
    bedrock.add_client_error("retrieve", "ThrottlingException", "slow down", 429)
    bedrock.add_client_error("retrieve", "AccessDeniedException", "no", 403)
    knowledge_base = BedrockKnowledgeBase(client, "KB12345678")

    with pytest.raises(KnowledgeBaseThrottled):
        knowledge_base.retrieve("annual leave", ALICE, 5)
    with pytest.raises(KnowledgeBaseUnavailable, match="Retrieve answered AccessDeniedException"):
        knowledge_base.retrieve("annual leave", ALICE, 5)


def test_a_connection_that_fails_is_an_unavailable_knowledge_base(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: Any) -> None:
        raise EndpointConnectionError(endpoint_url="https://bedrock.test")

    monkeypatch.setattr(client, "retrieve", refuse)

    with pytest.raises(KnowledgeBaseUnavailable, match="EndpointConnectionError"):
        BedrockKnowledgeBase(client, "KB12345678").retrieve("annual leave", ALICE, 5)


def test_the_largest_filter_keeps_bedrocks_bounds_and_passes_its_model(
    client: Any, bedrock: Stubber
) -> None:
    asked = conditions({key: ["a", "b", 3, 4.5, True] for key in ("x", "y", "z")})
    whole = Tenant("alice", "cat-1").filter(asked)
    bedrock.add_response("retrieve", {"retrievalResults": []}, expected(dict(rendered(whole))))

    BedrockKnowledgeBase(client, "KB12345678").retrieve("annual leave", whole, 5)

    groups = [group["orAll"] for group in rendered(whole)["andAll"] if "orAll" in group]
    assert len(rendered(whole)["andAll"]) == 5
    assert [len(group) for group in groups] == [5, 5, 5]
    assert all(set(member) == {"equals"} for group in groups for member in group)


def test_a_members_groups_are_sought_in_lists_and_pass_bedrocks_model(
    client: Any, bedrock: Stubber
) -> None:
    one, two = Member.of(Caller("dora", ("a", "b, c", "d", "e", "f", "g")))
    in_rome = conditions({"city": "Rome"})
    sought = [
        {"listContains": {"key": "allowed_groups", "value": group}}
        for group in ("a", "b, c", "d", "e", "f", "g")
    ]
    rome = {"equals": {"key": "city", "value": "Rome"}}
    for groups in ({"orAll": sought[:5]}, sought[5]):
        answer: dict[str, Any] = {"retrievalResults": []}
        bedrock.add_response("retrieve", answer, expected({"andAll": [groups, rome]}))

    knowledge_base = BedrockKnowledgeBase(client, "KB12345678")
    found = [
        knowledge_base.retrieve("annual leave", view.filter(in_rome), 5) for view in (one, two)
    ]

    assert [each.passages for each in found] == [(), ()]


def test_no_group_has_a_single_member() -> None:
    sole = dict(rendered(Tenant("alice").filter(())))
    choice = dict(rendered(any_of([Has("city", "Rome")])))

    assert sole == {"equals": {"key": "user_id", "value": "alice"}}
    assert choice == {"equals": {"key": "city", "value": "Rome"}}
