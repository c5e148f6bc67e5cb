"""
Map an object's key to the user, catalog and document that it belongs to, by the key alone.

    {user_id}/{catalog_id or folder}/{filename}

The ids are hashes, so every function derives the same ones without a table. The uploads package
decides whether the catalog exists or may be opened.
"""

import hashlib
import re
import unicodedata
from dataclasses import dataclass

from stackroom.model.records import Catalog, DataSourceType

SIDECAR_SUFFIX = ".metadata.json"
TEXT_PREFIX = "_text/"  # of no user
LONGEST_KEY = 1024  # bytes [S3 user guide: object-keys]
# Bedrock: an S3 data source's inclusionPrefix has 1..300 characters (CloudFormation schema of
# AWS::Bedrock::DataSource); we count bytes, which is never more lenient.
MAX_PREFIX_BYTES = 300
MAX_CATALOG_NAME = 100
NO_USER = "!none"  # files rejected for having no user folder; no user id starts with "!"

# A user's id is the first folder of all their keys: one folder, and none of ours, which start with
# "_" or "!". Narrower than S3 and headers need, wide enough for Cognito's UUIDs and for mail names.
_USER_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}")
_CATALOG_ID = re.compile(r"cat-[0-9a-f]{24}")
_DOCUMENT_ID = re.compile(r"doc-[0-9a-f]{24}")
_TEXT_ID = re.compile(r"[0-9a-f]{16,64}")

_ODD_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")  # Unicode's category Zs
_NO_WIDTH = re.compile("[\u200b\u2060\ufeff]")  # no joiners, which shape letters and emoji

# Paths of what systems and programs leave beside people's files: Macs, Windows, Office and
# LibreOffice, and browsers that have not finished a download. Case doesn't matter, "." is any
# character, and the console's page reads it as a JavaScript pattern. [github.com/github/gitignore:
# Global/macOS, Windows, MicrosoftOffice, LibreOffice; github.com/nextcloud/desktop:
# sync-exclude.lst]
JUNK = (
    r"(?:.*/)?(?:"
    r"(?:__MACOSX|\.AppleDouble|\.fseventsd|\.Spotlight-V100|\.TemporaryItems|\.Trashes|\$RECYCLE\.BIN)"
    r"/.*"
    r"|\.DS_Store|\._[^/]*|\.localized|\.apdisk|Icon\r"
    r"|(?:eh)?Thumbs\.db|desktop\.ini"
    r"|~\$[^/]*|\.~lock\.[^/]*#"
    r"|[^/]*\.(?:tmp|part|partial|crdownload|download|opdownload)"
    r")"
)
_JUNK = re.compile(JUNK, re.IGNORECASE | re.DOTALL)


def is_user_id(text: str) -> bool:
    return _USER_ID.fullmatch(text) is not None


@dataclass(frozen=True, kw_only=True)
class Location:
    """
    The location of a key: its user, its catalog and its file name. `is_junk` if systems or programs
    keep the file for themselves.
    """

    key: str
    user_id: str
    folder: str
    filename: str
    catalog_id: str
    document_id: str
    is_junk: bool = False

    @property
    def prefix(self) -> str:
        return f"{self.user_id}/{self.folder}/"

    @property
    def names_a_catalog_id(self) -> bool:
        """True if the folder is a catalog's id; an upload never opens such a catalog."""
        return self.folder == self.catalog_id

    def unplaced(self, reason: str = "") -> "Unplaced":
        """Return the key as one that belongs to no catalog."""
        return Unplaced(self.key, self.user_id, reason)

    def unplaced_reason(self, catalog: Catalog | None) -> str | None:
        """
        Return why an object with this key belongs to no catalog; None if it belongs to one.

        `catalog` is the one with the location's id; if there is none, an upload may open it.
        """
        is_foreign = catalog is not None and catalog.user_id != self.user_id
        if is_foreign or (catalog is None and self.names_a_catalog_id):
            return f"there is no catalog {self.folder!r}, or no more; drop the file into another"
        if catalog is None or self.prefix == catalog.s3_prefix:
            return None
        where = prefix_reason(catalog)
        if canonical_name(self.prefix) != canonical_name(catalog.s3_prefix):
            return where
        if catalog.data_source_id is not None and catalog.data_source_type is DataSourceType.S3:
            # A data source has one prefix [API model: S3DataSourceConfiguration.inclusionPrefixes].
            return f"{where}, for ingestion jobs read it as {catalog.s3_prefix!a} alone"
        return None


