"""Managed knowledge bases: rates, and how they are searched."""

from bedrock_kb_simulator.rules.rule import rule

# Requests per second, where a managed knowledge base has a rate of its own.
MANAGED_RATES = {
    "IngestKnowledgeBaseDocuments": 20.0,
    "DeleteKnowledgeBaseDocuments": 10.0,
    "ListKnowledgeBaseDocuments": 10.0,
    "Retrieve": 100.0,
}
for _operation, _rate in MANAGED_RATES.items():
    rule(
        f"managed.rate.{_operation}",
        f"{_rate:g} requests per second and account",
        "quotas; that they are counted apart from those of others is assumed",
        value=_rate,
    )

MANAGED_RETRIEVE_RATE = rule(
    "managed.retrieve-rate",
    "Retrieve 600 times a minute in a managed knowledge base, 25 in a second at most",
    "quotas",
    value=10,
)
MANAGED_RETRIEVE_BURST = rule(
    "managed.retrieve-burst", "25 of them may come at once", "quotas", value=25
)
MANAGED_QUERY_LENGTH = rule(
    "managed.query-length",
    "queries of at most 10,000 characters",
    "quotas; text assumed after that of the others",
    value=10_000,
    message="The query must have between 1 and {limit} characters",
)
MANAGED_QUERY_EMPTY = rule(
    "managed.query-empty",
    "a query has a text that is not blank",
    "observed, with this text",
    message="Text input is required.",
)
VECTOR_SEARCH_ON_MANAGED = rule(
    "managed.search-configuration",
    "vectorSearchConfiguration is for other knowledge bases",
    "observed, several times, with this text",
    message="Incompatible configuration: vectorSearchConfiguration is not supported for managed"
    " knowledge bases. Use managedSearchConfiguration instead.",
)
MANAGED_FILTER_OPERATOR = rule(
    "managed.filter-operator",
    "startsWith and stringContains are refused; in, notIn and the others are taken",
    "guide, that they are not supported; refusing is the safe reading, text assumed (one user saw"
    " both accepted for a key that no document has, and nothing found)",
    message="{operator} operation type is not supported for managed knowledge bases",
)
MANAGED_FILTER_RANGE = rule(
    "managed.filter-range",
    "ranges compare numbers, or moments in ISO 8601: a moment without an offset is in UTC",
    "model for ISO 8601; the offset, and that a number is never compared with a moment, assumed",
)
MANAGED_FILTER_KEYS = rule(
    "managed.filter-keys",
    "the service's own keys begin with an underscore: _source_uri is an object's URI or a CUSTOM"
    " document's id, _data_source_id the data source's; they are shown and can be filtered by;"
    " x-amz-bedrock-kb-data-source-id is a key that no document has. No document may bring a key"
    " that begins so",
    "guide and observed; that such a key is refused as x-amz-bedrock is elsewhere, assumed;"
    " there are others (language, kind of file, dates) that nobody lists and that are not given",
)
MANAGED_HYBRID = rule(
    "managed.hybrid",
    "words and meaning are searched together, always",
    "guide; here half the similarity of the local model and half the share of the question's words,"
    " among the 200 passages nearest in meaning",
)
MANAGED_SCORES = rule(
    "managed.scores",
    "unless a model reranks, scores are relative: the best result's is 1",
    "observed (1.00, 0.84, 0.78, 0.77, 0.77; one document alone 1.0)",
)
MANAGED_RERANKING = rule(
    "managed.reranking",
    "without a rerankingModelType the service's own model reranks; NONE turns it off; CUSTOM names"
    " one of Bedrock's",
    "guide; the model is the stand-in of rule rerank.stand-in",
)
MANAGED_RERANKING_CUSTOM = rule(
    "managed.reranking-custom",
    "CUSTOM goes with a rerankingConfiguration, MANAGED and NONE without",
    "guide for the first; the second, and the text, assumed",
    message="rerankingConfiguration goes with rerankingModelType CUSTOM, and CUSTOM with it",
)
MANAGED_RERANKING_EMBEDDING = rule(
    "managed.reranking-embedding",
    "the service's model reranks only where embeddingModelType is MANAGED; elsewhere there is no"
    " reranking by default",
    "guide for the first; the default, and that asking for it is refused, assumed, text too",
    message="Managed reranking is not available for knowledge bases with a custom embedding model",
)
MANAGED_DOCUMENT_ID = rule(
    "managed.document-id",
    "a result has a documentId: the object's URI, or the CUSTOM document's id",
    "model for the member; what stands in it is assumed",
)
MANAGED_GENERATE = rule(
    "managed.generate",
    "RetrieveAndGenerate is not for managed knowledge bases",
    "model and observed, several times, with this text",
    message="This operation is not supported for managed knowledge bases.",
)
MANAGED_USER_CONTEXT = rule(
    "managed.user-context",
    "userContext is for data sources with aclEnabled; those are not simulated, and neither is it",
    "guide for what it is for; refusing, and the text, assumed",
    message="The local simulator does not offer userContext, nor data sources with aclEnabled.",
)
