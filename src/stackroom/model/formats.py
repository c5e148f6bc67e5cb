"""The supported files: formats and sizes that Bedrock reads, and messages about all others."""

from functools import lru_cache
from pathlib import PurePosixPath

# Bedrock's quota "Ingestion job file size with text content", not adjustable.
MAX_FILE_BYTES = 52_428_800

# Content types by extension. Bedrock also takes .doc and .xls, but nothing here could say what is
# wrong with one; it skips every other extension silently (status IGNORED), .htm among them.
CONTENT_TYPES = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "txt": "text/plain",
    "md": "text/markdown",
    "csv": "text/csv",
    "html": "text/html",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
SUPPORTED = tuple(CONTENT_TYPES)
# Those of which a place map may tell pages, or sections.
_WITH_PLACES = {"pdf", "docx", "md", "html", "xlsx"}

_SAVE_AS = {"doc": "docx", "xls": "xlsx", "htm": "html"}


@lru_cache(1024)  # each passage of a search is asked for its document's, several times
def extension_of(filename: str) -> str:
    """Return the extension in lower case without the dot; empty for `README` or `.pdf`."""
    return PurePosixPath(filename).suffix.lstrip(".").lower()


def has_places(filename: str) -> bool:
    """Return True if such a file may have pages or sections that a citation can name."""
    return extension_of(filename) in _WITH_PLACES


def content_type_of(filename: str) -> str:
    """Return the content type of a supported file name."""
    return CONTENT_TYPES[extension_of(filename)]


def unsupported(filename: str) -> str | None:
    """Return why a file of this name is not supported, for its owner; None if it is."""
    extension = extension_of(filename)
    if extension in CONTENT_TYPES:
        return None
    allowed = f"Allowed: {', '.join(SUPPORTED)}"
    if not extension:
        return f"File has no type in its name. {allowed}"
    hint = f". Save it as .{_SAVE_AS[extension]}" if extension in _SAVE_AS else ""
    return f"File type '.{extension}' not supported. {allowed}{hint}"
