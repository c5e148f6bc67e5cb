"""S3 Vectors: buckets and indexes, vectors, queries by vectors, words and both."""

from bedrock_kb_simulator.rules.rule import conflict, rule

VECTOR_BUCKET_TAKEN = conflict(
    "vector-bucket.taken",
    "names of vector buckets are unique",
    "model; text assumed",
    message="A vector bucket with the specified name already exists",
)
VECTOR_BUCKET_NOT_EMPTY = conflict(
    "vector-bucket.not-empty",
    "only an empty vector bucket can be deleted",
    "guide; text assumed",
    message="The specified vector bucket is not empty",
)
VECTOR_BUCKET_GONE = rule(
    "vector-bucket.not-found",
    "a vector bucket that does not exist",
    "model; text assumed",
    error="NotFoundException",
    message="The specified vector bucket could not be found",
)
VECTOR_POLICY = rule(
    "vector-bucket.policy",
    "a bucket has at most one policy, JSON with a Statement; it reads back as written; deleting"
    " a missing policy is no error",
    "model for the operations; what is refused, the text, and the last assumed, after S3",
    message="The vector bucket policy is not a valid policy document: JSON with a Statement",
)
VECTOR_POLICY_GONE = rule(
    "vector-bucket.policy-not-found",
    "a bucket without a policy has none to get",
    "model for the error; text assumed",
    error="NotFoundException",
    message="The specified vector bucket policy could not be found",
)
VECTOR_POLICY_DENIES = rule(
    "vector-bucket.policy-denies",
    "who signs by a key of IAM's, and a knowledge base's role, are refused what a Deny in the"
    " bucket's policy names, with any condition or none on aws:PrincipalArn, which is a role's ARN"
    " and not its session's",
    "model for the error; IAM guide for the rest and for the text (troubleshoot_access-denied)",
    error="AccessDeniedException",
    message="User: {caller} is not authorized to perform: s3vectors:{action} on resource:"
    " {resource} with an explicit deny in a resource-based policy",
)
VECTOR_POLICY_DENIES_ROLE = rule(
    "vector-bucket.policy-denies-role",
    "Bedrock works in an index as the knowledge base's role: denied to that, a document isn't"
    " written, a search is refused, and a data source's deletion fails",
    "the text of a job's failure observed (generative-ai-cdk-constructs 1305); elsewhere assumed",
    message="User: {role} is not authorized to perform: s3vectors:{action} on resource: {resource}"
    " with an explicit deny in a resource-based policy (Service: S3Vectors, Status Code: 403)."
    " Call to Amazon S3 Vectors did not succeed.",
)
INDEX_TAKEN = conflict(
    "index.taken",
    "names of indexes are unique in a bucket",
    "model; text assumed",
    message="An index with the specified name already exists",
)
INDEX_GONE = rule(
    "index.not-found",
    "an index that does not exist",
    "model; text assumed",
    error="NotFoundException",
    message="The specified index could not be found",
)
INDEX_UNNAMED = rule(
    "index.unnamed",
    "a request names an index by its ARN, or by its name and its bucket's",
    "model; text assumed",
    message="Specify either the index ARN, or both the vector bucket name and the index name",
)
VECTOR_DIMENSION = rule(
    "vector.dimension",
    "a vector has as many values as its index has dimensions, in PutVectors and in QueryVectors",
    "model; text assumed",
    message="Vector dimension mismatch: expected {dimension}, got {given}",
)
VECTOR_VALUES = rule(
    "vector.values",
    "values are finite as 32-bit floats: no NaN, no infinity",
    "model; text assumed",
    message="Vector data must contain only valid floating-point values",
)
VECTOR_ZERO = rule(
    "vector.zero",
    "no vector of zeros alone where the distance is the cosine",
    "model for PutVectors, assumed for QueryVectors; text assumed",
    message="Zero vectors are not allowed with the cosine distance metric",
)
VECTOR_KEYS = rule(
    "vector.metadata-keys",
    "at most 50 metadata keys per vector",
    "guide; text assumed",
    value=50,
    message="Invalid record for key '{key}': Metadata must have at most {limit} keys",
)
VECTOR_METADATA = rule(
    "vector.metadata-values",
    "metadata are strings, numbers, booleans and lists of them",
    "guide; text assumed",
    message="Invalid record for key '{key}': Metadata values must be strings, numbers, booleans or"
    " lists",
)
LIST_PAGE = rule(
    "vectors.page", "ListVectors has 500 vectors on a page by default", "model", value=500
)
# "Confirmed live" by the README of ballerinax's ai.aws.bedrock (September 2026), through Retrieve:
# a self-managed knowledge base has no source URI for documents of a CUSTOM data source, where
# location.customDocumentLocation.id tells them. AWS's guide lists the key, and no exception.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-bedrock-kb.html
SOURCE_KEY = rule(
    "vector.source-uri",
    "Bedrock writes x-amz-bedrock-kb-source-uri with each passage of a VECTOR knowledge base:"
    " the object's URI, or the id of a CUSTOM data source's document; `--custom-documents-tell"
    " without-uri` of the simulator omits the latter, since reports differ; all passages have"
    " x-amz-bedrock-kb-data-source-id",
    "guide for the keys; that of a CUSTOM document it is the id is assumed, observed that Retrieve"
    " has none, that its vectors have none either is inferred from that",
)
PUT_VECTORS = rule(
    "retrieve.put",
    "Retrieve finds what PutVectors wrote into a knowledge base's index, where it has the"
    " data-source id, the source URI and the text that Bedrock writes",
    "assumed: AWS says only that the index is the knowledge base's; this is the careful reading",
)


