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
# Nothing of the document is in the index.
_WITHOUT_PASSAGES = ABSENT | {"FAILED", "IGNORED"}
KNOWN_STATUSES = INDEXED | UNDER_WAY | ABSENT | FAILURES.keys()


def may_be_found(status: str) -> bool:
    """Whether the index may hold passages of a document of that status, now or soon."""
    return status not in _WITHOUT_PASSAGES


def failure_of(status: str) -> str:
    """One that we don't know is its own document's affair, and not the whole round's."""
    return FAILURES.get(
        status,
        f"Bedrock gives the file a status that Stackroom doesn't know, {status}; tell your "
        "operator, and drop it again to retry",
    )
