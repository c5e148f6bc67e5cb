"""Bedrock's DocumentStatus of a document, sorted by what it means for us."""

from stackroom.model import UNEXPLAINED_FAILURE

# The twelve values [API model bedrock-agent, KnowledgeBaseDocumentDetail].
INDEXED = frozenset({"INDEXED"})
UNDER_WAY = frozenset({"PENDING", "STARTING", "IN_PROGRESS", "DELETING", "DELETE_IN_PROGRESS"})
ABSENT = frozenset({"NOT_FOUND"})
# With what we tell if Bedrock gives no reason.
FAILURES = {
    "FAILED": UNEXPLAINED_FAILURE,
    "PARTIALLY_INDEXED": "Bedrock indexed only a part of the file; drop it again to retry",
    "METADATA_PARTIALLY_INDEXED": (
        "Bedrock indexed only a part of the file's attributes; drop it again to retry"
    ),
    "METADATA_UPDATE_FAILED": (
        "Bedrock could not store the file's attributes; drop it again to retry"
    ),
    "IGNORED": "Bedrock does not take this file; save it in another format",
}
KNOWN_STATUSES = INDEXED | UNDER_WAY | ABSENT | FAILURES.keys()


def require_known(status: str) -> None:
    assert status in KNOWN_STATUSES, f"Bedrock has a document status unknown to us: {status}"
