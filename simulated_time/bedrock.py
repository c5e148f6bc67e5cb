"""
The Bedrock simulator under simulated time: its rules and life cycles, without file contents.

A document is only a size. Indexing takes a random time that depends on the size, and searches find
the document by its attributes.
"""

import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import numpy as np

from bedrock_kb_simulator.assembly import Components, Services
from bedrock_kb_simulator.assumptions import Assumptions
from bedrock_kb_simulator.bucket_objects import SUFFIX, ObjectMissing, S3Object
from bedrock_kb_simulator.embedder import Vector
from bedrock_kb_simulator.faults import Faults
from bedrock_kb_simulator.identifiers import Arns
from bedrock_kb_simulator.rules import FILE_UNREADABLE
from bedrock_kb_simulator.service_errors import Unindexable
from bedrock_kb_simulator.store import Store
from simulated_time.clock import VirtualClock
from simulated_time.hub import Hub
from simulated_time.searching import SearchableDocuments

ACCOUNT, REGION = "123456789012", "us-east-1"
BROKEN = "broken-"  # start of the ETag of an unreadable document
STAND_IN = re.compile(r"(\d+) bytes of (.+)")
_ANY_VECTOR: Vector = np.ones(1, dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class Durations:
    """
    Seconds that Bedrock takes to index a document: drawn once for a version, by its size.

    Assumed: half a second and 200 KB a second, times a log-normal spread. AWS documents none;
    users report 4-6 s for a direct call of a small document (facts of rule document.duration).
    """

    seed: int = 0
    base: float = 0.5
    rate: float = 200_000.0
    spread: float = 0.4

    def seconds(self, size: int, etag: str) -> float:
        drawn = zlib.crc32(f"{self.seed}/{etag}".encode())
        normal = NormalDist().inv_cdf((drawn + 0.5) / 2**32)
        return (self.base + size / self.rate) * math.exp(self.spread * normal)


class Shelves(Protocol):
    """The parts of a bucket of documents that a simulator without file contents needs."""

    def under(self, prefix: str) -> Iterator[tuple[str, int, str]]:
        """Yield key, size and ETag of documents and sidecars."""
        ...

    def find(self, key: str) -> tuple[int, str] | None: ...

    def sidecar(self, key: str) -> tuple[bytes, str] | None:
        """Return body and ETag of a sidecar by its key."""
        ...


def stand_in(size: int, etag: str) -> str:
    """Return a short text in place of a document of that size."""
    return f"{size} bytes of {etag}"


class StandIns:
    """The simulator's `Objects`: real sidecars, and stand-ins for documents."""

    def __init__(self, shelves: Shelves) -> None:
        self._shelves = shelves

    def under(self, bucket: str, prefix: str) -> Iterator[S3Object]:
        for key, size, etag in self._shelves.under(prefix):
            yield S3Object(bucket=bucket, key=key, etag=etag, size=size)

    def read(self, bucket: str, key: str) -> tuple[bytes, str]:
        if key.endswith(SUFFIX):
            sidecar = self._shelves.sidecar(key)
            if sidecar is None:
                raise ObjectMissing
            return sidecar
        found = self.find(bucket, key)
        return stand_in(found.size, found.etag).encode(), found.etag

    def find(self, bucket: str, key: str) -> S3Object:
        if key.endswith(SUFFIX):
            body, etag = self.read(bucket, key)
            return S3Object(bucket=bucket, key=key, etag=etag, size=len(body))
        found = self._shelves.find(key)
        if found is None:
            raise ObjectMissing
        size, etag = found
        return S3Object(bucket=bucket, key=key, etag=etag, size=size)


class NothingToParse:
    """The simulator's `Parser`: returns a stand-in unchanged, or refuses it."""

    def text(self, body: bytes, filename: str) -> str:  # noqa: ARG002 - the port's arguments
        text = body.decode()
        if f" of {BROKEN}" in text:
            raise Unindexable(FILE_UNREADABLE.message)
        return text

    def page_texts(self, body: bytes, filename: str) -> tuple[str, ...]:
        return (self.text(body, filename),)

    def detect_lines(self, body: bytes) -> None:
        """A stand-in has no pictures."""

    def close(self) -> None:
        """There is nothing to close."""


@dataclass(frozen=True, kw_only=True)
class WaitInsteadOfEmbedding:
    """The simulator's `Embedder`: takes time for a document and none for a query."""

    hub: Hub
    durations: Durations

    @property
    def model(self) -> str:
        return "none"

    def embed(self, text: str) -> Vector:
        document = STAND_IN.search(text)
        if document is not None:
            self.hub.sleep(self.durations.seconds(int(document[1]), document[2]))
        return _ANY_VECTOR

    def embed_question(self, text: str) -> Vector:  # noqa: ARG002
        return _ANY_VECTOR


def bedrock(
    hub: Hub,
    shelves: Shelves,
    durations: Durations,
    searchable: SearchableDocuments,
    *,
    store: Store,
    faults: Faults | None = None,
    assumptions: Assumptions | None = None,
) -> Services:
    """Return the simulator; with another one's store, it continues as after a restart."""
    return Services(
        Components(
            clock=VirtualClock(hub),
            store=store,
            arns=Arns(account=ACCOUNT, region=REGION),
            objects=StandIns(shelves),
            parser=NothingToParse(),
            embedder=WaitInsteadOfEmbedding(hub=hub, durations=durations),
            vectors=lambda _memory: searchable,
            faults=faults,
            assumptions=assumptions,
        ),
        instead={"s3vectors.QueryVectors": searchable.query_vectors},
    )
