"""KNOWLEDGE_BASES_CONFIG: what is taken, how an error names what to mend, and what is searched."""

import json
from typing import Any

import pytest
from botocore.stub import Stubber

from stackroom.access.identity import Caller
from stackroom.errors import KnowledgeBaseNotFound
from stackroom.search.search_arguments import RETRIEVE_FROM_KNOWLEDGE_BASE
from stackroom_stores.bedrock_entry import BedrockSettings
from stackroom_stores.linked_knowledge_bases import (
    LinkedKnowledgeBasesInvalid,
    linked_retrieval,
    linked_settings,
)

ENTRY = {"knowledgeBaseId": "KB12345678", "name": "Laws", "description": "The laws of leave."}
EQUALS = {"equals": {"key": "year", "value": 2026}}
MODEL = {"modelArn": "arn:aws:bedrock:us-east-1::foundation-model/m"}
OTHER = {"listContains": {"key": "team", "value": "staff"}}


def read(**members: object) -> BedrockSettings:
    [settings] = linked_settings(json.dumps([{**ENTRY, **members}]))
    assert isinstance(settings, BedrockSettings)
    return settings


def refusal(*entries: object) -> str:
    with pytest.raises(LinkedKnowledgeBasesInvalid) as raised:
        linked_settings(json.dumps(entries))
    return str(raised.value)


def test_omitted_members_of_an_entry_take_their_defaults() -> None:
    settings = read()

    assert settings.model_dump(by_alias=True, exclude_none=True) == {
        **ENTRY,
        "numberOfResults": 5,
        "enableAcl": False,
        "aclMetadataField": "allowed_groups",
        "guardrailVersion": "DRAFT",
        "vectorStoreType": "S3_VECTORS",
        "retrievalTool": "retrieve_from_knowledge_base",
    }
    assert (settings.groups_in, settings.guardrail) == (None, None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is no JSON"),
        ("{}", "must be a JSON array"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_settings_that_are_no_json_array_are_refused(text: str, problem: str) -> None:
    with pytest.raises(LinkedKnowledgeBasesInvalid, match=problem):
        linked_settings(text)


@pytest.mark.parametrize(
    ("members", "field", "problem"),
    [
        ({"numberOfResults": 101}, "numberOfResults", "less than or equal to 100"),
        ({"vectorStoreType": "PINECONE"}, "vectorStoreType", "allowed: S3_VECTORS, OPENSEARCH"),
        ({"aclMetadataField": "user_id"}, "aclMetadataField", "is reserved"),
        ({"guardrailId": "Not One"}, "guardrailId", "match pattern"),
        ({"overrideSearchType": "HYBRID"}, "", "not for S3_VECTORS"),
        ({"results": 5}, "results", "not permitted"),
        ({"managedReranking": "NONE"}, "managedReranking", "left out with S3_VECTORS"),
        ({"aclMetadataField": " "}, "aclMetadataField", "must not be blank"),
        (
            {"reranking": {**MODEL, "fieldsToInclude": ["a"], "fieldsToExclude": ["b"]}},
            "reranking",
            "only one can be given",
        ),
        (
            {"vectorStoreType": "MANAGED", "overrideSearchType": "SEMANTIC"},
            "",
            "overrideSearchType must be left out with MANAGED",
        ),
        (
            {
                "vectorStoreType": "MANAGED",
                "managedReranking": "MANAGED",
                "reranking": MODEL,
            },
            "managedReranking",
            "left out beside reranking",
        ),
        (
            {
                "vectorStoreType": "MANAGED",
                "retrievalFilter": {"startsWith": {"key": "k", "value": "v"}},
            },
            "retrievalFilter",
            "which a MANAGED knowledge base can't answer",
        ),
    ],
)
def test_an_error_names_the_entry_and_the_field(
    members: dict[str, object], field: str, problem: str
) -> None:
    told = refusal(ENTRY, {**ENTRY, "knowledgeBaseId": "KB87654321", **members})

    assert told.startswith("KNOWLEDGE_BASES_CONFIG: entry 1")
    assert f": {field}" in told
    assert problem in told


def test_field_that_stands_twice_is_refused() -> None:
    twice = json.dumps([ENTRY]).replace("{", '{"name": "Other", ')

    with pytest.raises(LinkedKnowledgeBasesInvalid, match="'name' stands twice in one object"):
        linked_settings(twice)


def test_all_mistakes_of_an_entry_are_reported_together() -> None:
    told = refusal({**ENTRY, "numberOfResults": 0}, {**ENTRY, "vectorStoreType": "X"}, "KB1")

    assert "entry 0" in told
    assert "entry 1" in told
    assert "entry 2: must be a JSON object" in told
    assert "knowledgeBaseId: 'KB12345678' stands in 2 entries" in refusal(ENTRY, ENTRY)


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ({}, "one operator"),
        ({"is": {"key": "a", "value": 1}}, "allowed: equals"),
        ({"equals": {"key": "a"}}, "a key and a value"),
        ({"equals": {"key": "k" * 101, "value": 1}}, "without a key of 1 to 100 characters"),
        ({"in": {"key": "a", "value": []}}, "'in' of 'a' without a list of texts or numbers"),
        ({"notEquals": {"key": "a", "value": [1]}}, "'notEquals' of 'a' without one value"),
        ({"andAll": [EQUALS]}, "2 to 5 conditions"),
        ({"startsWith": {"key": "a", "value": "b"}}, "S3 Vectors can't"),
        (
            {"andAll": [EQUALS, {"orAll": [EQUALS, {"andAll": [EQUALS, OTHER]}]}]},
            "too deep",
        ),
    ],
)
def test_a_filter_that_bedrock_refuses_is_refused_before(condition: object, problem: str) -> None:
    told = refusal({**ENTRY, "retrievalFilter": condition})

    assert "retrievalFilter" in told
    assert problem in told


