"""
The documents that are asked about, each fetched from the package that ships it and kept.

corpus.toml names package, version and SHA-256. `apt-get download` takes them from wherever this
machine's apt is set up to look; a machine without apt can put the packages into the folder itself.
"""

import gzip
import hashlib
import io
import shutil
import subprocess
import tarfile
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path, PurePosixPath

from benchmarks.serving import NotMeasured
from stackroom.inspection.extraction import Page, read_pages
from stackroom_local.project_files import ROOT

CACHE = ROOT / ".cache" / "answers"
_MANIFEST = Path(__file__).with_name("corpus.toml")
_PACKAGES, _DOCUMENTS = CACHE / "packages", CACHE / "documents"


@dataclass(frozen=True, kw_only=True)
class Package:
    name: str
    version: str
    sha256: str

    @property
    def file(self) -> Path:
        return _PACKAGES / f"{self.name}_{self.version.replace(':', '%3a')}_all.deb"

    def __str__(self) -> str:
        return f"{self.name}={self.version}"


@dataclass(frozen=True, kw_only=True)
class Document:
    """`id` is the name that the questions use; its file is named so too."""

    id: str
    title: str
    licence: str
    package: Package
    path: str
    sha256: str

    @property
    def name(self) -> str:
        return self.id + PurePosixPath(self.path.removesuffix(".gz")).suffix

    @property
    def body(self) -> bytes:
        """Of a document that was fetched."""
        return (_DOCUMENTS / self.name).read_bytes()


def documents() -> list[Document]:
    """As the manifest lists them; nothing is fetched."""
    manifest = tomllib.loads(_MANIFEST.read_text())
    packages = {
        name: Package(name=name, **package) for name, package in manifest["packages"].items()
    }
    return [
        Document(id=known_as, **{**each, "package": packages[each["package"]]})
        for known_as, each in manifest["documents"].items()
    ]


def fetched() -> list[Document]:
    """
    Every document, its file in the cache.

    Raises NotMeasured, which names the package that can't be had.
    """
    _PACKAGES.mkdir(parents=True, exist_ok=True)
    _DOCUMENTS.mkdir(parents=True, exist_ok=True)
    found = documents()
    missing = [each for each in found if not _is_there(_DOCUMENTS / each.name, each.sha256)]
    for package, wanted in groupby(missing, key=lambda each: each.package):
        _fetch(package)
        _unpack(package, wanted)
    return found


@cache
def pages_of(document: Document) -> tuple[Page, ...]:
    """As the product's own inspection reads it."""
    return read_pages(document.body, document.name)


def _is_there(file: Path, sha256: str) -> bool:
    return file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == sha256


def _fetch(package: Package) -> None:
    if _is_there(package.file, package.sha256):
        return
    print(f"fetching {package}", flush=True)
    if shutil.which("apt-get") is None:
        raise NotMeasured(_not_had(package, "there is no apt-get here"))
    got = subprocess.run(
        ["apt-get", "download", "--quiet", str(package)],
        cwd=_PACKAGES,
        capture_output=True,
        text=True,
        check=False,
    )
    if got.returncode:
        raise NotMeasured(_not_had(package, got.stderr.strip()))
    if not _is_there(package.file, package.sha256):
        raise NotMeasured(_not_had(package, "what came has another SHA-256 than the manifest's"))


def _not_had(package: Package, why: str) -> str:
    return (
        f"package {package} of Debian 12 can't be had: {why}. After `apt-get update`, or from "
        f"any mirror or archive of Debian, put it at {package.file.relative_to(ROOT)}"
    )


def _unpack(package: Package, wanted: Iterable[Document]) -> None:
    with tarfile.open(fileobj=io.BytesIO(_data_of(package))) as files:
        for document in wanted:
            member = files.extractfile(f"./{document.path}")
            assert member is not None, "the manifest names regular files"
            body = member.read()
            if document.path.endswith(".gz"):
                body = gzip.decompress(body)
            (_DOCUMENTS / document.name).write_bytes(body)


def _data_of(package: Package) -> bytes:
    """
    The files of a Debian package, which is an `ar` archive (deb(5)): a line of 60 bytes before each
    member, its name first, its size in bytes 48 to 58.
    """
    archive = package.file.read_bytes()
    for name, body in _members(archive):
        if name.startswith("data.tar"):
            return body
    raise NotMeasured(f"{package.file} is no Debian package")


def _members(archive: bytes) -> Iterator[tuple[str, bytes]]:
    at = len(b"!<arch>\n")
    while at + 60 <= len(archive):
        header = archive[at : at + 60].decode("ascii")
        size = int(header[48:58])
        yield header[:16].strip(), archive[at + 60 : at + 60 + size]
        at += 60 + size + size % 2  # members begin at even places
