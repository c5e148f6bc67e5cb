"""
What Stackroom's own tool reads of an entry, held to while the app is synthesised: any class may
write one, and an entry that the agent refuses when it starts answers no event.

What reads it holds it to the same rules (stackroom.aws.linked_entries).
"""

from collections.abc import Mapping
from typing import Any

from constructs import Construct

from stackroom_constructs.knowledge_base import check_attribute
from stackroom_constructs.refusals import InvalidArgument, check_choice, check_flag, check_range
from stackroom_constructs.retrieval_filters import check_filter
from stackroom_constructs.searching import STORES

MEMBERS = (
    "knowledgeBaseId",
    "name",
    "description",
    "numberOfResults",
    "retrievalFilter",
    "enableAcl",
    "aclMetadataField",
    "guardrailId",
    "guardrailVersion",
    "vectorStoreType",
    "overrideSearchType",
    "minScore",
    "reranking",
    "implicitFilter",
    "retrievalTool",
)


def check_entry(scope: Construct, entry: Mapping[str, Any]) -> None:
    """Of a knowledge base without a tool of its own. Raises InvalidArgument."""
    owner = f"{scope.node.path}: configuration of {entry['name']!r}"
    if unknown := [member for member in entry if member not in MEMBERS]:
        allowed = f"left out without a tool of its own, which alone reads others than {_told()}"
        raise InvalidArgument(owner, "members", unknown, allowed)
    store = entry.get("vectorStoreType", "S3_VECTORS")
    narrowed = entry.get("enableAcl", False)
    check_choice(owner, "vectorStoreType", store, STORES)
    check_flag(owner, "enableAcl", narrowed)
    check_attribute(owner, "aclMetadataField", entry.get("aclMetadataField", "allowed_groups"))
    check_range(owner, "numberOfResults", entry.get("numberOfResults", 5), 1, 100)
    condition = entry.get("retrievalFilter")
    check_filter(owner, condition, store=store, is_narrowed=narrowed)


def _told() -> str:
    return ", ".join(MEMBERS)
