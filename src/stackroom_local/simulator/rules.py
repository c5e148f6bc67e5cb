"""
Every limit, delay and error text that the simulator enforces, by name and with its source.

Sources: `model` is the botocore service model, `quotas` the AWS General Reference page "Amazon
Bedrock endpoints and quotas", `guide` the Bedrock or S3 Vectors user guide, `observed` what users
of the real service reported, `assumed` our choice where nothing says. docs/fidelity.md is
generated from `RULES`.
"""

from dataclasses import dataclass
from typing import Any

from stackroom_local.simulator.errors import ServiceError


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What AWS does; `broken` is the error it answers, `value` the number that matters."""

    name: str
    says: str
    source: str
    value: float = 0
    error: str = "ValidationException"
    message: str = ""

    @property
    def limit(self) -> int:
        return int(self.value)

    def broken(self, **details: Any) -> ServiceError:
        return ServiceError(self.error, self.message.format(limit=self.limit, **details))


RULES: dict[str, Rule] = {}


def _rule(name: str, says: str, source: str, **details: Any) -> Rule:
    assert name not in RULES, f"two rules are named {name}"
    RULES[name] = Rule(name=name, says=says, source=source, **details)
    return RULES[name]


# Requests

RATES = {
    "CreateKnowledgeBase": 2.0,
    "UpdateKnowledgeBase": 2.0,
    "DeleteKnowledgeBase": 2.0,
    "GetKnowledgeBase": 10.0,
    "ListKnowledgeBases": 10.0,
    "CreateDataSource": 2.0,
    "UpdateDataSource": 2.0,
    "DeleteDataSource": 2.0,
    "GetDataSource": 10.0,
    "ListDataSources": 10.0,
    "StartIngestionJob": 0.1,
    "GetIngestionJob": 10.0,
    "ListIngestionJobs": 10.0,
    "IngestKnowledgeBaseDocuments": 5.0,
    "DeleteKnowledgeBaseDocuments": 5.0,
    "GetKnowledgeBaseDocuments": 5.0,
    "ListKnowledgeBaseDocuments": 5.0,
    "Retrieve": 20.0,
    "RetrieveAndGenerate": 20.0,
}
for _operation, _rate in RATES.items():
    _rule(f"rate.{_operation}", f"{_rate:g} requests per second and account", "quotas", value=_rate)

RATE_EXCEEDED = _rule(
    "rate.exceeded",
    "a request over its rate is refused; the burst is one second's worth, at least one",
    "quotas for the rates; text and burst assumed",
    error="ThrottlingException",
    message="Rate exceeded",
)
MODEL_CONSTRAINT = _rule(
    "request.model",
    "required members, lengths, ranges, patterns, enumerations and list sizes of the model,"
    " among them names (1-100 letters and digits joined by single - or _), client tokens (33-256),"
    " one inclusion prefix, 10 documents or identifiers per call and 1-100 results",
    "model; the wording is that of AWS's validation framework",
    message="1 validation error detected: Value at '{at}' failed to satisfy constraint: {must}",
)
CLIENT_TOKEN_LIFETIME = _rule(
    "request.client-token",
    "a repeated client token answers the first request's resource for 10 minutes",
    "model for the behaviour; observed that tokens expire within minutes; 10 assumed",
    value=600,
)
NO_SUCH_RESOURCE = _rule(
    "request.not-found",
    "an id that does not exist",
    "model for the error; text assumed",
    error="ResourceNotFoundException",
    message="{what} with id {id} is not found.",
)
NOT_SIMULATED = _rule(
    "request.not-simulated",
    "what the simulator does not offer is refused, never ignored",
    "assumed",
    message="The local simulator does not offer {what}.",
)

# Knowledge bases and data sources

KNOWLEDGE_BASES_PER_ACCOUNT = _rule(
    "knowledge-base.per-account",
    "100 knowledge bases per account",
    "quotas; text assumed",
    value=100,
    error="ServiceQuotaExceededException",
    message="You have reached the maximum number of knowledge bases per account: {limit}",
)
KNOWLEDGE_BASE_NAME_TAKEN = _rule(
    "knowledge-base.name-taken",
    "names of knowledge bases are unique in the account",
    "observed",
    error="ConflictException",
    message="KnowledgeBase with name {name} already exists",
)
KNOWLEDGE_BASE_CREATION = _rule(
    "knowledge-base.creation", "CREATING for a few seconds, then ACTIVE", "assumed", value=2
)
KNOWLEDGE_BASE_IMMUTABLE = _rule(
    "knowledge-base.immutable",
    "vector and storage configuration can't change",
    "guide; text assumed",
    message="The knowledge base configuration and storage configuration can't be changed.",
)
VECTOR_INDEX_MISSING = _rule(
    "knowledge-base.index-missing",
    "the vector index must exist when the knowledge base is made",
    "guide; text assumed",
    message="The knowledge base storage configuration provided is invalid... "
    "The specified index could not be found",
)
VECTOR_INDEX_DIMENSION = _rule(
    "knowledge-base.index-dimension",
    "the index has the embedding model's dimension",
    "guide; text assumed",
    message="The knowledge base storage configuration provided is invalid... The embedding model "
    "has {model} dimensions, the index has {index}",
)
INDEX_ARN_OR_NAME = _rule(
    "knowledge-base.index-arn-or-name",
    "indexArn, or vectorBucketArn with indexName, never both",
    "CloudFormation schema; text assumed",
    message="Provide either indexArn or vectorBucketArn and indexName in s3VectorsConfiguration",
)
DATA_SOURCES_PER_KNOWLEDGE_BASE = _rule(
    "data-source.per-knowledge-base",
    "5 data sources per knowledge base",
    "quotas; text assumed",
    value=5,
    error="ServiceQuotaExceededException",
    message="You have reached the maximum number of data sources per knowledge base: {limit}",
)
DATA_SOURCE_NAME_TAKEN = _rule(
    "data-source.name-taken",
    "names of data sources are unique in a knowledge base",
    "model for the error; text assumed",
    error="ConflictException",
    message="DataSource with name {name} already exists",
)
DATA_SOURCE_DELETION = _rule(
    "data-source.deletion", "DELETING for a few seconds, then gone", "guide; 5 s assumed", value=5
)
DATA_SOURCE_BEING_DELETED = _rule(
    "data-source.being-deleted",
    "a data source that is being deleted takes no more work",
    "assumed",
    error="ConflictException",
    message="DataSource with id {id} is being deleted",
)
DATA_SOURCE_HAS_JOB = _rule(
    "data-source.has-job",
    "no deletion while a job runs or stops",
    "observed",
    message="There is at least one running ingestion job for this data source",
)
DATA_SOURCE_DELETION_FAILED = _rule(
    "data-source.deletion-failed",
    "deleting a data source whose vector index is gone ends DELETE_UNSUCCESSFUL",
    "observed",
    message="Unable to delete data from vector store for data source with ID {id}. Check your "
    "vector store configurations and permissions and retry your request. If the issue persists, "
    "consider updating the dataDeletionPolicy of the data source to RETAIN and retry your request.",
)
CHUNKING_IMMUTABLE = _rule(
    "data-source.chunking-immutable",
    "the chunking strategy can't change",
    "model; text assumed",
    message="The chunking configuration of a data source can't be changed.",
)
DEFAULT_CHUNK_TOKENS = _rule(
    "chunk.tokens", "300 tokens where nothing is configured", "guide", value=300
)
DEFAULT_CHUNK_OVERLAP = _rule(
    "chunk.overlap", "20 % overlap where nothing is configured", "guide", value=20
)

# Ingestion jobs

JOBS_PER_KNOWLEDGE_BASE = _rule(
    "job.per-knowledge-base",
    "one job at a time in a knowledge base, whichever of its data sources it is for; the limit of "
    "one per data source never shows, since this one is met first",
    "quotas; text observed",
    value=1,
    error="ConflictException",
    message="You have reached the maximum number of concurrent ingestion jobs per knowledge base: "
    "{limit}",
)
JOBS_PER_ACCOUNT = _rule(
    "job.per-account",
    "5 jobs at a time in an account",
    "quotas; error and text assumed after those of the knowledge base",
    value=5,
    error="ConflictException",
    message="You have reached the maximum number of concurrent ingestion jobs per account: {limit}",
)
JOB_DURING_DIRECT = _rule(
    "job.during-direct",
    "no job while documents are ingested or deleted directly",
    "observed; the wording around 'ongoing KnowledgeBaseDocuments API request' assumed",
    message="There is an ongoing KnowledgeBaseDocuments API request for this data source",
)
JOB_NOT_FOR_CUSTOM = _rule(
    "job.not-for-custom",
    "a CUSTOM data source is never synced",
    "guide; text assumed",
    message="Ingestion jobs are not supported for data sources of type CUSTOM",
)
JOB_NOT_RUNNING = _rule(
    "job.not-running",
    "only a running job can be stopped",
    "model for the error; text assumed",
    error="ConflictException",
    message="Ingestion job {id} is not in a state that can be stopped: {status}",
)
JOB_STARTING = _rule("job.starting", "STARTING for a few seconds", "assumed", value=4)
JOB_SHORTEST = _rule("job.shortest", "a job takes at least some seconds", "assumed", value=12)
JOB_STOPPING = _rule("job.stopping", "STOPPING takes about 25 s", "observed", value=25)
JOB_FAILED = _rule(
    "job.failed",
    "a job that can't read its bucket, or that a crash of the simulator ended, is FAILED",
    "text assumed",
    message="Encountered error: {cause}. Call to Customer Source did not succeed.",
)
FAILURE_REASONS = _rule(
    "job.failure-reasons",
    "at most 2,048 failure reasons, not in ListIngestionJobs",
    "model",
    value=2048,
)
SEARCHABLE_LAG = _rule(
    "job.searchable-lag",
    "new passages are found a few seconds after INDEXED; those they replace go at that moment",
    "observed (3.4 s)",
    value=3,
)
INDEXED_IN_SPITE = _rule(
    "job.indexed-in-spite",
    "a document whose vectors were all refused by S3 Vectors still reads INDEXED; only the "
    "statistics and failureReasons tell",
    "observed",
)

# Files and sidecars

FORMATS = ("txt", "md", "html", "doc", "docx", "csv", "xls", "xlsx", "pdf")
FILE_FORMAT = _rule(
    "file.format",
    f"{', '.join(FORMATS)}; others are IGNORED",
    "guide; text observed",
    message="Ignored {count} files as their file format was not supported.",
)
FILE_SCRIPT = _rule(
    "file.script", "a file that begins with a shebang is no supported format", "observed"
)
FILE_SIZE = _rule(
    "file.size",
    "at most 50 MB",
    "quotas; text assumed after that of the sidecar",
    value=52_428_800,
    message="Ignored {count} files as they were larger than service limit of "
    "MaximumFileSizeSupported: 52428800 bytes.",
)
FILE_UNREADABLE = _rule(
    "file.unreadable",
    "encrypted, truncated, empty or without text: FAILED with no useful reason",
    "model (a reason is promised for IGNORED only); text observed for other causes",
    message="Issue occurred while processing file.",
)
SIDECAR_SIZE = _rule(
    "sidecar.size",
    "at most 1,024 bytes on S3 Vectors (the guide's 10 KB hold for other stores); a new document "
    "is left out without a status, one that was indexed keeps what it had",
    "observed, text too",
    value=1024,
    message="Ignored {count} files as the associated metadata was larger than service limit of "
    "MaximumFileSizeSupported: 1024 bytes.",
)
SIDECAR_INVALID = _rule(
    "sidecar.invalid",
    "metadataAttributes with strings, numbers, booleans or lists of 1-10 strings, simple or full "
    "form, no key that starts with x-amz-bedrock",
    "guide and model; text observed",
    message="Ignored {count} files due to invalid metadata attributes. Check that the attribute "
    "keys and values don't exceed the character quota, and that the attribute values are "
    "acceptable data types (strings, numbers, or Booleans). Then retry your request",
)
ATTRIBUTE_KEY_LENGTH = _rule("sidecar.key-length", "keys of at most 200", "model", value=200)
ATTRIBUTE_TEXT_LENGTH = _rule(
    "sidecar.text-length", "string values of 1-2,048 characters", "model", value=2048
)
ATTRIBUTE_LIST_SIZE = _rule("sidecar.list-size", "lists of 1-10 strings", "model", value=10)
CUSTOM_METADATA_KEYS = _rule(
    "metadata.custom-keys",
    "at most 35 custom keys per vector through Bedrock",
    "guide; text assumed",
    value=35,
    message="Invalid record for key '{key}': Metadata must have at most {limit} keys "
    "(Service: S3Vectors, Status Code: 400).",
)
CUSTOM_METADATA_SIZE = _rule(
    "metadata.custom-size",
    "at most 1 KB of custom metadata per vector through Bedrock",
    "guide; text assumed",
    value=1024,
    message="Invalid record for key '{key}': Custom metadata must have at most {limit} bytes "
    "(Service: S3Vectors, Status Code: 400).",
)
FILTERABLE_METADATA_SIZE = _rule(
    "metadata.filterable-size",
    "at most 2,048 filterable bytes per vector; the text counts unless the index names "
    "AMAZON_BEDROCK_TEXT non-filterable",
    "guide; text observed",
    value=2048,
    message="Invalid record for key '{key}': Filterable metadata must have at most {limit} bytes "
    "(Service: S3Vectors, Status Code: 400).",
)
METADATA_SIZE = _rule(
    "metadata.size",
    "at most 40 KB of metadata per vector",
    "guide; text assumed after that of the filterable part",
    value=40_960,
    message="Invalid record for key '{key}': Metadata must have at most {limit} bytes "
    "(Service: S3Vectors, Status Code: 400).",
)

# Documents

NOT_YET_SYNCED = _rule(
    "document.first-sync",
    "a new S3 data source must be synced once before the document operations work",
    "guide; text assumed",
    message="Data source {id} must be synced at least once before its documents can be used",
)
DIRECT_DURING_JOB = _rule(
    "document.during-job",
    "no direct ingestion or deletion while a job runs in the knowledge base",
    "observed; the end of the text assumed",
    message="There is at least one running ingestion job for this knowledge base",
)
DIRECT_CONCURRENCY = _rule(
    "document.concurrent",
    "10 direct requests at a time in an account, each until its documents are settled",
    "quotas; text observed",
    value=10,
    message="The sum of concurrent IngestKnowledgeBaseDocuments and DeleteKnowledgeBaseDocuments "
    "requests can't exceed ({limit})",
)
DIRECT_DURATION = _rule(
    "document.duration", "a direct request takes some seconds", "observed", value=4
)
WRONG_IDENTIFIER = _rule(
    "document.identifier",
    "an identifier is of its data source's type",
    "guide; text assumed",
    message="The document's data source type {given} does not match that of the data source, {is_}",
)
DOCUMENT_CONTENT = _rule(
    "document.content",
    "inline content goes with inline metadata to CUSTOM data sources only",
    "guide; text assumed",
    message="{problem}",
)

# Retrieval

QUERY_LENGTH = _rule(
    "retrieve.query-length",
    "1-1,000 characters",
    "quotas; text assumed",
    value=1000,
    message="The query must have between 1 and {limit} characters",
)
DEFAULT_RESULTS = _rule("retrieve.default-results", "5 results", "model", value=5)
MODEL_MISMATCH = _rule(
    "retrieve.managed-configuration",
    "managedSearchConfiguration is for managed knowledge bases",
    "observed; text assumed after 'Incompatible configuration'",
    message="Incompatible configuration: managedSearchConfiguration needs a MANAGED knowledge base",
)
HYBRID_SEARCH = _rule(
    "retrieve.hybrid",
    "S3 Vectors searches SEMANTIC only",
    "guide; text assumed",
    message="HYBRID search type is not supported for S3 Vectors",
)
FILTER_OPERATOR = _rule(
    "filter.operator",
    "startsWith, stringContains, in and notIn are refused on S3 Vectors",
    "guide for the first two; observed for `in`, which is disputed: refusing is the safe reading",
    message="{operator} operation type is not supported for S3 Vectors",
)
FILTER_GROUP = _rule(
    "filter.group-size",
    "2-5 members per group",
    "model for 2, guide for 5; text assumed",
    value=5,
    message="A filter group must have between 2 and {limit} members",
)
FILTER_DEPTH = _rule(
    "filter.depth",
    "groups within groups, once",
    "guide; text assumed",
    value=2,
    message="Filters can be embedded one level deep only",
)
FILTER_UNION = _rule(
    "filter.union",
    "exactly one operator per filter",
    "model (a union); text assumed",
    message="A filter must have exactly one operator",
)
FILTER_VALUE = _rule(
    "filter.value",
    "ranges compare numbers, listContains looks for a string, the others take a scalar",
    "guide; text assumed",
    message="The value of {operator} for key {key} has a type that the operator does not accept",
)
GUARDRAIL_MISSING = _rule(
    "retrieve.guardrail",
    "a guardrail that does not exist; none can be made here",
    "model for the shape; text assumed",
    message="The guardrail identifier or version provided in the request does not exist.",
)

# S3 Vectors

VECTOR_BUCKET_TAKEN = _rule(
    "vector-bucket.taken",
    "names of vector buckets are unique",
    "model; text assumed",
    error="ConflictException",
    message="A vector bucket with the specified name already exists",
)
VECTOR_BUCKET_NOT_EMPTY = _rule(
    "vector-bucket.not-empty",
    "only an empty vector bucket can be deleted",
    "guide; text assumed",
    error="ConflictException",
    message="The specified vector bucket is not empty",
)
VECTOR_BUCKET_GONE = _rule(
    "vector-bucket.not-found",
    "a vector bucket that does not exist",
    "model; text assumed",
    error="NotFoundException",
    message="The specified vector bucket could not be found",
)
INDEX_TAKEN = _rule(
    "index.taken",
    "names of indexes are unique in a bucket",
    "model; text assumed",
    error="ConflictException",
    message="An index with the specified name already exists",
)
INDEX_GONE = _rule(
    "index.not-found",
    "an index that does not exist",
    "model; text assumed",
    error="NotFoundException",
    message="The specified index could not be found",
)
