"""
Tags of resources. Bedrock's CloudFormation reference refers to AWS's general limits, which are 50
of a resource, and `aws:` for AWS itself; S3 Vectors says 50 by itself.
https://docs.aws.amazon.com/tag-editor/latest/userguide/tagging.html#tag-conventions
https://docs.aws.amazon.com/AmazonS3/latest/API/API_S3VectorBuckets_TagResource.html
"""

from bedrock_kb_simulator.rules.rule import rule

_MOST = 50
_TOO_MANY = "A resource can have at most {limit} tags"

TAGS = rule(
    "tags.most",
    "a knowledge base, or a collection of OpenSearch Serverless, has 50 tags at most",
    "model for the error, guide to AWS's tags for the number; text assumed",
    value=_MOST,
    error="ServiceQuotaExceededException",
    message=_TOO_MANY,
)
GUARDRAIL_TAGS = rule(
    "tags.most-of-guardrail",
    "a guardrail has 50 tags at most, and an error of its own for more",
    "model for the error, and for 200 in a request; guide to AWS's tags for the number; text"
    " assumed",
    value=_MOST,
    error="TooManyTagsException",
    message=_TOO_MANY,
)
VECTOR_TAGS = rule(
    "tags.most-of-vectors",
    "a vector bucket, or a vector index, has 50 tags at most",
    "guide (API reference) for the number; that the error is ValidationException, and its text,"
    " assumed",
    value=_MOST,
    message=_TOO_MANY,
)
TAG_RESERVED = rule(
    "tags.reserved",
    "keys that begin with aws: are AWS's own, in whatever case",
    "guide to AWS's tags; error and text assumed",
    message="Tag key {key} is reserved: keys must not begin with aws:",
)
TAGS_CHANGED = rule(
    "tags.changed",
    "TagResource adds tags or gives new values, and leaves the others; UntagResource of a key that"
    " is not there is no error; what is deleted takes its tags along",
    "model for the first; the others assumed",
)
