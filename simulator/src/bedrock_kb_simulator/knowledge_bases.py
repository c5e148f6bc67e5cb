"""Knowledge bases: bedrock-agent's Create-, Get-, List-, Update- and DeleteKnowledgeBase."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.identifiers import Arns, ClientTokens, new_id, page
from bedrock_kb_simulator.indexes import is_managed, managed_index
from bedrock_kb_simulator.models import dimensions_of
from bedrock_kb_simulator.store import Row, Store, dumped, loaded, moment
from bedrock_kb_simulator.tagging import Tags


@dataclass(frozen=True, kw_only=True)
class KnowledgeBases:
    store: Store
    clock: Clock
    arns: Arns
    tokens: ClientTokens
    tags: Tags
    delete_data_sources: Callable[[str], bool]  # False if one can't be deleted

    def create(self, parameters: Parameters) -> Parameters:
        token = parameters.get("clientToken")
        with self.store.transaction():
            knowledge_base_id = self.tokens.resource_of("CreateKnowledgeBase", token)
            if knowledge_base_id is None:
                self._admit(parameters)
                knowledge_base_id = self._insert(parameters)
                self.tags.put(self.arns.knowledge_base(knowledge_base_id), parameters.get("tags"))
                self.tokens.remember("CreateKnowledgeBase", token, knowledge_base_id)
                self._activate_later(knowledge_base(self.store, knowledge_base_id))
            return {
                "knowledgeBase": self._description(knowledge_base(self.store, knowledge_base_id))
            }

    def get(self, parameters: Parameters) -> Parameters:
        row = knowledge_base(self.store, parameters["knowledgeBaseId"])
        return {"knowledgeBase": self._description(row)}

    def find(self, arn: str) -> None:
        """Raise ResourceNotFoundException unless a knowledge base has this ARN."""
        found = knowledge_base(self.store, arn.rpartition("/")[2])
        if self.arns.knowledge_base(found["id"]) != arn:
            raise rules.NO_SUCH_RESOURCE.broken(what="Knowledge Base", id=arn)

    def list(self, parameters: Parameters) -> Parameters:
        rows = self.store.rows("SELECT * FROM knowledge_bases ORDER BY id")
        found, more = page(rows, parameters, lambda row: str(row["id"]), size=1000)
        return {"knowledgeBaseSummaries": [_summary(row) for row in found], **more}

    def update(self, parameters: Parameters) -> Parameters:
        with self.store.transaction():
            row = knowledge_base(self.store, parameters["knowledgeBaseId"])
            body = loaded(row["body"])
            if parameters.get("metadataConfigurations"):
                raise rules.NOT_SIMULATED.broken(what="metadataConfigurations of a knowledge base")
            if is_managed(row) and is_managed_request(parameters):
                configuration = managed_configuration(parameters)
                parameters = {**parameters, "knowledgeBaseConfiguration": configuration}
            for member in ("knowledgeBaseConfiguration", "storageConfiguration"):
                if parameters.get(member, body.get(member)) != body.get(member):
                    raise rules.KNOWLEDGE_BASE_IMMUTABLE.broken()
            if parameters["name"] != row["name"]:
                self._refuse_taken(parameters["name"])
            body |= {"roleArn": parameters["roleArn"], "description": parameters.get("description")}
            changes = {"name": parameters["name"], "body": dumped(body)}
            self._change(row["id"], **changes)
        return {"knowledgeBase": self._description(knowledge_base(self.store, row["id"]))}

    def delete(self, parameters: Parameters) -> Parameters:
        """Delete a knowledge base, and its data sources by their deletion policies."""
        with self.store.transaction():
            row = knowledge_base(self.store, parameters["knowledgeBaseId"])
            if not self.delete_data_sources(row["id"]):
                self._change(row["id"], status="DELETE_UNSUCCESSFUL")
            elif is_managed(row):
                self._change(row["id"], status="DELETING")
                self.clock.later(rules.MANAGED_DELETION.value, lambda: self._forget(row["id"]))
            else:
                self._forget(row["id"])
        return {"knowledgeBaseId": row["id"], "status": "DELETING"}

    def resume(self) -> None:
        """Finish creations and deletions that a restart interrupted."""
        self.store.write("UPDATE knowledge_bases SET status = 'ACTIVE' WHERE status = 'CREATING'")
        for row in self.store.rows("SELECT id FROM knowledge_bases WHERE status = 'DELETING'"):
            self._forget(row["id"])

    def _forget(self, knowledge_base_id: str) -> None:
        with self.store.transaction():
            self.store.write("DELETE FROM knowledge_bases WHERE id = ?", knowledge_base_id)
            self.tags.forget(self.arns.knowledge_base(knowledge_base_id))

    def _admit(self, parameters: Parameters) -> None:
        self._refuse_taken(parameters["name"])
        alike = "SELECT count(*) FROM knowledge_bases WHERE index_arn NOT LIKE ?"
        present = self.store.count(alike, managed_index("%"))
        most = rules.KNOWLEDGE_BASES_PER_ACCOUNT
        if not is_managed_request(parameters) and present >= most.limit:
            raise most.broken()

    def _refuse_taken(self, name: str) -> None:
        if self.store.row("SELECT 1 FROM knowledge_bases WHERE name = ?", name):
            raise rules.KNOWLEDGE_BASE_NAME_TAKEN.broken(name=name)

    def _insert(self, parameters: Parameters) -> str:
        now, knowledge_base_id = self.clock.now().isoformat(), new_id()
        if is_managed_request(parameters):
            configuration = managed_configuration(parameters)
            parameters = {**parameters, "knowledgeBaseConfiguration": configuration}
            arn = managed_index(knowledge_base_id)
        else:
            arn = index_arn_of(self.store, parameters)
        row = {
            "id": knowledge_base_id,
            "index_arn": arn,
            "body": dumped(stored_members(parameters)),
            "name": parameters["name"],
            "status": "CREATING",
            "created_at": now,
            "updated_at": now,
        }
        self.store.insert("knowledge_bases", row)
        return knowledge_base_id

    def _activate_later(self, row: Row) -> None:
        rule = rules.MANAGED_CREATION if is_managed(row) else rules.KNOWLEDGE_BASE_CREATION
        self.clock.later(rule.value, lambda: self._activate(row["id"]))

    def _activate(self, knowledge_base_id: str) -> None:
        with self.store.transaction():  # it may have been deleted meanwhile
            row = self.store.row("SELECT * FROM knowledge_bases WHERE id = ?", knowledge_base_id)
            if row is not None and row["status"] == "CREATING":
                self._change(knowledge_base_id, status="ACTIVE")

    def _change(self, knowledge_base_id: str, **columns: str) -> None:
        changes = {**columns, "updated_at": self.clock.now().isoformat()}
        self.store.update("knowledge_bases", changes, id=knowledge_base_id)

    def _description(self, row: Row) -> dict[str, Any]:
        return {
            **_summary(row),
            **loaded(row["body"]),
            "knowledgeBaseArn": self.arns.knowledge_base(row["id"]),
            "createdAt": moment(row["created_at"]),
        }


def knowledge_base(store: Store, knowledge_base_id: str) -> Row:
    row = store.row("SELECT * FROM knowledge_bases WHERE id = ?", knowledge_base_id)
    if row is None:
        raise rules.NO_SUCH_RESOURCE.broken(what="Knowledge Base", id=knowledge_base_id)
    return row


def _summary(row: Row) -> dict[str, Any]:
    return {
        "knowledgeBaseId": row["id"],
        "name": row["name"],
        "description": loaded(row["body"]).get("description"),
        "status": row["status"],
        "updatedAt": moment(row["updated_at"]),
    }


# The type and the storage in CreateKnowledgeBase.

_OF_TYPE = {
    "VECTOR": "vectorKnowledgeBaseConfiguration",
    "MANAGED": "managedKnowledgeBaseConfiguration",
    "KENDRA": "kendraKnowledgeBaseConfiguration",
    "SQL": "sqlKnowledgeBaseConfiguration",
}
_UNSIMULATED = ("serverSideEncryptionConfiguration", "supplementalDataStorageConfiguration")


def is_managed_request(parameters: Parameters) -> bool:
    """Return True for a request about a knowledge base of type MANAGED."""
    return bool(parameters["knowledgeBaseConfiguration"]["type"] == "MANAGED")


def stored_members(parameters: Parameters) -> dict[str, Any]:
    """Return the members of CreateKnowledgeBase that describe the knowledge base."""
    members = ["roleArn", "description", "knowledgeBaseConfiguration"]
    if not is_managed_request(parameters):  # rule managed.storage
        members.append("storageConfiguration")
    return {member: parameters.get(member) for member in members}


def index_arn_of(store: Store, parameters: Parameters) -> str:
    """Return the ARN of the request's index, which must exist and match the model's dimensions."""
    configuration = parameters["knowledgeBaseConfiguration"]
    storage = parameters.get("storageConfiguration") or {}
    vectors = storage.get("s3VectorsConfiguration")
    if configuration["type"] != "VECTOR" or vectors is None:
        others = "knowledge bases other than MANAGED ones and VECTOR on S3_VECTORS"
        raise rules.NOT_SIMULATED.broken(what=others)
    arn = vectors.get("indexArn")
    if bool(arn) == bool(vectors.get("vectorBucketArn")):
        raise rules.INDEX_ARN_OR_NAME.broken()
    arn = arn or f"{vectors['vectorBucketArn']}/index/{vectors.get('indexName')}"
    index = store.row("SELECT body FROM vector_indexes WHERE arn = ?", arn)
    if index is None:
        raise rules.VECTOR_INDEX_MISSING.broken()
    model = dimensions_of(configuration.get("vectorKnowledgeBaseConfiguration") or {})
    dimension = loaded(index["body"])["dimension"]
    if model != dimension:
        raise rules.VECTOR_INDEX_DIMENSION.broken(model=model, index=dimension)
    return str(arn)


def managed_configuration(parameters: Parameters) -> dict[str, Any]:
    """
    Return the knowledgeBaseConfiguration of a managed knowledge base with the service's defaults.

    Raises ValidationException for members that are invalid or not simulated.
    """
    if parameters.get("storageConfiguration"):
        raise rules.MANAGED_STORAGE.broken()
    configuration: dict[str, Any] = parameters["knowledgeBaseConfiguration"]
    own = _OF_TYPE["MANAGED"]
    if any(configuration.get(member) for member in _OF_TYPE.values() if member != own):
        raise rules.MANAGED_CONFIGURATION.broken(type="MANAGED")
    given = configuration.get(own) or {}
    for member in _UNSIMULATED:
        if given.get(member):
            raise rules.NOT_SIMULATED.broken(what=f"{member} of a managed knowledge base")
    filled = {"embeddingModelType": "MANAGED", **given}
    _check_embedding(filled)
    return {"type": "MANAGED", own: filled}


def _check_embedding(given: dict[str, Any]) -> None:
    if given["embeddingModelType"] == "CUSTOM":
        raise rules.NOT_SIMULATED.broken(what="embeddingModelType CUSTOM")
    if given.get("embeddingModelArn") or given.get("embeddingModelConfiguration"):
        raise rules.MANAGED_EMBEDDING.broken(problem="MANAGED takes no model")
