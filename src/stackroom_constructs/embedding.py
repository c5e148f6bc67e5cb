"""The model that makes vectors of chunks and of questions, and how long these are."""

from typing import Any

from stackroom_constructs.refusals import InvalidArgument, Owner, check_range

TITAN = "amazon.titan-embed-text-v2:0"
# https://docs.aws.amazon.com/bedrock/latest/userguide/titan-embedding-models.html
_TITAN_DIMENSIONS = (256, 512, 1024)
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-limitations.html
_MOST_DIMENSIONS = 4096


def check_dimensions(owner: Owner, argument: str, value: Any, *, model: str) -> None:
    """Of vectors that a model makes. Raises InvalidArgument."""
    check_range(owner, argument, value, 1, _MOST_DIMENSIONS)
    if model == TITAN and value not in _TITAN_DIMENSIONS:
        allowed = f"one of {', '.join(map(str, _TITAN_DIMENSIONS))} with {TITAN}"
        raise InvalidArgument(owner, argument, value, allowed)