# QueryVectors of S3 Vectors, and its filters.

QUERY_EMPTY = rule(
    "query.empty",
    "a query has a vector, texts or both",
    "model; text assumed",
    message="The request must include queryVector, queryTexts, or both",
)
TOP_K = rule(
    "query.top-k",
    "topK is 1-10,000",
    "guide (the model has the 1 only); text assumed",
    value=10_000,
    message="topK must be between 1 and {limit}",
)
QUERY_PAGE = rule("query.page", "100 results on a page", "guide", value=100)
QUERY_TEXT_KEY = rule(
    "query.text-key",
    "queryTexts name keys that the index is searched by",
    "guide; text assumed",
    message="The metadata key '{key}' is not configured for full-text search",
)
QUERY_TEXT_TWICE = rule(
    "query.text-twice",
    "each key at most once in queryTexts",
    "model; text assumed",
    message="Each queryTexts entry must target a distinct metadata key",
)
QUERY_TEXT_BUILDING = rule(
    "query.text-building",
    "queryTexts on a key that is still BUILDING are refused",
    "model (it 'isn't yet serving queries'); that this is a ValidationException, and its text,"
    " are assumed",
    message="Full-text search on the metadata key '{key}' is being built and can't be queried yet",
)
FUSION = rule(
    "query.fusion",
    "a hybrid result's score is the sum of 1 / (k + its rank) over the rankings that have it",
    "model (Reciprocal Rank Fusion); k is not documented, 60 is assumed",
    value=60,
)
FUSION_DEPTH = rule(
    "query.fusion-depth",
    "each ranking of a hybrid query is as deep as topK, and at least 100; what lies deeper in one"
    " did not match it",
    "assumed: AWS says nothing of it",
    value=100,
)
QUERY_WORDS = rule(
    "query.words",
    "a query text is free text, never syntax, and matches vectors with any of its words;"
    " without words it finds nothing and is no error; the BM25 scores of several texts are added",
    "assumed",
)
QUERY_BM25 = rule(
    "query.bm25",
    "k1 is 1.2 and b 0.75; of N vectors with the key, a word that n of them have weighs"
    " ln(1 + (N - n + 0.5) / (n + 0.5)), as Lucene has it, so that a common word counts too",
    "model (BM25); its form and constants are assumed",
)
LONG_TEXT = rule(
    "query.long-text",
    "of a text with more words than this, those count that the fewest vectors have, so that a"
    " laptop need not weigh each common word of a whole passage",
    "assumed to change little, since rare words decide",
    value=32,
)
QUERY_SCORES = rule(
    "query.scores",
    "returnScores returns bm25Scores of the matching keys, and for hybrid results fused, and"
    " vectorDistance if the vector search found them; it adds nothing to vector-only results",
    "model",
)
QUERY_FILTER_FIRST = rule(
    "query.filter-first",
    "the filter is applied before any ranking; how rare a word is, is counted over the whole index",
    "model for the filter; assumed for the words",
)
VECTOR_FILTER_OPERATOR = rule(
    "vector-filter.operator",
    "$eq, $ne, $gt, $gte, $lt, $lte, $startsWith, $in, $nin, $exists, $and and $or; a value alone"
    " means $eq, several keys or operators mean all of them; $eq and $in match any element of a"
    " list, and $ne and $nin what is absent",
    "guide; several keys at the top, $in of lists and what is absent assumed; text assumed",
    message="Invalid query filter: unsupported operator {operator}",
)
VECTOR_FILTER_SHAPE = rule(
    "vector-filter.shape",
    "a filter, a group and a condition are not empty",
    "guide for groups; assumed for the others; text assumed",
    message="Invalid query filter: filters and groups must not be empty",
)
VECTOR_FILTER_VALUE = rule(
    "vector-filter.value",
    "ranges compare numbers, $startsWith strings; $exists takes a boolean, $in and $nin lists"
    " of scalars, the others a scalar",
    "guide; text assumed",
    message="Invalid query filter: {operator} of key '{key}' has a value of another type",
)
VECTOR_FILTER_KEY = rule(
    "vector-filter.key",
    "non-filterable keys are refused",
    "guide; text assumed",
    message="Invalid use of non-filterable metadata in filter: '{key}'",
)
VECTOR_FILTER_CONSTRAINTS = rule(
    "vector-filter.constraints",
    "at most 100 constraints; an $in of n values counts n; so in Retrieve's filters",
    "guide; that Bedrock hands them on so, and the text, assumed",
    value=100,
    message="Invalid query filter: at most {limit} constraints are allowed",
)


