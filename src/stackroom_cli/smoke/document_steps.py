"""Steps of a dropped file: an upload by a link into the bucket, ingestion, and deletion."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from botocore.exceptions import ClientError

from stackroom.aws.bedrock.bedrock_adapter import BedrockKnowledgeBase
from stackroom.aws.bedrock.retrieve_options import RetrieveOptions
from stackroom.aws.error_mapping import message_of
from stackroom.aws.s3vectors.s3vectors_filters import rendered
from stackroom.model.filters import Has, any_of
from stackroom.model.records import DataSourceType, Document, DocumentStatus, Receipt
from stackroom.reconciler.discrepancies import Kind
from stackroom.runs.bedrock_calls import NOT_FOUND, DocumentDetail
from stackroom.runs.evidence import FOUND_WITHIN, REMOVAL_DEADLINE, UNSEEN
from stackroom.runs.search_check import SearchCheck
from stackroom_cli.output import console
from stackroom_cli.run_reconciler import compared
from stackroom_cli.smoke.scene import (
    CATALOG,
    LONG,
    OF_TEXT,
    PAGES,
    TEXT,
    AssumptionVerdict,
    Finding,
    NotApplicable,
    Scene,
    StepFailed,
    StepOutcome,
    files,
)
from stackroom_cli.smoke.search_steps import names_found

_INDEX_SECONDS = UNSEEN  # longer than any ingestion that was seen
# Our own looks may take so long in a local mode, whose clock is faster.
_POLL_SECONDS = 5.0


def drop(scene: Scene) -> StepOutcome:
    client = scene.owner.client
    scene.catalog_id = client.create_catalog(CATALOG).catalog_id
    for name, body in files().items():
        shared = {"allowed_groups": [scene.names.group]} if name == LONG else None
        client.upload(scene.catalog_id, body, name=name, metadata=shared)
        scene.dropped += 1
    scene.began = time.monotonic()
    return StepOutcome(
        f"a text, a PDF of three pages and one with a name of {len(LONG)} characters"
    )


@dataclass
class _Watch:
    """The seconds from the last upload until each file was first seen in each state."""

    scene: Scene
    sent: dict[str, float] = field(default_factory=dict)
    known: dict[str, float] = field(default_factory=dict)
    reported: dict[str, float] = field(default_factory=dict)
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
            self._observe(records)
        return len(self.indexed) == len(self.found) == self.scene.dropped

    def _observe(self, records: Mapping[str, Document]) -> None:
        sent = {name: each for name, each in records.items() if each.status in _SENT}
        details = _details(self.scene, sent)
        found = _found(self.scene, sent)
        now = self.now
        for name, record in sent.items():
            status = details.get(name, NOT_FOUND).status
            for moments, is_so in (
                (self.sent, True),
                (self.known, status != NOT_FOUND.status),
                (self.reported, status == "INDEXED"),
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
        return self._longest(self.reported, self.found)

    def _longest(self, begin: Mapping[str, float], end: Mapping[str, float]) -> float:
        """Return the longest time between two states; one that has not ended counts until now."""
        now = self.now
        return max((end.get(name, now) - at for name, at in begin.items()), default=0.0)

    def findings(self) -> tuple[Finding, ...]:
        long, why = (
            Finding("direct.long-uri", AssumptionVerdict.NOT_SEEN, "jobs read it, or more failed"),
            "",
        )
        if self.scene.source.type is DataSourceType.CUSTOM and set(self.failed) <= {LONG}:
            why = self.failed.get(LONG, "")
            seen = why or f"a name of {len(LONG)} characters is accepted"
            long = Finding.of("direct.long-uri", seen, holds=not why)
        return (
            _within(self.scene, "document.unseen", "known", self.unseen, UNSEEN),
            _within(self.scene, "retrieve.filtered-lag", "found", self.lag, FOUND_WITHIN),
            long,
        )


_SENT = {DocumentStatus.INDEXING, DocumentStatus.INDEXED}


def index(scene: Scene) -> StepOutcome:
    watch = _Watch(scene)
    try:
        scene.until(watch.is_over, "all are indexed and found", seconds=_INDEX_SECONDS)
    except StepFailed as error:
        raise StepFailed(str(error), watch.findings()) from error
    first, last = min(watch.found.values()), max(watch.indexed.values())
    scene.measured |= {
        "dropped to INDEXED": max(watch.reported.values()),
        "dropped to first hit": first,
        "dropped to every hit": max(watch.found.values()),
        "dropped to indexed": last,
        "accepted, and not known": watch.unseen,
        "INDEXED, and not found": watch.lag,
    }
    text = f"first found after {first:.1f} s, all indexed after {last:.1f} s"
    return StepOutcome(f"{text}; a search lags {watch.lag:.1f} s", watch.findings())


def _within(scene: Scene, name: str, what: str, seconds: float, most: float) -> Finding:
    bound = max(_POLL_SECONDS, most / scene.site.speed)
    seen = f"{what} {seconds:.1f} s later; the limit is {bound:.0f} s"
    return Finding.of(name, seen, holds=seconds <= bound)


def _details(scene: Scene, sent: Mapping[str, Document]) -> dict[str, DocumentDetail]:
    """Return Bedrock's details of each document, by file name."""
    there, source = scene.services.use_cases, scene.source
    if source.type is DataSourceType.CUSTOM:
        ids = {each.document_id: name for name, each in sent.items()}
        by_id = there.direct_documents.details(source, ids)
        return {name: by_id[each] for each, name in ids.items() if each in by_id}
    uris = {there.bucket.uri_of(each.s3_key): name for name, each in sent.items()}
    return {uris[uri]: each for uri, each in there.jobs.details(source, uris).items()}


