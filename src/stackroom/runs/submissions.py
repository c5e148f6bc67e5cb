"""The content and the attributes of each document in a direct call."""

from collections.abc import Iterable

from stackroom.access.tenancy import REJECTED
from stackroom.model.attributes import TEXT_ID, Attribute
from stackroom.model.bucket import DocumentBucket
from stackroom.model.keys import TextName, locate
from stackroom.model.records import Document
from stackroom.runs.bedrock_calls import Submission
from stackroom.uploads import descriptions


def submissions_of(
    documents: Iterable[Document], bucket: DocumentBucket, *, sends_texts: bool
) -> dict[str, Submission]:
    """
    Return submissions by document id, with the attributes of the sidecar, for documents that have
    one. Bedrock reads the document's text, or its file if `sends_texts` is False or there is no
    text.
    """
    by_key = {each.s3_key: each for each in documents}
    found: dict[str, Submission] = {}
    for key, kept in bucket.sidecars_of(list(by_key)).items():
        document, user_id = by_key[key], locate(key).user_id
        attributes = descriptions.attributes_in(kept.body)
        if attributes is None or attributes.get("user_id") == REJECTED:
            continue
        # The owner follows from the key: a sidecar repeats whatever its author wrote.
        own: dict[str, Attribute] = {
            "user_id": user_id,
            "catalog_id": document.catalog_id,
            "document_id": document.document_id,
            "filename": document.filename,
        }
        content = key
        if document.text_id is not None:
            own[TEXT_ID] = document.text_id
            if sends_texts:
                ids = (user_id, document.catalog_id, document.document_id)
                content = TextName(*ids, document.text_id).key
        found[document.document_id] = Submission(
            document_id=document.document_id,
            uri=bucket.uri_of(content),
            attributes={**attributes, **own},
        )
    return found
