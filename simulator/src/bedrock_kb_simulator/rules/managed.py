"""
Managed knowledge bases and their data sources.

*guide* is here the pages kb-build-managed, kb-managed-create, kb-managed-connect-ds,
kb-managed-ds-s3, kb-managed-ds-custom and kb-managed-customize-ingestion of the Bedrock user guide;
*quotas* its page kb-managed-quotas and the rows "(Managed Knowledge Bases)" of the General
Reference, read in October 2026; *observed* is what six users wrote down of real accounts, June to
October 2026.
"""

from bedrock_kb_simulator.rules.rule import conflict, over_quota, rule

MANAGED_CREATION = rule(
    "managed.creation",
    "a managed knowledge base is CREATING for about a minute, then ACTIVE; nothing can be connected"
    " to it before",
    "observed (47-124 s, median 73, of seven; once 24 minutes); that nothing can is assumed",
    value=73,
)
MANAGED_NOT_ACTIVE = conflict(
    "managed.not-active",
    "no data source for a managed knowledge base that is not ACTIVE",
    "assumed",
    message="Knowledge base {id} is not ACTIVE: {status}",
)
MANAGED_STORAGE = rule(
    "managed.storage",
    "a managed knowledge base has no storageConfiguration, in requests and in answers; its vectors"
    " are in no index of the account",
    "model and observed for the absence; that one is refused, and the text, assumed",
    message="storageConfiguration is not supported for managed knowledge bases",
)
MANAGED_CONFIGURATION = rule(
    "managed.configuration",
    "a type goes with its own configuration; a managed knowledge base may omit it, and its"
    " embeddingModelType is then MANAGED in responses",
    "observed for what is filled in; that another type's is refused, and the text, assumed",
    message="The knowledge base configuration doesn't match the type {type}",
)
MANAGED_EMBEDDING = rule(
    "managed.embedding",
    "embeddingModelType MANAGED names no model",
    "guide; text assumed",
    message="The embedding model configuration of a managed knowledge base is invalid: {problem}",
)
MANAGED_DELETION = rule(
    "managed.deletion",
    "a deleted managed knowledge base reads DELETING for minutes, then it is gone; nothing is found"
    " in it meanwhile",
    "observed (2-6 minutes); that nothing is found is assumed",
    value=120,
)
MANAGED_SOURCE_TYPE = rule(
    "managed.source-type",
    "only MANAGED_KNOWLEDGE_BASE_CONNECTOR: S3, CUSTOM and WEB are refused",
    "observed, several times, with this text",
    message="Unsupported data source type for MANAGED knowledge base type.",
)
CONNECTOR_OF_VECTOR = rule(
    "managed.connector-of-vector",
    "a VECTOR knowledge base refuses MANAGED_KNOWLEDGE_BASE_CONNECTOR",
    "observed; text assumed after that of the other way round",
    message="Unsupported data source type for VECTOR knowledge base type.",
)
CONNECTOR_TYPE_MISSING = rule(
    "managed.connector-type-missing",
    "connectorParameters name a type; a string in the place of the object names none",
    "observed, with this text; of the string, which GetDataSource answers, assumed",
    message="Connector type is required in connector parameters",
)
CONNECTOR_VERSION_MISSING = rule(
    "managed.connector-version-missing",
    "connectorParameters name a version",
    "observed, with this text",
    message="The 'version' field is required in connector parameters.",
)
CONNECTOR_VERSION = rule(
    "managed.connector-version",
    'the only version is "1"',
    "observed, with this text",
    message="Invalid connector version '{version}'. Supported versions are: 1.",
)
CONNECTOR_KINDS = (
    "S3, ONEDRIVE, ZENDESK, SALESFORCE, BOX, DROPBOX, SHAREPOINT, GOOGLEDRIVE, WEB, CUSTOM, "
    "CONFLUENCEONPREM, CONFLUENCE, SERVICENOW"
)
CONNECTOR_TYPE = rule(
    "managed.connector-type",
    "connectors have a list of types of their own; of those S3 and CUSTOM are simulated",
    "observed, with this text",
    message="Invalid connector type '{type}'. Supported types are: " + CONNECTOR_KINDS + ".",
)
CONNECTOR_CONNECTION = rule(
    "managed.connector-connection",
    "an S3 connector without connectionConfiguration is accepted, and FAILED once it was CREATING;"
    " keys that no connector has are accepted, and without effect",
    "observed, with this text; of a bucketName that is missing in it, the same assumed",
    message="Value at '{at}' failed to satisfy constraint: Member must not be null",
)
CONNECTOR_ECHO = rule(
    "managed.connector-echo",
    "an answer has connectorParameters as a text of JSON, with what the service fills in:"
    ' aclEnabled false and, for S3, maxFileSizeInMegaBytes "500"',
    "observed, twice",
)
DATA_SOURCES_PER_MANAGED = over_quota(
    "managed.data-sources",
    "200 data sources per managed knowledge base",
    "quotas; text assumed after that of the others",
    value=200,
    message="You have reached the maximum number of data sources per knowledge base: {limit}",
)
MANAGED_SOURCE_CREATION = rule(
    "managed.source-creation",
    "a data source is CREATING for some seconds, then AVAILABLE or FAILED; changed, it is UPDATING"
    " as long",
    "guide for CREATING, observed for the rest and for how long (at once, or less than a minute)",
    value=20,
)
MANAGED_SOURCE_STATUS = rule(
    "managed.source-status",
    "a data source that is not AVAILABLE refuses jobs and documents",
    "observed for a job on one that is FAILED, with this text; the rest assumed after it",
    message="You cannot start an ingestion job on a data source with status {status}.",
)
MANAGED_DELETION_POLICY = rule(
    "managed.deletion-policy",
    "DELETE is the only dataDeletionPolicy",
    "model; text assumed",
    message="dataDeletionPolicy RETAIN is not supported for managed knowledge bases",
)