@dataclass(frozen=True)
class TextName:
    """
    The name of one text of a document. Its key names the owner, because only Stackroom writes
    there:

        _text/{user_id}/{catalog_id}/{document_id}/{text_id}.md
    """

    user_id: str
    catalog_id: str
    document_id: str
    text_id: str

    @property
    def folder(self) -> str:
        """The prefix of all texts of the document."""
        return text_folder(self.user_id, self.catalog_id, self.document_id)

    @property
    def key(self) -> str:
        return f"{self.folder}{self.text_id}.md"

    @property
    def places_key(self) -> str:
        """The key of the text's places: the positions of its pages and sections."""
        return f"{self.folder}{self.text_id}.places.json.gz"


@dataclass(frozen=True)
class Unplaced:
    """
    A key that belongs to no catalog, with the reason; recorded under its user so that it is not
    lost.
    """

    key: str
    user_id: str
    reason: str

    @property
    def document_id(self) -> str:
        """
        The id of its record, derived from the whole key: in another spelling of its catalog, the
        same name is another document.
        """
        return "doc-" + _digest(self.key)

    @property
    def partition(self) -> str:
        """The partition of its record, as a catalog's."""
        return unplaced_partition(self.user_id)

    def unplaced(self) -> "Unplaced":
        """Return the key itself, as Location.unplaced returns any other."""
        return self


def text_folder(user_id: str, catalog_id: str, document_id: str = "") -> str:
    """Return the prefix of all texts of a document, or of a whole catalog."""
    return f"{TEXT_PREFIX}{user_id}/{catalog_id}/{document_id and document_id + '/'}"


def text_name_of(key: str) -> TextName | None:
    """Return the text that a key names; None unless the key is exactly a text's."""
    parts = key.removeprefix(TEXT_PREFIX).removesuffix(".md").split("/")
    if len(parts) != 4:
        return None
    name = TextName(*parts)
    is_valid = (
        name.key == key
        and is_user_id(name.user_id)
        and _CATALOG_ID.fullmatch(name.catalog_id)
        and _DOCUMENT_ID.fullmatch(name.document_id)
        and _TEXT_ID.fullmatch(name.text_id)
    )
    return name if is_valid else None


def locate(key: str) -> Location | Unplaced:
    """
    Return where a document's key belongs, by the key alone. The key must not be one that `is_ours`.
    """
    user_id, has_folder, rest = key.partition("/")
    folder, has_file, filename = rest.partition("/")
    if not has_folder:
        return Unplaced(key, NO_USER, "it has no folder; drop it under {user}/{catalog}/")
    if not is_user_id(user_id):
        fault = f"{user_id!r} can't be a user id" if user_id else "its key begins with '/'"
        return Unplaced(key, NO_USER, f"{fault}; drop it under {{user}}/{{catalog}}/")
    if not has_file:
        return Unplaced(
            key, user_id, f"it has no catalog folder; drop it under {user_id}/{{catalog}}/"
        )
    if problem := _folder_problem(user_id, folder):
        return Unplaced(key, user_id, problem)
    if key.endswith("/"):
        return Unplaced(key, user_id, "its key ends in '/', so it names a folder and no file")
    is_id = _CATALOG_ID.fullmatch(folder)
    catalog_id = folder if is_id else catalog_id_of(user_id, folder)
    return Location(
        key=key,
        user_id=user_id,
        folder=folder,
        filename=filename,
        catalog_id=catalog_id,
        document_id=document_id_of(catalog_id, filename),
        is_junk=is_junk(key),
    )


def prefix_reason(catalog: Catalog) -> str:
    """Return why an object under another prefix does not belong to the catalog of that name."""
    return f"catalog {catalog.name!r} has the prefix {catalog.s3_prefix!r}; drop the file there"


