"""The deployment package of every function here: one executable that runs its handler."""

import hashlib
import io
import sys
import zipfile
from pathlib import Path

from stackroom_local import launching


def bootstrap_key(archive: bytes) -> str:
    """Another key for another archive: functions kept from before would start as before."""
    return f"stackroom-local-bootstrap-{hashlib.sha256(archive).hexdigest()[:16]}.zip"


def bootstrap_archive(root: Path) -> bytes:
    """
    The same bytes every time, for the handlers in `root` and the Python of this process.

    AWS's runtime interface client, because ministack's own Python worker loses the exception's
    type, by which Step Functions' Retry and Catch choose.
    """
    script = (
        "#!/bin/sh\n"
        f'export PYTHONPATH="{root}:{root}/src" PYTHONUNBUFFERED=1\n'
        f'exec "{sys.executable}" -I -S "{launching.__file__}"'
        ' -m stackroom_local.runtime "$_HANDLER"\n'
    )
    # A fixed date keeps the archive, and with it the function's code hash, the same every time.
    entry = zipfile.ZipInfo("bootstrap", date_time=(2026, 1, 1, 0, 0, 0))
    entry.external_attr = 0o700 << 16
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(entry, script)
    return archive.getvalue()