# What is ingested into managed knowledge bases, and how.

MANAGED_CHUNKING = rule(
    "managed.chunking",
    "with embeddingModelType MANAGED a data source has no chunkingConfiguration (300 tokens, 20 %"
    " overlap)",
    "observed, twice, against the guide, which has it configurable; text assumed",
    message="chunkingConfiguration {strategy} is not supported for this managed knowledge base",
)
MANAGED_PARSING = rule(
    "managed.parsing",
    "SMART_PARSING is the only parser, and the default; it reads pictures, and pages of a PDF that"
    " have no text",
    "guide; observed that pictures are read by default (once that they are not); here by OCR, and"
    " no more formats than of others; text assumed",
    message="The parsing strategy {strategy} is not supported for managed knowledge bases",
)
JOBS_PER_SOURCE = conflict(
    "managed.jobs-per-source",
    "one job at a time for a data source of a managed knowledge base, and any number in the whole",
    "quotas, in the row of the others (50 in the whole); text assumed after theirs",
    value=1,
    message="You have reached the maximum number of concurrent ingestion jobs per data source: "
    "{limit}",
)
MANAGED_IN_ACCOUNT = rule(
    "managed.in-account",
    "StartIngestionJob of managed knowledge bases shares 0.1 per second and account with others,"
    " and the 10 direct requests at a time of an account count theirs, too; their jobs don't count"
    " among the 5 concurrent jobs of an account",
    "assumed, as the safe reading, since no row says whether these bind; of the jobs, because the"
    " 50 of a managed one would be out of reach",
)
MANAGED_DIRECT_OR_JOB = rule(
    "managed.direct-or-job",
    "a direct request and a job keep each other out in a data source, not in the whole knowledge"
    " base",
    "guide that they must not be sent at once; of what it is about, assumed",
)
DELETION_PROTECTION = rule(
    "managed.deletion-protection",
    "a job that would delete more than 15 % of a data source's documents, or another threshold,"
    " deletes none and is COMPLETE; this is the default without deletionProtectionConfiguration,"
    " and DISABLED turns it off. Direct deletion is never stopped",
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
    "files of at most 500 MB",
    "guide; of direct ingestion assumed",
    value=524_288_000,
    message="Ignored {count} files as they were larger than service limit of "
    "MaximumFileSizeSupported: 524288000 bytes.",
)
MANAGED_LIST_PAGE = rule(
    "managed.list-page",
    "ListKnowledgeBaseDocuments has pages of at most 100, though the model says 1,000",
    "observed, with this text",
    value=100,
    message="maxResults must be less than or equal to {limit}",
)


