"""The ids of texts: another version, name or reader of a file makes another text."""

import hashlib

from stackroom.model.bucket import FileVersion
from stackroom.model.formats import extension_of
from stackroom.text.ocr import OcrEngine

READER_VERSION = "7"  # another one wherever the text of the same file would change


def reader_of(ocr: OcrEngine) -> str:
    """Return what texts are made by: another reader makes another text of the same PDF."""
    return READER_VERSION if ocr == "none" else f"{READER_VERSION}+{ocr}"


def text_id_of(version: FileVersion, filename: str, ocr: OcrEngine = "none") -> str:
    """
    Return the id of the text that is made of a version of a file, which has the file's name in it.

    The version's id is part of it: a file that is deleted and dropped again has another text, which
    the removal of the first can't take away.
    """
    reader = reader_of(ocr if extension_of(filename) == "pdf" else "none")
    parts = (reader, version.etag, version.version_id or "", filename)
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:16]
