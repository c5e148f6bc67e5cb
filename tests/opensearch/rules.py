"""
What the stand-in refuses, in the kinds and words of OpenSearch and of its k-NN plugin.

Kinds and statuses are as OpenSearch's documentation and the plugin's source have them, and the
limits as the guide of OpenSearch Serverless has them; one text for all of a kind is assumed.
"""

from typing import Any

SIGNATURE_SECONDS = 900
MOST_DIMENSIONS = 16_000
MOST_HITS = 10_000


class Refused(Exception):
    """An error of a collection; `kind` and `reason` are OpenSearch's words."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.kind = kind
        self.reason = reason

    @property
    def body(self) -> dict[str, Any]:
        if self.kind == "Forbidden":  # from the service in front of OpenSearch
            return {"status": self.status, "error": {"reason": self.reason, "type": self.kind}}
        cause = {"type": self.kind, "reason": self.reason}
        return {"error": {"root_cause": [cause], **cause}, "status": self.status}


def forbidden() -> Refused:
    return Refused(403, "Forbidden", "403 Forbidden")


def missing(what: str) -> Refused:
    return Refused(404, "resource_not_found_exception", f"no {what}")


def malformed(query: str, problem: str = "malformed query") -> Refused:
    return Refused(400, "parsing_exception", f"[{query}] {problem}")


def unfit(field: str, problem: str) -> Refused:
    """A value, or a field of an index, that OpenSearch can't map."""
    return Refused(400, "mapper_parsing_exception", f"field [{field}]: {problem}")


def unsearchable(problem: str) -> Refused:
    return Refused(400, "query_shard_exception", f"failed to create query: {problem}")
