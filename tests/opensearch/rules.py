"""The rules of OpenSearch, Serverless or not, that the stand-in enforces, with sources."""

from dataclasses import dataclass
from typing import Any


class Refused(Exception):
    """An error of a collection; `kind` and `reason` are OpenSearch's words."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.kind = kind
        self.reason = reason

    @property
    def body(self) -> dict[str, Any]:
        if self.kind == "Forbidden":  # from the service in front of OpenSearch
            return {"status": self.status, "error": {"reason": self.reason, "type": self.kind}}
        cause = {"type": self.kind, "reason": self.reason}
        return {"error": {"root_cause": [cause], **cause}, "status": self.status}


@dataclass(frozen=True, kw_only=True)
class Rule:
    name: str
    says: str
    source: str
    value: int = 0
    status: int = 0
    error: str = ""
    message: str = ""

    def refused(self, **details: Any) -> Refused:
        reason = self.message.format(limit=self.value, **details)
        return Refused(self.status, self.error, reason)


def rule(name: str, says: str, source: str, **details: Any) -> Rule:
    return Rule(name=name, says=says, source=source, **details)


_DOCS = "OpenSearch documentation"
_FORBIDDEN = "403 Forbidden"

AOSS_SIGNATURE = rule(
    "aoss.signature",
    "each call of a collection is signed by SigV4 for the service aoss, with the payload's hash in"
    " the signed header x-amz-content-sha256, within 15 minutes",
    "guide (serverless-troubleshooting); how long a signature holds is SigV4's",
    value=900,
    status=403,
    error="Forbidden",
    message=_FORBIDDEN,
)
AOSS_ACCESS = rule(
    "aoss.access",
    "a data access policy must give the principal the operation's permission on the index",
    "guide (serverless-genref, serverless-data-access)",
    status=403,
    error="Forbidden",
    message=_FORBIDDEN,
)
AOSS_COLLECTION = rule(
    "aoss.collection",
    "there is no endpoint of a collection that there is not",
    "assumed (on AWS its host has no address)",
    status=404,
    error="resource_not_found_exception",
    message="no such collection [{name}]",
)
AOSS_OPERATION = rule(
    "aoss.operation",
    "what a collection for vectors doesn't take is not found: documents under ids of the caller's",
    "guide (serverless-genref); text assumed",
    status=404,
    error="resource_not_found_exception",
    message="no handler found for uri [{path}] and method [{method}]",
)
AOSS_DIMENSION = rule(
    "aoss.dimension",
    "a vector field has 1-16,000 dimensions",
    "guide (serverless-vector-search); text of the k-NN plugin's source",
    value=16_000,
    status=400,
    error="mapper_parsing_exception",
    message="Dimension value must be greater than 0 and at most {limit} for vector: {field}",
)
AOSS_ENGINE = rule(
    "aoss.engine",
    "the method is hnsw of faiss or nmslib",
    "guide (serverless-vector-search); text assumed",
    status=400,
    error="mapper_parsing_exception",
    message="Invalid method or engine of [{field}]: allowed are hnsw with faiss or nmslib",
)
OPENSEARCH_NO_INDEX = rule(
    "opensearch.no-index",
    "an index that is not there",
    _DOCS + "; observed text; guide",
    status=404,
    error="index_not_found_exception",
    message="no such index [{name}]",
)
OPENSEARCH_INDEX_EXISTS = rule(
    "opensearch.index-exists",
    "an index is created once",
    "observed",
    status=400,
    error="resource_already_exists_exception",
    message="index [{name}] already exists",
)
OPENSEARCH_FIELD = rule(
    "opensearch.document-field",
    "a value must fit its field: a vector in length, a number where the field is of numbers; of"
    " fields of whole numbers a fraction is cut off",
    "observed (mappers' own texts)",
    status=400,
    error="mapper_parsing_exception",
    message="failed to parse field [{field}] of type [{type}]",
)
OPENSEARCH_QUERY = rule(
    "opensearch.unknown-query",
    "a query of another name than there are is refused",
    "observed",
    status=400,
    error="parsing_exception",
    message="unknown query [{name}]",
)
OPENSEARCH_KEY = rule(
    "opensearch.unknown-key",
    "a member that a query, or the search's body, doesn't know is refused",
    "observed; one text for all is assumed",
    status=400,
    error="parsing_exception",
    message="[{query}] query does not support [{key}]",
)
OPENSEARCH_MALFORMED = rule(
    "opensearch.malformed",
    "a query whose parts are of the wrong kind is refused",
    "observed; one text for all is assumed",
    status=400,
    error="parsing_exception",
    message="[{query}] malformed query",
)
KNN_FIELD = rule(
    "knn.field",
    "a kNN query is of a field of vectors",
    "observed: source of the k-NN plugin",
    status=400,
    error="query_shard_exception",
    message="failed to create query: Field '{field}' is not knn_vector type.",
)
KNN_DIMENSION = rule(
    "knn.dimension",
    "the vector asked for is as long as the field's",
    "observed: source of the k-NN plugin",
    status=400,
    error="query_shard_exception",
    message="failed to create query: Query vector has invalid dimension: {given}. Dimension should"
    " be: {right}",
)
KNN_K = rule(
    "knn.k",
    "k is 1-10,000, and counts what the query's own filter lets through",
    _DOCS + " (knn query) and observed; here the search is exact",
    value=10_000,
    status=400,
    error="illegal_argument_exception",
    message="[knn] requires 0 < k <= {limit}",
)
KNN_ENGINE_FILTER = rule(
    "knn.engine-filter",
    "nmslib takes no filter within a kNN query",
    "observed: source of the k-NN plugin; guide",
    status=400,
    error="query_shard_exception",
    message="failed to create query: Engine [NMSLIB] does not support filters",
)
OPENSEARCH_WINDOW = rule(
    "opensearch.window",
    "a search answers at most 10,000 hits",
    _DOCS + "; observed text; guide",
    value=10_000,
    status=400,
    error="illegal_argument_exception",
    message="Result window is too large, from + size must be less than or equal to: [{limit}] but"
    " was [{given}]",
)
