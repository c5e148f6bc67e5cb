"""How documents are read and cut: chunking strategies and parsers."""

from bedrock_kb_simulator.rules.rule import rule

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
    "a strategy goes with its own configuration; HIERARCHICAL and SEMANTIC need theirs, FIXED_SIZE"
    " has the defaults without",
    "model for the members; what is missing or too much is assumed to be refused, text too",
    message="The chunking configuration is invalid: {problem}",
)
CHUNK_LEVELS = rule(
    "chunk.levels",
    "a child has no more tokens than its parent, and an overlap fewer than a child",
    "assumed: the model has a range for each number and says nothing of them together",
    message="The hierarchical chunking configuration is invalid: overlapTokens ({overlap}) must be"
    " less than the child's maxTokens ({child}), which must not exceed the parent's ({parent})",
)
CHUNK_PARENTS = rule(
    "chunk.parents",
    "of hierarchical chunks the children are embedded and found, and Retrieve shows their parents:"
    " each once, with the score of its best child, so that there are fewer results than were asked"
    " for",
    "guide (kb-chunking); the score, and the chunk id, which is that child's, are assumed",
)
CHUNK_PARENT_METADATA = rule(
    "chunk.parent-metadata",
    "the parent's text is non-filterable metadata of each of its children, so that a parent too"
    " large for S3 Vectors' 40 KB fails in ingestion; AWS does not recommend hierarchical"
    " chunking there and warns of more than 8,000 tokens combined",
    "guide (kb-chunking, s3-vectors-bedrock-kb); that it is in AMAZON_BEDROCK_METADATA as"
    " parentText is assumed",
    value=8_000,
)
CHUNK_BREAKPOINTS = rule(
    "chunk.breakpoints",
    "SEMANTIC cuts where two neighbouring sentences, each with bufferSize sentences around it, are"
    " less alike than breakpointPercentileThreshold percent of all such pairs; a longer chunk than"
    " maxTokens is cut again",
    "model; what is a sentence is assumed, and the embedding is the stand-in's",
)
CHUNK_BOUNDARIES = rule(
    "chunk.boundaries",
    "what a model or Bedrock Data Automation read is not merged across pages; NONE makes one chunk"
    " of it all the same",
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
PARSE_FILES = rule(
    "parse.files",
    "at most 1,000 files that a model, or Bedrock Data Automation, parses in a job; the rest fail,"
    " and the next job takes them up",
    "quotas; that the job goes on without them is assumed, text too",
    value=1_000,
    message="Ignored {count} files as the number of files to parse was larger than service limit"
    " of MaximumFilesSupported: 1000 files.",
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
