"""What CreateKnowledgeBase is told of a knowledge base's type and of where its vectors are."""

from typing import Any

from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.models import dimensions_of
from bedrock_kb_simulator.rules import (
    INDEX_ARN_OR_NAME,
    MANAGED_CONFIGURATION,
    MANAGED_EMBEDDING,
    MANAGED_STORAGE,
    NOT_SIMULATED,
    VECTOR_INDEX_DIMENSION,
    VECTOR_INDEX_MISSING,
)
from bedrock_kb_simulator.store import Store, loaded

_OF_TYPE = {
    "VECTOR": "vectorKnowledgeBaseConfiguration",
    "MANAGED": "managedKnowledgeBaseConfiguration",
    "KENDRA": "kendraKnowledgeBaseConfiguration",
    "SQL": "sqlKnowledgeBaseConfiguration",
}
_UNSIMULATED = ("serverSideEncryptionConfiguration", "supplementalDataStorageConfiguration")
_DIMENSION = 1024


def is_of_managed(parameters: Parameters) -> bool:
    """Whether a request is about a knowledge base of the type MANAGED."""
    return bool(parameters["knowledgeBaseConfiguration"]["type"] == "MANAGED")


def kept(parameters: Parameters) -> dict[str, Any]:
    """What a knowledge base is described with, and no more of the request that makes it."""
    members = {
        member: parameters.get(member)
        for member in ("roleArn", "description", "knowledgeBaseConfiguration")
    }
    if is_of_managed(parameters):  # rule managed.storage
        return members
    return {**members, "storageConfiguration": parameters.get("storageConfiguration")}


def index_arn_of(store: Store, parameters: Parameters) -> str:
    """The ARN of the index that the request names, which must exist and fit the model."""
    configuration = parameters["knowledgeBaseConfiguration"]
    storage = parameters.get("storageConfiguration") or {}
    vectors = storage.get("s3VectorsConfiguration")
    if configuration["type"] != "VECTOR" or vectors is None:
        raise NOT_SIMULATED.broken(
            what="knowledge bases other than MANAGED ones and VECTOR on S3_VECTORS"
        )
    arn = vectors.get("indexArn")
    if bool(arn) == bool(vectors.get("vectorBucketArn")):
        raise INDEX_ARN_OR_NAME.broken()
    arn = arn or f"{vectors['vectorBucketArn']}/index/{vectors.get('indexName')}"
    index = store.row("SELECT body FROM vector_indexes WHERE arn = ?", arn)
    if index is None:
        raise VECTOR_INDEX_MISSING.broken()
    model = dimensions_of(configuration.get("vectorKnowledgeBaseConfiguration") or {})
    dimension = loaded(index["body"])["dimension"]
    if model != dimension:
        raise VECTOR_INDEX_DIMENSION.broken(model=model, index=dimension)
    return str(arn)


def managed_configuration(parameters: Parameters) -> dict[str, Any]:
    """
    The knowledgeBaseConfiguration of a managed one, with what the service fills in.

    Raises ValidationException for what it refuses, or what is not simulated, by its name.
    """
    if parameters.get("storageConfiguration"):
        raise MANAGED_STORAGE.broken()
    configuration: dict[str, Any] = parameters["knowledgeBaseConfiguration"]
    own = _OF_TYPE["MANAGED"]
    if any(configuration.get(member) for member in _OF_TYPE.values() if member != own):
        raise MANAGED_CONFIGURATION.broken(type="MANAGED")
    given = configuration.get(own) or {}
    for member in _UNSIMULATED:
        if given.get(member):
            raise NOT_SIMULATED.broken(what=f"{member} of a managed knowledge base")
    filled = {"embeddingModelType": "MANAGED", **given}
    _check_embedding(filled)
    return {"type": "MANAGED", own: filled}


def has_custom_embedding(body: dict[str, Any]) -> bool:
    """Of what is kept of a managed knowledge base."""
    own = body["knowledgeBaseConfiguration"][_OF_TYPE["MANAGED"]]
    return bool(own["embeddingModelType"] == "CUSTOM")


def _check_embedding(given: dict[str, Any]) -> None:
    model, details = given.get("embeddingModelArn"), given.get("embeddingModelConfiguration")
    if given["embeddingModelType"] == "MANAGED":
        if model or details:
            raise MANAGED_EMBEDDING.broken(problem="MANAGED takes no model")
        return
    if not model:
        raise MANAGED_EMBEDDING.broken(problem="CUSTOM needs embeddingModelArn")
    bedrock = (details or {}).get("bedrockEmbeddingModelConfiguration") or {}
    dimensions, kind = bedrock.get("dimensions"), bedrock.get("embeddingDataType")
    if dimensions not in (None, _DIMENSION) or kind not in (None, "FLOAT32"):
        raise MANAGED_EMBEDDING.broken(problem="1,024 dimensions of FLOAT32 are supported")
