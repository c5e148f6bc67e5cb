"""Documents, and their direct ingestion and deletion."""

from bedrock_kb_simulator.rules.rule import rule

DOCUMENT_STATUSES = rule(
    "document.statuses",
    "a directly ingested document reads STARTING, IN_PROGRESS, then how it ended; a deleted one"
    " DELETING, DELETE_IN_PROGRESS, then NOT_FOUND; in a job it reads PENDING until the job comes"
    " to it",
    "model for the names; their order assumed",
)
STATUS_REASON = rule(
    "document.status-reason", "a statusReason stands beside IGNORED, and nowhere else", "model"
)
DOCUMENT_LATE = rule(
    "document.late",
    "a document is settled when its job is COMPLETE; as an injected fault it reads IN_PROGRESS for"
    " some seconds after that",
    "assumed: nothing promises that the two change together",
)
DOCUMENT_UNSEEN = rule(
    "document.unseen",
    "a document that was accepted a moment ago may read NOT_FOUND in GetKnowledgeBaseDocuments for"
    " a while; as an injected fault, for some seconds",
    "observed (README of ballerinax ai.aws.bedrock, 2026-09); for how long is assumed",
)
DOCUMENT_SLOW = rule(
    "document.slow",
    "how long indexing takes varies by an order of magnitude; as an injected fault a direct request"
    " takes this many times as long",
    "observed (README of ballerinax ai.aws.bedrock, 2026-09)",
    value=10,
)
DOCUMENT_OVERWRITTEN = rule(
    "document.overwritten", "a document of the same id or URI is replaced", "guide"
)
NOT_YET_SYNCED = rule(
    "document.first-sync",
    "a new S3 data source must be synced once before the document operations work",
    "guide; text assumed",
    message="Data source {id} must be synced at least once before its documents can be used",
)
DIRECT_AFTER_SYNC = rule(
    "document.after-sync",
    "an S3 data source takes direct requests once a job of it was COMPLETE, even one that found"
    " nothing; one that failed or was stopped does not count",
    "guide that it must be synced first; what counts is assumed, as the harsher reading, text too",
    message="Data source {id} must be synced at least once before documents can be added to it or"
    " deleted from it",
)
DIRECT_BY_URI = rule(
    "document.by-uri",
    "an S3 data source takes any object that its role can read, under the prefix or not, by a URI"
    " of at most `s3://` and 128 characters, with the attributes of the sidecar that the request"
    " names; one that it does not name is not looked for",
    "model for the URI; guide (kb-direct-ingestion) that the next sync removes what does not lie"
    " under the prefix; of the sidecar, assumed",
)
DIRECT_DURING_JOB = rule(
    "document.during-job",
    "no direct ingestion or deletion while a job runs in the knowledge base",
    "observed; the end of the text assumed",
    message="There is at least one running ingestion job for this knowledge base",
)
DIRECT_CONCURRENCY = rule(
    "document.concurrent",
    "10 direct requests at a time in an account, each until its documents are settled",
    "quotas; text observed",
    value=10,
    message="The sum of concurrent IngestKnowledgeBaseDocuments and DeleteKnowledgeBaseDocuments "
    "requests can't exceed ({limit})",
)
DIRECT_PAYLOAD = rule(
    "document.payload",
    "at most 6 MB of inline content in a request",
    "quotas; text assumed",
    value=6_291_456,
    message="The total payload of the documents must have at most {limit} bytes",
)
DIRECT_DURATION = rule(
    "document.duration",
    "a direct request takes some seconds, and then those of its documents; benchmarks have others"
    " that take a minute",
    "observed (4-6 s; over a minute under load: strands-agents/harness-sdk, issue 3954); that its"
    " documents are indexed one after another is assumed",
    value=4,
)
DOCUMENT_WORK = rule(
    "document.work",
    "a document of more passages than these is left out, before any is embedded; a passage of more"
    " than 2,000 characters counts as several",
    "quotas bound the file (file.size), and nothing its passages; this bound and its text are ours,"
    " for a laptop embeds some 20 a second, and what waits behind a document waits for all of it",
    value=5000,
    message="Ignored {count} files as they have more than 5,000 passages, which is the most that"
    " the local simulator embeds of a file (AWS takes more). Cut the file into smaller ones.",
)
OBJECT_GONE = rule(
    "document.object-gone",
    "a document whose object is deleted while it is indexed ends as FAILED soon after, so that a"
    " laptop does not go on for minutes with what nobody wants",
    "assumed: AWS says neither when it reads an object nor whether it can be stopped",
)
WRONG_IDENTIFIER = rule(
    "document.identifier",
    "an identifier is of its data source's type",
    "guide; text assumed",
    message="The document's data source type {given} does not match that of the data source, {is_}",
)
DOCUMENT_CONTENT = rule(
    "document.content",
    "inline content goes with inline metadata to CUSTOM data sources only",
    "guide; text assumed",
    message="{problem}",
)