# What an index is searched by, besides its vectors.

TEXT_SEARCH_CHANGE = rule(
    "text-search.change",
    "UpdateMetadataConfiguration either adds or deletes",
    "model; text assumed",
    message="Specify either add or delete, but not both",
)
TEXT_SEARCH_TAKEN = conflict(
    "text-search.taken",
    "a key that is searchable can't be added again, not in another language, nor in one request",
    "model for the error; when it is answered, and the text, are assumed",
    message="The metadata key '{key}' already has a text search configuration",
)
TEXT_SEARCH_BUILDING = conflict(
    "text-search.building",
    "no change while a key of the index is BUILDING",
    "model for the error; when it is answered, and the text, are assumed",
    message="A text search configuration of this vector index is being built",
)
TEXT_SEARCH_ABSENT = rule(
    "text-search.absent",
    "only what is searchable can be deleted",
    "assumed, the text too",
    message="The metadata key '{key}' has no text search configuration",
)
TEXT_BACKFILL = rule(
    "text-search.backfill",
    "a key that is added to an index with vectors is BUILDING for some seconds, then ACTIVE; of an"
    " empty index it is ACTIVE at once",
    "model for the statuses; the time, and that an empty index needs none, are assumed",
    value=30,
)
TEXT_ANALYZERS = rule(
    "text-search.analyzers",
    "words are runs of letters and digits in small letters, accents kept; `en` drops Lucene's 33"
    " stop words from queries and compares Porter's stems; `zh`, `ja` and `ko` are cut into every"
    " two characters; the other languages are not stemmed here",
    "assumed after Lucene's analyzers: AWS names the languages, not what is done with them",
)
TEXT_VALUES = rule(
    "text-search.values",
    "strings are searched, of a list each string; a vector without the key is found by its others",
    "assumed: the guide speaks of strings only",
)
