"""Which documents a run has yet to see to."""

from stackroom.model import Document, DocumentStatus


def is_work(document: Document) -> bool:
    """To be taken up by a round."""
    return document.lingering or document.status in (
        DocumentStatus.PENDING,
        DocumentStatus.DELETING,
    )


def is_open(document: Document) -> bool:
    """To be taken up, or taken up by a round that never came to its end."""
    return document.is_open
