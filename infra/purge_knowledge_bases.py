"""Deletes knowledge bases: first jobs, then data sources, knowledge bases, and roles."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

_RUNNING = ("STARTING", "IN_PROGRESS", "STOPPING")
# The fields that GetDataSource and UpdateDataSource share [API model bedrock-agent].
_CONFIGURATION = (
    "name",
    "description",
    "dataSourceConfiguration",
    "serverSideEncryptionConfiguration",
    "vectorIngestionConfiguration",
)
_MANAGED_CONNECTOR = "MANAGED_KNOWLEDGE_BASE_CONNECTOR"  # its only policy is DELETE [API model]
_TIMEOUT_SECONDS = 30 * 60.0
_PAUSE_SECONDS = 5.0


class DeletionTimeout(Exception):
    def __init__(self, what: str) -> None:
        super().__init__(f"{what} still exists after {_TIMEOUT_SECONDS:.0f} seconds")


@dataclass(frozen=True, kw_only=True)
class KnowledgeBases:
    """The pool of a project, found by its names. Every step skips what doesn't exist any more."""

    bedrock: Any
    iam: Any
    write_line: Callable[[str], object]
    sleep: Callable[[float], None] = time.sleep

    def purge(self, project: str) -> None:
        for knowledge_base_id in self._pool(project):
            for data_source_id in list(self._data_sources(knowledge_base_id)):
                self._stop_jobs(knowledge_base_id, data_source_id)
                self._delete_data_source(knowledge_base_id, data_source_id)
            self._delete_knowledge_base(knowledge_base_id)

    def _pool(self, project: str) -> list[str]:
        name = re.compile(rf"{re.escape(project)}-\d+")
        pages = self.bedrock.get_paginator("list_knowledge_bases").paginate()
        return [
            summary["knowledgeBaseId"]
            for page in pages
            for summary in page["knowledgeBaseSummaries"]
            if name.fullmatch(summary["name"])
        ]

    def _data_sources(self, knowledge_base_id: str) -> Iterator[str]:
        pages = self.bedrock.get_paginator("list_data_sources").paginate(
            knowledgeBaseId=knowledge_base_id
        )
        for page in pages:
            for summary in page["dataSourceSummaries"]:
                yield summary["dataSourceId"]

    def _stop_jobs(self, knowledge_base_id: str, data_source_id: str) -> None:
        """Stop the jobs: a data source can't be deleted while a job is running or stopping."""
        source = {"knowledgeBaseId": knowledge_base_id, "dataSourceId": data_source_id}
        for job in self._jobs(source):
            if job["status"] != "STOPPING":
                self.write_line(f"stopping ingestion job {job['ingestionJobId']}")
                self.bedrock.stop_ingestion_job(**source, ingestionJobId=job["ingestionJobId"])
        self._until(lambda: not self._jobs(source), f"a job of data source {data_source_id}")

    def _jobs(self, source: dict[str, str]) -> list[dict[str, Any]]:
        pages = self.bedrock.get_paginator("list_ingestion_jobs").paginate(**source)
        return [
            job
            for page in pages
            for job in page["ingestionJobSummaries"]
            if job["status"] in _RUNNING
        ]

    def _delete_data_source(self, knowledge_base_id: str, data_source_id: str) -> None:
        """
        Delete a data source, and leave its vectors to the deletion of their index.

        https://docs.aws.amazon.com/bedrock/latest/userguide/kb-ds-delete.html
        """
        self.write_line(f"deleting data source {data_source_id}")
        source = {"knowledgeBaseId": knowledge_base_id, "dataSourceId": data_source_id}
        self._retain_vectors(source)
        self.bedrock.delete_data_source(**source)
        self._until_gone(
            lambda: self.bedrock.get_data_source(**source), f"data source {data_source_id}"
        )

    def _retain_vectors(self, source: dict[str, str]) -> None:
        """
        Set the data source to retain its vectors, which a MANAGED one can't.

        An update must repeat all other settings.
        """
        current = self.bedrock.get_data_source(**source)["dataSource"]
        if current["dataSourceConfiguration"]["type"] == _MANAGED_CONNECTOR:
            return
        settings = {key: current[key] for key in _CONFIGURATION if key in current}
        self.bedrock.update_data_source(**source, **settings, dataDeletionPolicy="RETAIN")

    def _delete_knowledge_base(self, knowledge_base_id: str) -> None:
        self.write_line(f"deleting knowledge base {knowledge_base_id}")
        found = self.bedrock.get_knowledge_base(knowledgeBaseId=knowledge_base_id)
        self.bedrock.delete_knowledge_base(knowledgeBaseId=knowledge_base_id)
        self._until_gone(
            lambda: self.bedrock.get_knowledge_base(knowledgeBaseId=knowledge_base_id),
            f"knowledge base {knowledge_base_id}",
        )
        # Last, because the knowledge base deletes its vectors with this role.
        self._delete_role(found["knowledgeBase"]["roleArn"].rpartition("/")[2])

    def _delete_role(self, name: str) -> None:
        try:
            policies = self.iam.list_role_policies(RoleName=name)["PolicyNames"]
        except self.iam.exceptions.NoSuchEntityException:
            return
        for policy in policies:
            self.iam.delete_role_policy(RoleName=name, PolicyName=policy)
        self.iam.delete_role(RoleName=name)

    def _until_gone(self, get: Callable[[], object], what: str) -> None:
        def is_gone() -> bool:
            try:
                get()
            except self.bedrock.exceptions.ResourceNotFoundException:
                return True
            return False

        self._until(is_gone, what)

    def _until(self, is_over: Callable[[], bool], what: str) -> None:
        waited = 0.0
        while not is_over():
            if waited >= _TIMEOUT_SECONDS:
                raise DeletionTimeout(what)
            self.sleep(_PAUSE_SECONDS)
            waited += _PAUSE_SECONDS