def _found(scene: Scene, sent: Mapping[str, Document]) -> set[str]:
    """
    Return the files of which Retrieve, filtered by owner and document, finds a passage.

    Retrieve searches as the knowledge base's role; the index itself is closed to most operators.
    """
    client = scene.site.client("bedrock-agent-runtime")
    options = RetrieveOptions(is_managed=scene.member.is_managed)
    check = SearchCheck(knowledge_base=partial(BedrockKnowledgeBase, client, options=options))
    found = check.found((scene.catalog, each) for each in sent.values())
    return {name for name, each in sent.items() if each.document_id in found}


# Steps of what goes: a deletion to its receipt, and that all agree about what is left.

_RECEIPT_SECONDS = 180.0  # of a run of five minutes


def deletion(scene: Scene) -> StepOutcome:
    document = scene.documents()[TEXT]
    began = time.monotonic()
    listed = {each.filename: each for each in scene.owner.client.documents(scene.catalog_id)}
    scene.owner.client.delete(listed[TEXT])
    try:
        scene.until(
            lambda: _closed(scene, document.document_id),
            "the receipt says since when no search finds it",
            seconds=_RECEIPT_SECONDS,
        )
    except StepFailed as error:
        seen = f"{error}, of {REMOVAL_DEADLINE:.0f} that are waited for"
        return StepOutcome(seen, (Finding("deletion.searches", AssumptionVerdict.NOT_SEEN, seen),))
    seconds = scene.measured["deleted to receipt"] = time.monotonic() - began
    if TEXT in names_found(scene.owner, OF_TEXT):
        raise StepFailed("the receipt is closed, but its owner still finds it")
    seen = f"its receipt closed after {seconds:.1f} s, and searches no longer find it"
    return StepOutcome(seen, (Finding.of("deletion.searches", seen, holds=True),))


def _closed(scene: Scene, document_id: str) -> Receipt | None:
    receipts = scene.services.stores.receipts.of_user(scene.owner.user_id)
    of_it = (each for each in receipts if each.document_id == document_id)
    return next((each for each in of_it if each.unsearchable_since is not None), None)


