"""Rates, limits of the service model, resources, tags, and what any request may be answered."""

from bedrock_kb_simulator.rules.rule import conflict, over_quota, rule

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
    "Rerank": 10.0,
    "ApplyGuardrail": 50.0,
    "DetectDocumentText": 25.0,  # in us-east-1; fewer elsewhere
}
for _operation, _rate in RATES.items():
    rule(f"rate.{_operation}", f"{_rate:g} requests per second and account", "quotas", value=_rate)

RATE_EXCEEDED = rule(
    "rate.exceeded",
    "a request over its rate is refused; the burst is one second's worth, at least one",
    "quotas for the rates; text and burst assumed",
    error="ThrottlingException",
    message="Rate exceeded",
)
VECTOR_RATE_EXCEEDED = rule(
    "rate.vectors-exceeded",
    "S3 Vectors has an error of its own for too many requests; met as an injected fault only",
    "model; text assumed",
    error="TooManyRequestsException",
    message="Too many requests",
)
SIGNER_UNKNOWN = rule(
    "request.signer",
    "a call is signed by SigV4, with a key of the account and its session's token",
    "guide (troubleshooting-api-error-codes); text and code as IAM's CommonErrors has them",
    status=403,
    error="UnrecognizedClientException",
    message="The security token included in the request is invalid.",
)
SIGNATURE_WRONG = rule(
    "request.signature",
    "the signature is of this very request, and of the last five minutes",
    "observed; how long a signature holds is SigV4's",
    value=300,
    status=403,
    error="InvalidSignatureException",
    message=(
        "The request signature we calculated does not match the signature you provided. Check your"
        " AWS Secret Access Key and signing method."
    ),
)
REQUEST_CONFLICT = conflict(
    "request.conflict",
    "a change while another of the same resource is under way; met as an injected fault only",
    "model and observed (direct ingestion, DeleteDataSource) for the error; text assumed",
    message="The request conflicts with an operation that is in progress. Retry your request.",
)
SERVICE_UNAVAILABLE = rule(
    "request.unavailable",
    "the service is unavailable; met as an injected fault only",
    "observed for direct ingestion, model for S3 Vectors; text as S3 Vectors has it",
    error="ServiceUnavailableException",
    message="Currently unable to handle the request",
)
INTERNAL_ERROR = rule(
    "request.internal-error",
    "the service failed; met as an injected fault only",
    "model for the error; text assumed",
    error="InternalServerException",
    message="An internal server error occurred. Retry your request.",
)
MODEL_CONSTRAINT = rule(
    "request.model",
    "required members, lengths, ranges, patterns, enumerations and list sizes of the model",
    "model; the wording is that of AWS's validation framework",
    message="1 validation error detected: Value at '{at}' failed to satisfy constraint: {must}",
)
CLIENT_TOKEN_LIFETIME = rule(
    "request.client-token",
    "a repeated client token answers the first request's resource for 10 minutes",
    "model for the behaviour; observed that tokens expire within minutes; 10 assumed",
    value=600,
)
NO_SUCH_RESOURCE = rule(
    "request.not-found",
    "an id that does not exist",
    "model for the error; text assumed",
    error="ResourceNotFoundException",
    message="{what} with id {id} is not found.",
)
NOT_SIMULATED = rule(
    "request.not-simulated",
    "features that the simulator lacks are refused, never ignored",
    "assumed",
    message="The local simulator does not offer {what}.",
)


# Tags of resources. Bedrock's CloudFormation reference refers to AWS's general rules, by which
# `aws:` is for AWS itself.
# https://docs.aws.amazon.com/tag-editor/latest/userguide/tagging.html#tag-conventions

TAG_RESERVED = rule(
    "tags.reserved",
    "keys that begin with aws: are AWS's own, in whatever case",
    "guide to AWS's tags; error and text assumed",
    message="Tag key {key} is reserved: keys must not begin with aws:",
)
TAGS_KEPT = rule(
    "tags.kept",
    "a resource has the tags that it was created with; deleting it deletes them",
    "model for the first; the other assumed",
)


# Knowledge bases and data sources.

KNOWLEDGE_BASES_PER_ACCOUNT = over_quota(
    "knowledge-base.per-account",
    "100 knowledge bases per account",
    "quotas; text assumed",
    value=100,
    message="You have reached the maximum number of knowledge bases per account: {limit}",
)
KNOWLEDGE_BASE_NAME_TAKEN = conflict(
    "knowledge-base.name-taken",
    "names of knowledge bases are unique in the account",
    "observed",
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
    "the vector index must exist when the knowledge base is created",
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
DATA_SOURCES_PER_KNOWLEDGE_BASE = over_quota(
    "data-source.per-knowledge-base",
    "5 data sources per knowledge base",
    "quotas; text assumed",
    value=5,
    message="You have reached the maximum number of data sources per knowledge base: {limit}",
)
DATA_SOURCE_NAME_TAKEN = conflict(
    "data-source.name-taken",
    "names of data sources are unique in a knowledge base",
    "model for the error; text assumed",
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
    "UpdateDataSource replaces the whole configuration; omitted members are cleared",
    "observed",
)
DATA_SOURCE_BEING_DELETED = conflict(
    "data-source.being-deleted",
    "a data source that is being deleted refuses work and a second deletion",
    "assumed",
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
    "deletion of a data source without its vector index ends in DELETE_UNSUCCESSFUL",
    "observed",
    message="Unable to delete data from vector store for data source with ID {id}. Check your "
    "vector store configurations and permissions and retry your request. If the issue persists, "
    "consider updating the dataDeletionPolicy of the data source to RETAIN and retry your request.",
)
