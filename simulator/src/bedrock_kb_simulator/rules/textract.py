"""
Textract's DetectDocumentText.

*guide* is here the pages limits-document and handling-errors of the Textract developer guide, and
*quotas* the page "Amazon Textract endpoints and quotas" of the General Reference, both as stored in
November 2026; *model* is the botocore service model of textract.
"""

from functools import partial

from bedrock_kb_simulator.rules.rule import rule

_unsupported = partial(rule, error="UnsupportedDocumentException")
_bad = partial(rule, error="BadDocumentException")

TEXTRACT_PARAMETER = rule(
    "textract.parameter",
    "required members, lengths and patterns of the model; Bytes or S3Object",
    "model for the error; text assumed",
    error="InvalidParameterException",
    message="Request has invalid parameters",
)
TEXTRACT_TOO_LARGE = rule(
    "textract.bytes",
    "a document of at most 10 MB in a synchronous call",
    "guide (limits-document) and model (10,485,760 bytes; its text says 5 MB); text assumed",
    value=10_485_760,
    error="DocumentTooLargeException",
    message="Document exceeds the maximum size of {limit} bytes",
)
TEXTRACT_FORMATS = _unsupported(
    "textract.formats",
    "PNG, JPEG, PDF and TIFF, by their content",
    "guide (limits-document); observed, with this text",
    message="Request has unsupported document format",
)
TEXTRACT_PAGES = _unsupported(
    "textract.pages",
    "a PDF or TIFF of one page in a synchronous call",
    "guide (limits-document); observed, with this error and text",
    value=1,
    message="Request has unsupported document format",
)
TEXTRACT_PIXELS = _bad(
    "textract.pixels",
    "a picture of at most 10,000 pixels on each side",
    "guide (limits-document); error and text assumed",
    value=10_000,
    message="Request has bad document: more than {limit} pixels on a side",
)
TEXTRACT_UNREADABLE = _bad(
    "textract.unreadable",
    "a document that can't be opened, or a PDF with a password",
    "model and guide (limits-document) for the error; text assumed",
    message="Request has bad document",
)
TEXTRACT_HEIGHT = rule(
    "textract.height",
    "text less than 15 pixels high isn't detected",
    "guide (limits-document)",
    value=15,
)
TEXTRACT_RATE = rule(
    "textract.rate",
    "a call over the account's rate is refused with an error of Textract's own",
    "guide (handling-errors) for the error; text assumed",
    error="ProvisionedThroughputExceededException",
    message="Provisioned rate exceeded",
)
TEXTRACT_INTERNAL = rule(
    "textract.internal-error",
    "the service failed; met as an injected fault only",
    "model for the error; text assumed",
    error="InternalServerError",
    message="Amazon Textract experienced a service issue. Try your call again.",
)
