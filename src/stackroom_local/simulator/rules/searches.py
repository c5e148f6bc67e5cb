"""Retrieve and its filters."""

from stackroom_local.simulator.rules.rule import rule

QUERY_LENGTH = rule(
    "retrieve.query-length",
    "1-1,000 characters",
    "quotas; text assumed",
    value=1000,
    message="The query must have between 1 and {limit} characters",
)
DEFAULT_RESULTS = rule("retrieve.default-results", "5 results", "model", value=5)
MODEL_MISMATCH = rule(
    "retrieve.managed-configuration",
    "managedSearchConfiguration is for managed knowledge bases",
    "observed; text assumed after 'Incompatible configuration'",
    message="Incompatible configuration: managedSearchConfiguration needs a MANAGED knowledge base",
)
HYBRID_SEARCH = rule(
    "retrieve.hybrid",
    "S3 Vectors searches SEMANTIC only",
    "guide; text assumed",
    message="HYBRID search type is not supported for S3 Vectors",
)
FILTER_OPERATOR = rule(
    "filter.operator",
    "startsWith, stringContains, in and notIn are refused on S3 Vectors",
    "guide for the first two; observed for `in`, which is disputed: refusing is the safe reading",
    message="{operator} operation type is not supported for S3 Vectors",
)
FILTER_GROUP = rule(
    "filter.group-size",
    "2-5 members per group",
    "model for 2, guide for 5; text assumed",
    value=5,
    message="A filter group must have between 2 and {limit} members",
)
FILTER_DEPTH = rule(
    "filter.depth",
    "groups within groups, once",
    "guide; text assumed",
    value=2,
    message="Filters can be embedded one level deep only",
)
FILTER_UNION = rule(
    "filter.union",
    "exactly one operator per filter",
    "model (a union); text assumed",
    message="A filter must have exactly one operator",
)
FILTER_VALUE = rule(
    "filter.value",
    "ranges compare numbers, listContains looks for a string, the others take a scalar",
    "guide; text assumed",
    message="The value of {operator} for key {key} has a type that the operator does not accept",
)
RERANK_MODEL = rule(
    "rerank.model",
    "Amazon Rerank 1.0 and Cohere Rerank 3.5 are the models that rerank",
    "guide; text assumed",
    message="The model {model} can't rerank. Choose a model that does.",
)
RERANK_RESULTS = rule(
    "rerank.results",
    "no more results are asked for than there are sources",
    "assumed",
    message="numberOfResults must be at most the number of sources, {most}",
)
RERANK_STAND_IN = rule(
    "rerank.stand-in",
    "a relevance is half the similarity of the local model, half the share of the question's words"
    " that the text has: it shows that order and scores are used, not how good a model's are",
    "assumed: no such model runs here",
)
