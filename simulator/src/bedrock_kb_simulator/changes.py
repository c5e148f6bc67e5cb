"""What of a document changed since it was last indexed: rule job.incremental."""

from collections.abc import Sequence
from dataclasses import dataclass

from bedrock_kb_simulator.objects import S3Object
from bedrock_kb_simulator.records import KEPT
from bedrock_kb_simulator.rules import PARSE_FILES
from bedrock_kb_simulator.sidecars import OF_MANAGED
from bedrock_kb_simulator.store import Row
from bedrock_kb_simulator.vector_ingestion import VectorIngestion


@dataclass(frozen=True, kw_only=True)
class Change:
    """A document as the bucket has it now and, in `before`, as its record had it."""

    found: S3Object
    sidecar: S3Object | None
    before: Row | None

    @property
    def uri(self) -> str:
        return self.found.uri

    @property
    def is_settled(self) -> bool:
        """Nothing changed since it was last indexed."""
        return self._is_kept and self._has_same_content and self.has_same_sidecar

    @property
    def is_new(self) -> bool:
        return self.before is None or self.before["etag"] is None

    @property
    def has_same_sidecar(self) -> bool:
        etag = self.sidecar.etag if self.sidecar else None
        return self.before is not None and self.before["sidecar_etag"] == etag

    @property
    def only_sidecar_changed(self) -> bool:
        """Then nothing need be embedded; CSV is always read again, says the guide."""
        return self._is_kept and self._has_same_content and self.found.format != "csv"

    @property
    def _is_kept(self) -> bool:
        return self.before is not None and self.before["status"] in KEPT

    @property
    def _has_same_content(self) -> bool:
        return self.before is not None and self.before["etag"] == self.found.etag


def too_many_to_parse(changes: Sequence[Change], ingestion: VectorIngestion) -> frozenset[str]:
    """The URIs of files beyond those that a parser takes in one job: rule parse.files."""
    if ingestion.bounds is OF_MANAGED:
        return frozenset()  # its own parser has no such bound
    parsed = [
        change.uri
        for change in changes
        if ingestion.is_seen(change.found.format) and not change.only_sidecar_changed
    ]
    return frozenset(parsed[PARSE_FILES.limit :])
