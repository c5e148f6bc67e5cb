"""Cache points: where AWS takes them they are taken, and nothing is cached."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bedrock_kb_simulator.rules import CACHE_POINTS, CACHE_UNSUPPORTED

_CACHES = re.compile(r"anthropic\.claude-(?!3-(?:haiku|sonnet|opus)|v2|instant)|amazon\.nova")
_HIDDEN = "application-inference-profile/"


def check(parameters: Mapping[str, Any]) -> None:
    """Of a request of Converse; raises ServiceError: rules converse.cache and its like."""
    count = sum("cachePoint" in block for block in _blocks(parameters))
    model = parameters["modelId"]
    if count and _HIDDEN not in model and not _CACHES.search(model):
        raise CACHE_UNSUPPORTED.broken()
    if count > CACHE_POINTS.limit:
        raise CACHE_POINTS.broken(count=count)


def _blocks(parameters: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from parameters.get("system") or ()
    yield from (parameters.get("toolConfig") or {}).get("tools") or ()
    for message in parameters.get("messages") or ():
        yield from message["content"]
