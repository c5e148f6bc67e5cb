"""Knowledge bases: bedrock-agent's Create-, Get-, List-, Update- and DeleteKnowledgeBase."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stackroom_local.simulator.clock import Clock
from stackroom_local.simulator.dispatch import Parameters
from stackroom_local.simulator.identifiers import Arns, ClientTokens, new_id, page
from stackroom_local.simulator.models import dimensions_of
from stackroom_local.simulator.rules import (
    INDEX_ARN_OR_NAME,
    KNOWLEDGE_BASE_CREATION,
    KNOWLEDGE_BASE_IMMUTABLE,
    KNOWLEDGE_BASE_NAME_TAKEN,
    KNOWLEDGE_BASES_PER_ACCOUNT,
    NO_SUCH_RESOURCE,
    NOT_SIMULATED,
    VECTOR_INDEX_DIMENSION,
    VECTOR_INDEX_MISSING,
)
from stackroom_local.simulator.store import Row, Store, dumped, loaded, moment


@dataclass(frozen=True, kw_only=True)
class KnowledgeBases:
    store: Store
    clock: Clock
    arns: Arns
    tokens: ClientTokens
    delete_data_sources: Callable[[str], bool]  # whether all went

    def create(self, parameters: Parameters) -> Parameters:
        token = parameters.get("clientToken")
        with self.store.transaction():
            made = self.tokens.made("CreateKnowledgeBase", token)
            if made is None:
                self._admit(parameters["name"])
                made = self._insert(parameters, index_arn=self._index_arn(parameters))
                self.tokens.remember("CreateKnowledgeBase", token, made)
                self._activate_later(made)
            return {"knowledgeBase": self._described(knowledge_base(self.store, made))}

    def get(self, parameters: Parameters) -> Parameters:
        row = knowledge_base(self.store, parameters["knowledgeBaseId"])
        return {"knowledgeBase": self._described(row)}

    def list(self, parameters: Parameters) -> Parameters:
        rows = self.store.rows("SELECT * FROM knowledge_bases ORDER BY id")
        found, more = page(rows, parameters, lambda row: str(row["id"]), size=1000)
        return {"knowledgeBaseSummaries": [_summary(row) for row in found], **more}

    def update(self, parameters: Parameters) -> Parameters:
        with self.store.transaction():
            row = knowledge_base(self.store, parameters["knowledgeBaseId"])
            body = loaded(row["body"])
            for member in ("knowledgeBaseConfiguration", "storageConfiguration"):
                if parameters.get(member, body[member]) != body[member]:
                    raise KNOWLEDGE_BASE_IMMUTABLE.broken()
            if parameters["name"] != row["name"]:
                self._refuse_taken(parameters["name"])
            body |= {"roleArn": parameters["roleArn"], "description": parameters.get("description")}
            self.store.write(
                "UPDATE knowledge_bases SET name = ?, body = ?, updated_at = ? WHERE id = ?",
                parameters["name"],
                dumped(body),
                self.clock.now().isoformat(),
                row["id"],
            )
        return {"knowledgeBase": self._described(knowledge_base(self.store, row["id"]))}

    def delete(self, parameters: Parameters) -> Parameters:
        """Its data sources go too, each by its own deletion policy."""
        with self.store.transaction():
            row = knowledge_base(self.store, parameters["knowledgeBaseId"])
            if self.delete_data_sources(row["id"]):
                self.store.write("DELETE FROM knowledge_bases WHERE id = ?", row["id"])
            else:
                self._set_status(row["id"], "DELETE_UNSUCCESSFUL")
        return {"knowledgeBaseId": row["id"], "status": "DELETING"}

    def resume(self) -> None:
        """After a restart, whatever was being created is ready."""
        self.store.write("UPDATE knowledge_bases SET status = 'ACTIVE' WHERE status = 'CREATING'")

    def _admit(self, name: str) -> None:
        self._refuse_taken(name)
        count = self.store.count("SELECT count(*) FROM knowledge_bases")
        if count >= KNOWLEDGE_BASES_PER_ACCOUNT.limit:
            raise KNOWLEDGE_BASES_PER_ACCOUNT.broken()

    def _refuse_taken(self, name: str) -> None:
        if self.store.row("SELECT 1 FROM knowledge_bases WHERE name = ?", name):
            raise KNOWLEDGE_BASE_NAME_TAKEN.broken(name=name)

    def _index_arn(self, parameters: Parameters) -> str:
        """The ARN of the index that the request names, which must exist and fit the model."""
        configuration = parameters["knowledgeBaseConfiguration"]
        storage = parameters.get("storageConfiguration") or {}
        vectors = storage.get("s3VectorsConfiguration")
        if configuration["type"] != "VECTOR" or vectors is None:
            raise NOT_SIMULATED.broken(what="knowledge bases other than VECTOR on S3_VECTORS")
        arn = vectors.get("indexArn")
        if bool(arn) == bool(vectors.get("vectorBucketArn")):
            raise INDEX_ARN_OR_NAME.broken()
        arn = arn or f"{vectors['vectorBucketArn']}/index/{vectors.get('indexName')}"
        index = self.store.row("SELECT body FROM vector_indexes WHERE arn = ?", arn)
        if index is None:
            raise VECTOR_INDEX_MISSING.broken()
        model = dimensions_of(configuration.get("vectorKnowledgeBaseConfiguration") or {})
        dimension = loaded(index["body"])["dimension"]
        if model != dimension:
            raise VECTOR_INDEX_DIMENSION.broken(model=model, index=dimension)
        return str(arn)

    def _insert(self, parameters: Parameters, *, index_arn: str) -> str:
        knowledge_base_id = new_id()
        kept = ("roleArn", "description", "knowledgeBaseConfiguration", "storageConfiguration")
        now = self.clock.now().isoformat()
        row = {
            "id": knowledge_base_id,
            "name": parameters["name"],
            "status": "CREATING",
            "index_arn": index_arn,
            "body": dumped({member: parameters.get(member) for member in kept}),
            "created_at": now,
            "updated_at": now,
        }
        self.store.insert("knowledge_bases", row)
        return knowledge_base_id

    def _activate_later(self, knowledge_base_id: str) -> None:
        self.clock.later(
            KNOWLEDGE_BASE_CREATION.value, lambda: self._set_status(knowledge_base_id, "ACTIVE")
        )

    def _set_status(self, knowledge_base_id: str, status: str) -> None:
        self.store.write(
            "UPDATE knowledge_bases SET status = ?, updated_at = ? WHERE id = ?",
            status,
            self.clock.now().isoformat(),
            knowledge_base_id,
        )

    def _described(self, row: Row) -> dict[str, Any]:
        return {
            **_summary(row),
            **loaded(row["body"]),
            "knowledgeBaseArn": self.arns.knowledge_base(row["id"]),
            "createdAt": moment(row["created_at"]),
        }


def knowledge_base(store: Store, knowledge_base_id: str) -> Row:
    row = store.row("SELECT * FROM knowledge_bases WHERE id = ?", knowledge_base_id)
    if row is None:
        raise NO_SUCH_RESOURCE.broken(what="Knowledge Base", id=knowledge_base_id)
    return row


def _summary(row: Row) -> dict[str, Any]:
    return {
        "knowledgeBaseId": row["id"],
        "name": row["name"],
        "description": loaded(row["body"]).get("description"),
        "status": row["status"],
        "updatedAt": moment(row["updated_at"]),
    }