def taken_reason(first: str) -> str:
    """Return why an object is not a document if the key `first` already has its name."""
    return (
        f"its name is that of {first!r}, whose letters or spaces are only encoded otherwise; "
        "rename one of the two, or delete it"
    )


def path_problem(filename: str) -> str | None:
    """Return why a document can't have this path; the object is still part of the catalog."""
    if any(part in ("", ".", "..") for part in filename.split("/")):
        return "its name has an empty, '.' or '..' folder in it"
    return None


def is_folder_marker(key: str, size: int) -> bool:
    """
    Return True for an empty object that consoles create to show a folder [S3 user guide:
    using-folders]. An object with content is a document, whatever its key.
    """
    return key.endswith("/") and size == 0


def is_ours(key: str) -> bool:
    """Return True if Stackroom wrote the object: a sidecar, or a text with its places."""
    return key.endswith(SIDECAR_SUFFIX) or key.startswith(TEXT_PREFIX)


def is_junk(key: str) -> bool:
    """
    Return True for files that systems and programs keep for themselves; they are no documents.
    """
    return _JUNK.fullmatch(key) is not None


def may_be_document(key: str) -> bool:
    """Return True if the key may be a document's: neither ours nor junk."""
    return not is_ours(key) and not is_junk(key)


def can_have_sidecar(key: str) -> bool:
    """Return True if the sidecar's key is within S3's limit; otherwise no document is ingested."""
    return len((key + SIDECAR_SUFFIX).encode()) <= LONGEST_KEY


def canonical_name(name: str) -> str:
    """
    Return the form in which names of documents and catalogs are compared: composed (NFC), with
    plain spaces, and without zero-width spaces. The changes are invisible. Letters that merely look
    alike stay different, and a user id, which is ASCII, stays as it is.
    """
    if name.isascii():
        return name
    return _ODD_SPACES.sub(" ", unicodedata.normalize("NFC", _NO_WIDTH.sub("", name)))


def catalog_name_problem(name: str) -> str | None:
    """Return why this can't be the name of a catalog; None if it can."""
    # isalnum() is False for a separate combining accent (macOS decomposes names)
    canonical = canonical_name(name)
    if not 1 <= len(canonical) <= MAX_CATALOG_NAME:
        return f"a catalog's name has 1 to {MAX_CATALOG_NAME} characters"
    if not all(character.isalnum() or character in " -" for character in canonical):
        return "Catalog name contains invalid characters"
    is_bare = canonical == canonical.strip()
    return None if is_bare else "a catalog's name doesn't start or end with a space"


def catalog_id_of(user_id: str, name: str) -> str:
    """Return the id of the user's catalog of that name; names are unique ignoring case."""
    return "cat-" + _digest(user_id, canonical_name(name).casefold())


def document_id_of(catalog_id: str, filename: str) -> str:
    """Return the id of a file name in a catalog, whatever its content and encoding."""
    return "doc-" + _digest(catalog_id, canonical_name(filename))


def unplaced_partition(user_id: str) -> str:
    """Return the partition of a user's objects that belong to no catalog, as a catalog's."""
    return f"REJECTED#{user_id}"


def is_unplaced(catalog_id: str) -> bool:
    """Return True if a record with this catalog id is of an object that belongs to none."""
    return catalog_id.startswith(unplaced_partition(""))


def _folder_problem(user_id: str, folder: str) -> str | None:
    problem = catalog_name_problem(folder)
    if problem:
        return f"folder {folder!r}: {problem} (letters, digits, spaces and hyphens are allowed)"
    if len(f"{user_id}/{folder}/".encode()) > MAX_PREFIX_BYTES:
        return f"user and catalog folder together exceed {MAX_PREFIX_BYTES} bytes"
    return None


def digest(*parts: str) -> str:
    """
    Return the digest of exactly these parts: a client token of 64 characters, of the 33 to 256 [API
    model].
    """
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()


def _digest(*parts: str) -> str:
    return digest(*parts)[:24]
