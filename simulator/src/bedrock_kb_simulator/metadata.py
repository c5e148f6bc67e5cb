"""The metadata that S3 Vectors and Bedrock allow on a passage."""

from dataclasses import dataclass, replace
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.assumptions import Assumptions, CustomTells
from bedrock_kb_simulator.bucket_objects import Value
from bedrock_kb_simulator.indexes import Index
from bedrock_kb_simulator.memory_indexes import Owner
from bedrock_kb_simulator.service_errors import Unindexable
from bedrock_kb_simulator.store import dumped, loaded

SOURCE_URI = "x-amz-bedrock-kb-source-uri"
CHUNK_ID = "x-amz-bedrock-kb-chunk-id"
DATA_SOURCE_ID = "x-amz-bedrock-kb-data-source-id"
BEDROCK_TEXT = "AMAZON_BEDROCK_TEXT"
BEDROCK_METADATA = "AMAZON_BEDROCK_METADATA"
# Bedrock writes these, too: they are counted, but not returned.
_UNRETURNED: dict[str, Value] = {
    "x-amz-bedrock-kb-document-page-number": 10000.0,
    "x-amz-bedrock-kb-source-file-modality": "TEXT",
}
OWN_KEYS = frozenset({SOURCE_URI, CHUNK_ID, DATA_SOURCE_ID, BEDROCK_TEXT, BEDROCK_METADATA})


@dataclass(frozen=True, kw_only=True)
class OwnKeys:
    """
    The metadata keys that Bedrock itself adds to every passage.

    `custom_tells` is how Retrieve names the source of documents of CUSTOM data sources.
    """

    source_uri: str
    data_source_id: str
    custom_tells: CustomTells = CustomTells.CUSTOM_ID

    def of(self, owner: Owner) -> dict[str, Value]:
        is_told = self.custom_tells is not CustomTells.WITHOUT_URI
        has_source = is_told or owner[1].startswith("s3://")
        source: dict[str, Value] = {self.source_uri: owner[1]} if has_source else {}
        return {**source, self.data_source_id: owner[0]}

    def of_vector(self, owner: Owner, key: str) -> dict[str, Value]:
        """Return all own keys of a passage in a VECTOR knowledge base."""
        return {**self.of(owner), CHUNK_ID: key}

    def written(
        self, owner: Owner, key: str, text: str, attributes: dict[str, Value], *, parent: str | None
    ) -> dict[str, Value]:
        """Return the metadata that Bedrock writes with a vector of a VECTOR knowledge base."""
        context = {} if parent is None else {"parentText": parent}  # rule chunk.parent-metadata
        owner = shown_owner(owner, attributes)
        return {
            **attributes,
            **self.of_vector(owner, key),
            BEDROCK_TEXT: text,
            BEDROCK_METADATA: dumped({"source": {"sourceLocation": owner[1]}, **context}),
        }


OF_VECTOR = OwnKeys(source_uri=SOURCE_URI, data_source_id=DATA_SOURCE_ID)
# Rule managed.filter-keys.
OF_MANAGED = OwnKeys(source_uri="_source_uri", data_source_id="_data_source_id")


def of_vector(assumptions: Assumptions) -> OwnKeys:
    """Return the own keys under assumptions: rules vector.source-uri, retrieve.custom-location."""
    return replace(OF_VECTOR, custom_tells=assumptions.custom_documents_tell)


def shown_owner(owner: Owner, attributes: dict[str, Value]) -> Owner:
    """
    Return the owner of a vector according to Bedrock's own keys.

    PutVectors may write them (rule retrieve.put); a directly ingested document may have the URI of
    its object there (rule retrieve.custom-location).
    """
    if owner[0]:
        return (owner[0], str(attributes.get(SOURCE_URI, owner[1])))
    if not isinstance(attributes.get(BEDROCK_TEXT), str):
        return owner
    return (str(attributes.get(DATA_SOURCE_ID, "")), str(attributes.get(SOURCE_URI, "")))


def metadata_of(
    key: str, owner: Owner, text: str, attributes: str, *, parent: str | None, own_keys: OwnKeys
) -> dict[str, Any]:
    """Return all metadata of a stored vector; one from PutVectors has no data source."""
    given: dict[str, Any] = loaded(attributes)
    return own_keys.written(owner, key, text, given, parent=parent) if owner[0] else given


def refuse_excess(index: Index, attributes: dict[str, Value], key: str) -> None:
    """Raise Unindexable for more custom metadata than Bedrock accepts on S3 Vectors."""
    if index.is_managed:  # rule managed.sidecar-size
        return
    if len(attributes) > rules.CUSTOM_METADATA_KEYS.limit:
        rule = rules.CUSTOM_METADATA_KEYS
    elif _size(attributes) > rules.CUSTOM_METADATA_SIZE.limit:
        rule = rules.CUSTOM_METADATA_SIZE
    else:
        return
    raise Unindexable(refusal_text(rule, key), at_store=True)


def refusal(index: Index, key: str, metadata: dict[str, Value]) -> str | None:
    """Return why S3 Vectors would refuse a passage with this metadata, or None."""
    if index.is_managed:
        return None
    broken = _broken_size(index, {**metadata, **_UNRETURNED})
    return refusal_text(broken, key) if broken else None


def refusal_text(rule: rules.Rule, key: str) -> str:
    """Return Bedrock's message about a passage that breaks this rule of S3 Vectors."""
    return (
        f"{rule.message.format(key=key, limit=rule.limit)} (Service: S3Vectors, Status Code: 400)."
    )


def _broken_size(index: Index, metadata: dict[str, Any]) -> rules.Rule | None:
    filterable = {name: metadata[name] for name in metadata if name not in index.non_filterable}
    if _size(filterable) > rules.FILTERABLE_METADATA_SIZE.limit:
        return rules.FILTERABLE_METADATA_SIZE
    return rules.METADATA_SIZE if _size(metadata) > rules.METADATA_SIZE.limit else None


def _size(metadata: dict[str, Value]) -> int:
    # Keys and values as UTF-8 JSON; how S3 Vectors counts is not documented.
    return len(dumped(metadata).encode())


def refuse_metadata(metadata: dict[str, Any], key: str, index: Index) -> None:
    """Raise ValidationException for metadata that PutVectors refuses."""
    if len(metadata) > rules.VECTOR_KEYS.limit:
        raise rules.VECTOR_KEYS.broken(key=key)
    if not all(_is_taken(value) for value in metadata.values()):
        raise rules.VECTOR_METADATA.broken(key=key)
    if broken := _broken_size(index, metadata):
        raise broken.broken(key=key)


def _is_taken(value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return all(isinstance(each, str | int | float | bool) for each in values)
