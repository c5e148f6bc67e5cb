"""
What Stackroom's own tool reads of an entry, held to while the app is synthesised: any class may
write one, and an entry that the agent refuses when it starts answers no event.

What reads it holds it to the same rules (stackroom.stores.entries, and the settings of each
store).
"""

from collections.abc import Mapping
from typing import Any

from constructs import Construct

from stackroom_constructs.knowledge_base import check_attribute
from stackroom_constructs.own_store import TENANCIES
from stackroom_constructs.refusals import InvalidArgument, check_choice, check_flag, check_range
from stackroom_constructs.retrieval_filters import check_filter, check_types
from stackroom_constructs.searching import STORES

_OF_ALL = (
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
    "retrievalTool",
)
MEMBERS = (
    *_OF_ALL,
    "implicitFilter",
    "managedReranking",
    "embeddingModel",
    "embeddingDimensions",
)
OF_OWN_STORES = (*_OF_ALL, "tenancy", "tenantKey", "embeddingModel", "embeddingDimensions")
# What a store that Stackroom searches itself is told beside these.
OF_STORES: Mapping[str, tuple[str, ...]] = {
    "PGVECTOR": ("host", "port", "database", "user", "schema", "sslRootCert", "isLocal"),
    "S3_VECTORS_DIRECT": ("indexArn", "textKey", "sourceKey"),
}
# Of OPENSEARCH_SERVERLESS with a collectionEndpoint; without one, Bedrock's Retrieve searches it.
OF_COLLECTIONS = (
    "collectionEndpoint",
    "indexName",
    "vectorField",
    "textField",
    "metadataField",
    "sourceKey",
)


def check_entry(scope: Construct, entry: Mapping[str, Any]) -> None:
    """Of a knowledge base without a tool of its own. Raises InvalidArgument."""
    owner = f"{scope.node.path}: configuration of {entry['name']!r}"
    store = entry.get("vectorStoreType", "S3_VECTORS")
    check_choice(owner, "vectorStoreType", store, (*STORES, *OF_STORES))
    members = members_of(entry)
    if unknown := [member for member in entry if member not in members]:
        told = ", ".join(members)
        allowed = f"left out without a tool of its own, which alone reads others than {told}"
        raise InvalidArgument(owner, "members", unknown, allowed)
    if "tenancy" in members:
        check_choice(owner, "tenancy", entry.get("tenancy"), TENANCIES)
    narrowed = entry.get("enableAcl", False)
    check_flag(owner, "enableAcl", narrowed)
    check_attribute(owner, "aclMetadataField", entry.get("aclMetadataField", "allowed_groups"))
    check_range(owner, "numberOfResults", entry.get("numberOfResults", 5), 1, 100)
    condition = entry.get("retrievalFilter")
    check_filter(owner, condition, store=store, is_narrowed=narrowed)
    if _is_collection(entry):
        check_types(owner, condition)


def members_of(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Those that the tool reads of an entry for this store."""
    own = OF_STORES.get(entry.get("vectorStoreType", ""))
    if _is_collection(entry):
        own = OF_COLLECTIONS
    return MEMBERS if own is None else (*OF_OWN_STORES, *own)


def _is_collection(entry: Mapping[str, Any]) -> bool:
    return entry.get("vectorStoreType") == "OPENSEARCH_SERVERLESS" and "collectionEndpoint" in entry
