# ruff: noqa: N803 - arguments are spelled as boto3 spells them
"""What moto can't play: a Bedrock and a Cognito that refuse the wrong order, as AWS does."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError


class FakeBedrock:
    """Knowledge bases, data sources and jobs; stopping and deleting take a few looks."""

    def __init__(self) -> None:
        self.knowledge_bases: dict[str, dict[str, Any]] = {}
        self.sources: dict[str, dict[str, Any]] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.store_refuses = False
        self.refusals = 0  # of deletions, for a while
        self.deleted: list[str] = []

    def add(self, name: str, *, sources: int = 1, running: bool = False) -> None:
        knowledge_base = f"KB-{name}"
        role = f"arn:aws:iam::123456789012:role/role-of-{name}"
        self.knowledge_bases[knowledge_base] = {"name": name, "roleArn": role}
        for number in range(sources):
            source = f"DS-{name}-{number}"
            self.sources[source] = {
                "knowledgeBaseId": knowledge_base,
                "name": source,
                "dataSourceConfiguration": {"type": "CUSTOM"},
                "serverSideEncryptionConfiguration": {"kmsKeyArn": "arn:key"},
                "status": "AVAILABLE",
                "dataDeletionPolicy": "DELETE",
            }
            if running:
                self.jobs[f"JOB-{source}"] = {"source": source, "status": "IN_PROGRESS"}

    def get_paginator(self, operation: str) -> "Pages":
        return Pages(getattr(self, operation))

    def list_knowledge_bases(self) -> dict[str, Any]:
        return {
            "knowledgeBaseSummaries": [
                {"knowledgeBaseId": id_, "name": each["name"]}
                for id_, each in self.knowledge_bases.items()
            ]
        }

    def list_data_sources(self, *, knowledgeBaseId: str) -> dict[str, Any]:
        return {
            "dataSourceSummaries": [
                {"dataSourceId": id_}
                for id_, each in self.sources.items()
                if each["knowledgeBaseId"] == knowledgeBaseId
            ]
        }

    def list_ingestion_jobs(self, *, knowledgeBaseId: str, dataSourceId: str) -> dict[str, Any]:
        jobs = [
            {"ingestionJobId": id_, "status": job["status"]}
            for id_, job in self.jobs.items()
            if job["source"] == dataSourceId
        ]
        self._move_on(self.jobs.values(), {"STOPPING": "STOPPED"})
        return {"ingestionJobSummaries": jobs}

    def stop_ingestion_job(
        self, *, knowledgeBaseId: str, dataSourceId: str, ingestionJobId: str
    ) -> None:
        self.jobs[ingestionJobId]["status"] = "STOPPING"

    def get_data_source(self, *, knowledgeBaseId: str, dataSourceId: str) -> dict[str, Any]:
        found = self.sources.get(dataSourceId)
        if found is None or found["status"] == "GONE":
            raise _error("ResourceNotFoundException", "GetDataSource")
        shown = dict(found)
        ending = "GONE"
        if self.store_refuses and found["dataDeletionPolicy"] == "DELETE":
            ending = "DELETE_UNSUCCESSFUL"
        if self.refusals and found["status"] == "DELETING":
            self.refusals -= 1
            ending = "DELETE_UNSUCCESSFUL"
        self._move_on([found], {"DELETING": ending})
        return {"dataSource": shown}

    def delete_data_source(self, *, knowledgeBaseId: str, dataSourceId: str) -> None:
        if any(
            job["source"] == dataSourceId and job["status"] != "STOPPED"
            for job in self.jobs.values()
        ):
            raise _error("ValidationException", "DeleteDataSource")
        self.sources[dataSourceId]["status"] = "DELETING"
        self.deleted.append(dataSourceId)

    def update_data_source(
        self,
        *,
        knowledgeBaseId: str,
        dataSourceId: str,
        **settings: Any,
    ) -> None:
        """Replaces everything: what is not said again is gone."""
        source = self.sources[dataSourceId]
        if source["dataSourceConfiguration"]["type"] == "MANAGED_KNOWLEDGE_BASE_CONNECTOR":
            raise _error("ValidationException", "UpdateDataSource")  # as RETAIN is none for it
        kept = {key: source[key] for key in ("knowledgeBaseId", "status")}
        self.sources[dataSourceId] = {**kept, **settings}

    def get_knowledge_base(self, *, knowledgeBaseId: str) -> dict[str, Any]:
        if knowledgeBaseId not in self.knowledge_bases:
            raise _error("ResourceNotFoundException", "GetKnowledgeBase")
        return {"knowledgeBase": self.knowledge_bases[knowledgeBaseId]}

    def delete_knowledge_base(self, *, knowledgeBaseId: str) -> None:
        if any(
            each["knowledgeBaseId"] == knowledgeBaseId and each["status"] != "GONE"
            for each in self.sources.values()
        ):
            raise _error("ConflictException", "DeleteKnowledgeBase")
        del self.knowledge_bases[knowledgeBaseId]
        self.deleted.append(knowledgeBaseId)

    def _move_on(self, things: Any, moves: dict[str, str]) -> None:
        for thing in things:
            thing["status"] = moves.get(thing["status"], thing["status"])


@dataclass
class Pages:
    page: Callable[..., dict[str, Any]]

    def paginate(self, **request: Any) -> list[dict[str, Any]]:
        return [self.page(**request)]


@dataclass
class FakeUserPools:
    """User pools by name, which is their id too, and whether deletion protection is on."""

    protected: dict[str, bool] = field(default_factory=dict)

    def get_paginator(self, _operation: str) -> Pages:
        pools = [{"Id": name, "Name": name} for name in self.protected]
        return Pages(lambda **_request: {"UserPools": pools})

    def update_user_pool(self, *, UserPoolId: str, DeletionProtection: str) -> None:
        self.protected[UserPoolId] = DeletionProtection == "ACTIVE"

    def delete_user_pool(self, *, UserPoolId: str) -> None:
        if self.protected[UserPoolId]:
            raise _error("InvalidParameterException", "DeleteUserPool")
        del self.protected[UserPoolId]


@dataclass
class FakeStacks:
    """CloudFormation: a stack is refused while another still imports what it exports."""

    standing: list[str] = field(default_factory=list)

    def delete_stack(self, *, StackName: str) -> None:
        kept = [name for name in self.standing if name != StackName]
        if StackName.endswith("-data") and any(name.endswith("-base") for name in kept):
            raise _error("ValidationError", "DeleteStack")
        self.standing = kept

    def get_waiter(self, name: str) -> "FakeStacks":
        assert name == "stack_delete_complete", "nothing else is waited for"
        return self

    def wait(self, *, StackName: str) -> None:
        assert StackName not in self.standing, "deleting is at once here"


def _error(code: str, operation: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "as Bedrock would say"}}, operation)
