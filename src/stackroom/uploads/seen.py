"""What was read of one key, for a plan to be made of: the record first, the object second."""

from dataclasses import dataclass

from stackroom.keys import Location, Unplaced
from stackroom.model import Catalog, DataSourceType, Document, Receipt
from stackroom.ports.bucket import StoredObject, StoredSidecar


@dataclass(frozen=True, kw_only=True)
class Seen:
    """
    A key that belongs to a catalog, there or to be opened. `unplaced` is the record of the object
    from when it belonged to none, `receipt` the one that its record names. `is_lost`: the object
    is gone, and no deletion of it was seen.
    """

    location: Location
    catalog: Catalog | None
    record: Document | None
    found: StoredObject | None
    sidecar: StoredSidecar | None = None
    unplaced: Document | None = None
    receipt: Receipt | None = None
    is_lost: bool = False

    @property
    def is_crawled(self) -> bool:
        """Whether ingestion jobs go over what lies there."""
        source = self.catalog.source if self.catalog is not None else None
        return source is not None and source.type is DataSourceType.S3


@dataclass(frozen=True, kw_only=True)
class SeenUnplaced:
    """
    A key that belongs to no catalog. `orphan` is its record in one that is not there any more.
    """

    location: Unplaced
    record: Document | None
    found: StoredObject | None
    orphan: Document | None = None
