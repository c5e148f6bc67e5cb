"""
The own documents, each fetched from its Debian package and cached.

corpus.toml names package, version and SHA-256. `apt-get download` uses this machine's
apt sources; on a machine without apt, put the packages into the folder by hand.
"""

import gzip
import hashlib
import io
import shutil
import subprocess
import tarfile
import tomllib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from benchmarks.serving import NotMeasured
from stackroom_local.project_files import ROOT

CACHE = ROOT / ".cache" / "answers"
_MANIFEST = Path(__file__).with_name("corpus.toml")
_PACKAGES, _DOCUMENTS = CACHE / "packages", CACHE / "documents"


def fetched() -> dict[str, Path]:
    """
    Return every document by its id, which is also its file's name.

    Raises NotMeasured, which names the missing package.
    """
    _PACKAGES.mkdir(parents=True, exist_ok=True)
    _DOCUMENTS.mkdir(parents=True, exist_ok=True)
    manifest = tomllib.loads(_MANIFEST.read_text())
    files: dict[str, Path] = {}
    for name, document in manifest["documents"].items():
        suffix = PurePosixPath(document["path"].removesuffix(".gz")).suffix
        files[name] = _DOCUMENTS / f"{name}{suffix}"
        if not _is_there(files[name], document["sha256"]):
            package = _package(document["package"], **manifest["packages"][document["package"]])
            files[name].write_bytes(_unpacked(package, document))
    return files


def _is_there(file: Path, sha256: str) -> bool:
    return file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == sha256


def _package(name: str, version: str, sha256: str) -> Path:
    file = _PACKAGES / f"{name}_{version.replace(':', '%3a')}_all.deb"
    if _is_there(file, sha256):
        return file
    print(f"fetching {name}={version}", flush=True)
    why = "there is no apt-get here"
    if shutil.which("apt-get") is not None:
        got = subprocess.run(
            ["apt-get", "download", "--quiet", f"{name}={version}"],
            cwd=_PACKAGES,
            capture_output=True,
            text=True,
            check=False,
        )
        if _is_there(file, sha256):
            return file
        why = got.stderr.strip() or "what came has another SHA-256 than the manifest's"
    raise NotMeasured(
        f"package {name}={version} of Debian 12 can't be had: {why}. After `apt-get update`, or"
        f" from any mirror or archive of Debian, put it at {file.relative_to(ROOT)}"
    )


def _unpacked(package: Path, document: Mapping[str, Any]) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(_data_of(package))) as files:
        member = files.extractfile(f"./{document['path']}")
        assert member is not None, "the manifest names regular files"
        body = member.read()
    return gzip.decompress(body) if document["path"].endswith(".gz") else body


def _data_of(package: Path) -> bytes:
    """
    Return the files of a Debian package, an `ar` archive (deb(5)): a line of 60 bytes before each
    member, its name first, its size in bytes 48 to 58. Members begin at even places.
    """
    archive, at = package.read_bytes(), len(b"!<arch>\n")
    while at + 60 <= len(archive):
        name, size = archive[at : at + 16], int(archive[at + 48 : at + 58])
        if name.startswith(b"data.tar"):
            return archive[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    raise NotMeasured(f"{package} is no Debian package")
