"""The step that reads the files' vectors as they lie in the index, and tells their keys."""

from collections.abc import Mapping
from typing import Any

from stackroom.filters import Has, any_of
from stackroom.model import Document
from stackroom.stores.s3vectors.s3vectors_filters import rendered
from stackroom_local.smoke.files import PAGES
from stackroom_local.smoke.scene import Finding, NotHere, Scene, StepFailed, Told, Verdict

_FILTERABLE_BYTES = 2048  # S3 guide: s3-vectors-limitations
_PAGE = "x-amz-bedrock-kb-document-page-number"
_KEYS = {
    "vector.source-uri": "x-amz-bedrock-kb-source-uri",
    "vector.data-source-id": "x-amz-bedrock-kb-data-source-id",
}
_MOST = 30  # vectors that are looked at


def vectors(scene: Scene) -> Told:
    arn = scene.member.index
    if arn is None:
        raise NotHere("Bedrock keeps the vectors of this knowledge base itself")
    client = scene.site.client("s3vectors")
    configured = client.get_index(indexArn=arn)["index"]
    raw = _raw(client, arn, configured["dimension"], scene.documents())
    if not raw:
        raise StepFailed("the index has no vector of the files")
    hidden = configured.get("metadataConfiguration", {}).get("nonFilterableMetadataKeys", ())
    largest = max(_size(each, without=hidden) for each in raw)
    keys = sorted({key for each in raw for key in each})
    findings = (
        *(_of_key(name, key, raw) for name, key in _KEYS.items()),
        Finding.of(
            "metadata.filterable-size",
            f"{largest} bytes at most, names and values; filterable keys:"
            f" {', '.join(each for each in keys if each not in hidden)}",
            holds=largest <= _FILTERABLE_BYTES,
        ),
        _of_pages(raw),
    )
    return Told(f"{len(raw)} vectors, with the keys {', '.join(keys)}", findings)


def _of_key(name: str, key: str, raw: list[dict[str, Any]]) -> Finding:
    count = sum(key in each for each in raw)
    return Finding.of(name, f"{count} of {len(raw)} vectors have it", holds=count == len(raw))


def _of_pages(raw: list[dict[str, Any]]) -> Finding:
    noted = [each[_PAGE] for each in raw if _PAGE in each and each.get("filename") == PAGES]
    if not noted:
        return Finding("page.first", Verdict.NOT_SEEN, f"no vector has {_PAGE}")
    return Finding.of("page.first", f"the first page is {min(noted)}", holds=min(noted) == 1)


def _raw(
    client: Any, arn: str, dimension: int, documents: Mapping[str, Document]
) -> list[dict[str, Any]]:
    """The metadata of the files' vectors, as they lie in the index."""
    answer = client.query_vectors(
        indexArn=arn,
        queryVector={"float32": [1.0] + [0.0] * (dimension - 1)},  # all zeros are refused
        topK=_MOST,
        filter=rendered(
            any_of(Has("document_id", each.document_id) for each in documents.values())
        ),
    )
    keys = [each["key"] for each in answer["vectors"]]
    if not keys:
        return []
    found = client.get_vectors(indexArn=arn, keys=keys, returnMetadata=True)
    return [each.get("metadata", {}) for each in found["vectors"]]


def _size(metadata: Mapping[str, Any], *, without: Any) -> int:
    return sum(
        len(key.encode()) + len(str(value).encode())
        for key, value in metadata.items()
        if key not in without
    )
