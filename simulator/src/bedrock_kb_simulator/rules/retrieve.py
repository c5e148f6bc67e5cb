"""Retrieve and its filters."""

from bedrock_kb_simulator.rules.rule import rule

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
    "observed of a managed one with vectorSearchConfiguration; text after that",
    message="Incompatible configuration: managedSearchConfiguration is not supported for vector"
    " knowledge bases. Use vectorSearchConfiguration instead.",
)
HYBRID_SEARCH = rule(
    "retrieve.hybrid",
    "S3 Vectors searches SEMANTIC only, and HYBRID is refused",
    "observed, several times, with this text; the guide has it that such a query is semantic",
    message="HYBRID search type is not supported for search operation on index {knowledge_base}.",
)
# One user measured customDocumentLocation, and didn't say how the content was given: README of
# ballerinax ai.aws.bedrock, 2026-09. A result's location has room for either.
CUSTOM_LOCATION = rule(
    "retrieve.custom-location",
    "Retrieve locates a document of a CUSTOM data source by its id, wherever its content was;"
    " `--custom-documents-tell location` of the simulator makes it the URI of the S3 object with"
    " the content, also in x-amz-bedrock-kb-source-uri",
    "model for the members; observed once that it is the id; for content in S3 assumed",
)
RETRIEVE_PAGE = rule(
    "retrieve.page",
    "results that don't fit in a response come with a nextToken, in total no more than"
    " numberOfResults; AWS doesn't document how much fits: here 1 MiB of results, at least one",
    "model for the token; the size assumed",
    value=1024 * 1024,
)
RETRIEVE_TOKEN = rule(
    "retrieve.next-token",
    "nextToken of Retrieve and of QueryVectors continues the same request for several minutes; any"
    " other is refused; each page counts against the rate, and later changes may show",
    "guide for QueryVectors, model that it is for the same search; five minutes and the text"
    " assumed, and for Retrieve all else, after S3 Vectors",
    value=300,
    message="The provided nextToken is not valid for this request",
)
FILTERED_LAG = rule(
    "retrieve.filtered-lag",
    "a filtered search on S3 Vectors may miss a document that was just ingested; as an injected"
    " fault, for some seconds, and by searches without a filter, too",
    "observed (README of ballerinax ai.aws.bedrock, 2026-09); for how long, and that it is so"
    " without a filter, are assumed",
)
FILTER_OPERATOR = rule(
    "filter.operator",
    "startsWith and stringContains are refused on S3 Vectors",
    "guide; text observed",
    message="{operator} operation type is not supported for S3 Vectors",
)
# Sources contradict each other. https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html
# has S3 Vectors without the two operators above and no others, S3 Vectors itself has $in and $nin,
# and AWS's own awslabs.bedrock-kb-retrieval-mcp-server asks with `in` whatever the store is. One
# user wrote of a move to S3 Vectors in Tokyo, in August 2026, that equals and listContains were
# taken, and startsWith, stringContains and `in` were not.
FILTER_IN = rule(
    "filter.in",
    "in and notIn are accepted on S3 Vectors, with lists of scalars, also for Bedrock's own keys",
    "guide and model, which except neither; one user observed that `in` is refused",
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
    "guide; text observed at Rerank, for Retrieve the same assumed",
    message="The provided model ARN for reranking is invalid. Please, use a valid model ARN. Also"
    " check the model ARN follows this format:"
    " arn:<partition>:bedrock:<region>:<foundation-model/<model-id>",
)
RERANK_RESULTS = rule(
    "rerank.results",
    "numberOfResults is at most the number of sources",
    "assumed",
    message="numberOfResults must be at most the number of sources, {most}",
)
RERANKING_AT_RETRIEVE = rule(
    "retrieve.reranking",
    "the model orders what the search found and leaves the numberOfRerankedResults best, all of"
    " numberOfResults at most; it reads the attributes that metadataConfiguration chooses, none"
    " without it; the score of a result is its relevance",
    "guide and model; observed that more reranked results than numberOfResults are no error and"
    " never come; that no attributes are read by default, and the score, assumed",
)
RERANKING_EMPTY = rule(
    "retrieve.reranking-empty",
    "a rerankingConfiguration of Retrieve names a model",
    "assumed: the model has the member optional",
    message="rerankingConfiguration needs bedrockRerankingConfiguration",
)
RERANKING_FIELDS = rule(
    "retrieve.reranking-fields",
    "SELECTIVE goes with fields to include or fields to exclude, ALL with neither",
    "model; text, and that ALL with fields is refused, assumed",
    message="selectionMode SELECTIVE needs either fieldsToInclude or fieldsToExclude, and ALL takes"
    " neither",
)
RERANK_STAND_IN = rule(
    "rerank.stand-in",
    "a relevance is half the similarity of the local model, half the share of the question's words"
    " that the text has: it shows that order and scores are used, not how good a model's are",
    "assumed: no such model runs here",
)
