"""
Parts of a DOCX or XLSX, parsed as streams straight from the archive, and how they refer to others.

Memory follows what a reader keeps of a part, not the markup. A document type declaration, the door
to entity bombs, counts as damage: Office writes none.
"""

import posixpath
import zipfile
from collections.abc import Callable
from xml.parsers import expat

from stackroom.text.extraction.archive import chunks

Attributes = dict[str, str]


def parse(
    archive: zipfile.ZipFile,
    part: str,
    *,
    start: Callable[[str, Attributes], None],
    end: Callable[[str], None] = lambda _: None,
    characters: Callable[[str], None] | None = None,
) -> None:
    """Parse a part. Elements have no namespace prefix. Raises KeyError or ExpatError."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = lambda name, attributes: start(local(name), attributes)
    parser.EndElementHandler = lambda name: end(local(name))
    parser.CharacterDataHandler = characters
    for chunk in chunks(archive, part):
        parser.Parse(chunk, False)
    parser.Parse(b"", True)


def local(name: str) -> str:
    """Return a name without the prefix of its namespace."""
    return name.rpartition(":")[2] if ":" in name else name


def _refuse_doctype(*_: object) -> None:
    raise expat.ExpatError("a document type declaration")


def relations(archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """
    Return kind and target, in lower case, of each relation of a part by its id; of the whole
    archive for "".
    """
    folder, name = posixpath.split(part)
    found: dict[str, tuple[str, str]] = {}

    def start(element: str, attributes: Attributes) -> None:
        if element == "Relationship":
            kind = attributes.get("Type", "").rpartition("/")[2]
            target = posixpath.normpath(posixpath.join("/", folder, attributes.get("Target", "")))
            found[attributes.get("Id", str(len(found)))] = (kind, target.lstrip("/").lower())

    try:
        parse(archive, posixpath.join(folder, "_rels", f"{name}.rels"), start=start)
    except KeyError:
        return {}
    return found
