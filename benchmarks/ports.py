"""Thin implementations of the product's ports over the account's state machine and bucket."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bedrock_kb_simulator.metadata_filters import DocumentFilter
from simulated_time.account import CALL, Account
from simulated_time.bedrock import STAND_IN, stand_in
from simulated_time.executions import (
    ExecutionAlreadyExists,
    TaskDoesNotExist,
    TaskTimedOut,
)
from simulated_time.stores import Bucket
from simulated_time.workflow import Workflow
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.model.bucket import File, FileVersion
from stackroom.model.caps import Caps
from stackroom.model.filters import AllOf, AnyOf, Filter, Has
from stackroom.model.keys import TextName, text_folder
from stackroom.model.passages import Passage, Retrieved
from stackroom.model.records import Document
from stackroom.model.repositories import Inspected
from stackroom.text.document_text import DocumentText


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
    """Gives a reader the size of a file in place of its content, which is never examined."""

    bucket: Bucket

    def read(self, key: str, *, limit: int, version_id: str | None = None) -> File | None:
        assert version_id is None, "nothing here asks for an earlier one"
        found, version = self.bucket.head(key), self.bucket.version_of(key)
        if found is None or version is None:
            return None
        body = stand_in(found.size, found.etag).encode() if found.size <= limit else None
        return File(version=version, body=body)

    def version_of(self, key: str) -> FileVersion | None:
        return self.bucket.version_of(key)


@dataclass
class InspectionShelf:
    """The ports `Inspections` and `InspectionResults`."""

    found: dict[str, tuple[str, Inspected]] = field(default_factory=dict)

    def record(self, document_id: str, etag: str, found: Inspected) -> str | None:
        _, before = self.found.get(document_id, (None, Inspected()))
        self.found[document_id] = (etag, found)
        return before.text_id

    def forget(self, document_id: str) -> None:
        self.found.pop(document_id, None)

    def results_for(self, documents: Iterable[Document]) -> dict[str, Inspected]:
        there = ((each, self.found.get(each.document_id)) for each in documents)
        return {
            document.document_id: found[1]
            for document, found in there
            if found is not None and found[0] == document.etag
        }


@dataclass(frozen=True, kw_only=True)
class TextShelf:
    """The port `DocumentTexts`. For the simulator, a text has the size of its file."""

    bucket: Bucket
    kept: dict[str, dict[str, TextName]] = field(default_factory=dict)  # by folder, by key

    def put(self, name: TextName, text: DocumentText) -> None:
        read = STAND_IN.search(text.markdown)
        assert read is not None, "each file reads as what it is taken for"
        self.bucket.texts[name.key] = (int(read[1]), read[2])
        self.kept.setdefault(name.folder, {})[name.key] = name

    def names(self, user_id: str, catalog_id: str, document_id: str) -> list[TextName]:
        return list(self.kept.get(text_folder(user_id, catalog_id, document_id), {}).values())

    def remove(self, names: Iterable[TextName]) -> None:
        for each in list(names):
            self.bucket.texts.pop(each.key, None)
            self.kept.get(each.folder, {}).pop(each.key, None)


class NoCaps:
    """The port `CapBook`, without any cap."""

    def all(self) -> Mapping[str, Caps]:
        return {}


class UncountedUsage:
    """The port `UsageBook`, which is never read."""

    def add(self, *_arguments: object, **_named: object) -> None:
        """Do nothing: only the cost of the call matters."""


@dataclass(frozen=True, kw_only=True)
class SearchedIndex:
    """The port `KnowledgeBase`, as aws/s3vectors/index_presence.py asks an index."""

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
            DocumentFilter(_rendered(condition)),
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
    """Translate the filter into Bedrock's, which the simulator's filters use."""
    match condition:
        case Has(key, value):
            return {"equals": {"key": key, "value": value}}
        case AnyOf(choices):
            return {"orAll": [_rendered(each) for each in choices]}
        case AllOf(conditions):
            return {"andAll": [_rendered(each) for each in conditions]}
        case _:
            raise AssertionError(f"nobody looks for {condition}")
