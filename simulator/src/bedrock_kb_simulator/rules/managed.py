"""
Managed knowledge bases and their data sources.

*guide* is here the pages kb-build-managed, kb-managed-create, kb-managed-connect-ds,
kb-managed-ds-s3, kb-managed-ds-custom and kb-managed-customize-ingestion of the Bedrock user guide;
*quotas* its page kb-managed-quotas and the rows "(Managed Knowledge Bases)" of the General
Reference, read in October 2026; *observed* is what six users wrote down of real accounts, June to
October 2026.
"""

from bedrock_kb_simulator.rules.rule import rule

MANAGED_CREATION = rule(
    "managed.creation",
    "a managed knowledge base is CREATING for about a minute, then ACTIVE; nothing can be connected"
    " to it before",
    "observed (47-124 s, median 73, of seven; once 24 minutes); that nothing can is assumed",
    value=73,
)
MANAGED_NOT_ACTIVE = rule(
    "managed.not-active",
    "no data source for a managed knowledge base that is not ACTIVE",
    "assumed",
    error="ConflictException",
    message="Knowledge base {id} is not ACTIVE: {status}",
)
MANAGED_PER_ACCOUNT = rule(
    "managed.per-account",
    "10,000 managed knowledge bases per account, beside the 100 others",
    "quotas (an earlier page said 1,000); text assumed, and that they are counted apart",
    value=10_000,
    error="ServiceQuotaExceededException",
    message="You have reached the maximum number of managed knowledge bases per account: {limit}",
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
    "a type goes with its own configuration, which a managed knowledge base may leave out: its"
    " embeddingModelType is MANAGED then, and the answer says so",
    "observed for what is filled in; that another type's is refused, and the text, assumed",
    message="The knowledge base configuration doesn't match the type {type}",
)
MANAGED_EMBEDDING = rule(
    "managed.embedding",
    "embeddingModelType CUSTOM names a model with 1,024 dimensions of FLOAT32; MANAGED names none",
    "guide for the dimensions; text assumed",
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
    "a VECTOR knowledge base takes no MANAGED_KNOWLEDGE_BASE_CONNECTOR",
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
DATA_SOURCES_PER_MANAGED = rule(
    "managed.data-sources",
    "200 data sources per managed knowledge base",
    "quotas; text assumed after that of the others",
    value=200,
    error="ServiceQuotaExceededException",
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
    "a data source that is not AVAILABLE takes neither jobs nor documents",
    "observed for a job on one that is FAILED, with this text; the rest assumed after it",
    message="You cannot start an ingestion job on a data source with status {status}.",
)
MANAGED_DELETION_POLICY = rule(
    "managed.deletion-policy",
    "DELETE is the only dataDeletionPolicy",
    "model; text assumed",
    message="dataDeletionPolicy RETAIN is not supported for managed knowledge bases",
)
