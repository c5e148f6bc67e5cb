"""The pipeline's ports in memory, with what tests do to them."""

import json
from dataclasses import dataclass, field, replace

from simulated_time.memory import (
    PAGE,
    MemoryBucket,
    MemoryCatalogs,
    MemoryDocuments,
    MemoryLeases,
    MemoryReceipts,
    MemorySlots,
)
from stackroom.model.bucket import StoredObject, StoredSidecar
from stackroom.model.records import Document
from tests.fakes.admission import FakeAdmissionBook, FakeExecutions, FakeTaskTokens
from tests.fakes.bedrock import BUCKET, FakeBedrock
from tests.fakes.clock import FakeClock
from tests.fakes.disturbed import Disturbed
from tests.fakes.inspection import FakeInspectionResults, FakeInspections, FakeTexts

__all__ = [
    "BUCKET",
    "PAGE",
    "FakeAdmissionBook",
    "FakeBedrock",
    "FakeBucket",
    "FakeCatalogs",
    "FakeClock",
    "FakeDocuments",
    "FakeExecutions",
    "FakeInspectionResults",
    "FakeInspections",
    "FakeLeases",
    "FakeReceipts",
    "FakeSlots",
    "FakeTaskTokens",
    "FakeTexts",
]


@dataclass
class FakeCatalogs(Disturbed, MemoryCatalogs):
    def lose(self) -> None:
        """All records are gone, as after a restored backup."""
        self.kept.clear()


@dataclass
class FakeDocuments(Disturbed, MemoryDocuments):
    catalogs: FakeCatalogs = field(default_factory=FakeCatalogs)

    def lose(self) -> None:
        """All records are gone, as after a restored backup."""
        self.kept.clear()

    def overwrite(self, document: Document) -> None:
        """Somebody writes the record, whatever it is by now."""
        self._keep(document)


@dataclass
class FakeBucket(Disturbed, MemoryBucket):
    clock: FakeClock

    def upload(self, key: str, body: str = "text", **attributes: str) -> None:
        self.uploads += 1
        self.markers.discard(key)
        self.objects[key] = StoredObject(
            key=key,
            size=len(body.encode()),
            etag=f"etag of {body}",
            version_id=f"v{self.uploads}",
            content_type="",
            last_modified=self.clock(),
            attributes={name.replace("_", "-", 1): value for name, value in attributes.items()},
        )

    def keep_from_us(self, key: str, why: str) -> None:
        """The object that lies there now can't be read."""
        self.objects[key] = replace(self.objects[key], unreadable=why)

    def lose(self, key: str) -> None:
        """No version is left, and no marker."""
        del self.objects[key]

    def was_deleted(self, key: str) -> bool:
        return key in self.markers

    def undelete_sidecar(self, key: str, stored: StoredSidecar) -> None:
        self.sidecars[key] = stored

    def empty(self) -> None:
        """Nobody was told."""
        self.objects.clear()
        self.sidecars.clear()

    def sidecar_attributes(self, key: str) -> dict[str, object]:
        attributes = json.loads(self.sidecars[key].body)["metadataAttributes"]
        assert isinstance(attributes, dict)
        return attributes


@dataclass
class FakeLeases(Disturbed, MemoryLeases):
    """Leases whose calls can be disturbed."""


@dataclass
class FakeSlots(Disturbed, MemorySlots):
    """Slots whose calls can be disturbed."""


@dataclass
class FakeReceipts(Disturbed, MemoryReceipts):
    """Receipts whose calls can be disturbed."""
