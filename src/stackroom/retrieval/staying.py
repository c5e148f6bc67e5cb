"""
What is to go is found by nobody any more, though the index still has it.

A deletion is asked for at once and takes effect in the index when a round has come to it. So each
passage's document is looked up; one that has no record is not shown either, for it may have gone.
"""

from collections.abc import Iterable
from dataclasses import replace

from stackroom.errors import RetrievalFailed, Unavailable
from stackroom.passage_source import document_id_in
from stackroom.ports.documents import DocumentKey, StayingDocuments
from stackroom.ports.retrieval import Passage
from stackroom.retrieval.asking import Replies
from stackroom.tenancy import CATALOG, DOCUMENT


def only_staying(replies: Replies, documents: StayingDocuments) -> Replies:
    """Raises RetrievalFailed if nobody can tell what stays."""
    found = [passage for reply in replies.given for passage in reply.passages]
    kept = set(map(id, staying(found, documents)))
    given = (
        replace(reply, passages=tuple(each for each in reply.passages if id(each) in kept))
        for reply in replies.given
    )
    return replace(replies, given=tuple(given))


def staying(passages: Iterable[Passage], documents: StayingDocuments) -> list[Passage]:
    """Those of documents that stay. Raises RetrievalFailed if nobody can tell."""
    keyed = [(_key(each), each) for each in passages]
    if not keyed:
        return []
    try:
        kept = documents.staying({key for key, _ in keyed})
    except Unavailable as error:
        problem = "which documents are being deleted could not be read; try again"
        raise RetrievalFailed(problem) from error
    return [each for key, each in keyed if key in kept]


def _key(passage: Passage) -> DocumentKey:
    """As whoever wrote the sidecar says, and that is us."""
    document_id = document_id_in(passage) or passage.attributes.get(DOCUMENT)
    return str(passage.attributes.get(CATALOG)), str(document_id)
