"""The knowledge bases and data sources of a template, made in the simulator."""

from dataclasses import dataclass
from typing import Any

from stackroom_local.deployment.intrinsics import REF, Attributes
from stackroom_local.deployment.making import Request, until_active, until_gone
from stackroom_local.problems import OfAnotherType


@dataclass(frozen=True)
class KnowledgeBases:
    """`AWS::Bedrock::KnowledgeBase`."""

    bedrock_agent: Any

    def create(self, request: Request) -> str:
        made = self.bedrock_agent.create_knowledge_base(**request)["knowledgeBase"]
        return str(made["knowledgeBaseId"])

    def wait(self, physical_id: str) -> None:
        """Returns once it can be used; raises `NotStabilised` if it can't."""
        until_active(f"knowledge base {physical_id}", lambda: self._get(physical_id))

    def known(self, request: Request) -> str | None:
        """
        Raises OfAnotherType: taken for the one that is wanted, it would be searched in a way that
        finds nothing.
        """
        found = self._named(request)
        if found is not None:
            there = self._get(found)["knowledgeBaseConfiguration"]["type"]
            wanted = request["knowledgeBaseConfiguration"]["type"]
            if there != wanted:
                raise OfAnotherType(request["name"], there, wanted)
        return found

    def _named(self, request: Request) -> str | None:
        pages = self.bedrock_agent.get_paginator("list_knowledge_bases").paginate()
        return next(
            (
                str(each["knowledgeBaseId"])
                for page in pages
                for each in page["knowledgeBaseSummaries"]
                if each["name"] == request["name"]
            ),
            None,
        )

    def attributes(self, physical_id: str) -> Attributes:
        return {
            REF: physical_id,
            "KnowledgeBaseId": physical_id,
            "KnowledgeBaseArn": str(self._get(physical_id)["knowledgeBaseArn"]),
        }

    def update(self, physical_id: str, request: Request) -> None:
        self.bedrock_agent.update_knowledge_base(knowledgeBaseId=physical_id, **request)

    def delete(self, physical_id: str) -> None:
        self.bedrock_agent.delete_knowledge_base(knowledgeBaseId=physical_id)
        gone = self.bedrock_agent.exceptions.ResourceNotFoundException
        until_gone(f"knowledge base {physical_id}", lambda: self._get(physical_id), gone)

    def _get(self, physical_id: str) -> dict[str, Any]:
        found = self.bedrock_agent.get_knowledge_base(knowledgeBaseId=physical_id)
        return dict(found["knowledgeBase"])


@dataclass(frozen=True)
class DataSources:
    """`AWS::Bedrock::DataSource`; its physical id is `{knowledge base's id}|{its own}`."""

    bedrock_agent: Any

    def create(self, request: Request) -> str:
        made = self.bedrock_agent.create_data_source(**request)["dataSource"]
        return f"{made['knowledgeBaseId']}|{made['dataSourceId']}"

    def wait(self, physical_id: str) -> None:
        """Returns once it takes documents; raises `NotStabilised` if it doesn't."""
        names = _names(physical_id)
        until_active(
            f"data source {names['dataSourceId']}",
            lambda: dict(self.bedrock_agent.get_data_source(**names)["dataSource"]),
            active="AVAILABLE",
        )

    def known(self, request: Request) -> str | None:
        base = request["knowledgeBaseId"]
        pages = self.bedrock_agent.get_paginator("list_data_sources").paginate(knowledgeBaseId=base)
        return next(
            (
                f"{base}|{each['dataSourceId']}"
                for page in pages
                for each in page["dataSourceSummaries"]
                if each["name"] == request["name"]
            ),
            None,
        )

    def attributes(self, physical_id: str) -> Attributes:
        return {REF: physical_id, "DataSourceId": physical_id.partition("|")[2]}

    def update(self, physical_id: str, request: Request) -> None:
        self.bedrock_agent.update_data_source(**{**request, **_names(physical_id)})

    def delete(self, physical_id: str) -> None:
        names = _names(physical_id)
        self.bedrock_agent.delete_data_source(**names)
        until_gone(
            f"data source {names['dataSourceId']}",
            lambda: dict(self.bedrock_agent.get_data_source(**names)["dataSource"]),
            self.bedrock_agent.exceptions.ResourceNotFoundException,
        )


def _names(physical_id: str) -> dict[str, str]:
    base, _, source = physical_id.partition("|")
    return {"knowledgeBaseId": base, "dataSourceId": source}
