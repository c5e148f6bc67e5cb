"""
Documents and cache points in messages of Converse.

Texts that are *observed* are quoted in public reports: vercel/ai#20365, maximhq/bifrost#5817,
maximhq/bifrost#7072, aws-samples/generative-ai-use-cases#1671 and #1685,
strands-agents/harness-sdk#1807 and #3019.
"""

from bedrock_kb_simulator.rules.rule import rule

DOCUMENT_NAME = rule(
    "documents.name",
    "a document's name has ASCII letters, digits, hyphens, underscores, round and square brackets,"
    " and single spaces; 200 characters at most",
    "model; observed for the text, and that underscores are taken and other white space is not",
    message="The document file name can only contain alphanumeric characters, whitespace"
    " characters, hyphens, parentheses, and square brackets. The name can't contain more than one"
    " consecutive whitespace character. Check that the file name conforms to these restrictions and"
    " retry your request.",
)
DOCUMENT_NAMES = rule(
    "documents.names",
    "no two documents of a request have one name",
    "observed",
    message="Messages can't contain duplicate document names. Rename the document and retry your"
    " request.",
)
DOCUMENT_COUNT = rule(
    "documents.count",
    "documents in a request, those in tools' results counted",
    "guide for the number; text observed; that tools' results count is assumed",
    value=5,
    message="You can't include more than {limit} documents in a request.",
)
DOCUMENT_SIZE = rule(
    "documents.size",
    "bytes of a document (4.5 MB), also of those that AWS lets be larger: PDF for Claude 4, PDF and"
    " DOCX for Nova",
    "guide; text assumed",
    value=4_718_592,
    message="The document {name} has more than {limit} bytes (4.5 MB). Make it smaller and retry"
    " your request.",
)
DOCUMENT_TEXT = rule(
    "documents.text",
    "a message with documents has a text, too",
    "observed",
    message="A text block must be included when using documents. Add a text block and retry your"
    " request.",
)
DOCUMENT_SOURCE = rule(
    "documents.source",
    "a document comes as bytes or from S3, not as text",
    "observed",
    message="DocumentSource object at {at}.source must set one of the following keys: bytes,"
    " s3Location.",
)
DOCUMENT_UNREADABLE = rule(
    "documents.unreadable",
    "a document that can't be read in its format is refused",
    "observed for PDF; text assumed",
    message="The model returned the following errors: {at}: The document specified was not valid.",
)
CACHE_POINTS = rule(
    "converse.cache",
    "cache points are taken in messages, system prompts and tools of models that cache (Claude from"
    " 3.5, Nova, whatever an inference profile hides), this many in a request; nothing is cached:"
    " tokens read from and written to the cache are 0",
    "guide for the number; text assumed",
    value=4,
    message="A maximum of {limit} cache points may be provided. Found {count}.",
)
CACHE_UNSUPPORTED = rule(
    "converse.cache-unsupported",
    "cache points for another model",
    "observed",
    error="AccessDeniedException",
    message="You invoked an unsupported model or your request did not allow prompt caching. See the"
    " documentation for more information.",
)
