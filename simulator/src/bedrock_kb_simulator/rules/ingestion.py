"""Documents: their files, their way into an index, directly or by a job, and how they are cut."""

from bedrock_kb_simulator.rules.rule import conflict, over_quota, rule

JOBS_PER_KNOWLEDGE_BASE = conflict(
    "job.per-knowledge-base",
    "one job at a time in a knowledge base, whichever of its data sources it is for; the limit of "
    "one per data source never shows, since this one is met first",
    "quotas; text observed",
    value=1,
    message="You have reached the maximum number of concurrent ingestion jobs per knowledge base: "
    "{limit}",
)
JOBS_PER_ACCOUNT = conflict(
    "job.per-account",
    "5 jobs at a time in an account",
    "quotas; error and text assumed after those of the knowledge base",
    value=5,
    message="You have reached the maximum number of concurrent ingestion jobs per account: {limit}",
)
JOB_QUOTA = over_quota(
    "job.quota",
    "a start that names a quota instead of a conflict; met as an injected fault only",
    "model for the error; text assumed after that of the conflict",
    value=5,
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
JOB_NOT_RUNNING = conflict(
    "job.not-running",
    "only a running job can be stopped",
    "model for the error; text assumed",
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
    "unchanged documents are skipped and failed ones retried; if only the sidecar changed,"
    " nothing is embedded again, except for CSV",
    "guide",
)
JOB_EQUAL_TO_BUCKET = rule(
    "job.equal-to-bucket",
    "a job reverts direct changes: it ingests deleted documents again, and removes those"
    " outside the prefix",
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
    "new passages are found a few seconds after INDEXED; the passages that they replace"
    " disappear at that moment",
    "observed (3.4 s)",
    value=3,
)
INDEXED_IN_SPITE = rule(
    "job.indexed-in-spite",
    "a document reads INDEXED even if S3 Vectors refused all its vectors; only the statistics"
    " and failureReasons show it",
    "observed",
)


# Documents, and their direct ingestion and deletion.

DOCUMENT_STATUSES = rule(
    "document.statuses",
    "a directly ingested document reads STARTING, IN_PROGRESS, then how it ended; a deleted one"
    " DELETING, DELETE_IN_PROGRESS, then NOT_FOUND; in a job it reads PENDING until the job comes"
    " to it",
    "model for the names; their order assumed",
)
STATUS_REASON = rule(
    "document.status-reason", "only IGNORED documents have a statusReason", "model"
)
DOCUMENT_UNSEEN = rule(
    "document.unseen",
    "a document that was accepted a moment ago may read NOT_FOUND in GetKnowledgeBaseDocuments for"
    " a while; as an injected fault, for some seconds",
    "observed (README of ballerinax ai.aws.bedrock, 2026-09); for how long is assumed",
)
DOCUMENT_SLOW = rule(
    "document.slow",
    "the duration of indexing varies by an order of magnitude; as an injected fault, a direct"
    " request takes this many times as long",
    "observed (README of ballerinax ai.aws.bedrock, 2026-09)",
    value=10,
)
NOT_YET_SYNCED = rule(
    "document.first-sync",
    "a new S3 data source must be synced once before the document operations work; direct requests"
    " are accepted once a job of it was COMPLETE, even one without documents; failed and stopped"
    " jobs don't count",
    "guide; what counts is assumed, as the harsher reading, and the text",
    message="Data source {id} must be synced at least once before its documents can be used",
)
DIRECT_BY_URI = rule(
    "document.by-uri",
    "an S3 data source accepts any object that its role can read, under the prefix or not, by a"
    " URI of `s3://` and at most 128 characters, with the attributes of the sidecar that the"
    " request names; without one, no sidecar is read; a document of the same id or URI is replaced",
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
    "a direct request takes some seconds plus the time to index its documents; benchmarks"
    " assume a minute, or four with a PDF among the documents",
    "observed (4-6 s; over a minute under load: strands-agents/harness-sdk, issue 3954; 68 to 330 s"
    " for a PDF: Boise-State-Development/agentcore-public-stack, PR 901); that its documents are"
    " indexed one after another is assumed",
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
WRONG_IDENTIFIER = rule(
    "document.identifier",
    "an identifier is of its data source's type",
    "guide; text assumed",
    message="The document's data source type {given} does not match that of the data source, {is_}",
)
DOCUMENT_CONTENT = rule(
    "document.content",
    "only CUSTOM data sources take inline content, with inline metadata",
    "guide; text assumed",
    message="{problem}",
)


# Files, their sidecars, and the metadata of a vector.

FORMATS = ("txt", "md", "html", "doc", "docx", "csv", "xls", "xlsx", "pdf")
FILE_FORMAT = rule(
    "file.format",
    f"{', '.join(FORMATS)}; others are IGNORED, and whatever begins with a shebang",
    "guide; text observed",
    message="Ignored {count} files as their file format was not supported.",
)
FILE_SIZE = rule(
    "file.size",
    "at most 50 MB",
    "quotas; text assumed after that of the sidecar",
    value=52_428_800,
    message="Ignored {count} files as they were larger than service limit of "
    "MaximumFileSizeSupported: 52428800 bytes.",
)
FILE_UNREADABLE = rule(
    "file.unreadable",
    "encrypted, truncated, empty or without text: FAILED with no useful reason",
    "model (a reason is promised for IGNORED only); text observed for other causes",
    message="Issue occurred while processing file.",
)
SIDECAR_SIZE = rule(
    "sidecar.size",
    "at most 1,024 bytes on S3 Vectors (the guide's 10 KB hold for other stores); a new document "
    "is left out without a status, one that was indexed keeps what it had",
    "observed, text too",
    value=1024,
    message="Ignored {count} files as the associated metadata was larger than service limit of "
    "MaximumFileSizeSupported: 1024 bytes.",
)
SIDECAR_INVALID = rule(
    "sidecar.invalid",
    "metadataAttributes with strings, numbers, booleans or lists of 1-10 strings, simple or full "
    "form, no key that starts with x-amz-bedrock",
    "guide and model; text observed",
    message="Ignored {count} files due to invalid metadata attributes. Check that the attribute "
    "keys and values don't exceed the character quota, and that the attribute values are "
    "acceptable data types (strings, numbers, or Booleans). Then retry your request",
)
ATTRIBUTE_KEY_LENGTH = rule("sidecar.key-length", "keys of at most 200", "model", value=200)
ATTRIBUTE_TEXT_LENGTH = rule(
    "sidecar.text-length", "string values of 1-2,048 characters", "model", value=2048
)
ATTRIBUTE_LIST_SIZE = rule("sidecar.list-size", "lists of 1-10 strings", "model", value=10)
CUSTOM_METADATA_KEYS = rule(
    "metadata.custom-keys",
    "at most 35 custom keys per vector through Bedrock",
    "guide; text assumed",
    value=35,
    message="Invalid record for key '{key}': Metadata must have at most {limit} keys",
)
CUSTOM_METADATA_SIZE = rule(
    "metadata.custom-size",
    "at most 1 KB of custom metadata per vector through Bedrock",
    "guide; text assumed",
    value=1024,
    message="Invalid record for key '{key}': Custom metadata must have at most {limit} bytes",
)
FILTERABLE_METADATA_SIZE = rule(
    "metadata.filterable-size",
    "at most 2,048 filterable bytes per vector, in PutVectors and of Bedrock, including its own"
    " metadata unless the index makes them non-filterable: the text, the source's URI, the page,"
    " the modality, and ids",
    "guide; text and keys observed; that names and values count as JSON has them, assumed",
    value=2048,
    message="Invalid record for key '{key}': Filterable metadata must have at most {limit} bytes",
)
METADATA_SIZE = rule(
    "metadata.size",
    "at most 40 KB of metadata per vector, in PutVectors and of Bedrock",
    "guide; text assumed after that of the filterable part",
    value=40_960,
    message="Invalid record for key '{key}': Metadata must have at most {limit} bytes",
)


# How documents are read and cut: chunking strategies and parsers.

DEFAULT_CHUNK_TOKENS = rule(
    "chunk.tokens", "300 tokens where nothing is configured", "guide", value=300
)
DEFAULT_CHUNK_OVERLAP = rule(
    "chunk.overlap", "20 % overlap where nothing is configured", "guide", value=20
)
CHUNK_RANGES = rule(
    "chunk.ranges",
    "tokens 1-8,192, overlap 1-99 %, two levels, at least 1 token of overlap between chunks of a"
    " level, buffer 0-1, percentile 50-99",
    "model: its constraints are checked, with its text",
)
CHUNK_CONFIGURATION = rule(
    "chunk.configuration",
    "a strategy goes with its own configuration; HIERARCHICAL and SEMANTIC require it,"
    " FIXED_SIZE has defaults",
    "model for the members; what is missing or too much is assumed to be refused, text too",
    message="The chunking configuration is invalid: {problem}",
)
CHUNK_LEVELS = rule(
    "chunk.levels",
    "a child has no more tokens than its parent, and the overlap fewer than a child",
    "assumed: the model has a range for each number and says nothing of them together",
    message="The hierarchical chunking configuration is invalid: overlapTokens ({overlap}) must be"
    " less than the child's maxTokens ({child}), which must not exceed the parent's ({parent})",
)
CHUNK_PARENTS = rule(
    "chunk.parents",
    "hierarchical chunking embeds and searches children, and Retrieve shows their parents: each"
    " once, with the score of its best child, so that there may be fewer results than requested",
    "guide (kb-chunking); the score, and the chunk id, which is that child's, are assumed",
)
CHUNK_PARENT_METADATA = rule(
    "chunk.parent-metadata",
    "the parent's text is non-filterable metadata of each of its children, so that a parent too"
    " large for S3 Vectors' 40 KB fails in ingestion; AWS does not recommend hierarchical"
    " chunking there and warns of more than 8,000 tokens combined",
    "guide (kb-chunking, s3-vectors-bedrock-kb); that it is in AMAZON_BEDROCK_METADATA as"
    " parentText is assumed",
)
CHUNK_BREAKPOINTS = rule(
    "chunk.breakpoints",
    "SEMANTIC cuts between two neighbouring sentences, each with bufferSize sentences around"
    " it, that are less alike than breakpointPercentileThreshold percent of all such pairs;"
    " chunks over maxTokens are cut again",
    "model; what is a sentence is assumed, and the embedding is the stand-in's",
)
CHUNK_BOUNDARIES = rule(
    "chunk.boundaries",
    "pages read by a model or Bedrock Data Automation are not merged, except by NONE, which"
    " makes one chunk",
    "guide (kb-chunking)",
)
CHUNKING_IMMUTABLE = rule(
    "data-source.chunking-immutable",
    "neither the chunking strategy nor the parser can change",
    "model for the chunking, CloudFormation schema for the parser; text assumed",
    message="The chunking configuration of a data source can't be changed.",
)
IMAGE_FORMATS = ("jpg", "jpeg", "png")
PARSED_FORMATS = ("pdf", *IMAGE_FORMATS)
PARSE_IMAGES = rule(
    "parse.images",
    "with a foundation model or Bedrock Data Automation the pages of a PDF that have no text are"
    " read from their image, and so are JPEG and PNG files; every other format, and every PDF"
    " without one of them, is read as its text",
    "guide (kb-advanced-parsing, knowledge-base-ds); here by OCR, and a page that has text keeps"
    " that",
)
PARSE_IMAGE_SIZE = rule(
    "parse.image-size",
    "JPEG and PNG files of at most 3.75 MB",
    "guide (knowledge-base-ds); text assumed after that of the sidecar",
    value=3_932_160,
    message="Ignored {count} files as they were larger than service limit of "
    "MaximumFileSizeSupported: 3932160 bytes.",
)
PARSE_FALLBACK = rule(
    "parse.fallback",
    "a file that the model, or Bedrock Data Automation, fails to parse is read by the default"
    " parser",
    "model",
)
PARSING_CONFIGURATION = rule(
    "parse.configuration",
    "BEDROCK_FOUNDATION_MODEL needs bedrockFoundationModelConfiguration, which names the model",
    "model for the members; that it is refused without is assumed, text too",
    message="The parsing configuration is invalid: BEDROCK_FOUNDATION_MODEL needs "
    "bedrockFoundationModelConfiguration",
)
PARSING_OF_MANAGED = rule(
    "parse.managed",
    "SMART_PARSING and MULTI_MODAL_EMBEDDINGS are of managed knowledge bases",
    "model; text assumed",
    message="The parsing strategy {strategy} is supported for managed knowledge bases only",
)
