"""What the scripted Bedrock keeps, and how it refuses."""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Answer = dict[str, Any]
UNDER_WAY = ("STARTING", "IN_PROGRESS", "DELETING", "DELETE_IN_PROGRESS")


class Refused(Exception):
    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.status = code, message, status


@dataclass(kw_only=True)
class Job:
    source: "Source"
    job_id: str
    token: str
    description: str
    started_at: datetime
    updated_at: datetime
    polls: int  # after so many looks at it the job is over
    must_end: bool = False  # at the next look, in spite of `polls`
    status: str = "STARTING"
    reasons: list[str] = field(default_factory=list)

    def summary(self) -> Answer:
        return {
            "knowledgeBaseId": self.source.knowledge_base_id,
            "dataSourceId": self.source.data_source_id,
            "ingestionJobId": self.job_id,
            "description": self.description,
            "status": self.status,
            "startedAt": self.started_at,
            "updatedAt": self.updated_at,
        }


@dataclass(kw_only=True)
class Source:
    knowledge_base_id: str
    data_source_id: str
    name: str
    prefix: str
    statuses: deque[str] = field(default_factory=deque)  # before it is AVAILABLE
    is_going: bool = False  # being deleted: gone once it has no status left
    etags: dict[str, tuple[str, str]] = field(default_factory=dict)  # of file and sidecar
    documents: dict[str, Answer] = field(default_factory=dict)
    passages: dict[str, Answer] = field(default_factory=dict)  # attributes, by document


@dataclass(kw_only=True)
class SharedSource:
    """The CUSTOM data source of a knowledge base; documents by their ids."""

    knowledge_base_id: str
    data_source_id: str
    documents: dict[str, Answer] = field(default_factory=dict)
    uris: dict[str, str] = field(default_factory=dict)
    passages: dict[str, Answer] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)

    @property
    def is_at_work(self) -> bool:
        return any(each["status"] in UNDER_WAY for each in self.documents.values())
