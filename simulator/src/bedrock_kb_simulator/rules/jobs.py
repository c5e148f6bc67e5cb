"""Ingestion jobs."""

from bedrock_kb_simulator.rules.rule import rule

JOBS_PER_KNOWLEDGE_BASE = rule(
    "job.per-knowledge-base",
    "one job at a time in a knowledge base, whichever of its data sources it is for; the limit of "
    "one per data source never shows, since this one is met first",
    "quotas; text observed",
    value=1,
    error="ConflictException",
    message="You have reached the maximum number of concurrent ingestion jobs per knowledge base: "
    "{limit}",
)
JOBS_PER_ACCOUNT = rule(
    "job.per-account",
    "5 jobs at a time in an account",
    "quotas; error and text assumed after those of the knowledge base",
    value=5,
    error="ConflictException",
    message="You have reached the maximum number of concurrent ingestion jobs per account: {limit}",
)
JOB_QUOTA = rule(
    "job.quota",
    "a start that names a quota instead of a conflict; met as an injected fault only",
    "model for the error; text assumed after that of the conflict",
    value=5,
    error="ServiceQuotaExceededException",
    message="You have reached the maximum number of concurrent ingestion jobs per account: {limit}",
)
JOB_DURING_DIRECT = rule(
    "job.during-direct",
    "no job while documents are ingested or deleted directly",
    "observed; the wording around 'ongoing KnowledgeBaseDocuments API request' assumed",
    message="There is an ongoing KnowledgeBaseDocuments API request for this data source",
)
JOB_NOT_FOR_CUSTOM = rule(
    "job.not-for-custom",
    "a CUSTOM data source is never synced",
    "guide; text assumed",
    message="Ingestion jobs are not supported for data sources of type CUSTOM",
)
JOB_NOT_RUNNING = rule(
    "job.not-running",
    "only a running job can be stopped",
    "model for the error; text assumed",
    error="ConflictException",
    message="Ingestion job {id} is not in a state that can be stopped: {status}",
)
JOB_STARTING = rule("job.starting", "STARTING for a few seconds", "assumed", value=4)
JOB_SHORTEST = rule("job.shortest", "a job takes at least some seconds", "assumed", value=12)
JOB_AT_A_TIME = rule(
    "job.at-a-time",
    "a job indexes one document at a time; benchmarks have others that index 8 or 16",
    "assumed: nothing says how many",
    value=1,
)
JOB_STOPPING = rule("job.stopping", "STOPPING takes about 25 s", "observed", value=25)
JOB_FAILED = rule(
    "job.failed",
    "a job that can't read its bucket, or that a crash of the simulator ended, is FAILED",
    "text assumed",
    message="Encountered error: {cause}. Call to Customer Source did not succeed.",
)
JOB_INCREMENTAL = rule(
    "job.incremental",
    "unchanged documents are skipped, failed ones tried again; where the sidecar alone changed,"
    " nothing is embedded anew, except for CSV",
    "guide",
)
JOB_EQUAL_TO_BUCKET = rule(
    "job.equal-to-bucket",
    "a job undoes what was done directly: it takes in again what was deleted, and removes what does"
    " not lie under the prefix",
    "guide",
)
FAILURE_REASONS = rule(
    "job.failure-reasons",
    "at most 2,048 failure reasons, not in ListIngestionJobs",
    "model",
    value=2048,
)
SEARCHABLE_LAG = rule(
    "job.searchable-lag",
    "new passages are found a few seconds after INDEXED; those they replace go at that moment",
    "observed (3.4 s)",
    value=3,
)
INDEXED_IN_SPITE = rule(
    "job.indexed-in-spite",
    "a document whose vectors were all refused by S3 Vectors still reads INDEXED; only the "
    "statistics and failureReasons tell",
    "observed",
)
