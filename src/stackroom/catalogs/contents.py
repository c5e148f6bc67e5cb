"""Whether a file is of the kind that its name says, as far as a look at its bytes tells."""

import io
import zipfile

from stackroom.errors import ValidationError
from stackroom.formats import extension_of

# PDF readers take the header within the first 1,024 bytes [PDF reference 1.7, appendix H.3.4.1].
_PDF_HEADER_WITHIN = 1024
_MEMBERS = {"docx": "word/document.xml", "xlsx": "xl/workbook.xml"}
_WIDE = (b"\xff\xfe", b"\xfe\xff")  # byte order marks of UTF-16, whose text is full of zero bytes
_BINARY = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x7fELF", b"\x1f\x8b")


def require_what_its_name_says(filename: str, content: bytes) -> None:
    """Raises ValidationError if the content can't be a file of that name."""
    extension = extension_of(filename)
    if extension == "pdf":
        fits = b"%PDF-" in content[:_PDF_HEADER_WITHIN]
    elif member := _MEMBERS.get(extension):
        fits = _has_member(content, member)
    else:
        fits = _is_text(content)
    if not fits:
        raise ValidationError(
            f"file_content: it is no {extension} file, as its name '{filename}' says. "
            "Allowed: the file's own bytes in base64"
        )


def _has_member(content: bytes, member: str) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return member in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return False


def _is_text(content: bytes) -> bool:
    if content.startswith(_WIDE):
        return True
    return not content.startswith(_BINARY) and b"\x00" not in content
