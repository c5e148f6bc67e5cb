"""Steps of a dropped file: by a link into the bucket, through Bedrock, into the index."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from stackroom.aws.vector_filters import rendered
from stackroom.filters import Has, any_of
from stackroom.model import DataSourceType, Document, DocumentStatus
from stackroom.ports.ingestion import NOT_FOUND, DocumentDetail
from stackroom.settlement.evidence import FOUND_WITHIN
from stackroom.settlement.search_check import SearchCheck
from stackroom.settlement.standings import UNSEEN
from stackroom_local.smoke.files import LONG, PAGES, files
from stackroom_local.smoke.scene import CATALOG, Finding, NotHere, Scene, StepFailed, Told, Verdict

_UPLOAD_SECONDS = 60.0
_INDEX_SECONDS = 240.0  # of a run of five minutes
# Our own looks may take so long in a local mode, whose clock is faster.
_LOOKS_SECONDS = 5.0
_FILTERABLE_BYTES = 2048  # S3 guide: s3-vectors-limitations
_PAGE = "x-amz-bedrock-kb-document-page-number"
_KEYS = {
    "vector.source-uri": "x-amz-bedrock-kb-source-uri",
    "vector.data-source-id": "x-amz-bedrock-kb-data-source-id",
}
_MOST = 30  # vectors that are looked at


def drop(scene: Scene) -> Told:
    tools = scene.owner.tools
    scene.catalog_id = tools.call("create_catalog", catalog_name=CATALOG)["catalog_id"]
    for name, body in files().items():
        shared = {"metadata": {"allowed_groups": [scene.names.group]}} if name == LONG else {}
        link = tools.call("upload_to_catalog", catalog_id=scene.catalog_id, filename=name, **shared)
        httpx.post(
            link["upload_url"],
            data=link["upload_fields"],
            files={"file": (name, body)},
            timeout=_UPLOAD_SECONDS,
        ).raise_for_status()
        scene.files[name] = body
    scene.began = time.monotonic()
    return Told(f"a text, a PDF of three pages and one with a name of {len(LONG)} characters")


@dataclass
class _Watch:
    """When each file was first seen so far, in seconds since they were dropped."""

    scene: Scene
    sent: dict[str, float] = field(default_factory=dict)
    known: dict[str, float] = field(default_factory=dict)
    said: dict[str, float] = field(default_factory=dict)
    found: dict[str, float] = field(default_factory=dict)
    indexed: dict[str, float] = field(default_factory=dict)

    def is_over(self) -> bool:
        records = self.scene.documents()
        if bad := [each for each in records.values() if each.status is DocumentStatus.FAILED]:
            raise StepFailed(f"{bad[0].filename[:40]}: {bad[0].status_reason}")
        if self.scene.catalog.source is not None:
            self._look(records)
        return len(self.indexed) == len(self.found) == len(self.scene.files)

    def _look(self, records: Mapping[str, Document]) -> None:
        sent = {name: each for name, each in records.items() if each.status in _SENT}
        told = _details(self.scene, sent)
        found = _found(self.scene, sent)
        now = time.monotonic() - self.scene.began
        for name, record in sent.items():
            detail = told.get(name, NOT_FOUND)
            self.sent.setdefault(name, now)
            for moments, is_so in (
                (self.known, detail.status != NOT_FOUND.status),
                (self.said, detail.status == "INDEXED"),
                (self.found, name in found),
                (self.indexed, record.status is DocumentStatus.INDEXED),
            ):
                if is_so:
                    moments.setdefault(name, now)

    def longest(self, begin: Mapping[str, float], end: Mapping[str, float]) -> float:
        return max(max(0.0, end[name] - begin.get(name, end[name])) for name in end)


_SENT = {DocumentStatus.INDEXING, DocumentStatus.INDEXED}


def index(scene: Scene) -> Told:
    watch = _Watch(scene)
    if not scene.files:
        raise StepFailed("nothing was dropped")
    scene.until(watch.is_over, "all are indexed and found", seconds=_INDEX_SECONDS)
    unseen, lag = watch.longest(watch.sent, watch.known), watch.longest(watch.said, watch.found)
    scene.measured |= {
        "dropped to INDEXED": max(watch.said.values()),
        "dropped to first hit": min(watch.found.values()),
        "dropped to every hit": max(watch.found.values()),
        "dropped to indexed": max(watch.indexed.values()),
        "accepted, and not known": unseen,
        "INDEXED, and not found": lag,
    }
    findings = (
        _within(scene, "document.unseen", "known", unseen, UNSEEN),
        _within(scene, "retrieve.filtered-lag", "found", lag, FOUND_WITHIN),
        Finding.of("direct.long-uri", f"a name of {len(LONG)} characters is indexed", holds=True)
        if scene.source.type is DataSourceType.CUSTOM
        else Finding("direct.long-uri", Verdict.NOT_SEEN, "its data source is read by jobs"),
    )
    told = f"first found after {min(watch.found.values()):.1f} s, all indexed after"
    return Told(f"{told} {max(watch.indexed.values()):.1f} s; a search lags {lag:.1f} s", findings)


def _within(scene: Scene, name: str, what: str, seconds: float, most: float) -> Finding:
    bound = max(_LOOKS_SECONDS, most / scene.site.speed)
    seen = f"{what} {seconds:.1f} s later, where {bound:.0f} s are waited for"
    return Finding.of(name, seen, holds=seconds <= bound)


def _details(scene: Scene, sent: Mapping[str, Document]) -> dict[str, DocumentDetail]:
    """Bedrock's word, by the name of the file."""
    there, source = scene.product.use_cases.deployment, scene.source
    if source.type is DataSourceType.CUSTOM:
        ids = {each.document_id: name for name, each in sent.items()}
        by_id = there.direct_documents.details(source, ids)
        return {name: by_id[each] for each, name in ids.items() if each in by_id}
    uris = {there.bucket.uri_of(each.s3_key): name for name, each in sent.items()}
    return {uris[uri]: each for uri, each in there.jobs.details(source, uris).items()}


def _found(scene: Scene, sent: Mapping[str, Document]) -> set[str]:
    """Those of which a search, filtered by owner and document, finds a passage."""
    there = scene.product.use_cases.deployment
    check = SearchCheck(knowledge_base=there.knowledge_base, at_once=there.documents_at_once)
    found = check.found((scene.catalog, each) for each in sent.values())
    return {name for name, each in sent.items() if each.document_id in found}


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
