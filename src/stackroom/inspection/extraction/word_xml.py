"""
The parts of a DOCX, parsed as streams, straight from the archive.

Memory follows what the caller keeps, not the markup. A document type declaration, the door to
entity bombs, is refused: WordprocessingML never has one.
"""

import zipfile
from collections.abc import Callable
from xml.parsers import expat

from stackroom.errors import Unreadable
from stackroom.inspection.extraction.archive import chunks, damaged

FORMAT = "DOCX"

Attributes = dict[str, str]


def parse(
    archive: zipfile.ZipFile,
    part: str,
    *,
    start: Callable[[str, Attributes], None],
    end: Callable[[str], None] = lambda _: None,
    characters: Callable[[str], None] = lambda _: None,
) -> None:
    """Elements come without the prefix of their namespace; raises KeyError, or ExpatError."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = lambda name, attributes: start(_local(name), attributes)
    parser.EndElementHandler = lambda name: end(_local(name))
    parser.CharacterDataHandler = characters
    for chunk in chunks(archive, part):
        parser.Parse(chunk, False)
    parser.Parse(b"", True)


def attribute(attributes: Attributes, name: str) -> str:
    """Its value, whatever the prefix of its namespace; empty if it isn't there."""
    return next((value for key, value in attributes.items() if _local(key) == name), "")


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _refuse_doctype(*_: object) -> None:
    raise Unreadable(damaged(FORMAT))
