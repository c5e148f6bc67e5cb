"""Linked knowledge bases, put together from their configuration."""

import json
from typing import Any

import pytest
from botocore.stub import Stubber

from stackroom.aws.linked import linked_retrieval
from stackroom.aws.linked_settings import linked_settings
from stackroom.errors import KnowledgeBaseNotFound
from stackroom.identity import Caller
from stackroom.retrieval.arguments import RETRIEVE_FROM_KNOWLEDGE_BASE

SERVICE = "bedrock-agent-runtime"  # of the fixture `client`

ENTRY = {"knowledgeBaseId": "KB12345678", "name": "Laws", "description": "The laws of leave."}
ASKED = RETRIEVE_FROM_KNOWLEDGE_BASE.parse({"query": "annual leave"})


def test_a_search_sends_what_is_configured_beside_the_callers_groups(client: Any) -> None:
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


def test_one_with_a_tool_of_its_own_is_not_searched_here(client: Any) -> None:
    entries = [ENTRY, {**ENTRY, "knowledgeBaseId": "PARTS", "retrievalTool": "search_parts"}]
    retrieval = linked_retrieval(linked_settings(json.dumps(entries)), lambda _: client)
    named = RETRIEVE_FROM_KNOWLEDGE_BASE.parse({"query": "a", "knowledge_base_id": "PARTS"})

    assert [each.knowledge_base_id for each in retrieval.linked] == ["KB12345678"]
    with pytest.raises(KnowledgeBaseNotFound):
        retrieval.search(named, None)
