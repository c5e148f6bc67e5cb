"""A zip of tools, unpacked where nothing of it lies outside its folder."""

import io
import stat
import zipfile
from pathlib import Path, PurePosixPath

from stackroom.errors import AgentMisconfigured

MAX_BYTES = 256 * 1024**2  # of what comes out; a function's /tmp holds 512 MB by default
_UNIX = 3  # of `create_system` [APPNOTE.TXT 4.4.2], whose file modes stand in `external_attr`


def unpack(body: bytes, folder: Path, *, where: str) -> None:
    """Raises AgentMisconfigured before anything is written, if any name leads out of it."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            members = archive.infolist()
            for each in members:
                _check(each, where)
            if sum(each.file_size for each in members) > MAX_BYTES:
                raise AgentMisconfigured(where, f"it unpacks to more than {MAX_BYTES:,} bytes")
            archive.extractall(folder)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        # Encrypted is a RuntimeError, compressed in an unknown way NotImplementedError.
        raise AgentMisconfigured(where, f"it is no zip that can be read ({error})") from None


def _check(member: zipfile.ZipInfo, where: str) -> None:
    path = PurePosixPath(member.filename.replace("\\", "/"))
    is_outside = path.is_absolute() or ".." in path.parts or ":" in member.filename[:2]
    is_link = member.create_system == _UNIX and stat.S_ISLNK(member.external_attr >> 16)
    if is_outside or is_link:
        kind = "is a link" if is_link else "lies outside the zip's folder"
        raise AgentMisconfigured(where, f"{member.filename[:200]!r} in it {kind}")