# Managed knowledge bases: rates, and how they are searched.

# Requests per second, where a managed knowledge base has a rate of its own.
MANAGED_RATES = {
    "IngestKnowledgeBaseDocuments": 20.0,
    "DeleteKnowledgeBaseDocuments": 10.0,
    "ListKnowledgeBaseDocuments": 10.0,
    "Retrieve": 100.0,
}
for _operation, _rate in MANAGED_RATES.items():
    rule(
        f"managed.rate.{_operation}",
        f"{_rate:g} requests per second and account",
        "quotas; that they are counted apart from those of others is assumed",
        value=_rate,
    )

MANAGED_RETRIEVE_RATE = rule(
    "managed.retrieve-rate",
    "Retrieve 600 times a minute in a managed knowledge base, 25 in a second at most",
    "quotas",
    value=10,
)
MANAGED_RETRIEVE_BURST = rule(
    "managed.retrieve-burst", "25 of them may come at once", "quotas", value=25
)
MANAGED_QUERY_LENGTH = rule(
    "managed.query-length",
    "queries of at most 10,000 characters",
    "quotas; text assumed after that of the others",
    value=10_000,
    message="The query must have between 1 and {limit} characters",
)
MANAGED_QUERY_EMPTY = rule(
    "managed.query-empty",
    "a query has a text that is not blank",
    "observed, with this text",
    message="Text input is required.",
)
VECTOR_SEARCH_ON_MANAGED = rule(
    "managed.search-configuration",
    "vectorSearchConfiguration is for other knowledge bases",
    "observed, several times, with this text",
    message="Incompatible configuration: vectorSearchConfiguration is not supported for managed"
    " knowledge bases. Use managedSearchConfiguration instead.",
)
MANAGED_FILTER_OPERATOR = rule(
    "managed.filter-operator",
    "startsWith and stringContains are refused; in, notIn and the others are accepted",
    "guide, that they are not supported; refusing is the safe reading, text assumed (one user saw"
    " both accepted for a key that no document has, and nothing found)",
    message="{operator} operation type is not supported for managed knowledge bases",
)
MANAGED_FILTER_RANGE = rule(
    "managed.filter-range",
    "ranges compare numbers, or moments in ISO 8601: a moment without an offset is in UTC",
    "model for ISO 8601; the offset, and that a number is never compared with a moment, assumed",
)
MANAGED_FILTER_KEYS = rule(
    "managed.filter-keys",
    "the service's own keys begin with an underscore: _source_uri is an object's URI or a"
    " CUSTOM document's id, _data_source_id the data source's; they are shown and can be"
    " filtered by; no document has x-amz-bedrock-kb-data-source-id, nor may it have keys of its"
    " own that begin with an underscore",
    "guide and observed; that such a key is refused as x-amz-bedrock is elsewhere, assumed;"
    " there are others (language, kind of file, dates) that nobody lists and that are not given",
)
MANAGED_HYBRID = rule(
    "managed.hybrid",
    "words and meaning are searched together, always",
    "guide; here half the similarity of the local model and half the share of the question's words,"
    " among the 200 passages nearest in meaning",
)
MANAGED_RERANKING = rule(
    "managed.reranking",
    "without a rerankingModelType the service's own model reranks; CUSTOM names one of Bedrock's;"
    " NONE turns it off, and scores are relative then: the best result's is 1",
    "guide; the model is the stand-in of rule rerank.stand-in; the scores observed (1.00, 0.84,"
    " 0.78, 0.77, 0.77; one document alone 1.0)",
)
MANAGED_RERANKING_CUSTOM = rule(
    "managed.reranking-custom",
    "CUSTOM goes with a rerankingConfiguration, MANAGED and NONE without",
    "guide for the first; the second, and the text, assumed",
    message="rerankingConfiguration goes with rerankingModelType CUSTOM, and CUSTOM with it",
)
MANAGED_DOCUMENT_ID = rule(
    "managed.document-id",
    "a result has a documentId: the object's URI, or the CUSTOM document's id",
    "model for the member; what stands in it is assumed",
)
