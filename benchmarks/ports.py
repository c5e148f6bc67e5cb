"""The product's ports over the account's state machine and bucket, as thin as they can be."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bedrock_kb_simulator.metadata_filters import Sought
from simulated_time.account import CALL, Account
from simulated_time.bedrock import BROKEN
from simulated_time.executions import (
    ExecutionAlreadyExists,
    TaskDoesNotExist,
    TaskTimedOut,
)
from simulated_time.stores import Bucket
from simulated_time.workflow import Workflow
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.documents.filters import AllOf, AnyOf, Filter, Has
from stackroom.documents.model import Document
from stackroom.documents.passages import Passage, Retrieved
from stackroom.documents.repositories import Inspected
from stackroom.inspection.inspection import File
from stackroom.inspection.place_map import PlaceMap
from stackroom.quota.caps import Caps


@dataclass(frozen=True, kw_only=True)
class WorkflowExecutions:
    """The port `Executions`."""

    workflow: Workflow

    def start(self, name: str, payload: Mapping[str, object]) -> bool:
        try:
            self.workflow.start(name, json.loads(json.dumps(payload)))
        except ExecutionAlreadyExists:
            return self.is_running(name)
        return True

    def is_running(self, name: str) -> bool:
        execution = self.workflow.describe(name)
        return execution is not None and execution.status == "RUNNING"


@dataclass(frozen=True, kw_only=True)
class WorkflowTaskTokens:
    """The port `TaskTokens`."""

    workflow: Workflow

    def wake(self, token: str) -> bool:
        try:
            self.workflow.turns.succeed(token, {"admitted": True})
        except (TaskTimedOut, TaskDoesNotExist):
            return False
        return True


@dataclass(frozen=True, kw_only=True)
class StoredFiles:
    """What the inspection reads: of each file, its size."""

    bucket: Bucket

    def read(self, key: str, *, limit: int) -> File | None:
        found = self.bucket.objects.get(key)
        if found is None:
            return None
        return File(etag=found.etag, body=str(found.size).encode() if found.size <= limit else None)

    def etag_of(self, key: str) -> str | None:
        found = self.bucket.objects.get(key)
        return None if found is None else found.etag


class SoundFiles:
    """Results of inspections: every file is inspected, and sound unless it can't be read."""

    def record(self, document_id: str, etag: str, found: Inspected) -> None:
        """Nothing is kept, for the ETag says it."""

    def results_for(self, documents: Iterable[Document]) -> dict[str, Inspected]:
        return {
            each.document_id: Inspected(reason="broken" if each.etag.startswith(BROKEN) else None)
            for each in documents
        }


@dataclass
class PlaceMapShelf:
    """The port `PlaceMaps`."""

    maps: dict[str, PlaceMap] = field(default_factory=dict)

    def get(self, document_id: str) -> PlaceMap | None:
        return self.maps.get(document_id)

    def put(self, document_id: str, place_map: PlaceMap) -> None:
        self.maps[document_id] = place_map

    def remove(self, document_id: str) -> None:
        self.maps.pop(document_id, None)


class NoCaps:
    """The port `CapBook`, without any cap."""

    def all(self) -> Mapping[str, Caps]:
        return {}


class UncountedUsage:
    """The port `UsageBook`, which nobody reads here."""

    def add(self, *_arguments: object, **_named: object) -> None:
        """Only what the call costs is of interest."""


@dataclass(frozen=True, kw_only=True)
class SearchedIndex:
    """The port `KnowledgeBase`, as stores/s3vectors/index_presence.py asks an index."""

    account: Account
    knowledge_base_id: str

    def retrieve(
        self,
        query: str,  # noqa: ARG002 - the port's argument
        condition: Filter | None,
        limit: int,
        *,
        deadline: Deadline = NO_DEADLINE,  # noqa: ARG002 - the port's argument
    ) -> Retrieved:
        self.account.pace.spend(CALL)
        self.account.bill.add("vector queries", 1)
        self.account.bill.accepted["QueryVectors"] += 1
        assert condition is not None, "only what is named is looked for"
        hits = self.account.searchable.search(
            self.knowledge_base_id,
            np.ones(1, dtype=np.float32),
            limit,
            Sought(_rendered(condition)),
        )
        return Retrieved(
            passages=tuple(
                Passage(
                    text=each.text,
                    score=each.score,
                    uri=each.owner[1] if each.owner[1].startswith("s3://") else None,
                    custom_id=None if each.owner[1].startswith("s3://") else each.owner[1],
                    attributes=each.attributes,
                )
                for each in hits
            )
        )


def _rendered(condition: Filter) -> dict[str, Any]:
    """In Bedrock's words, which the simulator's filters are in."""
    match condition:
        case Has(key, value):
            return {"equals": {"key": key, "value": value}}
        case AnyOf(choices):
            return {"orAll": [_rendered(each) for each in choices]}
        case AllOf(conditions):
            return {"andAll": [_rendered(each) for each in conditions]}
        case _:
            raise AssertionError(f"nobody looks for {condition}")