def test_a_filter_must_leave_room_for_the_callers_groups() -> None:
    wide = {"orAll": [{"andAll": [EQUALS, OTHER]}, OTHER]}

    assert read(retrievalFilter=wide).retrieval_filter == wide
    assert "leaves no room" in refusal({**ENTRY, "retrievalFilter": wide, "enableAcl": True})


COLLECTION = {
    **ENTRY,
    "vectorStoreType": "OPENSEARCH_SERVERLESS",
    "collectionEndpoint": "https://abcdefghij.us-east-1.aoss.amazonaws.com/",
    "tenancy": "shared",
}


AOSS = "abcdefghij.us-east-1.aoss.amazonaws.com"


@pytest.mark.parametrize(
    "endpoint",
    [
        f"http://{AOSS}",
        f"https://user:word@{AOSS}",
        f"https://{AOSS}/docs",
    ],
)
def test_invalid_collection_endpoint_is_refused_without_showing_secrets(endpoint: object) -> None:
    told = refusal({**COLLECTION, "collectionEndpoint": endpoint})

    assert "entry 0 ('KB12345678'): collectionEndpoint" in told
    assert "word" not in told


def test_name_that_would_search_several_indexes_is_refused() -> None:
    for name in ("docs,secrets", "doc*", "_all"):
        assert "indexName: " in (told := refusal({**COLLECTION, "indexName": name}))
        assert "names no index" in told


SERVICE = "bedrock-agent-runtime"  # of the fixture `client`

ASKED = RETRIEVE_FROM_KNOWLEDGE_BASE.parse({"query": "annual leave"})


def test_search_sends_the_configured_filter_and_the_callers_groups(client: Any) -> None:
    entry = {
        **ENTRY,
        "numberOfResults": 7,
        "retrievalFilter": {"equals": {"key": "year", "value": 2026}},
        "enableAcl": True,
        "aclMetadataField": "readers",
        "guardrailId": "gr1",
    }
    retrieval = linked_retrieval(linked_settings(json.dumps([entry])), lambda _: client)
    found = {
        "content": {"text": "thirty days"},
        "location": {"type": "S3", "s3Location": {"uri": "s3://laws/leave.txt"}},
        "score": 0.8,
        "metadata": {"readers": ["staff"], "year": 2026},
    }
    sent = {
        "knowledgeBaseId": "KB12345678",
        "retrievalQuery": {"text": "annual leave"},
        "retrievalConfiguration": {
            "vectorSearchConfiguration": {
                "numberOfResults": 7,
                "filter": {
                    "andAll": [
                        {"equals": {"key": "year", "value": 2026}},
                        {"listContains": {"key": "readers", "value": "staff"}},
                    ]
                },
            }
        },
        "guardrailConfiguration": {"guardrailId": "gr1", "guardrailVersion": "DRAFT"},
    }

    with Stubber(client) as stub:
        stub.add_response("retrieve", {"retrievalResults": [found]}, sent)
        answer = retrieval.search(ASKED, Caller("ann", ("staff",)))

    assert [result.content for result in answer.results] == ["thirty days"]


def test_knowledge_base_with_its_own_tool_is_not_searched_here(client: Any) -> None:
    entries = [ENTRY, {**ENTRY, "knowledgeBaseId": "PARTS", "retrievalTool": "search_parts"}]
    retrieval = linked_retrieval(linked_settings(json.dumps(entries)), lambda _: client)
    named = RETRIEVE_FROM_KNOWLEDGE_BASE.parse({"query": "a", "knowledge_base_id": "PARTS"})

    assert [each.knowledge_base_id for each in retrieval.linked] == ["KB12345678"]
    with pytest.raises(KnowledgeBaseNotFound):
        retrieval.search(named, None)
