"""The scripted Bedrock's direct calls: documents of a shared data source, settled look by look."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.workflow.bedrock_records import UNDER_WAY, Answer, Refused, SharedSource

JOB_RUNS = "There is at least one running ingestion job in this knowledge base"


@dataclass
class DirectCalls:
    """
    `verdicts` are what the next looks at a document find, by file name; where there are none, it
    is settled. `is_job_running` asks after the knowledge base of that id.
    """

    verdicts: dict[str, deque[str]]
    is_job_running: Callable[[str], bool]
    sources: dict[str, SharedSource] = field(default_factory=dict)  # by id
    ingested: list[int] = field(default_factory=list)  # documents of each call

    def share(self, knowledge_base_id: str, data_source_id: str) -> None:
        self.sources[data_source_id] = SharedSource(
            knowledge_base_id=knowledge_base_id, data_source_id=data_source_id
        )

    def ingest(self, **asked: object) -> Answer:
        source, given = self._open(asked), _listed(asked, "documents")
        told = {each["content"]["custom"]["customDocumentIdentifier"]["id"]: each for each in given}
        if self._is_new(source, asked):
            self.ingested.append(len(told))
            for document_id, each in told.items():
                source.documents[document_id] = _now("STARTING")
                source.uris[document_id] = each["content"]["custom"]["s3Location"]["uri"]
                attributes = each["metadata"]["inlineAttributes"]
                source.documents[document_id]["attributes"] = dict(map(_attribute, attributes))
        return {"documentDetails": [_detail(source, each) for each in told]}

    def delete(self, **asked: object) -> Answer:
        source = self._open(asked)
        document_ids = [each["custom"]["id"] for each in _listed(asked, "documentIdentifiers")]
        if self._is_new(source, asked):
            for document_id in source.documents.keys() & document_ids:
                source.documents[document_id] |= _now("DELETING")
        return {"documentDetails": [_detail(source, each) for each in document_ids]}

    def look(self, **asked: object) -> Answer:
        source = self.sources[str(asked["dataSourceId"])]
        document_ids = [each["custom"]["id"] for each in _listed(asked, "documentIdentifiers")]
        for document_id in source.documents.keys() & document_ids:
            self._go_on(source, document_id)
        return {"documentDetails": [_detail(source, each) for each in document_ids]}

    def _open(self, asked: dict[str, object]) -> SharedSource:
        source = self.sources[str(asked["dataSourceId"])]
        if self.is_job_running(source.knowledge_base_id):
            raise Refused("ValidationException", JOB_RUNS)
        return source

    def _is_new(self, source: SharedSource, asked: dict[str, object]) -> bool:
        token = str(asked["clientToken"])
        is_new = token not in source.tokens
        source.tokens.add(token)
        return is_new

    def _go_on(self, source: SharedSource, document_id: str) -> None:
        document = source.documents[document_id]
        if document["status"] not in UNDER_WAY:
            return
        is_going = document["status"].startswith("DELET")
        coming = self.verdicts[source.uris[document_id].rpartition("/")[2]]
        status = coming.popleft() if coming else ("NOT_FOUND" if is_going else "INDEXED")
        if status == "NOT_FOUND":
            del source.documents[document_id]
            source.passages.pop(document_id, None)
            return
        document |= _now(status)
        if status == "INDEXED":
            source.passages[document_id] = document["attributes"]


def _now(status: str) -> Answer:
    return {"status": status, "updatedAt": datetime.now(UTC)}


def _listed(asked: dict[str, object], name: str) -> list[Answer]:
    listed = asked[name]
    assert isinstance(listed, list), f"boto3 has checked {name}"
    return listed


def _attribute(given: Answer) -> tuple[str, object]:
    value = given["value"]
    return given["key"], value.get("stringValue", value.get("stringListValue"))


def _detail(source: SharedSource, document_id: str) -> Answer:
    kept = source.documents.get(document_id, {"status": "NOT_FOUND"})
    told: Answer = {name: kept[name] for name in ("status", "updatedAt") if name in kept}
    return {"identifier": {"dataSourceType": "CUSTOM", "custom": {"id": document_id}}, **told}
