"""Collections, and the data access policies that say who may do what in their indexes."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from bedrock_kb_simulator.dispatch import Handler, Parameters
from bedrock_kb_simulator.errors import ServiceError
from bedrock_kb_simulator.identifiers import Arns
from bedrock_kb_simulator.opensearch.refusals import refused
from bedrock_kb_simulator.opensearch.signatures import Principal
from bedrock_kb_simulator.rules import AOSS_ACCESS, AOSS_COLLECTION, NO_SUCH_RESOURCE
from bedrock_kb_simulator.store import Store, dumped, loaded
from bedrock_kb_simulator.tagging import Tagging, Tags

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS collections (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " type TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS access_policies (name TEXT PRIMARY KEY, policy TEXT NOT NULL)",
)


@dataclass(frozen=True, kw_only=True)
class Collections:
    store: Store
    arns: Arns
    tags: Tags

    @property
    def region(self) -> str:
        return self.arns.region

    def __post_init__(self) -> None:
        for statement in _SCHEMA:
            self.store.write(statement)

    @property
    def handlers(self) -> dict[str, Handler]:
        """Of the service's own API, by which collections and policies are made."""
        return {
            "opensearchserverless.CreateCollection": self._create,
            "opensearchserverless.BatchGetCollection": self._get,
            "opensearchserverless.CreateAccessPolicy": self._create_policy,
            "opensearchserverless.DeleteAccessPolicy": self._delete_policy,
            **Tagging(tags=self.tags, find=self._find, pairs=True).handlers("opensearchserverless"),
        }

    def name_of(self, collection: str) -> str:
        """Rule aoss.collection."""
        row = self.store.row("SELECT name FROM collections WHERE id = ?", collection)
        if row is None:
            raise refused(AOSS_COLLECTION, name=collection)
        return str(row["name"])

    def check(self, principal: Principal, permission: str, collection: str, index: str) -> None:
        """Rule aoss.access: raises Refused for what no policy lets the principal do."""
        resource = f"index/{self.name_of(collection)}/{index}"
        for row in self.store.rows("SELECT policy FROM access_policies"):
            for statement in loaded(row["policy"]):
                if principal.arn in statement["Principal"] and any(
                    permission in rule["Permission"] and _is_among(resource, rule["Resource"])
                    for rule in statement["Rules"]
                    if rule["ResourceType"] == "index"
                ):
                    return
        raise refused(AOSS_ACCESS)

    def _create(self, parameters: Parameters) -> Parameters:
        row = {
            "id": uuid4().hex[:20],
            "name": parameters["name"],
            "type": parameters.get("type", "TIMESERIES"),
        }
        with self.store.transaction():
            if self.store.row("SELECT 1 FROM collections WHERE name = ?", row["name"]):
                raise ServiceError("ConflictException", f"Collection {row['name']} already exists")
            self.store.insert("collections", row)
            self.tags.put(self._arn(row["id"]), parameters.get("tags"))
        return {"createCollectionDetail": {**row, "arn": self._arn(row["id"]), "status": "ACTIVE"}}

    def _get(self, parameters: Parameters) -> Parameters:
        wanted = {*parameters.get("ids", ()), *parameters.get("names", ())}
        details = [
            {
                "id": row["id"],
                "name": row["name"],
                "type": row["type"],
                "status": "ACTIVE",
                "arn": self._arn(row["id"]),
                "collectionEndpoint": f"https://{row['id']}.{self.region}.aoss.amazonaws.com",
            }
            for row in self.store.rows("SELECT * FROM collections")
            if {row["id"], row["name"]} & wanted
        ]
        return {"collectionDetails": details, "collectionErrorDetails": []}

    def _find(self, arn: str) -> None:
        """Raises ResourceNotFoundException for an ARN that no collection has."""
        ids = [row["id"] for row in self.store.rows("SELECT id FROM collections")]
        if arn not in {self._arn(id_) for id_ in ids}:
            raise NO_SUCH_RESOURCE.broken(what="Collection", id=arn)

    def _create_policy(self, parameters: Parameters) -> Parameters:
        policy = _checked(parameters["policy"])
        if self.store.row("SELECT 1 FROM access_policies WHERE name = ?", parameters["name"]):
            raise ServiceError("ConflictException", f"Policy {parameters['name']} already exists")
        self.store.insert("access_policies", {"name": parameters["name"], "policy": dumped(policy)})
        detail = {"name": parameters["name"], "type": "data", "policy": policy}
        return {"accessPolicyDetail": detail}

    def _delete_policy(self, parameters: Parameters) -> Parameters:
        self.store.write("DELETE FROM access_policies WHERE name = ?", parameters["name"])
        return {}

    def _arn(self, collection: str) -> str:
        return f"arn:aws:aoss:{self.arns.region}:{self.arns.account}:collection/{collection}"


def _is_among(resource: str, patterns: Iterable[str]) -> bool:
    """A `*` stands for the rest."""
    return any(
        resource.startswith(pattern[:-1]) if pattern.endswith("*") else resource == pattern
        for pattern in patterns
    )


def _checked(text: str) -> Any:
    """https://docs.aws.amazon.com/opensearch-service/latest/developerguide/serverless-data-access.md"""
    problem = ServiceError("ValidationException", "Policy json is invalid")
    try:
        policy = json.loads(text)
        for statement in policy:
            known = {"Rules", "Principal", "Description"}
            if not statement["Principal"] or not statement["Rules"] or statement.keys() - known:
                raise problem
            for rule in statement["Rules"]:
                prefix = f"{rule['ResourceType']}/"
                is_named = all(each.startswith(prefix) for each in rule["Resource"])
                if not is_named or rule.keys() != {"ResourceType", "Resource", "Permission"}:
                    raise problem
                if not all(each.startswith("aoss:") for each in rule["Permission"]):
                    raise problem
    except (ValueError, KeyError, TypeError, AttributeError):
        raise problem from None
    return policy
