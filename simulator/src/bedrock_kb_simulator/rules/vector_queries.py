"""QueryVectors of S3 Vectors, and its filters."""

from bedrock_kb_simulator.rules.rule import rule

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
QUERY_TOKEN = rule(
    "query.next-token",
    "nextToken continues the same query for several minutes; what was written meanwhile may show",
    "guide; five minutes and the text assumed",
    value=300,
    message="The provided nextToken is not valid for this request",
)
QUERY_CLASSIC = rule(
    "query.classic",
    "queryMode CLASSIC is refused for an ENHANCED index",
    "model; text assumed",
    message="The query mode CLASSIC is not available for a vector index in ENHANCED mode",
)
CLASSIC_REACH = rule(
    "query.classic-filter",
    "in CLASSIC mode the filter is applied during the search, so that a selective one may give"
    " fewer than topK: here to the nearest ten times topK",
    "guide; how far it reaches is assumed",
    value=10,
)
QUERY_TEXT_CLASSIC = rule(
    "query.text-mode",
    "queryTexts need an index in ENHANCED mode",
    "model; text assumed",
    message="Full-text search requires a vector index in ENHANCED mode",
)
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
    "a text is free text, never syntax, and matches what has any of its words; without a word to"
    " search for it finds nothing and is no error; of several texts the BM25 scores are added up",
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
    "returnScores tells bm25Scores of the keys that matched, and of hybrid results fused, and"
    " vectorDistance where the vector search found them; it adds nothing to vector-only ones",
    "model",
)
QUERY_FILTER_FIRST = rule(
    "query.filter-first",
    "in ENHANCED mode the filter is applied before any ranking; how rare a word is, is counted over"
    " the whole index",
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
    "ranges compare numbers, $startsWith strings, $exists takes a boolean, $in and $nin lists of"
    " scalars, the others a scalar",
    "guide; text assumed",
    message="Invalid query filter: {operator} of key '{key}' has a value of another type",
)
VECTOR_FILTER_KEY = rule(
    "vector-filter.key",
    "non-filterable keys are refused",
    "guide; text assumed",
    message="Invalid use of non-filterable metadata in filter: '{key}'",
)
VECTOR_FILTER_STARTS_WITH = rule(
    "vector-filter.starts-with",
    "$startsWith in ENHANCED mode only",
    "guide; text assumed",
    message="Invalid query filter: $startsWith requires ENHANCED mode",
)
VECTOR_FILTER_CONSTRAINTS = rule(
    "vector-filter.constraints",
    "at most 100 constraints; an $in of n values counts n",
    "guide; text assumed",
    value=100,
    message="Invalid query filter: at most {limit} constraints are allowed",
)
