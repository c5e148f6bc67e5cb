"""Observes from outside when each upload is found, and which promises are broken."""

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import median

from benchmarks.traffic import LARGEST, Upload, catalog_of
from simulated_time.searching import SearchableDocuments

ETAG = re.compile(r"bytes of (.+)")


def _no_waits() -> "array[float]":
    return array("d")


@dataclass
class Observation:
    """
    An outsider's observations. Waits are seconds, by catalog, from an upload until its record says
    indexed and a search finds it; `of_large` has those of unusually large files.
    `found_since` returns when searches find a text, past or future.
    """

    now: Callable[[], float]
    found_since: Callable[[str], float | None]
    waits: dict[str, "array[float]"] = field(default_factory=lambda: defaultdict(_no_waits))
    of_large: "array[float]" = field(default_factory=_no_waits)
    uploads: int = 0
    first: float = 0.0
    last: float = 0.0
    failed: set[str] = field(default_factory=set)
    catalogs: set[str] = field(default_factory=set)
    _waiting: dict[str, tuple[Upload, float]] = field(default_factory=dict)  # with the time, by key

    def uploaded(self, upload: Upload) -> None:
        self.uploads += 1
        self.first = self.first or self.now()
        self.catalogs.add(catalog_of(upload.key))
        self._waiting[upload.key] = (upload, self.now())

    def deleted(self, key: str) -> None:
        """Stop waiting for the upload."""
        self._waiting.pop(key, None)
        self.failed.discard(key)

    def note_status(self, key: str, etag: str, status: str) -> None:
        """Note that the record of this version says so."""
        self.failed.discard(key)
        waiting = self._waiting.get(key)
        if waiting is None or waiting[0].etag != etag:
            return
        upload, at = waiting
        if status == "failed":
            self.failed.add(key)
        found = self.found_since(f"{upload.size} bytes of {etag}")
        if status == "indexed" and found is not None:
            del self._waiting[key]
            waits = self.of_large if upload.size > LARGEST else self.waits[catalog_of(key)]
            until = max(self.now(), found)
            waits.append(until - at)
            self.last = max(self.last, until)

    @property
    def false_failures(self) -> int:
        return sum(not self._waiting[key][0].is_broken for key in self.failed)

    @property
    def waiting(self) -> int:
        """Return the number of uploads that are neither found nor failed."""
        return len(self._waiting) - len(self.failed)

    def all_waits(self) -> list[float]:
        return sorted(wait for waits in (*self.waits.values(), self.of_large) for wait in waits)


def unsearchable(versions: dict[str, str], searchable: SearchableDocuments) -> int:
    """Return how many of the documents (etag by id) no search finds in that version."""
    found = {
        str(attributes["document_id"]): ETAG.search(text) for attributes, text in searchable.found()
    }
    return sum(
        not (match := found.get(document_id)) or match[1] != etag
        for document_id, etag in versions.items()
    )


def percentile(waits: list[float], share: float) -> float:
    """Return a percentile of sorted waits, 0 without any."""
    return waits[min(len(waits) - 1, int(len(waits) * share))] if waits else 0.0


def spread(values: Iterable[float]) -> float:
    """Return the ratio of the worst to the median."""
    listed = list(values)
    return max(listed) / median(listed) if listed and median(listed) else 1.0
