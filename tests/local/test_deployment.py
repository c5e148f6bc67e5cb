"""Resources of an earlier start that this one can't use are refused."""

from types import SimpleNamespace

import pytest

from stackroom_local.deployment.simulated_resources import KnowledgeBases
from stackroom_local.local_errors import OfAnotherType


def test_knowledge_base_of_another_type_is_refused_with_what_to_do() -> None:
    found = {"name": "stackroom-1", "knowledgeBaseId": "ABCDE12345"}
    made = {**found, "knowledgeBaseConfiguration": {"type": "VECTOR"}}
    listed = SimpleNamespace(paginate=lambda: [{"knowledgeBaseSummaries": [found]}])
    bedrock_agent = SimpleNamespace(
        get_paginator=lambda _: listed,
        get_knowledge_base=lambda **_: {"knowledgeBase": made},
    )
    wanted = {"name": "stackroom-1", "knowledgeBaseConfiguration": {"type": "MANAGED"}}

    with pytest.raises(OfAnotherType, match=r"'stackroom-1' exists with type VECTOR.*--fresh"):
        KnowledgeBases(bedrock_agent).find(wanted)
