"""Classes for stores that are searched directly, with their required arguments."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from botocore.httpsession import where

from stackroom_constructs import (
    OpenSearchKnowledgeBase,
    PgvectorKnowledgeBase,
    VectorIndexKnowledgeBase,
)
from stackroom_constructs.own_store_knowledge_base import OwnStoreKnowledgeBase

INDEX = "arn:aws:s3vectors:us-east-1:123456789012:bucket/parts/index/chunks"
COLLECTION = "arn:aws:aoss:us-east-1:123456789012:collection/abcdefghij0123456789"
OWN_STORES: Mapping[type[OwnStoreKnowledgeBase], Mapping[str, Any]] = {
    PgvectorKnowledgeBase: {
        "host": "db.cluster-abc.us-east-1.rds.amazonaws.com",
        "resource_id": "cluster-ABCDEF",
        "database": "knowledge",
        "user": "agent",
        "certificates": where(),
    },
    OpenSearchKnowledgeBase: {
        "collection_arn": COLLECTION,
        "collection_name": "finance",
        "collection_endpoint": "https://abcdefghij0123456789.us-east-1.aoss.amazonaws.com",
    },
    VectorIndexKnowledgeBase: {"index_arn": INDEX},
}


def in_its_store(
    stack: cdk.Stack, made: type[OwnStoreKnowledgeBase], **arguments: Any
) -> OwnStoreKnowledgeBase:
    needed: dict[str, Any] = {**OWN_STORES[made], "tenancy": "shared"}
    return made(stack, "Parts", **{**needed, **arguments})
