"""Rates, and what any request may be answered."""

from bedrock_kb_simulator.rules.rule import rule

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
    "RetrieveAndGenerateStream": 20.0,
    "Rerank": 10.0,
    "ApplyGuardrail": 50.0,
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
    status=403,
    error="InvalidSignatureException",
    message=(
        "The request signature we calculated does not match the signature you provided. Check your"
        " AWS Secret Access Key and signing method."
    ),
)
REQUEST_CONFLICT = rule(
    "request.conflict",
    "a change while another of the same resource is under way; met as an injected fault only",
    "model and observed (direct ingestion, DeleteDataSource) for the error; text assumed",
    error="ConflictException",
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
    "what the simulator does not offer is refused, never ignored",
    "assumed",
    message="The local simulator does not offer {what}.",
)
