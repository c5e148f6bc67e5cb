"""The metadata that S3 Vectors and Bedrock allow on a passage."""

from stackroom_local.simulator.errors import Unindexable
from stackroom_local.simulator.indexes import Index
from stackroom_local.simulator.memory_index import Owner
from stackroom_local.simulator.rules import (
    CUSTOM_METADATA_KEYS,
    CUSTOM_METADATA_SIZE,
    FILTERABLE_METADATA_SIZE,
    METADATA_SIZE,
    Rule,
)
from stackroom_local.simulator.sidecars import Value
from stackroom_local.simulator.store import dumped

SOURCE_URI = "x-amz-bedrock-kb-source-uri"
CHUNK_ID = "x-amz-bedrock-kb-chunk-id"
DATA_SOURCE_ID = "x-amz-bedrock-kb-data-source-id"


def own_keys(owner: Owner, key: str) -> dict[str, Value]:
    """The metadata that Bedrock adds to every passage by itself."""
    return {SOURCE_URI: owner[1], CHUNK_ID: key, DATA_SOURCE_ID: owner[0]}


def refuse_excess(attributes: dict[str, Value], key: str) -> None:
    """Raise Unindexable for more custom metadata than Bedrock takes on S3 Vectors."""
    if len(attributes) > CUSTOM_METADATA_KEYS.limit:
        rule = CUSTOM_METADATA_KEYS
    elif _size(attributes) > CUSTOM_METADATA_SIZE.limit:
        rule = CUSTOM_METADATA_SIZE
    else:
        return
    raise Unindexable(refused(rule, key), at_store=True)


def refusal(
    index: Index, owner: Owner, key: str, text: str, attributes: dict[str, Value]
) -> str | None:
    """Why S3 Vectors would refuse this passage; None when it takes it."""
    metadata: dict[str, Value] = {
        **attributes,
        **own_keys(owner, key),
        "AMAZON_BEDROCK_TEXT": text,
        "AMAZON_BEDROCK_METADATA": dumped({"source": {"sourceLocation": owner[1]}}),
    }
    filterable = {name: metadata[name] for name in metadata if name not in index.non_filterable}
    for rule, part in ((FILTERABLE_METADATA_SIZE, filterable), (METADATA_SIZE, metadata)):
        if _size(part) > rule.limit:
            return refused(rule, key)
    return None


def refused(rule: Rule, key: str) -> str:
    """What S3 Vectors says of a passage that breaks this rule."""
    return rule.message.format(key=key, limit=rule.limit)


def _size(metadata: dict[str, Value]) -> int:
    # Keys and values as UTF-8 JSON; how S3 Vectors counts is not documented.
    return len(dumped(metadata).encode())
