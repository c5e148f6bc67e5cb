"""
Open DOCX and XLSX, which are ZIP archives, within bounds, before anything in them is parsed.

The sizes that an archive declares are checked first and counted again while reading, since a zip
bomb is 50 KB outside and gigabytes inside.
"""

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

from stackroom.errors import Unreadable

# Ours: four times the largest file that we take, and well within the function's memory.
_MAX_MB = 200
_MAX_BYTES = _MAX_MB * 1_048_576
_CHUNK = 65_536
_ARTICLES = {"DOCX": "a", "XLSX": "an"}
# Container of old Office files and of encrypted new ones.
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

# What zipfile raises for damage, found by mangling archives: RuntimeError is an encrypted member,
# ValueError a negative offset.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)


@contextmanager
def opened(body: bytes, format_name: str) -> Iterator[zipfile.ZipFile]:
    """Open the archive; any defect in it, found now or while reading it, raises `Unreadable`."""
    if body.startswith(_OLE):
        raise Unreadable(
            f"the file is encrypted or in an old Office format; remove its password, "
            f"save it as {format_name} and upload it again"
        )
    if not zipfile.is_zipfile(BytesIO(body)):
        raise Unreadable(
            f"the file is not {_ARTICLES[format_name]} {format_name} (not a ZIP archive), "
            f"or is cut off; save it as {format_name} and upload it again"
        )
    try:
        with zipfile.ZipFile(BytesIO(body)) as archive:
            if sum(member.file_size for member in archive.infolist()) > _MAX_BYTES:
                raise _too_large()
            _name_plainly(archive)
            yield archive
    except DAMAGE as error:
        raise Unreadable(damaged(format_name)) from error


def _name_plainly(archive: zipfile.ZipFile) -> None:
    """
    Write the names of parts in lower case with slashes: they are the same in any case [ECMA-376,
    part 2, 6.2.2.3], and some programs write backslashes.
    """
    for member in archive.infolist():
        member.filename = member.filename.replace("\\", "/").lower()
    archive.NameToInfo = {member.filename: member for member in archive.infolist()}


def damaged(format_name: str) -> str:
    return f"the {format_name} is damaged; save it again and upload that"


def chunks(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """A member piece by piece, at most up to the bound; raises KeyError if it isn't there."""
    unpacked = 0
    with archive.open(name.lower()) as member:
        while piece := member.read(_CHUNK):
            unpacked += len(piece)
            if unpacked > _MAX_BYTES:
                raise _too_large()
            yield piece


def _too_large() -> Unreadable:
    return Unreadable(f"the file unpacks to more than {_MAX_MB} MB; split it and upload the parts")