def reconcile(scene: Scene) -> StepOutcome:
    """
    Compare everything in a dry run; other users' discrepancies are left to `stackroom reconcile`.
    """
    found = compared(scene.site, console(is_quiet=True), dry_run=True)
    users = (scene.owner.user_id, scene.other.user_id, scene.names.run)
    ours = [each for each in found if any(name in each.what for name in users)]
    if ours:
        raise StepFailed(f"{ours[0].kind.replace('_', ' ')}: {ours[0].what}")
    if any(each.kind is Kind.NOT_COMPARED for each in found):
        raise StepFailed("not everything could be compared; see: stackroom reconcile --dry-run")
    others = f"; {len(found)} of others" if found else ""
    return StepOutcome(f"bucket, records and index agree about the run's files{others}")


# The step that reads the files' vectors as they lie in the index, and tells their keys.

_FILTERABLE_BYTES = 2048  # S3 guide: s3-vectors-limitations
_PAGE = "x-amz-bedrock-kb-document-page-number"
_KEYS = {
    "vector.source-uri": "x-amz-bedrock-kb-source-uri",
    "vector.data-source-id": "x-amz-bedrock-kb-data-source-id",
}
_MOST = 30  # vectors that are looked at
# https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html
_EXPLICIT = "with an explicit deny in a resource-based policy"
_CLOSED = (
    "the vector bucket's policy denies them to everybody; to read them, deploy with -c"
    " break_glass_role=ARN of your role"
)


def vectors(scene: Scene) -> StepOutcome:
    arn = scene.member.index
    if arn is None:
        raise NotApplicable("Bedrock stores this knowledge base's vectors itself")
    client = scene.site.client("s3vectors")
    configured = client.get_index(indexArn=arn)["index"]
    try:
        raw = _raw(client, arn, configured["dimension"], scene.documents())
    except ClientError as error:
        if _EXPLICIT not in message_of(error):
            raise
        denied = Finding.of("vectors.denied", message_of(error), holds=True)
        return StepOutcome(_CLOSED, (denied,))
    if not raw:
        raise StepFailed("the index has no vectors of the files")
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
        _of_reader(scene, client, arn),
    )
    return StepOutcome(f"{len(raw)} vectors, with the keys {', '.join(keys)}", findings)


def _of_key(name: str, key: str, raw: list[dict[str, Any]]) -> Finding:
    count = sum(key in each for each in raw)
    return Finding.of(name, f"{count} of {len(raw)} vectors have it", holds=count == len(raw))


def _of_reader(scene: Scene, client: Any, arn: str) -> Finding:
    """
    Judge whether the caller may read vectors: only the root user and the policy's role should.
    """
    caller = str(scene.site.client("sts").get_caller_identity()["Arn"])
    bucket = arn.partition("/index/")[0]
    policy = client.get_vector_bucket_policy(vectorBucketArn=bucket)["policy"]
    role = caller.split("/")[1] if ":assumed-role/" in caller else caller
    seen = f"{caller} may read them"
    if caller.endswith(":root") or f'/{role}"' in policy or f'"{role}"' in policy:
        return Finding("vectors.denied", AssumptionVerdict.NOT_SEEN, seen)
    return Finding.of("vectors.denied", seen, holds=False)


def _of_pages(raw: list[dict[str, Any]]) -> Finding:
    noted = [each[_PAGE] for each in raw if _PAGE in each and each.get("filename") == PAGES]
    if not noted:
        return Finding("page.first", AssumptionVerdict.NOT_SEEN, f"no vector has {_PAGE}")
    return Finding.of("page.first", f"the first page is {min(noted)}", holds=min(noted) == 1)


def _raw(
    client: Any, arn: str, dimension: int, documents: Mapping[str, Document]
) -> list[dict[str, Any]]:
    """Return the metadata of the files' vectors as the index has them."""
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
