"""What is ingested into managed knowledge bases, and how: sources as in `managed`."""

from bedrock_kb_simulator.rules.rule import rule

MANAGED_CHUNKING = rule(
    "managed.chunking",
    "with embeddingModelType MANAGED a data source has no chunkingConfiguration (300 tokens, 20 %"
    " overlap); with CUSTOM it may be FIXED_SIZE or NONE",
    "observed, twice, against the guide, which has it configurable with both; text assumed",
    message="chunkingConfiguration {strategy} is not supported for this managed knowledge base",
)
MANAGED_PARSING = rule(
    "managed.parsing",
    "SMART_PARSING is the only parser, and the default; it reads pages of a PDF that have no text,"
    " and pictures unless imageExtractionStatus is DISABLED",
    "guide; observed that pictures are read by default (once that they are not); here by OCR, and"
    " no more formats than of others; text assumed",
    message="The parsing strategy {strategy} is not supported for managed knowledge bases",
)
JOBS_PER_MANAGED = rule(
    "managed.jobs",
    "50 jobs at a time in a managed knowledge base, one in each data source",
    "quotas for 50; of one per data source the row of the others; texts assumed",
    value=50,
    error="ConflictException",
    message="You have reached the maximum number of concurrent ingestion jobs per knowledge base: "
    "{limit}",
)
JOBS_PER_SOURCE = rule(
    "managed.jobs-per-source",
    "one job at a time for a data source",
    "quotas, in the row of the others; text assumed after that of the knowledge base",
    value=1,
    error="ConflictException",
    message="You have reached the maximum number of concurrent ingestion jobs per data source: "
    "{limit}",
)
MANAGED_JOBS_IN_ACCOUNT = rule(
    "managed.jobs-in-account",
    "the 5 jobs at a time of an account count no jobs of managed knowledge bases; the other way"
    " with --managed-jobs-in-account",
    "assumed: the row is not among those of managed ones, and would leave their 50 out of reach",
)
MANAGED_STARTS = rule(
    "managed.starts",
    "StartIngestionJob of managed knowledge bases shares 0.1 per second and account with the"
    " others; without it by --unrated-managed-starts",
    "assumed, as the safe reading: no row says whether it binds, one user plans with it and another"
    " says that it doesn't",
)
MANAGED_DIRECT_IN_ACCOUNT = rule(
    "managed.direct-in-account",
    "the 10 direct requests at a time of an account count those into managed knowledge bases, too",
    "assumed, as the safe reading: the row is not among those of managed ones",
)
MANAGED_DIRECT_OR_JOB = rule(
    "managed.direct-or-job",
    "a direct request and a job keep each other out in a data source, not in the whole knowledge"
    " base",
    "guide that they must not be sent at once; of what it is about, assumed",
)
MANAGED_FIRST_INGESTION = rule(
    "managed.first-ingestion",
    "the first direct request into a managed knowledge base takes a minute longer",
    "observed (68 s, of three; later ones 2.5-6 s)",
    value=64,
)
DELETION_PROTECTION = rule(
    "managed.deletion-protection",
    "a job that would delete more than 15 % of a data source's documents, or another threshold,"
    " deletes none, and is COMPLETE; so it is, too, where deletionProtectionConfiguration is left"
    " out: DISABLED must be said. Direct deletion is never held back",
    "guide for the phase that is skipped and for 15; that it is on by default is assumed, as the"
    " harsher reading; observed for direct deletion",
    value=15,
)
MANAGED_SIDECAR_SIZE = rule(
    "managed.sidecar-size",
    "sidecars of at most 10 KB, and no bound of S3 Vectors on metadata",
    "guide; text after that of the others",
    value=10_240,
    message="Ignored {count} files as the associated metadata was larger than service limit of "
    "MaximumFileSizeSupported: 10240 bytes.",
)
MANAGED_FILE_SIZE = rule(
    "managed.file-size",
    "files of at most 500 MB; an S3 connector leaves those out that exceed its"
    " maxFileSizeInMegaBytes",
    "guide; of direct ingestion, and that they get no status, assumed",
    value=524_288_000,
    message="Ignored {count} files as they were larger than service limit of "
    "MaximumFileSizeSupported: 524288000 bytes.",
)
MANAGED_LIST_PAGE = rule(
    "managed.list-page",
    "ListKnowledgeBaseDocuments takes pages of at most 100, though the model says 1,000",
    "observed, with this text",
    value=100,
    message="maxResults must be less than or equal to {limit}",
)
