"""Knowledge bases and data sources."""

from bedrock_kb_simulator.rules.rule import rule

KNOWLEDGE_BASES_PER_ACCOUNT = rule(
    "knowledge-base.per-account",
    "100 knowledge bases per account",
    "quotas; text assumed",
    value=100,
    error="ServiceQuotaExceededException",
    message="You have reached the maximum number of knowledge bases per account: {limit}",
)
KNOWLEDGE_BASE_NAME_TAKEN = rule(
    "knowledge-base.name-taken",
    "names of knowledge bases are unique in the account",
    "observed",
    error="ConflictException",
    message="KnowledgeBase with name {name} already exists",
)
KNOWLEDGE_BASE_CREATION = rule(
    "knowledge-base.creation", "CREATING for a few seconds, then ACTIVE", "assumed", value=2
)
KNOWLEDGE_BASE_IMMUTABLE = rule(
    "knowledge-base.immutable",
    "vector and storage configuration can't change",
    "guide; text assumed",
    message="The knowledge base configuration and storage configuration can't be changed.",
)
VECTOR_INDEX_MISSING = rule(
    "knowledge-base.index-missing",
    "the vector index must exist when the knowledge base is made",
    "guide; text assumed",
    message="The knowledge base storage configuration provided is invalid... "
    "The specified index could not be found",
)
VECTOR_INDEX_DIMENSION = rule(
    "knowledge-base.index-dimension",
    "the index has the embedding model's dimension",
    "guide; text assumed",
    message="The knowledge base storage configuration provided is invalid... The embedding model "
    "has {model} dimensions, the index has {index}",
)
INDEX_ARN_OR_NAME = rule(
    "knowledge-base.index-arn-or-name",
    "indexArn, or vectorBucketArn with indexName, never both",
    "CloudFormation schema; text assumed",
    message="Provide either indexArn or vectorBucketArn and indexName in s3VectorsConfiguration",
)
DATA_SOURCES_PER_KNOWLEDGE_BASE = rule(
    "data-source.per-knowledge-base",
    "5 data sources per knowledge base",
    "quotas; text assumed",
    value=5,
    error="ServiceQuotaExceededException",
    message="You have reached the maximum number of data sources per knowledge base: {limit}",
)
DATA_SOURCE_NAME_TAKEN = rule(
    "data-source.name-taken",
    "names of data sources are unique in a knowledge base",
    "model for the error; text assumed",
    error="ConflictException",
    message="DataSource with name {name} already exists",
)
DATA_SOURCE_CREATING = rule(
    "data-source.creating",
    "AVAILABLE at once; as an injected fault CREATING for some seconds before",
    "model for the names; how long is assumed",
)
DATA_SOURCE_DELETION = rule(
    "data-source.deletion", "DELETING for a few seconds, then gone", "guide; 5 s assumed", value=5
)
DATA_SOURCE_RETAINED = rule(
    "data-source.retained",
    "with the policy RETAIN the vectors stay in the index; no knowledge base finds them any more",
    "guide; that Retrieve leaves them out is assumed",
)
DATA_SOURCE_REPLACED = rule(
    "data-source.replaced",
    "UpdateDataSource replaces the whole configuration; what it leaves out is as if never set",
    "observed",
)
DATA_SOURCE_BEING_DELETED = rule(
    "data-source.being-deleted",
    "a data source that is being deleted takes no more work, nor another deletion",
    "assumed",
    error="ConflictException",
    message="DataSource with id {id} is being deleted",
)
DATA_SOURCE_HAS_JOB = rule(
    "data-source.has-job",
    "no deletion while a job runs or stops",
    "observed",
    message="There is at least one running ingestion job for this data source",
)
DATA_SOURCE_DELETION_FAILED = rule(
    "data-source.deletion-failed",
    "deleting a data source whose vector index is gone ends DELETE_UNSUCCESSFUL",
    "observed",
    message="Unable to delete data from vector store for data source with ID {id}. Check your "
    "vector store configurations and permissions and retry your request. If the issue persists, "
    "consider updating the dataDeletionPolicy of the data source to RETAIN and retry your request.",
)
