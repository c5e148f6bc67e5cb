"""Entries of KNOWLEDGE_BASES_CONFIG, one for each way to search a store, as short as can be."""

from collections.abc import Mapping

_ANY = {"knowledgeBaseId": "KB00000001", "name": "Handbook", "description": "Rules of the house."}
_OWN = {**_ANY, "tenancy": "shared"}

ENTRIES: Mapping[str, Mapping[str, object]] = {
    "S3_VECTORS": {**_ANY, "vectorStoreType": "S3_VECTORS"},
    "MANAGED": {**_ANY, "vectorStoreType": "MANAGED"},
    "S3_VECTORS_DIRECT": {
        **_OWN,
        "vectorStoreType": "S3_VECTORS_DIRECT",
        "indexArn": "arn:aws:s3vectors:us-east-1:000000000000:bucket/vectors/index/passages",
    },
    "OPENSEARCH_SERVERLESS": {
        **_OWN,
        "vectorStoreType": "OPENSEARCH_SERVERLESS",
        "collectionEndpoint": "https://abcdefghij.us-east-1.aoss.amazonaws.com",
    },
    "PGVECTOR": {
        **_OWN,
        "vectorStoreType": "PGVECTOR",
        "host": "handbook.cluster-abcdefghijkl.us-east-1.rds.amazonaws.com",
        "database": "handbook",
        "user": "agent",
    },
}
