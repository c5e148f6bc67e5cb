"""Steps of a dropped file: by a link into the bucket, and through Bedrock until it is found."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from stackroom.ingestion.bedrock_evidence import UNSEEN
from stackroom.ingestion.evidence import FOUND_WITHIN
from stackroom.ingestion.search_check import SearchCheck
from stackroom.model import DataSourceType, Document, DocumentStatus
from stackroom.ports.ingestion import NOT_FOUND, DocumentDetail
from stackroom_local.smoke.files import LONG, files
from stackroom_local.smoke.scene import CATALOG, Finding, Scene, StepFailed, Told, Verdict

_UPLOAD_SECONDS = 60.0
_INDEX_SECONDS = 240.0  # of a run of five minutes
# Our own looks may take so long in a local mode, whose clock is faster.
_LOOKS_SECONDS = 5.0


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
        scene.dropped += 1
    scene.began = time.monotonic()
    return Told(f"a text, a PDF of three pages and one with a name of {len(LONG)} characters")


@dataclass
class _Watch:
    """When each file was first seen so far, in seconds since all were dropped."""

    scene: Scene
    sent: dict[str, float] = field(default_factory=dict)
    known: dict[str, float] = field(default_factory=dict)
    said: dict[str, float] = field(default_factory=dict)
    found: dict[str, float] = field(default_factory=dict)
    indexed: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)  # why

    def is_over(self) -> bool:
        records = self.scene.documents()
        self.failed = {
            name: str(each.status_reason)
            for name, each in records.items()
            if each.status is DocumentStatus.FAILED
        }
        if self.failed:
            raise StepFailed("; ".join(f"{name[:40]}: {why}" for name, why in self.failed.items()))
        if self.scene.catalog.source is not None:
            self._look(records)
        return len(self.indexed) == len(self.found) == self.scene.dropped

    def _look(self, records: Mapping[str, Document]) -> None:
        sent = {name: each for name, each in records.items() if each.status in _SENT}
        told = _details(self.scene, sent)
        found = _found(self.scene, sent)
        now = self.now
        for name, record in sent.items():
            status = told.get(name, NOT_FOUND).status
            for moments, is_so in (
                (self.sent, True),
                (self.known, status != NOT_FOUND.status),
                (self.said, status == "INDEXED"),
                (self.found, name in found),
                (self.indexed, record.status is DocumentStatus.INDEXED),
            ):
                if is_so:
                    moments.setdefault(name, now)

    @property
    def now(self) -> float:
        return time.monotonic() - self.scene.began

    @property
    def unseen(self) -> float:
        return self._longest(self.sent, self.known)

    @property
    def lag(self) -> float:
        return self._longest(self.said, self.found)

    def _longest(self, begin: Mapping[str, float], end: Mapping[str, float]) -> float:
        """Of what has not ended yet, until now."""
        now = self.now
        return max((end.get(name, now) - at for name, at in begin.items()), default=0.0)

    def findings(self) -> tuple[Finding, ...]:
        long, why = Finding("direct.long-uri", Verdict.NOT_SEEN, "jobs read it, or more failed"), ""
        if self.scene.source.type is DataSourceType.CUSTOM and set(self.failed) <= {LONG}:
            why = self.failed.get(LONG, "")
            seen = why or f"a name of {len(LONG)} characters is taken"
            long = Finding.of("direct.long-uri", seen, holds=not why)
        return (
            _within(self.scene, "document.unseen", "known", self.unseen, UNSEEN),
            _within(self.scene, "retrieve.filtered-lag", "found", self.lag, FOUND_WITHIN),
            long,
        )


_SENT = {DocumentStatus.INDEXING, DocumentStatus.INDEXED}


def index(scene: Scene) -> Told:
    watch = _Watch(scene)
    try:
        scene.until(watch.is_over, "all are indexed and found", seconds=_INDEX_SECONDS)
    except StepFailed as error:
        raise StepFailed(str(error), watch.findings()) from error
    first, last = min(watch.found.values()), max(watch.indexed.values())
    scene.measured |= {
        "dropped to INDEXED": max(watch.said.values()),
        "dropped to first hit": first,
        "dropped to every hit": max(watch.found.values()),
        "dropped to indexed": last,
        "accepted, and not known": watch.unseen,
        "INDEXED, and not found": watch.lag,
    }
    told = f"first found after {first:.1f} s, all indexed after {last:.1f} s"
    return Told(f"{told}; a search lags {watch.lag:.1f} s", watch.findings())


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
