"""Files, their sidecars, and the metadata of a vector."""

from bedrock_kb_simulator.rules.rule import rule

FORMATS = ("txt", "md", "html", "doc", "docx", "csv", "xls", "xlsx", "pdf")
FILE_FORMAT = rule(
    "file.format",
    f"{', '.join(FORMATS)}; others are IGNORED",
    "guide; text observed",
    message="Ignored {count} files as their file format was not supported.",
)
FILE_SCRIPT = rule(
    "file.script", "a file that begins with a shebang is no supported format", "observed"
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
    message="Invalid record for key '{key}': Metadata must have at most {limit} keys "
    "(Service: S3Vectors, Status Code: 400).",
)
CUSTOM_METADATA_SIZE = rule(
    "metadata.custom-size",
    "at most 1 KB of custom metadata per vector through Bedrock",
    "guide; text assumed",
    value=1024,
    message="Invalid record for key '{key}': Custom metadata must have at most {limit} bytes "
    "(Service: S3Vectors, Status Code: 400).",
)
FILTERABLE_METADATA_SIZE = rule(
    "metadata.filterable-size",
    "at most 2,048 filterable bytes per vector; what Bedrock writes itself counts, too, unless the "
    "index names it non-filterable: the text, the source's URI, the page, the modality, and ids",
    "guide; text and keys observed; that names and values count as JSON has them, assumed",
    value=2048,
    message="Invalid record for key '{key}': Filterable metadata must have at most {limit} bytes "
    "(Service: S3Vectors, Status Code: 400).",
)
METADATA_SIZE = rule(
    "metadata.size",
    "at most 40 KB of metadata per vector",
    "guide; text assumed after that of the filterable part",
    value=40_960,
    message="Invalid record for key '{key}': Metadata must have at most {limit} bytes "
    "(Service: S3Vectors, Status Code: 400).",
)
